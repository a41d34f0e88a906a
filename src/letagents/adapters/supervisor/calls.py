"""Asking a supervisor, request by request; what it answers is believed or not.

(Source: supervisor 2.1, 4.4, 4.11.) What fails before the request is written is told as nothing
that happened; what fails after it as something that may have.
"""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

import attrs

from letagents.adapters.supervisor.connecting import Connection, Kept, TooLong, connected
from letagents.domain.supervised import (
    CoordinatesWrong,
    SupervisorGarbled,
    SupervisorRefused,
    SupervisorSilent,
    SupervisorUnavailable,
)
from letagents.ports.ids import Ids
from letagents.wire import supervisor as wire
from letagents.wire.supervisor import NotALine, Request, Response

TIMED_OUT = "Timed out communicating with the supervisor daemon."
CLOSED = "Supervisor connection closed before a response."
_LATER = "Call again: it may just be starting. `letagents supervise --foreground` starts one."
_NOT_OURS = "Use a home of this user's: LETAGENTS_HOME may name that of another."
_UNKNOWN = "Look whether it was done before you ask for it again: asked again, it is done again."
_TOO_LONG = "The path of the supervisor's socket is longer than that of a socket can be."
_SHORTER = "Set LETAGENTS_HOME to a shorter path, and start the supervisor and this process anew."
_AS_IT_SAYS = "Do as it says, or go on without it."
_OTHER = "Use the same version of letagents on both sides."


@attrs.frozen
class Negotiated:
    """What a supervisor speaks, and which one it is; None where it does not say."""

    version: int
    generation: int | None
    identity: str | None
    capabilities: frozenset[str] = frozenset()
    """What it says that it can do."""


@attrs.frozen
class Deadline:
    """Until when an answer is waited for, on the loop's clock; None is for ever."""

    at: float | None

    @classmethod
    def within(cls, seconds: float) -> "Deadline":
        """Return the deadline so many seconds from now."""
        return cls(asyncio.get_running_loop().time() + seconds)

    def left(self) -> float:
        """Return the seconds that are left."""
        return float("inf") if self.at is None else self.at - asyncio.get_running_loop().time()


NEVER = Deadline(None)


@attrs.frozen
class Line:
    """The way to a supervisor."""

    socket: Path
    _ids: Ids
    _kept: Kept | None = None
    """What is left for the next request, where the supervisor lets a connection be kept."""

    async def negotiate(self, deadline: Deadline) -> Negotiated:
        """Return what the supervisor speaks.

        Raises:
            SupervisorRefused: it speaks nothing that we do, or makes no sense.
            SupervisorGarbled: what it answers is no answer.
            SupervisorUnavailable: it did not answer; nothing happened by asking this.
        """
        try:
            response = await self.ask(wire.FIRST_VERSION, wire.NEGOTIATE, None, deadline)
        except SupervisorGarbled:
            raise
        except SupervisorSilent as error:
            raise SupervisorUnavailable(error.happened, remedy=_LATER) from error
        if not response.ok:
            raise refused(response.error or "Supervisor protocol negotiation failed.")
        told = response.result
        if not isinstance(told, Mapping):
            raise refused("Supervisor protocol negotiation returned a malformed result.")
        version = wire.whole(told.get("protocol_version"))
        if version not in wire.UNDERSTOOD or version is None:
            raise refused("The supervisor speaks an unsupported version of the protocol.")
        if response.version != version:
            raise refused(
                "Supervisor negotiation response version does not match its negotiated protocol."
            )
        return _negotiated(version, told)

    async def ask(
        self, version: int, method: str, params: Mapping[str, object] | None, deadline: Deadline
    ) -> Response:
        """Return the supervisor's response to one request, whatever it says.

        Raises:
            SupervisorUnavailable: it cannot be asked; nothing happened.
            SupervisorSilent: it was asked and did not answer.
        """
        request = Request(version, self._ids.uuid(), method, params)
        line = request.line()
        if len(line) > wire.LONGEST_LINE:
            raise SupervisorRefused(
                f"The request is longer than the {wire.LONGEST_LINE} bytes that are taken.",
                remedy="Pass less in one call.",
            )
        answer = await self._exchanged(line, deadline)
        try:
            return _response(answer, request)
        except SupervisorGarbled:
            if self._kept is not None:
                self._kept.close()
            raise

    async def _exchanged(self, line: bytes, deadline: Deadline) -> bytes:
        connection = await self._connected(deadline)
        try:
            async with asyncio.timeout_at(deadline.at):
                return await connection.exchange(line)
        except TimeoutError as error:
            raise SupervisorSilent(TIMED_OUT, remedy=_UNKNOWN) from error
        except TooLong as error:
            raise _garbled("The supervisor's response is longer than any is.") from error
        except OSError as error:
            raise SupervisorSilent(CLOSED, remedy=_UNKNOWN) from error
        finally:
            connection.leave(self._kept)

    async def _connected(self, deadline: Deadline) -> Connection:
        if sys.platform == "win32":
            raise SupervisorUnavailable("There is no supervisor on this system.", remedy=_LATER)
        try:
            async with asyncio.timeout_at(deadline.at):
                return await connected(self.socket, self._kept)
        except TimeoutError as error:
            raise SupervisorUnavailable(TIMED_OUT, remedy=_LATER) from error
        except OSError as error:
            if error.errno is None:  # the path was looked at, and nobody was asked
                raise CoordinatesWrong(_TOO_LONG, remedy=_SHORTER) from error
            raise SupervisorUnavailable(
                f"The supervisor cannot be reached: {error.strerror or 'connection refused'}.",
                remedy=_NOT_OURS if isinstance(error, PermissionError) else _LATER,
            ) from error


def refused(happened: str, remedy: str | None = None) -> SupervisorRefused:
    """Return the error for what a supervisor says, or for what cannot be believed of it."""
    return SupervisorRefused(happened, remedy=remedy or _OTHER)


def told(response: Response, otherwise: str) -> SupervisorRefused:
    """Return the error for a refusal, in the supervisor's words if it has any."""
    return refused(response.error or otherwise, response.remedy or _AS_IT_SAYS)


def _garbled(happened: str) -> SupervisorGarbled:
    return SupervisorGarbled(happened, remedy=_UNKNOWN)


def _negotiated(version: int, told: Mapping[str, object]) -> Negotiated:
    generation, pid = wire.whole(told.get("generation")), wire.whole(told.get("pid"))
    started = told.get("started_at")
    is_whole = generation is not None and pid is not None
    flags = told.get("capabilities")
    can = frozenset(
        name
        for name, is_so in (flags.items() if isinstance(flags, Mapping) else ())
        if is_so is True
    )
    if not is_whole or not isinstance(started, str) or not started.strip():
        return Negotiated(version, None, None, can)
    return Negotiated(version, generation, f"{generation}:{pid}:{started}", can)


def _response(answer: bytes, request: Request) -> Response:
    """Return the response to a request that a line is. Raises: SupervisorGarbled."""
    try:
        response = wire.read_response(answer)
    except NotALine as error:
        raise _garbled("The supervisor's response is no message of the protocol.") from error
    if response.id != request.id:
        raise _garbled("Supervisor response id does not match its request.")
    return response
