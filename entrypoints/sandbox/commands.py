"""Work that a provider has accepted and does later: asked for once, then polled, never posted again."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from itertools import count
from typing import Any

from entrypoints.sandbox.answers import Answer, json_answer
from entrypoints.sandbox.traffic import Subject


@dataclass(slots=True)
class Command:
    """One accepted piece of work; `outcome` is None while it runs."""

    command_id: str
    subject: Subject
    outcome: Answer | None = None

    def accepted(self) -> Answer:
        return json_answer(
            HTTPStatus.ACCEPTED,
            {
                "command_id": self.command_id,
                "client_reference": self.subject.key,
                "order_id": self.subject.order_id,
                "status": "in_progress",
            },
        )

    def row(self) -> dict[str, Any]:
        """Shape: `{"command_id", "status", "shipment"}`, the shipment as it was when the command ended."""
        if self.outcome is None:
            return {"command_id": self.command_id, "status": "in_progress", "shipment": None}
        if self.outcome.status >= HTTPStatus.BAD_REQUEST:
            return {"command_id": self.command_id, "status": "failed", "shipment": None}
        return {"command_id": self.command_id, "status": "done", "shipment": json.loads(self.outcome.body)}


class Commands:
    """All commands a provider ever accepted."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._commands: dict[str, Command] = {}
        self._running: dict[str | None, list[Command]] = {}

    def accept(self, subject: Subject, work: Callable[[], Answer], after_seconds: float) -> Command:
        """Promises the work and does it by itself, whether or not anybody asks again."""
        command = Command(f"c-{next(self._numbers)}", subject)
        self._commands[command.command_id] = command
        self._running.setdefault(subject.key, []).append(command)
        asyncio.get_running_loop().call_later(after_seconds, self._finish, command, work)
        return command

    def command(self, command_id: str) -> Command | None:
        return self._commands.get(command_id)

    def running(self, key: str) -> list[Command]:
        return self._running.get(key, [])

    def _finish(self, command: Command, work: Callable[[], Answer]) -> None:
        command.outcome = work()
        others = [running for running in self._running.pop(command.subject.key) if running is not command]
        if others:
            self._running[command.subject.key] = others
