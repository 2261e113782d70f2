"""Where a provider receives requests: notes each one, lets a scripted fault act, honours its key, sends the answer."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from aiohttp import web

from entrypoints.sandbox.answers import Answer, Wording
from entrypoints.sandbox.commands import Commands
from entrypoints.sandbox.faults import Delivery, Fault, FaultScript, Work
from entrypoints.sandbox.keys import KeyBook, KeyRefusal, KeyUse
from entrypoints.sandbox.traffic import SeenRequest, Subject, Traffic
from entrypoints.sandbox.wire import deliver, response


@dataclass(frozen=True, slots=True)
class WorkRequest:
    """One well-formed request for work; who sends an equal `fingerprint` asks for the same."""

    subject: Subject
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class FrontDesk:
    """One provider's door; `keys` is None at a provider that honours no keys, where each POST is work of its own."""

    target: str
    faults: FaultScript
    traffic: Traffic
    keys: KeyBook | None
    commands: Commands
    wording: Wording
    latency_seconds: float

    def turn_away(self, request: web.Request, answer: Answer) -> web.StreamResponse:
        """For a request that is not even well-formed: noted and refused, it uses up neither a fault nor a key."""
        subject = Subject(idempotency_key=request.headers.get("Idempotency-Key"))
        self.traffic.note(SeenRequest(self.target, request.method, subject, status=answer.status))
        return response(answer)

    async def look_up(self, request: web.Request, subject: Subject, find: Callable[[], Answer]) -> web.StreamResponse:
        """Answers what is known at the end of the wait, as a real look-up would."""
        fault, seen = self._receive(request, subject)
        honest = None
        if fault.work is not Work.NOTHING:
            await self._take_time()
            honest = find()
        return await self._reply(request, fault, seen, honest)

    async def work_once(
        self, request: web.Request, asked: WorkRequest, work: Callable[[], Answer]
    ) -> web.StreamResponse:
        """Does the work once per key, or as often as it is asked where keys are not honoured."""
        fault, seen = self._receive(request, asked.subject)
        honest = None if fault.work is Work.NOTHING else await self._honest_answer(asked, fault, work)
        return await self._reply(request, fault, seen, honest)

    def _receive(self, request: web.Request, subject: Subject) -> tuple[Fault, SeenRequest]:
        fault = self.faults.take(self.target, request.method, subject)
        seen = SeenRequest(self.target, request.method, subject, fault.name or None)
        return fault, self.traffic.note(seen)

    async def _honest_answer(self, asked: WorkRequest, fault: Fault, work: Callable[[], Answer]) -> Answer:
        use = self._use_of_key(asked)
        if use is KeyRefusal.OTHER_BODY:
            return self.wording.other_body
        if use is KeyRefusal.STILL_RUNNING:
            return self.wording.still_running
        await self._take_time()
        if use.answer is not None:
            return replace(use.answer, headers=use.answer.headers + self.wording.repeated)
        match fault.work:
            case Work.ACCEPTED:
                command = self.commands.accept(asked.subject, work, fault.after_seconds)
                return use.settle(command.accepted())
            case Work.IN_BACKGROUND:
                asyncio.get_running_loop().call_later(fault.after_seconds, lambda: use.settle(work()))
                return self.wording.still_running
            case Work.FAILED:
                return use.settle(self.wording.refuse(500, "internal_server_error", "scripted fault"))
            case _:
                return use.settle(work())

    def _use_of_key(self, asked: WorkRequest) -> KeyUse | KeyRefusal:
        key = asked.subject.idempotency_key
        if self.keys is None or key is None:
            return KeyUse()  # of no book: nobody will ever find it again
        return self.keys.begin(key, asked.fingerprint)

    async def _take_time(self) -> None:
        if self.latency_seconds:
            await asyncio.sleep(self.latency_seconds)

    async def _reply(
        self, request: web.Request, fault: Fault, seen: SeenRequest, honest: Answer | None
    ) -> web.StreamResponse:
        answer = fault.answer(honest, self.wording)
        if answer is not None and fault.delivery in (Delivery.WHOLE, Delivery.DRIP):
            seen.status = answer.status
        return await deliver(request, answer, fault.delivery)
