"""`DeadLetters`: messages nobody could take are kept."""

from tests.contracts.stores import Store


def keep(store: Store, queue: str, body: bytes, reason: str = "not JSON") -> None:
    store.run(lambda books: books.dead_letters.keep(queue, body, reason))


def kept(store: Store, limit: int | None = None) -> list[tuple[str, str, str]]:
    letters = store.run(lambda books: books.dead_letters.find(limit))
    return [(letter["queue"], letter["body"], letter["reason"]) for letter in letters]


def test_a_message_is_kept_as_it_came(store: Store) -> None:
    """Also when it is no text at all, and with when it came."""
    before = store.now()
    keep(store, "orders", "注文 \x00 {".encode())
    keep(store, "orders", b"\xff\xfe")
    assert kept(store) == [("orders", "\ufffd\ufffd", "not JSON"), ("orders", "注文 \x00 {", "not JSON")]
    letters = store.run(lambda books: books.dead_letters.find(1))
    assert before <= letters[0]["received_at"] <= store.now()


def test_the_same_message_on_the_same_queue_is_kept_once(store: Store) -> None:
    """However often it is delivered; on another queue it is another one."""
    for queue in ("orders", "orders", "points", "orders"):
        keep(store, queue, b"?")
    assert kept(store) == [("points", "?", "not JSON"), ("orders", "?", "not JSON")]


def test_the_newest_are_shown_first(store: Store) -> None:
    """A limit keeps the newest."""
    for number in range(3):
        keep(store, "orders", b"%d" % number)
    assert [body for _, body, _ in kept(store, limit=2)] == ["2", "1"]
