"""Trap 59, report B52: a set of calls ends by one deadline, few at a time, and nothing is sent in its last moments."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter

from domain.operations import Answer, Finding, Operation, Outcome
from tests.adapters.http.conftest import ROOT, OpenGateway
from tests.adapters.http.parcels import booked, cancel, parcel
from tests.adapters.http.scripted_server import ScriptedServer, answer_json, drip, late, reply, silence

DONE = Answer(Outcome.DONE, result={"reference": "P-00000001"})
SOON_AFTER_SECONDS = 1.0  # what this machine, shared with others, may need to notice a deadline


def parcels(count: int) -> list[Operation]:
    """As many parcels, each of its own order."""
    return [parcel(f"o-{number}") for number in range(1, count + 1)]


def test_no_parcels_need_no_carrier(gateway_to: OpenGateway) -> None:
    """An empty set is answered without a call."""
    assert list(gateway_to("http://127.0.0.1:9").request_each([])) == []


def test_answers_come_in_the_order_of_the_parcels(gateway_to: OpenGateway) -> None:
    """Whoever is answered first."""
    with ScriptedServer(
        late(0.3, answer_json(400, {"error": {"code": "first"}})), answer_json(201, booked())
    ) as server:
        slow, quick = gateway_to(server.url, in_flight=2).request_each([parcel(), parcel()])
        outcomes = {slow.outcome, quick.outcome}
        by_order = gateway_to(server.url).request_each([parcel("o-2"), parcel("o-1")])
    assert outcomes == {Outcome.REFUSED, Outcome.DONE}
    assert [answered.outcome for answered in by_order] == [Outcome.FLAGGED, Outcome.DONE]


def test_sixteen_slow_calls_end_by_one_deadline_and_half_of_them_are_never_sent(gateway_to: OpenGateway) -> None:
    """A carrier that drips holds nobody for longer, and the parcels behind are given back unharmed."""
    with ScriptedServer(drip(reply(201, json.dumps(booked())), 0.2)) as server:
        began = time.monotonic()
        answers = gateway_to(server.url, deadline_seconds=1.0).request_each(parcels(16))
        assert time.monotonic() - began < 1.0 + SOON_AFTER_SECONDS
        outcomes = Counter(answered.outcome for answered in answers)
        assert outcomes == {Outcome.UNKNOWN: 8, Outcome.NOT_SENT: 8}
        assert (len(server.requests), server.busiest) == (8, 8)


def test_a_call_whose_turn_comes_too_late_is_not_sent(gateway_to: OpenGateway) -> None:
    """With a twentieth of the deadline left it would most likely end unknown, which is worse than not sent."""
    with ScriptedServer(late(1.9, answer_json(201, booked()))) as server:
        _, second = gateway_to(server.url, deadline_seconds=2.0, in_flight=1).request_each([parcel(), parcel()])
        assert second.outcome is Outcome.NOT_SENT
        assert len(server.requests) == 1


def test_a_cancellation_whose_look_up_took_the_time_is_not_sent(gateway_to: OpenGateway) -> None:
    """Both calls share the one deadline that the lease was measured for."""
    with ScriptedServer(late(0.95, answer_json(200, {"shipments": [booked()]})), silence) as server:
        (answered,) = gateway_to(server.url, deadline_seconds=1.0).cancel_each([cancel()])
        assert answered.outcome is Outcome.NOT_SENT
        assert len(server.requests) == 1


def test_look_ups_end_by_the_deadline_too(gateway_to: OpenGateway) -> None:
    """By command and by list together."""
    with ScriptedServer(silence) as server:
        began = time.monotonic()
        found = gateway_to(server.url, deadline_seconds=0.5).look_up_each([parcel(command_id="c-1")] * 10)
        assert time.monotonic() - began < 0.5 + SOON_AFTER_SECONDS
    assert {look_up.finding for look_up in found} == {Finding.NO_ANSWER}


def test_all_of_a_long_set_are_sent_few_at_a_time_over_few_connections(gateway_to: OpenGateway) -> None:
    """The carrier sees at most as many at a time as agreed, and no new connection for each."""
    with ScriptedServer(late(0.01, answer_json(201, booked()))) as server:
        answers = gateway_to(server.url, in_flight=4).request_each([parcel()] * 60)
        assert set(map(str, answers)) == {str(DONE)}
        assert (len(server.requests), server.busiest) == (60, 4)
        assert server.connections <= 8


def test_threads_of_one_process_share_the_turns(gateway_to: OpenGateway) -> None:
    """Eight worker threads are one client to the carrier."""
    answers: list[Answer] = []
    with ScriptedServer(late(0.02, answer_json(201, booked()))) as server:
        gateway = gateway_to(server.url, in_flight=3)
        threads = [
            threading.Thread(target=lambda: answers.extend(gateway.request_each([parcel()] * 5))) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert server.busiest == 3
    assert answers == [DONE] * 40


def test_a_gateway_survives_a_fork(gateway_to: OpenGateway) -> None:
    """Workers are forked after the gateway was built, and even after it was used."""
    with ScriptedServer(answer_json(201, booked())) as server:
        gateway = gateway_to(server.url)
        assert gateway.request_each([parcel()]) == [DONE]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of a fork beside threads
            child = os.fork()
        if child == 0:
            answered = False
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(30)  # a child that hangs fails the test, and ends
            try:
                answered = gateway.request_each([parcel()]) == [DONE]
                gateway.close()
            finally:
                os._exit(0 if answered else 1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert gateway.request_each([parcel()]) == [DONE]
        assert len(server.requests) == 3


FORGETFUL = """
import os, sys
from adapters.http.shipping import HttpShippingGateway
from tests.adapters.http.parcels import parcel

gateway = HttpShippingGateway(sys.argv[1], "token", deadline_seconds=20, max_retry_after_seconds=60)
print(gateway.request_each([parcel()])[0].outcome, flush=True)
child = os.fork()
print(gateway.request_each([parcel()])[0].outcome, flush=True)
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_process_that_forgets_to_close_ends_all_the_same() -> None:
    """And so does a child forked from it, which has the parent's connections but not its thread."""
    with ScriptedServer(answer_json(201, booked())) as server:
        command = [sys.executable, "-c", FORGETFUL, server.url]
        ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    assert ended.stdout.split() == ["done"] * 3
    assert ended.returncode == 0


def test_a_closed_gateway_leaves_no_thread_and_opens_again_when_asked(gateway_to: OpenGateway) -> None:
    """Closing is about connections, not about the right to call."""
    with ScriptedServer(answer_json(201, booked())) as server:
        gateway = gateway_to(server.url)
        gateway.close()
        threads_before = threading.active_count()
        assert gateway.request_each([parcel()]) == [DONE]
        assert any(thread.name == "http-calls" for thread in threading.enumerate())
        gateway.close()
        gateway.close()
        assert not any(thread.name == "http-calls" for thread in threading.enumerate())
        assert threading.active_count() <= threads_before + 1  # the server's one for the connection
        assert gateway.request_each([parcel()]) == [DONE]


def test_a_call_cut_off_by_closing_is_of_unknown_fate(gateway_to: OpenGateway) -> None:
    """Its request was sent."""
    answers: list[Answer] = []
    with ScriptedServer(silence) as server:
        gateway = gateway_to(server.url)
        caller = threading.Thread(target=lambda: answers.extend(gateway.request_each([parcel()])))
        caller.start()
        end = time.monotonic() + 10
        while not server.requests and time.monotonic() < end:
            time.sleep(0.01)
        gateway.close()
        caller.join(10)
    assert [answered.outcome for answered in answers] == [Outcome.UNKNOWN]
