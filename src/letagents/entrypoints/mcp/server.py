"""A table of tools as an MCP server, in both eras of the protocol."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import orjson
from mcp import MCPError
from mcp.server import NotificationOptions, Server, ServerRequestContext
from mcp.server.models import InitializationOptions
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    ListToolsResult,
    PaginatedRequestParams,
    ToolAnnotations,
)
from mcp_types import Tool as ListedTool

from letagents.domain.bounds import RESULT_LIMIT
from letagents.domain.ids import quoted
from letagents.entrypoints.mcp.errors import Result, told_to_the_model
from letagents.entrypoints.mcp.parameters import input_schema
from letagents.entrypoints.mcp.reading import read
from letagents.entrypoints.mcp.tool import Progress, Tool
from letagents.wire.bounds import utf8_size, within

S = TypeVar("S")

LONGEST_CHARACTER = 4
"""Bytes of one character at most."""


def build_server(
    tools: Sequence[Tool[S]],
    session: S,
    *,
    name: str = "letagents",
    version: str,
    instructions: str | None = None,
    told: Callable[[S, str | None], None] | None = None,
) -> Server[Any]:
    """Return a server of `tools`, each of which acts on `session`.

    Before each call, `told` hears what the client's program says that it is called. Prompts and
    resources are added with the server's own `add_request_handler`; what it says of its
    capabilities follows from the handlers that it has.
    """
    by_name = {tool.name: tool for tool in tools}
    if len(by_name) != len(tools):
        raise ValueError("two tools have one name")
    listed = ListToolsResult(tools=[_listed(tool) for tool in tools])

    async def list_tools(
        _context: ServerRequestContext[Any], _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return listed

    async def call_tool(
        context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> Result:
        tool = by_name.get(params.name)
        if tool is None:
            raise _unknown(params.name, by_name)
        if told is not None:
            told(session, _program(context))
        return await _called(tool, session, params.arguments or {}, context.session.report_progress)

    server: Server[Any] = Server(
        name, version=version, instructions=instructions, on_list_tools=list_tools
    )
    # Not `on_call_tool`, which takes only a model: a plain result is checked and copied once less.
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)
    # What is in there by default is tracing: it costs every call time, and nobody here reads it.
    server.middleware.clear()
    return server


def options_of(server: Server[Any]) -> InitializationOptions:
    """Return what `server` says of itself: that it tells of resources, where it has any."""
    has_resources = server.get_request_handler("resources/list") is not None
    changes = NotificationOptions(resources_changed=has_resources)
    return server.create_initialization_options(changes)


def _program(context: ServerRequestContext[Any]) -> str | None:
    """Return the client's name: of its first words in one era, of each call in the other."""
    client = context.session.client_params
    return client.client_info.name if client is not None else None


def _listed(tool: Tool[Any]) -> ListedTool:
    return ListedTool(
        name=tool.name,
        description=tool.purpose,
        input_schema=input_schema(tool.parameters),
        output_schema=dict(tool.result),
        annotations=ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.open_world,
        ),
    )


def _unknown(name: str, tools: Mapping[str, Tool[Any]]) -> MCPError:
    return MCPError(
        code=INVALID_PARAMS,
        message=f"There is no tool {quoted(name)}. The tools are: {', '.join(tools)}.",
    )


async def _called(
    tool: Tool[S], session: S, arguments: Mapping[str, object], progress: Progress
) -> Result:
    async def call() -> Result:
        return _done(await tool.run(session, read(tool.parameters, arguments), progress))

    return await told_to_the_model(tool, arguments, call)


def _done(result: dict[str, object]) -> Result:
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
