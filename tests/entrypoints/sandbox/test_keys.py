"""Idempotency keys: the same answer and not the same work, for as long as the carrier remembers."""

from concurrent.futures import ThreadPoolExecutor

from tests.entrypoints.sandbox.world import Parcel, World, running_world, until


def test_the_same_key_gets_the_same_answer(world: World, parcel: Parcel) -> None:
    """A repeated booking is answered to the byte as the first one and books nothing."""
    answers = [world.book(parcel) for _ in range(3)]
    assert {(answer.status_code, answer.content) for answer in answers} == {(201, answers[0].content)}
    assert len(world.ledger(parcel)) == 1


def test_the_order_of_fields_does_not_matter(world: World, parcel: Parcel) -> None:
    """The same request written in another order is the same request."""
    world.booked(parcel)
    reordered = dict(reversed(parcel.body().items()))
    answer = world.http.post("/shipments", headers={"Idempotency-Key": parcel.key}, json=reordered)
    assert answer.status_code == 201
    assert len(world.ledger(parcel)) == 1


def test_the_same_key_with_another_body_is_a_mismatch(world: World, parcel: Parcel) -> None:
    """A key that names another content is refused, and the first booking stays as it is."""
    world.booked(parcel)
    answer = world.book(parcel, number=2)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "idempotency_mismatch")
    assert len(world.ledger(parcel)) == 1


def test_a_key_of_a_booking_is_not_taken_for_a_cancellation(world: World, parcel: Parcel) -> None:
    """What a key names includes what is asked for, not only with which words."""
    reference = world.booked(parcel)["reference"]
    answer = world.http.post(
        f"/shipments/{reference}/cancellation", headers={"Idempotency-Key": parcel.key}, json=parcel.body()
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "idempotency_mismatch")
    assert world.ledger(parcel)[0]["status"] == "booked"


def test_eight_at_once_book_one_parcel(world: World, parcel: Parcel) -> None:
    """Eight parallel requests with one key get the same answer or are told to wait."""
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: world.book(parcel), range(8)))
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert len({answer.content for answer in answers if answer.status_code == 201}) == 1
    assert len(world.ledger(parcel)) == 1


def test_a_key_that_still_runs_is_in_progress(parcel: Parcel) -> None:
    """At a slow carrier one of eight is served, the others are told to wait, and the repeat gets the one answer."""
    with running_world("--latency-ms", "1000") as slow_world, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: slow_world.book(parcel), range(8)))
        running = [answer for answer in answers if answer.status_code == 409]
        assert {answer.json()["error"]["code"] for answer in running} == {"in_progress"}
        served = next(answer for answer in answers if answer.status_code == 201)
        assert slow_world.book(parcel).content == served.content
        assert len(slow_world.ledger(parcel)) == 1


def test_a_client_that_hangs_up_has_asked_all_the_same(parcel: Parcel) -> None:
    """The carrier finishes what it began, whether or not anybody still listens."""
    with running_world("--latency-ms", "300") as slow_world:
        slow_world.raw_booking(parcel).close()
        until(lambda: len(slow_world.ledger(parcel)) == 1)
        assert slow_world.book(parcel).status_code == 201
        assert len(slow_world.ledger(parcel)) == 1


def test_forgotten_keys_book_again_and_both_bookings_stand(world: World, parcel: Parcel) -> None:
    """Past its window a key is a new key: the ledger shows both parcels under it."""
    first = world.booked(parcel)
    assert world.http.post("/_forget_keys").status_code == 204
    second = world.booked(parcel)
    assert first["reference"] != second["reference"]
    assert [row["reference"] for row in world.ledger(parcel)] == [first["reference"], second["reference"]]
    assert world.found(parcel) == [first, second]


def test_a_key_ages_out_by_itself(parcel: Parcel) -> None:
    """The carrier remembers a key for its window and no longer."""
    with running_world("--key-window-hours", "0.0001") as forgetful_world:  # 0.36 s
        first = forgetful_world.booked(parcel)
        until(lambda: forgetful_world.booked(parcel) != first)


def test_a_failure_may_stay_under_its_key(world: World, parcel: Parcel) -> None:
    """`replayed_500` books nothing now and nothing later: whoever repeats the key gets the failure again."""
    world.script("replayed_500", parcel.order_id)
    answers = [world.book(parcel) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [500, 500]
    assert answers[0].content == answers[1].content
    assert world.ledger(parcel) == []


def test_without_keys_each_request_books(keyless_world: World, parcel: Parcel) -> None:
    """A carrier that honours no keys books as often as it is asked, with whatever body."""
    references = {keyless_world.booked(parcel)["reference"] for _ in range(2)}
    assert keyless_world.book(parcel, number=2).status_code == 201
    assert len(references) == 2
    assert len(keyless_world.ledger(parcel)) == 3


def test_a_request_without_a_key_is_protected_by_none(world: World, parcel: Parcel) -> None:
    """Honouring keys helps only who sends one."""
    for _ in range(2):
        assert world.http.post("/shipments", json=parcel.body()).status_code == 201
    assert len(world.ledger(parcel)) == 2
