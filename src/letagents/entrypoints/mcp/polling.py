"""The calls of a process that polls by itself, each of which its supervisor has to admit first.

(Source: mcp-tools 16.2, supervisor 5.5.) A wait begins where the supervisor says that its agent is,
whatever cursor was passed: that one only says up to where the agent has seen the room. What a wait
or a reading brought is shown only once the supervisor lets it. A supervisor that is away, or has
just begun, is asked again for PATIENCE, and what is only read is read again then.
"""

import functools
from collections.abc import Mapping
from typing import Any

import attrs

from letagents.domain import custody, own_calls, rooms
from letagents.domain.custody import READ, WAIT, Admission, Invocation, PollDeferred
from letagents.domain.modes import Mode
from letagents.entrypoints.mcp.errors import Result, told_to_the_model
from letagents.entrypoints.mcp.supervised import (
    Supervised,
    as_itself,
    persistently,
    silent,
    within_reach,
)
from letagents.entrypoints.mcp.tool import Tool
from letagents.ports.custody import Custody


@attrs.define(eq=False)
class Poller:
    """A process that polls by itself; `process_id` is a name that no other has."""

    process: Supervised
    custody: Custody
    process_id: str


async def called(
    tool: Tool[Any], poller: Poller, arguments: Mapping[str, object], request_id: object
) -> Result:
    """Return what becomes of a call, or a result that says why nothing does."""

    async def call() -> Result:
        from letagents.entrypoints.mcp.calls import done
        from letagents.entrypoints.mcp.reading import read

        given = read(tool.parameters, arguments)
        invocation = _invocation(poller, given, request_id) if tool.name == WAIT else None
        if tool.name in (WAIT, READ):
            show = functools.partial(_shown, tool.name, poller, given, invocation)
            return done(await persistently(show, PollDeferred))
        admission = await persistently(lambda: poller.custody.admit(tool.name), PollDeferred)
        return done(await _run(tool.name, poller, given, admission))

    reaching = functools.partial(within_reach, poller.process.caller, call)
    return await told_to_the_model(tool, arguments, reaching)


async def _shown(
    name: str, poller: Poller, given: Mapping[str, Any], invocation: Invocation | None
) -> dict[str, object]:
    """Return what a wait or a reading brought, once it may be shown."""
    admission = await poller.custody.admit(name, invocation)
    result = await _run(name, poller, given, admission)
    ends = custody.frontier(result, admission) if name == WAIT else None
    await poller.custody.release(name, admission, ends)
    return result


def _invocation(poller: Poller, given: Mapping[str, Any], request_id: object) -> Invocation:
    room_id, session_id = given.get("room_id"), given.get("agent_session_id")
    return custody.invocation(
        poller.process_id,
        request_id,
        given.get("after_message_id"),
        room_id=str(rooms.canonical(room_id)) if isinstance(room_id, str) else None,
        session_id=session_id if isinstance(session_id, str) else None,
    )


async def _run(
    name: str, poller: Poller, given: Mapping[str, Any], admission: Admission
) -> dict[str, object]:
    from letagents.entrypoints.mcp.surface import tools_of
    from letagents.entrypoints.mcp.visit import Visit

    caller = poller.process.caller
    own = {tool.name: tool for tool in tools_of(caller, Mode.OWNER)}[name]
    _check_room(name, given, admission)
    client = await (await poller.process.rooms()).client(admission.room_id)
    itself = as_itself(name, given, client)
    return await own.run(Visit(client), _from(name, itself, admission), silent)


def _check_room(name: str, given: Mapping[str, Any], admission: Admission) -> None:
    asked = given.get("room_id")
    if isinstance(asked, str) and str(rooms.canonical(asked)) != admission.room_id:
        raise custody.refused(
            "Custodial tool room does not match its exact authority.", "Leave room_id out."
        )
    own_calls.check_stays(name, given, admission.room_id)


def _from(name: str, given: Mapping[str, Any], admission: Admission) -> dict[str, Any]:
    """Return the arguments of a call, of which a wait begins at the agent's own cursor."""
    if name != WAIT:
        return dict(given)
    if admission.cursor is None:
        raise custody.refused("Custodial polling has no durable cursor; refusing a tail fallback.")
    return {**given, "after_message_id": admission.cursor}
