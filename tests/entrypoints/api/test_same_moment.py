"""The same event at the same moment (field report B35)."""

from concurrent.futures import ThreadPoolExecutor

from tests.entrypoints.api.server import Api, event

AT_ONCE = 10
ROUNDS = 50


def test_the_same_event_ten_times_at_once_is_stored_once(api: Api) -> None:
    """All ten senders hear 202, one of them as the first, fifty times over."""
    with ThreadPoolExecutor(AT_ONCE) as senders:
        for _ in range(ROUNDS):
            one = event()
            answers = list(senders.map(api.post, [one] * AT_ONCE))
            assert [answer.status_code for answer in answers] == [202] * AT_ONCE
            assert sum(answer.json()["accepted"] for answer in answers) == 1
            assert sum(answer.json()["duplicates"] for answer in answers) == AT_ONCE - 1
            assert len(api.stored(one)) == 1


def test_batches_that_overlap_in_opposite_order_do_not_block_each_other(api: Api) -> None:
    """Rows are stored in one order, so that nobody waits in a circle."""
    events = [event() for _ in range(500)]
    with ThreadPoolExecutor(AT_ONCE) as senders:
        orders = [events, events[::-1]] * (AT_ONCE // 2)
        answers = list(senders.map(lambda batch: api.batch(*batch), orders))
    assert [answer.status_code for answer in answers] == [202] * AT_ONCE
    assert sum(answer.json()["accepted"] for answer in answers) == len(events)
