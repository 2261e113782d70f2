"""`EventInbox`: what was accepted is there once, and stays until it is applied."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from domain.orders.events import Arrival, EventState, OrderEvent, StoredEvent, Verdict
from tests.contracts.samples import confirmed, customer_told
from tests.contracts.stores import Store

NEW, DUPLICATE, CONFLICT = Arrival.NEW, Arrival.DUPLICATE, Arrival.CONFLICT
APPLIED = Verdict(EventState.APPLIED)


def store_each(store: Store, *events: OrderEvent) -> list[Arrival]:
    return list(store.run(lambda books: books.inbox.store_each(events)))


def take(store: Store, limit: int = 10) -> list[StoredEvent]:
    return list(store.run(lambda books: books.inbox.take(limit)))


def mark(store: Store, **verdicts: Verdict) -> None:
    """Marks events, named by their ids."""
    seqs = {stored.event.id: stored.seq for stored in take(store, 1000)}
    store.run(lambda books: books.inbox.mark({seqs[id_]: verdict for id_, verdict in verdicts.items()}))


def find(
    store: Store, *states: EventState, subject: str | None = None, limit: int | None = None
) -> Sequence[Mapping[str, Any]]:
    return store.run(lambda books: books.inbox.find(states=states, subject=subject, limit=limit))


def ids(found: Sequence[Mapping[str, Any]]) -> list[str]:
    return [one["event_id"] for one in found]


def test_a_delivery_is_stored_once(store: Store) -> None:
    """However often it is delivered."""
    assert [store_each(store, confirmed("e-1")) for _ in range(3)] == [[NEW], [DUPLICATE], [DUPLICATE]]
    assert store.run(lambda books: books.inbox.due()) == 1


def test_what_is_stored_is_what_was_delivered(store: Store) -> None:
    """To the last field and the last microsecond, in any script."""
    event = replace(
        confirmed("イベント-1"),
        time=confirmed("e").time.replace(microsecond=123_456),
        revision=2**63 - 1,
        data={
            "customer_id": "c-1",
            "total": 2**63 - 1,
            "ship_to": {"name": "山田 🎉", "line2": 'a"b\\c'},
            "points": None,
        },
    )
    store_each(store, event)
    assert [stored.event for stored in take(store)] == [event]


def test_the_same_id_from_another_source_is_another_delivery(store: Store) -> None:
    """Source and id together tell deliveries apart."""
    assert store_each(store, confirmed("e-1"), confirmed("e-1", source="csv")) == [NEW, NEW]


def test_a_known_delivery_with_other_content_is_a_conflict_and_the_first_stays(store: Store) -> None:
    """The contradiction is kept beside it, where people can see it."""
    store_each(store, confirmed("e-1", total=100))
    assert store_each(store, confirmed("e-1", total=999)) == [CONFLICT]
    assert [stored.event.data["total"] for stored in take(store)] == [100]
    (beside,) = find(store, EventState.CONFLICT)
    assert (beside["event_id"], beside["data"]["total"], beside["state"]) == ("e-1", 999, "conflict")
    assert beside["reason"]


def test_a_time_or_a_revision_that_differs_is_other_content(store: Store) -> None:
    """A delivery is told again with all it said, or it is another one."""
    event = confirmed("e-1")
    store_each(store, event)
    later = replace(event, time=event.time.replace(microsecond=1))
    assert store_each(store, replace(event, revision=2), later) == [CONFLICT, CONFLICT]


def test_a_contradiction_told_twice_is_kept_once(store: Store) -> None:
    """And each different contradiction is kept."""
    store_each(store, confirmed("e-1", total=1))
    for total in (2, 2, 3, 2):
        assert store_each(store, confirmed("e-1", total=total)) == [CONFLICT]
    assert sorted(one["data"]["total"] for one in find(store, EventState.CONFLICT)) == [2, 3]


def test_answers_stand_in_the_order_of_the_events(store: Store) -> None:
    """New, known and contradicting ones in one call, repeats inside the call among them."""
    store_each(store, confirmed("e-2"), confirmed("e-5"))
    mixed = [
        confirmed("e-9"),
        confirmed("e-5"),
        confirmed("e-2", total=7),
        confirmed("e-1"),
        confirmed("e-9"),
        confirmed("e-1", total=7),
        confirmed("e-2"),
    ]
    assert store_each(store, *mixed) == [NEW, DUPLICATE, CONFLICT, NEW, DUPLICATE, CONFLICT, DUPLICATE]


def test_one_event_named_twice_is_stored_once(store: Store) -> None:
    """It makes no difference whether the repeats in a set are copies or the very same object."""
    same = confirmed("e-1")
    assert store_each(store, same, same) == [NEW, DUPLICATE]


def test_no_events_are_no_work(store: Store) -> None:
    """An empty set has no answers."""
    assert store_each(store) == []


def test_a_duplicate_stays_known_after_it_was_applied(store: Store) -> None:
    """Applied is not forgotten."""
    store_each(store, confirmed("e-1"))
    mark(store, **{"e-1": APPLIED})
    assert store_each(store, confirmed("e-1"), confirmed("e-1", total=1)) == [DUPLICATE, CONFLICT]
    assert take(store) == []


def test_accepted_events_are_taken_in_the_order_in_which_they_came(store: Store) -> None:
    """No more than were asked for."""
    for event_id in ("e-3", "e-1", "e-2"):
        store_each(store, confirmed(event_id))
    assert [stored.event.id for stored in take(store, 2)] == ["e-3", "e-1"]
    seqs = [stored.seq for stored in take(store)]
    assert seqs == sorted(set(seqs))


def test_what_is_marked_is_not_taken_again(store: Store) -> None:
    """Whatever became of it, only what is accepted is still to be done."""
    states = [state for state in EventState if state is not EventState.ACCEPTED]
    store_each(store, confirmed("e-0"), *(confirmed(f"e-{state}") for state in states))
    mark(store, **{f"e-{state}": Verdict(state, f"because {state}") for state in states})
    assert [stored.event.id for stored in take(store)] == ["e-0"]
    assert store.run(lambda books: books.inbox.due()) == 1
    reasons = {one["event_id"]: (one["state"], one["reason"]) for one in find(store)}
    assert reasons == {
        "e-0": ("accepted", None),
        **{f"e-{state}": (state, f"because {state}") for state in states},
    }


def test_marking_nothing_changes_nothing(store: Store) -> None:
    """An empty set of verdicts is no work."""
    store_each(store, confirmed("e-1"))
    mark(store)
    assert len(take(store)) == 1


def test_of_the_named_events_those_still_accepted_are_taken(store: Store) -> None:
    """What was applied meanwhile, and what does not exist, is left out."""
    store_each(store, *(confirmed(f"e-{number}") for number in range(4)))
    seqs = {stored.event.id: stored.seq for stored in take(store)}
    mark(store, **{"e-1": APPLIED})
    asked = [seqs["e-3"], seqs["e-1"], seqs["e-0"], 404]
    taken = store.run(lambda books: [stored.event.id for stored in books.inbox.take_these(asked)])
    assert taken == ["e-0", "e-3"]
    assert list(store.run(lambda books: books.inbox.take_these([]))) == []


def test_a_taken_event_that_was_not_marked_is_taken_again(store: Store) -> None:
    """Taking is no promise: whoever dies meanwhile has changed nothing."""
    store_each(store, confirmed("e-1"))
    assert take(store) == take(store)


def test_events_are_found_the_newest_first(store: Store) -> None:
    """A limit keeps the newest; deliveries in conflict stand among them."""
    for event in (confirmed("e-2", total=1), confirmed("e-1"), confirmed("e-2", total=2), confirmed("e-3")):
        store_each(store, event)
        store.pass_time(1)
    assert ids(find(store)) == ["e-3", "e-2", "e-1", "e-2"]
    assert ids(find(store, limit=2)) == ["e-3", "e-2"]


def test_events_of_one_delivery_are_found_the_last_first(store: Store) -> None:
    """Their place in it is their age; what contradicts one of them is younger still."""
    store_each(store, confirmed("e-3"), confirmed("e-1"), confirmed("e-1", total=1), confirmed("e-2"))
    assert ids(find(store)) == ["e-1", "e-2", "e-1", "e-3"]
    assert [stored.event.id for stored in take(store)] == ["e-3", "e-1", "e-2"]


def test_a_customer_and_an_order_of_the_same_id_are_told_apart(store: Store) -> None:
    """Where it is said which is meant."""
    store_each(store, confirmed("e-1", order_id="7"), customer_told("n-1", customer_id="7"))

    def of(*, customers: bool | None) -> set[str]:
        found = store.run(lambda books: books.inbox.find(states=[], subject="7", of_customers=customers, limit=None))
        return set(ids(found))

    assert (of(customers=True), of(customers=False), of(customers=None)) == ({"n-1"}, {"e-1"}, {"e-1", "n-1"})


def test_a_parked_event_can_be_taken_by_its_name(store: Store) -> None:
    """Only while it is parked, and only under its own source."""
    store_each(store, confirmed("e-1"), confirmed("e-2"), confirmed("e-1", source="csv"))
    store.run(lambda books: books.inbox.mark({books.inbox.take(1)[0].seq: Verdict(EventState.PARKED, "?")}))

    def take_parked(source: str, event_id: str) -> OrderEvent | None:
        stored = store.run(lambda books: books.inbox.take_parked(source, event_id))
        return None if stored is None else stored.event

    assert take_parked("shop", "e-1") == confirmed("e-1")
    assert [take_parked(*name) for name in (("csv", "e-1"), ("shop", "e-2"), ("shop", "e-404"))] == [None] * 3


def test_an_event_marked_as_accepted_is_taken_again(store: Store) -> None:
    """From then on it is due like any other."""
    store_each(store, confirmed("e-1"))
    (stored,) = take(store)
    store.run(lambda books: books.inbox.mark({stored.seq: Verdict(EventState.PARKED, "?")}))
    assert (take(store), store.run(lambda books: books.inbox.due())) == ([], 0)
    store.run(lambda books: books.inbox.mark({stored.seq: Verdict(EventState.ACCEPTED, "retried")}))
    assert (take(store), store.run(lambda books: books.inbox.due())) == ([stored], 1)


def test_events_are_found_by_state_and_order(store: Store) -> None:
    """Each narrows what is found, and together they narrow it further."""
    store_each(store, confirmed("e-1"), confirmed("e-2", order_id="o-2"), confirmed("e-3", order_id="o-2"))
    store_each(store, confirmed("e-3", order_id="o-2", total=1))
    mark(store, **{"e-1": APPLIED, "e-2": APPLIED})
    assert sorted(ids(find(store, EventState.APPLIED))) == ["e-1", "e-2"]
    assert sorted(ids(find(store, subject="o-2"))) == ["e-2", "e-3", "e-3"]
    assert ids(find(store, EventState.APPLIED, subject="o-2")) == ["e-2"]
    assert ids(find(store, EventState.CONFLICT, EventState.APPLIED, subject="o-404")) == []
    assert ids(find(store, EventState.CONFLICT)) == ["e-3"]


def test_a_found_event_shows_what_it_said_and_when_it_came(store: Store) -> None:
    """Everything a person needs to judge it."""
    before = store.now()
    store_each(store, confirmed("e-1"))
    (shown,) = find(store)
    event = confirmed("e-1")
    assert {name: shown[name] for name in ("source", "event_id", "type", "time", "subject", "revision", "data")} == {
        "source": "shop",
        "event_id": "e-1",
        "type": event.type,
        "time": event.time,
        "subject": "o-1",
        "revision": 1,
        "data": dict(event.data),
    }
    assert before <= shown["received_at"] <= store.now()
