"""The calls of a supervised room turn: each goes to the supervisor, which does it once.

(Source: mcp-tools 16.1, supervisor 5.5.) A supervisor that is away, or falls silent, is asked again
under the same request for PATIENCE: what it did before is not done again. One that does no calls
itself says what is to be done, and is told what became of it.
"""

import functools
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import attrs

from letagents.domain import effects, modes, surfaces
from letagents.domain.errors import LetAgentsError, Malformed, NotAvailable
from letagents.domain.modes import Mode
from letagents.domain.supervised import (
    Answered,
    AnswerWithTurn,
    Call,
    DoIt,
    MayBeDone,
    MoveAfterTurn,
    SupervisorGarbled,
    SupervisorSilent,
    SupervisorUnavailable,
)
from letagents.domain.surfaces import Caller
from letagents.entrypoints.mcp.errors import Result, told_to_the_model
from letagents.entrypoints.mcp.tool import Tool
from letagents.ports.supervisor import Supervisor

if TYPE_CHECKING:  # what rooms stand on is loaded where a supervisor leaves the calls to us
    from letagents.application.borrowed import BorrowedRooms
    from letagents.application.client import Client

T = TypeVar("T")

PATIENCE = 30.0
PAUSE = 0.25
"""Seconds."""
_REST_OF_THE_LINE = 8192
"""Bytes that a line takes beside the result that it tells of."""
_WORD = re.compile(r"\w+")


@attrs.define(eq=False)
class Supervised:
    """A supervised process: its supervisor, and the rooms that it calls itself where it has to."""

    supervisor: Supervisor
    caller: Caller
    _opening: "Callable[[], AbstractAsyncContextManager[BorrowedRooms]]"
    _opened: AsyncExitStack = attrs.field(factory=AsyncExitStack)
    _rooms: "BorrowedRooms | None" = None
    _lock: anyio.Lock = attrs.field(factory=anyio.Lock)

    async def rooms(self) -> "BorrowedRooms":
        """Return its rooms, opened now if they were not yet."""
        async with self._lock:
            if self._rooms is None:
                self._rooms = await self._opened.enter_async_context(self._opening())
            return self._rooms

    async def aclose(self) -> None:
        """Close what was opened."""
        await self._opened.aclose()


async def called(
    tool: Tool[Any], process: Supervised, arguments: Mapping[str, object], request_id: object
) -> Result:
    """Return what becomes of a call, or a result that says why nothing does."""

    async def call() -> Result:
        if modes.refusal(tool.name, mode=Mode.SUPERVISED, bounded=True) is not None:
            return await _refused(tool)
        from letagents.entrypoints.mcp.reading import read

        given = read(tool.parameters, arguments)
        asked = _call(tool, arguments, request_id)
        supervisor = process.supervisor
        answered = await persistently(lambda: supervisor.execute(asked))
        if answered is not None:
            return _result(answered)
        told = await persistently(lambda: supervisor.prepare(asked))
        if isinstance(told, DoIt):
            doing = functools.partial(_done_here, process, asked, told, given)
            return await within_reach(process.caller, doing)
        return _result(_instead(told, process.caller.provider))

    return await told_to_the_model(tool, arguments, call)


async def _refused(tool: Tool[Any]) -> Result:
    from letagents.entrypoints.mcp.calls import done

    return done(await tool.run(None, {}, silent))


async def silent(progress: float, total: float | None = None, message: str | None = None) -> None:
    """Tell nobody how far a call is."""


def _call(tool: Tool[Any], arguments: Mapping[str, object], request_id: object) -> Call:
    named = "" if request_id is None else str(request_id).strip()
    if not named:
        raise Malformed(
            f"Supervised tool {tool.name} is missing its MCP request id; refusing an effect that "
            "cannot be deduplicated safely.",
            remedy="Call it with a request id.",
        )
    return Call(named, tool.name, arguments, is_change=not surfaces.reads(tool.name))


async def persistently(ask: Callable[[], Awaitable[T]], *also: type[LetAgentsError]) -> T:
    """Return what `ask` returns, which is called again for PATIENCE from its first failure on.

    It is where nobody answers, and after errors of the kinds `also`.

    Raises: as `ask`, the last time.
    """
    passing: tuple[type[LetAgentsError], ...] = (SupervisorUnavailable, SupervisorSilent, *also)
    until: float | None = None
    while True:
        try:
            return await ask()
        except SupervisorGarbled:
            raise
        except passing:
            now = anyio.current_time()
            until = now + PATIENCE if until is None else until
            if now >= until:
                raise
        await anyio.sleep(PAUSE)


def _instead(
    told: Answered | MayBeDone | AnswerWithTurn | MoveAfterTurn, provider: str | None
) -> Answered:
    """Return the result that there is, or what a model is told in the place of one."""
    from letagents.application.agents import turn_instructions

    match told:
        case Answered():
            return told
        case MayBeDone():
            said = turn_instructions.uncertain(told.effect_id, told.error)
        case AnswerWithTurn():
            said = turn_instructions.final_answer(told.message_id, provider)
        case MoveAfterTurn():
            said = turn_instructions.move(told.destination, provider)
    return Answered(told.room_id, said)


async def _done_here(
    process: Supervised, asked: Call, told: DoIt, given: Mapping[str, Any]
) -> Result:
    """Run a tool in this process, and tell the supervisor what became of it.

    What the tool raises is told, rather than that this could not be noted. That what was done could
    not be noted is an error of the call, and never says that it was not done.
    """
    supervisor = process.supervisor
    try:
        result = await _run_here(process, asked, told.room_id, given)
    except Exception as error:
        with suppress(LetAgentsError):
            await supervisor.complete(told.effect_id, error=_said(error))
        raise
    await _noted(supervisor, told.effect_id, _durable(asked, result))
    return result


async def _noted(supervisor: Supervisor, effect_id: str, result: object) -> None:
    """Tell the supervisor of a result; who hears that this failed must not do it again."""
    try:
        await supervisor.complete(effect_id, result=result)
    except LetAgentsError as error:
        error.remedy = "It was done, and only not noted: do not call it again."
        raise


def _said(error: Exception) -> str:
    """Return what is kept of an error: of one that is not ours only its kind."""
    return str(error) if isinstance(error, LetAgentsError) else type(error).__name__


async def _run_here(
    process: Supervised, asked: Call, room_id: str, given: Mapping[str, Any]
) -> Result:
    from letagents.domain import own_calls
    from letagents.entrypoints.mcp.calls import done
    from letagents.entrypoints.mcp.surface import tools_of
    from letagents.entrypoints.mcp.visit import Visit

    caller = process.caller
    if asked.tool == "complete_room_turn":
        return _answered_turn(room_id, given)
    if caller.is_in_local_turn:
        raise NotAvailable(
            "This supervisor does no calls itself, and its rooms are in reach of nobody else.",
            remedy="Tell your user: let `letagents supervise` of the same version run it.",
        )
    own_calls.check_stays(asked.tool, given, room_id)
    own = {tool.name: tool for tool in tools_of(caller, Mode.OWNER)}[asked.tool]
    client = await (await process.rooms()).client(room_id)
    return done(await own.run(Visit(client), as_itself(asked.tool, given, client), silent))


def as_itself(tool: str, given: Mapping[str, Any], client: "Client") -> dict[str, Any]:
    """Return the arguments of a call that names no other session than its agent's own.

    Raises:
        NotAvailable: it does.
    """
    from letagents.domain import own_calls

    here = client.places.current_id
    own = client.connections.own(here) if here is not None else None
    if own is None:
        return dict(given)
    return own_calls.as_itself(tool, given, str(own.session.session_id))


def _answered_turn(room_id: str, given: Mapping[str, Any]) -> Result:
    """Return what is told to who says the answer of the turn, which its supervisor keeps."""
    from letagents.application.agents import turn_instructions
    from letagents.domain import turn_answers

    turn_answers.proposed(given)
    return _result(Answered(room_id, turn_instructions.answer_noted(given["outcome"])))


async def within_reach(caller: Caller, call: Callable[[], Awaitable[T]]) -> T:
    """Return what `call` returns; no error of it names a tool that `caller` cannot call."""
    try:
        return await call()
    except LetAgentsError as error:
        from letagents.domain.own_calls import ENTERING

        named = {name for name in _WORD.findall(error.remedy) if name in surfaces.BY_NAME}
        if named and not named & (set(surfaces.offered(caller)) - set(ENTERING)):
            error.remedy = (
                "Only this agent's supervisor can mend that: say in your answer what happened, and "
                "end your turn."
            )
        raise


def _durable(asked: Call, result: Result) -> object:
    """Return what is kept of a result: a note of a large reading, and of what fits no line."""
    from letagents.application.agents.turn_instructions import not_retained
    from letagents.wire.supervisor import LONGEST_LINE, canonical

    size = len(canonical(result).encode())
    largest = LONGEST_LINE - _REST_OF_THE_LINE if asked.is_change else effects.LARGEST_READ
    return result if size <= largest else not_retained(size, is_change=asked.is_change)


def _result(answered: Answered) -> Result:
    """Return the tool's whole result, which has to be one."""
    result = answered.result
    if not isinstance(result, Mapping) or not isinstance(result.get("content"), list):
        raise Malformed(
            "The supervisor answered with what is no result of a tool.",
            remedy="Use the same version of letagents on both sides; the call was done.",
        )
    return {"isError": False, "resultType": "complete", **result}
