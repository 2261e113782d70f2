"""Where a provider receives requests: notes each one, lets a scripted fault act, honours its key, sends the answer."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web

from entrypoints.sandbox.answers import Answer, refusal
from entrypoints.sandbox.commands import Commands
from entrypoints.sandbox.faults import Delivery, Fault, FaultScript, Work
from entrypoints.sandbox.keys import KeyBook, KeyRefusal, KeyUse
from entrypoints.sandbox.traffic import SeenRequest, Traffic
from entrypoints.sandbox.wire import deliver, response

_STILL_RUNNING = refusal(409, "in_progress", "a request with this Idempotency-Key still runs")
_OTHER_BODY = refusal(422, "idempotency_mismatch", "this Idempotency-Key was used with another body")


@dataclass(frozen=True, slots=True)
class WorkRequest:
    """One well-formed request for work.

    Key: `idempotency_key` is what the client sent in the header, `key` the reference it gave the work.
    """

    key: str
    order_id: str
    idempotency_key: str | None
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class FrontDesk:
    """One provider's door; `keys` is None at a provider that honours no keys, where each POST is work of its own."""

    target: str
    faults: FaultScript
    traffic: Traffic
    keys: KeyBook | None
    commands: Commands
    latency_seconds: float

    def turn_away(self, request: web.Request, answer: Answer) -> web.StreamResponse:
        """For a request that is not even well-formed: noted and refused, it uses up neither a fault nor a key."""
        key = request.headers.get("Idempotency-Key")
        self.traffic.note(SeenRequest(self.target, request.method, key, None, None, answer.status))
        return response(answer)

    async def look_up(
        self, request: web.Request, key: str | None, order_id: str | None, find: Callable[[], Answer]
    ) -> web.StreamResponse:
        """Answers what is known at the end of the wait, as a real look-up would."""
        fault, seen = self._receive(request, key, order_id)
        honest = None
        if fault.work is not Work.NOTHING:
            await self._take_time()
            honest = find()
        return await self._reply(request, fault, seen, honest)

    async def work_once(
        self, request: web.Request, asked: WorkRequest, work: Callable[[], Answer]
    ) -> web.StreamResponse:
        """Does the work once per key, or as often as it is asked where keys are not honoured."""
        fault, seen = self._receive(request, asked.idempotency_key or asked.key, asked.order_id)
        honest = None if fault.work is Work.NOTHING else await self._honest_answer(asked, fault, work)
        return await self._reply(request, fault, seen, honest)

    def _receive(self, request: web.Request, key: str | None, order_id: str | None) -> tuple[Fault, SeenRequest]:
        fault = self.faults.take(self.target, request.method, key, order_id)
        seen = SeenRequest(self.target, request.method, key, order_id, fault.name or None)
        return fault, self.traffic.note(seen)

    async def _honest_answer(self, asked: WorkRequest, fault: Fault, work: Callable[[], Answer]) -> Answer:
        use = self._use_of_key(asked)
        if use is KeyRefusal.OTHER_BODY:
            return _OTHER_BODY
        if use is KeyRefusal.STILL_RUNNING:
            return _STILL_RUNNING
        await self._take_time()
        if use.answer is not None:
            return use.answer
        match fault.work:
            case Work.ACCEPTED:
                command = self.commands.accept(asked.key, asked.order_id, work, fault.after_seconds)
                return use.settle(command.accepted())
            case Work.IN_BACKGROUND:
                asyncio.get_running_loop().call_later(fault.after_seconds, lambda: use.settle(work()))
                return _STILL_RUNNING
            case _:
                return use.settle(work())

    def _use_of_key(self, asked: WorkRequest) -> KeyUse | KeyRefusal:
        if self.keys is None or asked.idempotency_key is None:
            return KeyUse()  # of no book: nobody will ever find it again
        return self.keys.begin(asked.idempotency_key, asked.fingerprint)

    async def _take_time(self) -> None:
        if self.latency_seconds:
            await asyncio.sleep(self.latency_seconds)

    async def _reply(
        self, request: web.Request, fault: Fault, seen: SeenRequest, honest: Answer | None
    ) -> web.StreamResponse:
        answer = fault.answer(honest)
        if answer is not None and fault.delivery in (Delivery.WHOLE, Delivery.DRIP):
            seen.status = answer.status
        return await deliver(request, answer, fault.delivery)
