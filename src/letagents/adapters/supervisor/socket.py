"""The supervisor at the other end of a socket, as the process of one of its agents sees it.

(Source: supervisor 4.) Of what was bound it remembers which request, to which supervisor and in
which version, so that it need not bind again; of what was lent it remembers nothing.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeVar

import anyio
import attrs

from letagents.adapters.supervisor import coordinates, effects, sessions
from letagents.adapters.supervisor.calls import NEVER, Deadline, Line, Negotiated, refused, told
from letagents.adapters.supervisor.checkpoints import Checkpoints
from letagents.adapters.supervisor.connecting import Kept
from letagents.adapters.supervisor.coordinates import Coordinates
from letagents.adapters.supervisor.successors import outlasting, outlasting_until
from letagents.domain import bindings, generations
from letagents.domain.errors import LetAgentsError
from letagents.domain.supervised import (
    NOT_SUPERVISED,
    PATIENCE,
    QUICK,
    STALE,
    Answered,
    Borrowed,
    Bound,
    Call,
    CoordinatesWrong,
    OwnSession,
    SupervisorRefused,
    SupervisorSilent,
    SupervisorUnavailable,
    Told,
)
from letagents.ports.ids import Ids
from letagents.wire import supervisor as wire
from letagents.wire.supervisor import Response

_BIND_AGAIN = "Call again: the session is bound anew then."
_REPLACED = re.compile(
    r"stale (?:daemon|supervisor) generation|Protocol version mismatch", re.IGNORECASE
)
_UNSUPPORTED = re.compile(
    r"Unsupported daemon method:\s*supervisor\.execute_bounded_tool", re.IGNORECASE
)

T = TypeVar("T")
_Route = tuple[OwnSession, Coordinates]


@attrs.define
class _Confirmed:
    """What was bound last: the request, the supervisor if it says which it is, and its version."""

    request: str
    identity: str | None
    version: int


@attrs.define(eq=False)
class SocketSupervisor:
    """The supervisor that the environment, or the folder `here`, names."""

    _environ: Mapping[str, str]
    _home_socket: Path
    _here: Path
    _ids: Ids
    _patience: float = PATIENCE.total_seconds()
    _quick: float = QUICK.total_seconds()
    _gap: float = PATIENCE.total_seconds()
    """Seconds for which a supervisor that is not there may be between two."""
    _pause: Callable[[float], Awaitable[None]] = anyio.sleep
    """Waits between two tries to reach a supervisor that follows another."""
    _confirmed: dict[str, _Confirmed] = attrs.field(factory=dict)
    _known: Negotiated | None = None
    """What the supervisor spoke that did the last call."""
    _kept: Kept = attrs.field(factory=Kept)
    _checkpoints: Checkpoints[_Route] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._checkpoints = Checkpoints(self._send_checkpoint, self._forget)

    async def aclose(self) -> None:
        """Send no checkpoint any longer, and keep no connection."""
        await self._checkpoints.aclose()
        self._kept.close()

    async def settled(self) -> None:
        """Return when no checkpoint is waiting to be sent."""
        await self._checkpoints.settled()

    # --- sessions -------------------------------------------------------------------------------

    async def bind(self, session: OwnSession, *, is_known: bool = False) -> Bound:
        """Let the supervisor know the session. Raises: as Supervisor."""
        at = self._resolved(session)
        if at is None:
            return Bound(is_supervised=False)
        if not session.is_worker:
            only = "A supervised provider must register a worker session."
            raise refused(only, "Leave session_kind out.")
        key = self._key(at, session)
        confirmed = self._confirmed.get(session.session_id)
        try:
            if is_known and confirmed is not None and confirmed.request == key:
                await self._verify(at, session, confirmed)
            else:
                await self._outlasting(lambda: self._bind(at, session, key))
        except SupervisorSilent as error:
            error.remedy = _BIND_AGAIN
            raise
        return Bound(is_supervised=True, context_folder=at.context_folder)

    async def _verify(self, at: Coordinates, session: OwnSession, confirmed: _Confirmed) -> None:
        params = self._shown(at, session)
        try:
            await self._said(
                at, confirmed.version, wire.VERIFY, params, Deadline.within(self._quick)
            )
        except LetAgentsError as error:
            if self._confirmed.get(session.session_id) == confirmed:
                del self._confirmed[session.session_id]
            error.remedy = _BIND_AGAIN
            raise

    async def _bind(self, at: Coordinates, session: OwnSession, key: str) -> None:
        deadline = Deadline.within(self._patience)
        negotiated = await self._line(at).negotiate(deadline)
        fresh = _Confirmed(key, negotiated.identity, negotiated.version)
        if negotiated.identity is not None and self._confirmed.get(session.session_id) == fresh:
            return
        params = self._shown(at, session)
        await self._said(at, negotiated.version, wire.BIND, params, deadline)
        if negotiated.identity is None:
            self._confirmed.pop(session.session_id, None)
        else:
            self._confirmed[session.session_id] = fresh

    async def borrow(self, session: OwnSession) -> Borrowed:
        """Return the credential for one request. Raises: CoordinatesWrong."""
        at = self._resolved(session)
        if at is None:
            return NOT_SUPERVISED
        if not session.is_worker:
            return STALE
        api_url = sessions.checked_api_url(self._environ)
        try:
            return await self._outlasting(lambda: self._borrow(at, session, api_url))
        except (SupervisorRefused, SupervisorSilent, SupervisorUnavailable):
            return STALE

    async def _borrow(self, at: Coordinates, session: OwnSession, api_url: str) -> Borrowed:
        deadline = Deadline.within(self._patience)
        line = self._line(at)
        negotiated = await line.negotiate(deadline)
        if negotiated.generation is None:
            return STALE
        lent = await self._lent(at, session, api_url, negotiated, deadline)
        if lent is not STALE:
            return lent
        now = await line.negotiate(deadline)
        if not generations.is_followed(negotiated.generation, now.generation):
            return STALE
        return await self._lent(at, session, api_url, now, deadline)  # it was asked of another one

    async def _lent(
        self,
        at: Coordinates,
        session: OwnSession,
        api_url: str,
        negotiated: Negotiated,
        deadline: Deadline,
    ) -> Borrowed:
        params = sessions.lending(at, session, negotiated, api_url)
        result = await self._said(at, negotiated.version, wire.BORROW, params, deadline)
        return sessions.borrowed(result)

    async def checkpoint(self, session: OwnSession, cursor: str) -> None:
        """Have it written down soon that the session has seen all up to `cursor`."""
        try:
            at = self._resolved(session)
        except CoordinatesWrong:
            return
        to = bindings.cursor(cursor)
        if at is not None and to is not None and session.is_worker:
            self._checkpoints.schedule((session, at), to)

    async def _send_checkpoint(self, of: _Route, cursor: str) -> None:
        session, at = of
        deadline = Deadline.within(self._patience)
        negotiated = await self._line(at).negotiate(deadline)
        params = sessions.seen(at, session, cursor)
        await self._said(at, negotiated.version, wire.CHECKPOINT, params, deadline)

    def _forget(self, of: _Route) -> None:
        session, at = of
        confirmed = self._confirmed.get(session.session_id)
        if confirmed is not None and confirmed.request == self._key(at, session):
            del self._confirmed[session.session_id]

    # --- effects --------------------------------------------------------------------------------

    async def execute(self, call: Call) -> Answered | None:
        """Have the supervisor do a call; None if it does not do any. Raises: as Supervisor."""
        return await self._outlasting(lambda: self._execute(call))

    async def _execute(self, call: Call) -> Answered | None:
        at, negotiated = await self._for_effects(self._known)
        response = await self._executed(at, negotiated, call)
        if not response.ok and _REPLACED.search(response.error or ""):
            # It was told to one that is there no more: nobody has begun it.
            at, negotiated = await self._for_effects()
            response = await self._executed(at, negotiated, call)
        self._known = negotiated if response.ok else None  # who refuses may be going
        if not response.ok and _UNSUPPORTED.search(response.error or ""):
            return None
        if not response.ok:
            rejected = "The daemon-owned supervised tool was rejected."
            raise told(response, rejected)
        return effects.answered(response.result)

    async def _executed(self, at: Coordinates, negotiated: Negotiated, call: Call) -> Response:
        params = effects.params(at, negotiated, call)
        may_keep = wire.KEEPS in negotiated.capabilities
        if not may_keep:
            self._kept.close()
        line = Line(at.socket, self._ids, self._kept if may_keep else None)
        return await line.ask(negotiated.version, wire.EXECUTE, params, NEVER)

    async def prepare(self, call: Call) -> Told:
        """Ask what is to be done about a call. Raises: as Supervisor."""
        return await self._outlasting(lambda: self._prepare(call))

    async def _prepare(self, call: Call) -> Told:
        at, negotiated = await self._for_effects()
        params = {**effects.params(at, negotiated, call), "mutation": call.is_change}
        deadline = Deadline.within(self._patience)
        return effects.told(
            await self._said(at, negotiated.version, wire.PREPARE, params, deadline)
        )

    async def complete(
        self, effect_id: str, *, result: object = None, error: str | None = None
    ) -> None:
        """Say what became of a call, to whichever supervisor is there. Raises: as Supervisor.

        All tries have one deadline (supervisor 4.8).
        """
        at = self._resolved()
        if at is None:
            raise _nowhere()
        outcome = {"error": error} if error is not None else {"result": result}
        await outlasting_until(
            lambda until: self._complete(at, effect_id, outcome, Deadline(until)),
            within=self._patience,
            pause=self._pause,
        )

    async def _complete(
        self, at: Coordinates, effect_id: str, outcome: Mapping[str, object], deadline: Deadline
    ) -> None:
        negotiated = _numbered(await self._line(at).negotiate(deadline))
        params = {**effects.place(at, negotiated), "effect_id": effect_id, **outcome}
        await self._said(at, negotiated.version, wire.COMPLETE, params, deadline)

    async def _for_effects(self, known: Negotiated | None = None) -> tuple[Coordinates, Negotiated]:
        """Return who asks, and what the supervisor speaks; one that is known is not asked again."""
        at = self._resolved()
        if at is None:
            raise _nowhere()
        if known is not None:
            return at, known
        return at, _numbered(await self._line(at).negotiate(Deadline.within(self._patience)))

    # --- what they have in common -----------------------------------------------------------------

    async def _outlasting(self, act: Callable[[], Awaitable[T]]) -> T:
        return await outlasting(act, within=self._gap, pause=self._pause)

    async def _said(
        self,
        at: Coordinates,
        version: int,
        method: str,
        params: Mapping[str, object],
        deadline: Deadline,
    ) -> object:
        """Return what the supervisor answers, if it does not refuse."""
        response = await self._line(at).ask(version, method, params, deadline)
        refusal, unexpected = _SAID[method]
        if not response.ok:
            raise told(response, refusal)
        if response.version != version:
            raise refused(unexpected)
        return response.result

    def _resolved(self, session: OwnSession | None = None) -> Coordinates | None:
        return coordinates.resolve(
            self._environ, home_socket=self._home_socket, here=self._here, session=session
        )

    def _line(self, at: Coordinates) -> Line:
        return Line(at.socket, self._ids)

    def _key(self, at: Coordinates, session: OwnSession) -> str:
        return sessions.key(at, session, sessions.api_url(self._environ))

    def _shown(self, at: Coordinates, session: OwnSession) -> dict[str, object]:
        return sessions.shown(at, session, sessions.api_url(self._environ))


_SAID = {
    wire.BIND: (
        "Supervisor rejected the worker session binding.",
        "Supervisor binding response used an unexpected protocol version.",
    ),
    wire.VERIFY: (
        "Supervisor rejected the worker session verification.",
        "Supervisor verification response used an unexpected protocol version.",
    ),
    wire.BORROW: (
        "Supervisor rejected the worker credential request.",
        "Supervisor credential response used an unexpected protocol version.",
    ),
    wire.CHECKPOINT: (
        "Supervisor rejected the worker cursor checkpoint.",
        "Supervisor cursor checkpoint response used an unexpected protocol version.",
    ),
    wire.PREPARE: (
        "The supervised effect was rejected.",
        "Supervisor effect response used an unexpected protocol version.",
    ),
    wire.COMPLETE: (
        "The supervised effect completion was rejected.",
        "Supervisor effect completion response used an unexpected protocol version.",
    ),
}
"""What is told of a refusal without words, and of an answer in another version."""


def _numbered(negotiated: Negotiated) -> Negotiated:
    """Return what a supervisor speaks that says which generation it is. Raises: refused."""
    if negotiated.generation is None:
        raise refused("The supervised daemon generation is unavailable.")
    return negotiated


def _nowhere() -> CoordinatesWrong:
    return CoordinatesWrong(
        "The exact supervised daemon coordinates are unavailable.",
        remedy="Have the supervisor start this process: it gives it its coordinates.",
    )
