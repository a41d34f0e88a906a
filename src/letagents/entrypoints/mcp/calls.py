"""How a call is answered: what it says is checked, the tool runs, and its result becomes text."""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

import orjson
from mcp import MCPError
from mcp_types import INVALID_PARAMS

from letagents.domain.bounds import RESULT_LIMIT
from letagents.domain.ids import quoted
from letagents.entrypoints.mcp.errors import Result, told_to_the_model
from letagents.entrypoints.mcp.reading import read
from letagents.entrypoints.mcp.tool import Progress, Tool
from letagents.wire.bounds import utf8_size, within

S = TypeVar("S")

LONGEST_CHARACTER = 4
"""Bytes of one character at most."""


def unknown(name: str, tools: Mapping[str, Tool[Any]]) -> MCPError:
    """Return the refusal of a tool that there is not."""
    return MCPError(
        code=INVALID_PARAMS,
        message=f"There is no tool {quoted(name)}. The tools are: {', '.join(tools)}.",
    )


async def called(
    tool: Tool[S], session: S, arguments: Mapping[str, object], progress: Progress
) -> Result:
    """Return what the tool returns, or a result that says why it does not."""

    async def call() -> Result:
        return done(await tool.run(session, read(tool.parameters, arguments), progress))

    return await told_to_the_model(tool, arguments, call)


def done(result: dict[str, object]) -> Result:
    """Return what a tool returned as it goes over the wire."""
    text = _compact(result)
    if len(text) > RESULT_LIMIT // LONGEST_CHARACTER and utf8_size(text) > RESULT_LIMIT:
        result = within(result, RESULT_LIMIT)
        text = _compact(result)
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": result,
        "isError": False,
        "resultType": "complete",
    }


def _compact(result: dict[str, object]) -> str:
    """Return `result` as JSON without spaces."""
    try:
        return orjson.dumps(result).decode()
    except orjson.JSONEncodeError:  # a huge number, or what UTF-8 cannot hold: the framing's matter
        return json.dumps(result, ensure_ascii=False, separators=(",", ":"))
