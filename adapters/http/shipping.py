"""The carrier over HTTP: parcels asked for, called back and looked up, each under its key."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import quote

from adapters.calls.replies import NoReply, Reply, account_of, presentable
from adapters.http.calls import Call, HttpCalls, Line
from adapters.http.shipping_answers import (
    CANCELLED,
    IN_PROGRESS,
    AnotherOrder,
    CarriersParcel,
    NotBelieved,
    called_back,
    parcel_in,
    parcels_in,
    taken_on,
)
from domain.operations import Answer, Finding, LookUp, Operation, Outcome


class HttpShippingGateway:
    """A carrier that speaks our small protocol (see `entrypoints.sandbox`), set-based and safe to use from any thread.

    Units: seconds; one deadline holds for all calls of one set, however many wait for one of the `in_flight` turns.
    """

    def __init__(
        self,
        base_url: str | None,
        token: str,
        *,
        deadline_seconds: float,
        max_retry_after_seconds: float,
        in_flight: int = 8,  # httpx's own pool gets slower from about 10 at a time
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._token = token
        self.account = account_of(token)
        self._calls = HttpCalls(
            base_url,
            deadline_seconds=deadline_seconds,
            max_retry_after_seconds=max_retry_after_seconds,
            in_flight=in_flight,
            now=now,
        )

    def request_each(self, parcels: Sequence[Operation], *, began: float | None = None) -> Sequence[Answer]:
        """Asks for parcels, each under its key. Result: `reference`, or `command_id` while it is still running."""
        return presentable(self._calls.converse_each(self._request, parcels, began), self._token)

    def cancel_each(self, cancellations: Sequence[Operation], *, began: float | None = None) -> Sequence[Answer]:
        """Asks to stop parcels, each under its own key. Result: `reference`."""
        return presentable(self._calls.converse_each(self._cancel, cancellations, began), self._token)

    def look_up_each(self, parcels: Sequence[Operation]) -> Sequence[LookUp]:
        """What the carrier knows of parcels asked for before. Result: `reference`."""
        return presentable(self._calls.converse_each(self._look_up, parcels), self._token)

    def look_up_cancelled_each(self, cancellations: Sequence[Operation]) -> Sequence[LookUp]:
        """Whether the parcels to be stopped are cancelled at the carrier. Result: `reference`."""
        return presentable(self._calls.converse_each(self._look_up_cancelled, cancellations), self._token)

    def close(self) -> None:
        """Ends this process's connections; a later call opens new ones."""
        self._calls.close()

    async def _request(self, line: Line, parcel: Operation) -> Answer:
        try:
            reply = await self._post(line, "/shipments", parcel)
        except NoReply as none:
            return _without_reply(none)
        return taken_on(reply, key=parcel.key, order_id=parcel.subject)

    async def _cancel(self, line: Line, cancellation: Operation) -> Answer:
        key, order_id = cancellation.content["shipment"], cancellation.subject
        parcel = await self._parcel_to_cancel(line, key, order_id)
        if isinstance(parcel, Answer):
            return parcel
        try:
            reply = await self._post(line, f"/shipments/{quote(parcel.reference, safe='')}/cancellation", cancellation)
        except NoReply as none:
            return _without_reply(none)
        return called_back(reply, parcel=parcel, key=key, order_id=order_id)

    async def _parcel_to_cancel(self, line: Line, key: str, order_id: str) -> CarriersParcel | Answer:
        """The one parcel under this key, or why nothing was sent to stop it."""
        try:
            parcels = await self._parcels(line, key, order_id)
        except AnotherOrder as another:
            return Answer(Outcome.FLAGGED, str(another))
        except NotBelieved as wrong:
            return Answer(Outcome.NOT_SENT, f"not looked up: {wrong}", retry_after_seconds=wrong.retry_after_seconds)
        except NoReply as none:
            return Answer(Outcome.NOT_SENT, f"not looked up: {none}")
        if len(parcels) != 1:
            return Answer(Outcome.FLAGGED, _at_the_carrier(parcels))
        if parcels[0].status == IN_PROGRESS:
            return Answer(Outcome.NOT_SENT, "the parcel is still being booked")
        return parcels[0]

    async def _look_up(self, line: Line, parcel: Operation) -> LookUp:
        try:
            found = await self._by_command(line, parcel)
            return found or _finding(await self._parcels(line, parcel.key, parcel.subject))
        except AnotherOrder as another:
            return LookUp(Finding.FLAGGED, str(another))
        except (NoReply, NotBelieved) as reason:
            return LookUp(Finding.NO_ANSWER, str(reason))

    async def _by_command(self, line: Line, parcel: Operation) -> LookUp | None:
        """What the carrier says of the command under which it accepted the parcel; None sends us to the list."""
        command_id = parcel.result.get("command_id")
        if not isinstance(command_id, str):
            return None
        try:
            reply = await line.ask(self._get(f"/shipment-commands/{quote(command_id, safe='')}"))
            return _finding_by_command(reply, parcel, command_id)
        except AnotherOrder:
            raise
        except (NoReply, NotBelieved):
            return None

    async def _look_up_cancelled(self, line: Line, cancellation: Operation) -> LookUp:
        try:
            parcels = await self._parcels(line, cancellation.content["shipment"], cancellation.subject)
        except (NoReply, NotBelieved) as reason:
            return LookUp(Finding.NO_ANSWER, str(reason))
        if parcels and all(parcel.status == CANCELLED for parcel in parcels):
            return LookUp(Finding.FOUND, result={"reference": parcels[0].reference})
        return LookUp(Finding.NOT_FOUND, _at_the_carrier(parcels))

    async def _parcels(self, line: Line, key: str, order_id: str) -> Sequence[CarriersParcel]:
        reply = await line.ask(self._get(f"/shipments?client_reference={quote(key, safe='')}"))
        return parcels_in(reply, key=key, order_id=order_id)

    async def _post(self, line: Line, path: str, operation: Operation) -> Reply:
        headers = self._authorised() | {"Content-Type": "application/json", "Idempotency-Key": operation.key}
        return await line.ask(Call("POST", path, headers, operation.request))

    def _get(self, path: str) -> Call:
        return Call("GET", path, self._authorised())

    def _authorised(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}


def _without_reply(none: NoReply) -> Answer:
    return Answer(Outcome.UNKNOWN if none.was_sent else Outcome.NOT_SENT, str(none))


def _finding(parcels: Sequence[CarriersParcel]) -> LookUp:
    booked = [parcel for parcel in parcels if parcel.reference]
    if not booked:
        return LookUp(Finding.RUNNING if parcels else Finding.NOT_FOUND, _at_the_carrier(parcels))
    # A carrier without keys may hold one parcel twice: the one that is not cancelled is the one that counts.
    counting = next((parcel for parcel in booked if parcel.status != CANCELLED), booked[0])
    reason = _at_the_carrier(parcels) if len(parcels) > 1 else ""
    return LookUp(Finding.FOUND, reason, {"reference": counting.reference})


def _finding_by_command(reply: Reply, parcel: Operation, command_id: str) -> LookUp | None:
    command = reply.content()
    if reply.status != HTTPStatus.OK or command is None or command.get("command_id") != command_id:
        return None
    match command.get("status"):
        case "in_progress":
            return LookUp(Finding.RUNNING, "accepted", {"command_id": command_id})
        case "done":
            return _finding([parcel_in(command.get("shipment"), key=parcel.key, order_id=parcel.subject)])
        case "failed":
            return LookUp(Finding.REFUSED, "the carrier accepted it, but could not book it")
        case _:
            return None


def _at_the_carrier(parcels: Sequence[CarriersParcel]) -> str:
    if not parcels:
        return "the carrier does not know this parcel"
    return "at the carrier: " + ", ".join(f"{parcel.reference} {parcel.status}".strip() for parcel in parcels)
