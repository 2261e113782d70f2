"""`KeepDeadLetter`: a message nobody could take is kept where people look."""

from application.messages import KeepDeadLetter, ReadDeadLetters
from tests.application.shop import Shop


def test_a_message_is_kept_once_and_shown(shop: Shop) -> None:
    """However often it is delivered."""
    keep, read = KeepDeadLetter(shop.transactions), ReadDeadLetters(shop.transactions)
    for _ in range(3):
        keep.execute("orders", b"{", "not JSON")
    keep.execute("points", b"\x00", "not JSON")
    assert [(one["queue"], one["body"]) for one in read.execute()] == [("points", "\x00"), ("orders", "{")]
    assert len(read.execute(1)) == 1


def test_a_reason_that_quotes_the_message_can_be_stored(shop: Shop) -> None:
    """Neither NUL, lone surrogates nor its length keep the letter from being kept (B38)."""
    KeepDeadLetter(shop.transactions).execute("orders", b"{", "bad name 'a\x00\ud800'" + "!" * 5000)
    (letter,) = ReadDeadLetters(shop.transactions).execute()
    assert letter["reason"].startswith("bad name 'a\\0\\ud800'!")
    assert len(letter["reason"]) == 1000
