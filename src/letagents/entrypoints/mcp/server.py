"""A table of tools as an MCP server, in both eras of the protocol."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from mcp.server import NotificationOptions, Server, ServerRequestContext
from mcp.server.models import InitializationOptions
from mcp_types import (
    CallToolRequestParams,
    ListToolsResult,
    PaginatedRequestParams,
    ToolAnnotations,
)
from mcp_types import Tool as ListedTool

from letagents.entrypoints.mcp.errors import Result
from letagents.entrypoints.mcp.opening import Sessions
from letagents.entrypoints.mcp.parameters import input_schema
from letagents.entrypoints.mcp.tool import Tool

S = TypeVar("S")

Through = Callable[[Tool[S], S, Mapping[str, object], object], Awaitable[Result]]
"""Answers a call in the place of its tool; the last is the request's own id, as it was sent."""


def build_server(
    tools: Sequence[Tool[S]],
    sessions: Sessions[S],
    *,
    name: str = "letagents",
    version: str,
    instructions: str | None = None,
    before: Callable[[S, str | None], Awaitable[None]] | None = None,
    through: "Through[S] | None" = None,
    withheld: Mapping[str, dict[str, object]] | None = None,
) -> Server[Any]:
    """Return a server of `tools`, each of which acts on the session that its call is part of.

    Before each call, `before` hears what the client's program says that it is called. With
    `through`, calls are not answered by the tools themselves. `withheld` is what is
    answered to calls of tools that are not listed; nothing is opened for that. Resources are
    added with the server's own `add_request_handler`; what it says of its
    capabilities follows from the handlers that it has.
    """
    by_name = {tool.name: tool for tool in tools}
    if len(by_name) != len(tools):
        raise ValueError("two tools have one name")
    listed = ListToolsResult(tools=[_listed(tool) for tool in tools])

    async def list_tools(
        _context: ServerRequestContext[Any], _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        sessions.soon()
        return listed

    async def call_tool(
        context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> Result:
        from letagents.entrypoints.mcp import calls  # the tools are listed before one is called

        tool = by_name.get(params.name)
        if tool is None:
            if withheld is not None and params.name in withheld:
                return calls.done(withheld[params.name])
            raise calls.unknown(params.name, by_name)
        session = await sessions(context)
        if before is not None:
            await before(session, _program(context))
        if through is not None:
            return await through(tool, session, params.arguments or {}, context.request_id)
        progress = context.session.report_progress
        return await calls.called(tool, session, params.arguments or {}, progress)

    schemas = {tool.name: tool.input_schema for tool in listed.tools}
    server: Server[Any] = Server(
        name,
        version=version,
        instructions=instructions,
        on_list_tools=list_tools,
        # Else all tools are listed anew for each call over HTTP, to look at one of them.
        get_tool_input_schema=schemas.get,
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
