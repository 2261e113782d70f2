"""`WorkOff`: the workers do what is due; where nobody is alive, the command does it itself."""

from application.workers import ALIVE_SECONDS, Role
from domain.operations import Outcome
from tests.application.office import KEY, MONTH, Office


def who_charged(office: Office, key: str = KEY) -> str:
    return str(office.books.operations.story(key)[0]["who"]).partition("/")[0]


def test_with_nobody_alive_the_command_charges_itself(office: Office) -> None:
    """Without a pause while there is anything to do."""
    office.have_subscribed()
    began = office.clock.now()
    assert office.billing.run(MONTH).status.tally.charged == 1
    assert (who_charged(office), office.clock.now()) == ("command", began)


def test_living_workers_are_left_to_it(office: Office) -> None:
    """The command waits until they are done, and takes on nothing."""
    office.have_subscribed()
    office.workers_live()
    worker, waited = office.worker(office.charges, name="living"), []

    def wait() -> None:
        office.workers_live()
        waited.append(office.billing.status(MONTH).tally.open)
        if len(waited) == 3:
            worker.execute(10)

    office.while_waiting = wait
    assert office.billing.run(MONTH).status.tally.charged == 1
    assert (who_charged(office), waited) == ("living", [1, 1, 1])


def test_workers_that_die_meanwhile_are_replaced_by_the_command(office: Office) -> None:
    """When they have not been heard of for a while; what they held is swept and charged once."""
    office.have_subscribed("c-1", "c-2")
    office.workers_live()
    began = office.clock.now()
    assert office.billing.run(MONTH).status.tally.charged == 2
    assert who_charged(office) == "command"
    assert (office.clock.now() - began).total_seconds() >= ALIVE_SECONDS


def test_a_worker_without_a_dispatcher_is_nobody(office: Office) -> None:
    """It would never be rung for."""
    office.have_subscribed()
    office.crew.seen(Role.WORKER)
    office.billing.run(MONTH)
    assert who_charged(office) == "command"


def test_workers_that_left_are_not_waited_for(office: Office) -> None:
    """They said so."""
    office.workers_live()
    assert office.crew.are_alive()
    office.crew.leave()
    office.have_subscribed()
    office.billing.run(MONTH)
    assert who_charged(office) == "command"


def test_what_is_due_soon_is_waited_for(office: Office) -> None:
    """A provider that was silent once has answered before the command ends."""
    office.have_subscribed()
    office.provider.will_answer(KEY, Outcome.UNKNOWN, works=True)
    began = office.clock.now()
    assert office.billing.run(MONTH).status.tally.charged == 1
    assert office.provider.paid() == [KEY]
    assert (office.clock.now() - began).total_seconds() < 10


def test_what_is_due_later_is_not_waited_for(office: Office) -> None:
    """The command ends and says that it is open."""
    office.have_subscribed()
    office.provider.will_answer(KEY, Outcome.THROTTLED, retry_after_seconds=300)
    began = office.clock.now()
    assert office.billing.run(MONTH).status.tally.open == 1
    assert office.clock.now() == began
