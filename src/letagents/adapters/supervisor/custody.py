"""Polls that a supervisor admits, asked for on its socket. (Source: supervisor 3.5, 4.9.)

What one refuses that hands over, or that another one has followed, is told as deferred: the whole
call may be made again then, since nothing of it was shown.
"""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import anyio
import attrs

from letagents.adapters.supervisor import coordinates
from letagents.adapters.supervisor.calls import Deadline, Line, Negotiated
from letagents.adapters.supervisor.coordinates import Coordinates
from letagents.adapters.supervisor.successors import outlasting, passes
from letagents.domain import bindings, generations
from letagents.domain.custody import (
    CONTRACT,
    NOT_BOUND,
    WAIT,
    Admission,
    Invocation,
    PollDeferred,
    PollRefused,
    refused,
)
from letagents.domain.ids import MessageId
from letagents.domain.supervised import (
    PATIENCE,
    SupervisorGarbled,
    SupervisorRefused,
    SupervisorUnavailable,
)
from letagents.domain.surfaces import Caller, Profile
from letagents.ports.ids import Ids
from letagents.wire import supervisor as wire

_AGAIN = "Call it again in a moment; if it is refused again and again, end your turn."
_WITHHELD = (
    "What came was not shown, and nothing of it is lost. Call it again; if it is refused again and "
    "again, end your turn."
)
_STALE = "Custodial polling authority was rejected or became stale."


@attrs.frozen
class _Via:
    """How an admission was asked for: a release goes the same way."""

    at: Coordinates
    negotiated: Negotiated
    params: Mapping[str, object]


@attrs.frozen
class SocketCustody:
    """The supervisor that the environment names, as it admits polls."""

    _environ: Mapping[str, str]
    _caller: Caller
    _home_socket: Path
    _here: Path
    _ids: Ids
    _patience: float = PATIENCE.total_seconds()
    _gap: float = PATIENCE.total_seconds()
    """Seconds for which a release is shown again of which nothing was heard."""
    _pause: Callable[[float], Awaitable[None]] = anyio.sleep

    async def admit(self, tool: str, invocation: Invocation | None = None) -> Admission:
        """Return the admission for a call of a tool. Raises: as Custody."""
        if (tool == WAIT) is (invocation is None):
            raise refused("Only custodial wait may acknowledge or offer a cursor.")
        at = self._checked()
        _check_named(invocation, at)
        deadline = Deadline.within(self._patience)
        negotiated = await Line(at.socket, self._ids).negotiate(deadline)
        _check_supports(negotiated, tool)
        params = self._params(at, negotiated, tool)
        asked = {**params, "phase": "before", **_before(invocation)}
        told = await self._asked(at, negotiated, asked, deadline)
        return _admission(told, params, invocation, _Via(at, negotiated, params))

    async def release(
        self, tool: str, admission: Admission, offered: MessageId | None = None
    ) -> None:
        """Let a result be shown. Raises: as Custody."""
        via: _Via = admission.via
        _check_offer(tool, admission, offered)
        asked = {
            **via.params,
            "phase": "release",
            "expected_configuration_revision": admission.revision,
            **_release(admission, offered),
        }
        told = await outlasting(
            lambda: self._released(via, asked), within=self._gap, pause=self._pause
        )
        again = _admission(told, via.params, admission.invocation, via)
        if attrs.evolve(again, cursor=admission.cursor) != admission:
            raise refused(_STALE, _WITHHELD)

    async def _released(self, via: _Via, asked: Mapping[str, object]) -> object:
        """Return what is said to a release, which may be shown twice: it is the same offer."""
        deadline = Deadline.within(self._patience)
        try:
            return await self._asked(via.at, via.negotiated, asked, deadline)
        except PollDeferred:
            raise
        except PollRefused as error:
            error.remedy = _WITHHELD
            raise

    def _checked(self) -> Coordinates:
        caller = self._caller
        if caller.profile is not Profile.SUPERVISED_MCP_POLLING:
            raise refused("Custodial polling profile required.")
        if caller.bounded or caller.has_bearer or caller.has_owner_token:
            raise refused("Custodial polling refuses bounded flags and environment credentials.")
        at = coordinates.resolve(self._environ, home_socket=self._home_socket, here=self._here)
        if at is None or at.room_id is None or at.session_id is None:
            raise refused("Custodial polling lacks exact worker coordinates.")
        if not caller.api_url:
            raise refused("Custodial polling requires an explicit API URL.")
        return at

    def _params(self, at: Coordinates, negotiated: Negotiated, tool: str) -> dict[str, object]:
        api_url = self._caller.api_url or ""
        return {
            "entry_id": at.entry_id,
            "room_id": at.room_id,
            "work_attempt_id": at.work_attempt_id,
            "execution_generation_id": at.execution_id,
            "agent_session_id": at.session_id,
            "daemon_generation": negotiated.generation,
            "api_url": bindings.origin(api_url) or api_url,
            "contract": CONTRACT,
            "tool_name": tool,
        }

    async def _asked(
        self,
        at: Coordinates,
        negotiated: Negotiated,
        params: Mapping[str, object],
        deadline: Deadline,
    ) -> object:
        line = Line(at.socket, self._ids)
        response = await line.ask(negotiated.version, wire.AUTHORIZE, params, deadline)
        if not response.ok:
            said = response.error or _STALE
            is_going = said == NOT_BOUND or passes(said)
            if is_going or await self._was_followed(line, negotiated, deadline):
                raise PollDeferred(said, remedy=_AGAIN)
            raise refused(said)
        if response.version != negotiated.version:
            raise refused(_STALE)
        return response.result

    async def _was_followed(self, line: Line, by: Negotiated, deadline: Deadline) -> bool:
        """Whether the supervisor that refused is another one than was negotiated with, or gone."""
        try:
            now = await line.negotiate(deadline)
        except SupervisorUnavailable:
            return True
        except (SupervisorRefused, SupervisorGarbled):
            return False
        return generations.is_followed(by.generation, now.generation)


def _check_named(invocation: Invocation | None, at: Coordinates) -> None:
    if invocation is None:
        return
    is_here = invocation.room_id in (None, at.room_id)
    if not is_here or invocation.session_id not in (None, at.session_id):
        raise refused(
            "Custodial wait room or worker identity does not match its exact authority.",
            "Leave room_id and agent_session_id out.",
        )


def _check_supports(negotiated: Negotiated, tool: str) -> None:
    if "custodialPollingV1" not in negotiated.capabilities or negotiated.generation is None:
        raise refused("Daemon does not support custodial_polling_v1.")
    if tool == WAIT and "custodialPollingOffersV1" not in negotiated.capabilities:
        raise refused(
            "Daemon does not support custodialPollingOffersV1; refusing an unjournaled wait."
        )


def _check_offer(tool: str, admission: Admission, offered: MessageId | None) -> None:
    began = bindings.cursor(admission.cursor or "")
    if (tool == WAIT) is (admission.invocation is None):
        raise refused("Only custodial wait may acknowledge or offer a cursor.")
    if tool == WAIT and (offered is None or began is None or offered < began):
        raise refused("Custodial wait receipt does not match its original invocation and cursor.")


def _before(invocation: Invocation | None) -> dict[str, object]:
    if invocation is None:
        return {}
    return {**_invocation(invocation), "room_cursor": invocation.cursor}


def _invocation(invocation: Invocation) -> dict[str, object]:
    return {
        "process_incarnation_id": invocation.process_id,
        "mcp_request_id": invocation.request_id,
    }


def _release(admission: Admission, offered: MessageId | None) -> dict[str, object]:
    if admission.invocation is None:
        return {}
    return {
        **_invocation(admission.invocation),
        "expected_activation_id": admission.activation_id,
        "expected_binding_epoch": admission.epoch,
        "input_cursor": admission.cursor,
        "offered_frontier": str(offered),
    }


def _admission(
    told: object, params: Mapping[str, object], invocation: Invocation | None, via: _Via
) -> Admission:
    """Return what was admitted.

    Raises:
        PollRefused: it is not what was asked for.
    """
    said = told if isinstance(told, Mapping) else {}
    echoed = ("contract", "room_id", "agent_session_id")
    cursor, revision = said.get("room_cursor"), wire.whole(said.get("configuration_revision"))
    fits = (
        said.get("status") == "authorized"
        and all(said.get(name) == params[name] for name in echoed)
        and (cursor is None or (isinstance(cursor, str) and bindings.cursor(cursor) is not None))
        and revision is not None
        and revision >= 1
    )
    if not fits or revision is None:
        raise _became_stale()
    room_id, at = str(params["room_id"]), cursor if isinstance(cursor, str) else None
    plain = Admission(room_id, at, revision, via=via)
    return plain if invocation is None else _of_wait(plain, said, invocation)


def _of_wait(plain: Admission, said: Mapping[str, object], invocation: Invocation) -> Admission:
    activation_id, epoch = said.get("activation_id"), wire.whole(said.get("binding_epoch"))
    is_named = isinstance(activation_id, str) and bool(activation_id.strip())
    if not is_named or epoch is None or epoch < 1 or plain.cursor is None:
        raise _became_stale()
    return attrs.evolve(plain, invocation=invocation, activation_id=str(activation_id), epoch=epoch)


def _became_stale() -> PollRefused:
    return refused(_STALE)
