"""The calls of a supervised room turn: each goes to the supervisor, which does it once.

(Source: mcp-tools 16.1, supervisor 5.5.) A supervisor that is away, or falls silent, is asked again
under the same request for PATIENCE: what it did before is not done again.
"""

from collections.abc import Mapping
from typing import Any

import anyio

from letagents.domain import modes, surfaces
from letagents.domain.errors import Malformed, NotAvailable
from letagents.domain.modes import Mode
from letagents.domain.supervised import (
    Answered,
    Call,
    SupervisorSilent,
    SupervisorUnavailable,
)
from letagents.entrypoints.mcp.errors import Result, told_to_the_model
from letagents.entrypoints.mcp.tool import Tool
from letagents.ports.supervisor import Supervisor

PATIENCE = 30.0
PAUSE = 0.25
"""Seconds."""


async def called(
    tool: Tool[Any], supervisor: Supervisor, arguments: Mapping[str, object], request_id: object
) -> Result:
    """Return what the supervisor answers to a call, or a result that says why there is none."""

    async def call() -> Result:
        if modes.refusal(tool.name, mode=Mode.SUPERVISED, bounded=True) is not None:
            return await _refused(tool)
        from letagents.entrypoints.mcp.reading import read

        read(tool.parameters, arguments)
        answered = await _executed(supervisor, _call(tool, arguments, request_id))
        return _result(answered)

    return await told_to_the_model(tool, arguments, call)


async def _refused(tool: Tool[Any]) -> Result:
    from letagents.entrypoints.mcp.calls import done

    return done(await tool.run(None, {}, _silent))


async def _silent(progress: float, total: float | None = None, message: str | None = None) -> None:
    """Tell nobody: what is refused makes no progress."""


def _call(tool: Tool[Any], arguments: Mapping[str, object], request_id: object) -> Call:
    named = "" if request_id is None else str(request_id).strip()
    if not named:
        raise Malformed(
            f"Supervised tool {tool.name} is missing its MCP request id; refusing an effect that "
            "cannot be deduplicated safely.",
            remedy="Call it with a request id.",
        )
    return Call(named, tool.name, arguments, is_change=not surfaces.reads(tool.name))


async def _executed(supervisor: Supervisor, call: Call) -> Answered:
    until = anyio.current_time() + PATIENCE
    while True:
        try:
            answered = await supervisor.execute(call)
        except (SupervisorUnavailable, SupervisorSilent):
            if anyio.current_time() >= until:
                raise
            await anyio.sleep(PAUSE)
        else:
            break
    if answered is None:
        raise NotAvailable(
            "This supervisor does no calls itself.",
            remedy="Tell your user: let `letagents supervise` of the same version run it.",
        )
    return answered


def _result(answered: Answered) -> Result:
    """Return the tool's whole result, which has to be one."""
    result = answered.result
    if not isinstance(result, Mapping) or not isinstance(result.get("content"), list):
        raise Malformed(
            "The supervisor answered with what is no result of a tool.",
            remedy="Use the same version of letagents on both sides; the call was done.",
        )
    return {"isError": False, "resultType": "complete", **result}
