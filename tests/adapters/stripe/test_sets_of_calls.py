"""Trap 59: a set of charges ends by one deadline, fifty at a time, and nothing is sent in its last moments."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter

from adapters.calls.loop_thread import KEEP_ALIVE_SECONDS
from domain.operations import Answer, Finding, Operation, Outcome
from tests.adapters.http.scripted_server import ScriptedServer, answer_json, drip, late, reply, silence
from tests.adapters.stripe.conftest import ROOT, OpenGateway
from tests.adapters.stripe.operations import INTENT, charge, intent, refund

DONE = Answer(Outcome.DONE, result={"reference": INTENT, "status": "succeeded"})
SOON_AFTER_SECONDS = 1.0  # what this machine, shared with others, may need to notice a deadline


def charges(count: int) -> list[Operation]:
    """As many charges, each of its own customer."""
    return [charge(f"c-{number}") for number in range(1, count + 1)]


def test_no_charges_need_no_provider(gateway_to: OpenGateway) -> None:
    """An empty set is answered without a call."""
    gateway = gateway_to("http://127.0.0.1:9")
    assert list(gateway.charge_each([])) == []
    assert list(gateway.look_up_charges([])) == []


def test_answers_come_in_the_order_of_the_charges(gateway_to: OpenGateway) -> None:
    """Whoever is answered first."""
    with ScriptedServer(late(0.3, answer_json(200, intent())), answer_json(200, intent())) as server:
        answers = gateway_to(server.url).charge_each([charge("c-2"), charge("c-1")])
    assert [answered.outcome for answered in answers] == [Outcome.FLAGGED, Outcome.DONE]


def test_two_hundred_slow_charges_end_by_one_deadline_and_most_of_them_are_never_sent(gateway_to: OpenGateway) -> None:
    """A provider that drips holds nobody for longer, and the charges behind are given back unharmed."""
    with ScriptedServer(drip(reply(200, json.dumps(intent())), 0.2)) as server:
        began = time.monotonic()
        answers = gateway_to(server.url, deadline_seconds=2.0).charge_each(charges(200))
        assert time.monotonic() - began < 2.0 + SOON_AFTER_SECONDS
        outcomes = Counter(answered.outcome for answered in answers)
        assert outcomes == {Outcome.UNKNOWN: 50, Outcome.NOT_SENT: 150}
        assert (len(server.requests), server.busiest) == (50, 50)


def test_the_deadline_counts_from_before_the_gate(gateway_to: OpenGateway) -> None:
    """Whoever comes with most of it gone sends nothing."""
    with ScriptedServer(answer_json(200, intent())) as server:
        gateway = gateway_to(server.url, deadline_seconds=10.0)
        late_one, just_late = (
            gateway.charge_each([charge()], began=time.monotonic() - gone)[0] for gone in (11.0, 9.5)
        )
        assert (late_one.outcome, just_late.outcome) == (Outcome.NOT_SENT, Outcome.NOT_SENT)
        assert server.requests == []
        assert gateway.charge_each([charge()], began=time.monotonic() - 2.0) == [DONE]


def test_a_charge_whose_turn_comes_too_late_is_not_sent(gateway_to: OpenGateway) -> None:
    """With a twentieth of the deadline left it would most likely end unknown, which is worse than not sent."""
    with ScriptedServer(late(1.9, answer_json(200, intent()))) as server:
        _, second = gateway_to(server.url, deadline_seconds=2.0, in_flight=1).charge_each([charge(), charge()])
        assert second.outcome is Outcome.NOT_SENT
        assert len(server.requests) == 1


def test_look_ups_end_by_the_deadline_too(gateway_to: OpenGateway) -> None:
    """Of charges and of refunds, by list and by reference."""
    with ScriptedServer(silence) as server:
        gateway = gateway_to(server.url, deadline_seconds=0.5)
        for look_up, operations in (
            (gateway.look_up_charges, [charge(), charge("c-2", result={"reference": INTENT})]),
            (gateway.look_up_refunds, [refund(), refund(void=True)]),
        ):
            began = time.monotonic()
            assert {one.finding for one in look_up(operations)} == {Finding.NO_ANSWER}
            assert time.monotonic() - began < 0.5 + SOON_AFTER_SECONDS


def test_all_of_a_long_set_are_sent_few_at_a_time_over_few_connections(gateway_to: OpenGateway) -> None:
    """The provider sees at most as many at a time as agreed, and no new connection for each."""
    with ScriptedServer(late(0.01, answer_json(200, intent()))) as server:
        answers = gateway_to(server.url, in_flight=4).charge_each([charge()] * 60)
        assert set(map(str, answers)) == {str(DONE)}
        assert (len(server.requests), server.busiest) == (60, 4)
        assert server.connections <= 8


def test_an_idle_connection_is_given_up_before_the_provider_does_it(gateway_to: OpenGateway) -> None:
    """A charge that meets a connection just given up there would be of unknown fate."""
    with ScriptedServer(answer_json(200, intent())) as server:
        gateway = gateway_to(server.url)
        gateway.charge_each([charge()])
        began = time.monotonic()
        server.wait_for_the_end_of_connection(1)
        assert time.monotonic() - began < KEEP_ALIVE_SECONDS + 2.0  # aiohttp looks once per keep-alive time
        assert gateway.charge_each([charge()]) == [DONE]
        assert server.connections == 2


def test_threads_of_one_process_share_the_turns(gateway_to: OpenGateway) -> None:
    """Eight worker threads are one client to the provider."""
    answers: list[Answer] = []
    with ScriptedServer(late(0.02, answer_json(200, intent()))) as server:
        gateway = gateway_to(server.url, in_flight=3)
        threads = [
            threading.Thread(target=lambda: answers.extend(gateway.charge_each([charge()] * 5))) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert server.busiest == 3
    assert answers == [DONE] * 40


def test_a_gateway_survives_a_fork(gateway_to: OpenGateway) -> None:
    """Workers are forked after the gateway was built, and even after it was used."""
    with ScriptedServer(answer_json(200, intent())) as server:
        gateway = gateway_to(server.url)
        assert gateway.charge_each([charge()]) == [DONE]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of a fork beside threads
            child = os.fork()
        if child == 0:
            answered = False
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(30)  # a child that hangs fails the test, and ends
            try:
                answered = gateway.charge_each([charge()]) == [DONE]
                gateway.close()
            finally:
                os._exit(0 if answered else 1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert gateway.charge_each([charge()]) == [DONE]
        assert len(server.requests) == 3


FORGETFUL = """
import os, sys
from adapters.stripe.payments import StripePaymentGateway
from tests.adapters.stripe.operations import charge

gateway = StripePaymentGateway(sys.argv[1], "sk_test_1", deadline_seconds=20, max_retry_after_seconds=60)
print(gateway.charge_each([charge()])[0].outcome, flush=True)
child = os.fork()
print(gateway.charge_each([charge()])[0].outcome, flush=True)
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_process_that_forgets_to_close_ends_all_the_same() -> None:
    """And so does a child forked from it, which has the parent's connections but not its thread."""
    with ScriptedServer(answer_json(200, intent())) as server:
        command = [sys.executable, "-c", FORGETFUL, server.url]
        ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    assert ended.stdout.split() == ["done"] * 3
    assert ended.returncode == 0


def test_a_closed_gateway_leaves_no_thread_and_opens_again_when_asked(gateway_to: OpenGateway) -> None:
    """Closing is about connections, not about the right to call."""
    with ScriptedServer(answer_json(200, intent())) as server:
        gateway = gateway_to(server.url)
        gateway.close()
        assert gateway.charge_each([charge()]) == [DONE]
        assert any(thread.name == "stripe-calls" for thread in threading.enumerate())
        gateway.close()
        gateway.close()
        assert not any(thread.name == "stripe-calls" for thread in threading.enumerate())
        assert gateway.charge_each([charge()]) == [DONE]


def test_a_charge_cut_off_by_closing_is_of_unknown_fate(gateway_to: OpenGateway) -> None:
    """Its request was sent."""
    answers: list[Answer] = []
    with ScriptedServer(silence) as server:
        gateway = gateway_to(server.url)
        caller = threading.Thread(target=lambda: answers.extend(gateway.charge_each([charge()])))
        caller.start()
        end = time.monotonic() + 10
        while not server.requests and time.monotonic() < end:
            time.sleep(0.01)
        gateway.close()
        caller.join(10)
    assert [answered.outcome for answered in answers] == [Outcome.UNKNOWN]
