"""What becomes of order events that come by HTTP (contract section 4)."""

from typing import Any

import pytest

from tests.entrypoints.api.server import BATCH, Api, event, problem

KNOWN = "this source and id are known with other content"


def receipt(
    accepted: int = 0, duplicates: int = 0, conflicts: list[Any] | None = None, rejected: list[Any] | None = None
) -> dict[str, Any]:
    return {
        "accepted": accepted,
        "duplicates": duplicates,
        "conflicts": conflicts or [],
        "rejected": rejected or [],
    }


def test_an_event_is_committed_before_it_is_acknowledged(api: Api) -> None:
    """202 means stored, though no queue is there to ring."""
    one = event()
    answer = api.post(one)
    assert (answer.status_code, answer.json()) == (202, receipt(accepted=1))
    assert [(row.source, row.state) for row in api.stored(one)] == [("shop", "accepted")]


def test_the_same_event_again_is_a_duplicate(api: Api) -> None:
    """A sender that repeats hears that all is well."""
    one = event()
    api.post(one)
    answer = api.post(one)
    assert (answer.status_code, answer.json()) == (202, receipt(duplicates=1))
    assert len(api.stored(one)) == 1


@pytest.mark.parametrize("alone", [False, True], ids=["batch of one", "single"])
def test_an_event_known_with_other_content_is_409(api: Api, alone: bool) -> None:
    """The first stays; the sender of the second is told."""
    first = event()
    second = {**first, "data": {**first["data"], "total": 13000}}
    api.post(first)
    document = problem(api.post(second) if alone else api.batch(second), 409)
    assert document["field"] == "id"
    assert document["conflicts"] == [{"id": first["id"], "reason": KNOWN}]
    assert [row.data for row in api.stored(first)] == [api.stored(first)[0].data]
    assert '"total":12000' in api.stored(first)[0].data


def test_the_valid_part_of_a_batch_is_stored(api: Api) -> None:
    """Each event of a batch has its own fate, and the answer names those that were not stored."""
    new, known = event(), event()
    api.post(known)
    other = {**known, "data": {**known["data"], "points": 1}}
    answer = api.batch(new, event(specversion="0.3"), known, other, "not an event", new)
    assert answer.status_code == 202
    assert answer.json() == receipt(
        accepted=1,
        duplicates=2,
        conflicts=[{"id": known["id"], "reason": KNOWN}],
        rejected=[
            {"index": 1, "field": "specversion", "reason": 'must be "1.0"'},
            {"index": 4, "field": "event", "reason": "must be an object"},
        ],
    )
    assert len(api.stored(new)) == 1


def test_a_batch_of_conflicts_lists_them_all(api: Api) -> None:
    """Several conflicts are kept beside the first deliveries, and listed."""
    first, second = event(), event()
    api.batch(first, second)
    answer = api.batch(*({**one, "data": {**one["data"], "points": 7}} for one in (first, second)))
    conflicts = [{"id": one["id"], "reason": KNOWN} for one in (first, second)]
    assert (answer.status_code, answer.json()) == (202, receipt(conflicts=conflicts))


def test_a_batch_without_a_valid_event_is_422(api: Api) -> None:
    """Where nothing was stored, the answer is no success, and lists why."""
    before = api.count()
    document = problem(api.batch(event(type="order.lost"), event(time="yesterday")), 422)
    assert [(one["index"], one["field"]) for one in document["rejected"]] == [(0, "type"), (1, "time")]
    assert api.count() == before


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"specversion": "2.0"}, "specversion"),
        ({"id": ""}, "id"),
        ({"id": 1.5}, "id"),
        ({"source": True}, "source"),
        ({"time": "2026-10-03T12:34:56"}, "time"),
        ({"time": "2999-01-01T00:00:00Z"}, "time"),
        ({"data": {"total": "12000"}}, "total"),
        ({"data": {"total": 12000.0}}, "total"),
        ({"data": {"currency": "YEN"}}, "currency"),
        ({"data": {"points": 2**63}}, "points"),
        ({"data": {"customer_id": None}}, "customer_id"),
        ({"data": {"ship_to": {"name": "山田 太郎"}}}, "ship_to.country"),
    ],
)
def test_an_invalid_event_is_refused_by_the_name_of_its_field(api: Api, wrong: dict[str, Any], field: str) -> None:
    """A single event that is not valid is 422, and nothing of it is stored."""
    before = api.count()
    assert problem(api.post(event(**wrong)), 422)["field"] == field
    assert api.count() == before


def test_an_order_id_may_be_a_whole_number(api: Api) -> None:
    """11497 is "11497", also beyond what a float holds."""
    one = event(data={"order_id": 9007199254740993})
    assert api.post(one).json() == receipt(accepted=1)
    assert api.stored(one)[0].subject == "9007199254740993"


def test_ten_thousand_events_in_one_request(api: Api) -> None:
    """The largest batch is stored whole; sent again, it is duplicates."""
    events = [event() for _ in range(10_000)]
    assert api.batch(*events).json() == receipt(accepted=10_000)
    assert len(api.stored(*events)) == 10_000
    assert api.batch(*events).json() == receipt(duplicates=10_000)


def test_rejections_of_later_sets_keep_their_place_in_the_request(api: Api) -> None:
    """A batch is stored in sets of a thousand, which its sender never notices."""
    events = [event() for _ in range(2001)]
    events[1500] = event(id=None)
    answer = api.batch(*events).json()
    assert (answer["accepted"], [one["index"] for one in answer["rejected"]]) == (2000, [1500])


def test_one_event_too_many_is_refused_whole(api: Api) -> None:
    """Of 10,001 events none is stored."""
    before = api.count()
    document = problem(api.post([event() for _ in range(10_001)], BATCH), 413)
    assert (document["field"], "10000" in document["detail"]) == ("body", True)
    assert api.count() == before
