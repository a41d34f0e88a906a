"""What can be read beside tools: whether the process is ready, and the newest words of a room.

(Source: mcp-tools 15.) Who subscribes to a room is told when something is said in it: by
`resources/updated` in both eras of the protocol, and in the one with sessions by
`resources/list_changed` too, as clients of that time expect; in the other no list has changed.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import attrs
import orjson
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp_types import (
    INVALID_PARAMS,
    EmptyResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    TextResourceContents,
    UnsubscribeRequestParams,
)

from letagents.domain.errors import LetAgentsError, NotAvailable, UnknownRoom
from letagents.entrypoints.mcp.opening import Sessions
from letagents.entrypoints.mcp.visit import Visit

if TYPE_CHECKING:  # rooms are loaded when one is read
    from letagents.domain.ids import RoomId
    from letagents.entrypoints.mcp.watches import Watches

READINESS = "letagents://runtime/readiness"
MESSAGES = "letagents://rooms/{room_id}/messages"
NEWEST = 100
LONGEST = 2_048
"""So many characters of an address that nothing has are repeated."""
JSON = "application/json"

_OF_A_ROOM = re.compile(r"letagents://rooms/(?P<room>.+)/messages")

Context = ServerRequestContext[Any]


def serve_resources(
    server: Server[Any], readiness: Mapping[str, object], sessions: Sessions[Visit | None]
) -> None:
    """Add the handlers of resources to `server`; without a visit there are no rooms."""
    served = _Resources(readiness, sessions)
    add = server.add_request_handler
    add("resources/list", PaginatedRequestParams, served.listed)
    add("resources/templates/list", PaginatedRequestParams, served.templates)
    add("resources/read", ReadResourceRequestParams, served.read)
    add("resources/subscribe", SubscribeRequestParams, served.subscribe)
    add("resources/unsubscribe", UnsubscribeRequestParams, served.unsubscribe)
    add("subscriptions/listen", SubscriptionsListenRequestParams, served.listen)


@attrs.define(eq=False)
class _Resources:
    readiness: Mapping[str, object]
    sessions: Sessions[Visit | None]

    async def listed(self, _context: Context, _params: object) -> ListResourcesResult:
        ready = Resource(
            name="runtime_readiness",
            uri=READINESS,
            description="Which profile and tools this process serves.",
            mime_type=JSON,
        )
        return ListResourcesResult(resources=[ready])

    async def templates(self, _context: Context, _params: object) -> ListResourceTemplatesResult:
        messages = ResourceTemplate(
            name="room_messages",
            uri_template=MESSAGES,
            description="The newest messages of a room, oldest first.",
            mime_type=JSON,
        )
        return ListResourceTemplatesResult(resource_templates=[messages])

    async def read(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        uri = str(params.uri)
        content = self.readiness if uri == READINESS else await self._messages(uri, context)
        text = orjson.dumps(content).decode()
        contents = TextResourceContents(uri=uri, mime_type=JSON, text=text)
        return ReadResourceResult(contents=[contents])

    async def _messages(self, uri: str, context: Context) -> Mapping[str, object]:
        from letagents.domain.messages import Latest
        from letagents.wire import readable

        room_id = _room_of(uri)
        visit = await self._visit_of(uri, context)
        try:
            page = await visit.client.messages.read(room_id, Latest(NEWEST))
        except LetAgentsError as error:
            raise _refused(uri, error) from error
        kept = readable.bounded(readable.page(page.messages), "last")
        content: dict[str, object] = {"messages": kept.items}
        if older := page.messages[0].id.number - 1 + kept.omitted if page.messages else 0:
            oldest = kept.items[0]["id"]
            content["truncated"] = True
            content["omitted_message_count"] = older
            content["older"] = (
                f"read_messages(room_id={str(room_id)!r}, before_message_id={oldest!r})"
            )
        return content

    async def subscribe(self, context: Context, params: SubscribeRequestParams) -> EmptyResult:
        uri, session = str(params.uri), context.session
        if _OF_A_ROOM.fullmatch(uri) is None:
            return EmptyResult()  # what never changes may be subscribed to, and is never heard of

        async def tell() -> None:
            await session.send_resource_updated(uri)
            await session.send_resource_list_changed()

        try:
            watches = await self._watches_of(uri, context)
            watches.keep(uri, await watches.begin(_room_of(uri), tell))
        except LetAgentsError as error:
            raise _refused(uri, error) from error
        return EmptyResult()

    async def unsubscribe(self, context: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        visit = await self.sessions(context)
        if visit is not None and visit.watches is not None:
            visit.watches.end(str(params.uri))
        return EmptyResult()

    async def listen(
        self, context: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        bus = InMemorySubscriptionBus()
        with ExitStack() as ends:
            for uri in dict.fromkeys(params.notifications.resource_subscriptions or ()):
                if (end := await self._watched(uri, bus, context)) is not None:
                    ends.callback(end)
            return await ListenHandler(bus)(context, params)

    async def _watched(
        self, uri: str, bus: InMemorySubscriptionBus, context: Context
    ) -> Callable[[], None] | None:
        """Watch a room for a stream; what is no room there is accepted, and never heard of."""

        async def tell() -> None:
            await bus.publish(ResourceUpdated(uri))

        if _OF_A_ROOM.fullmatch(uri) is None:
            return None
        try:
            return await (await self._watches_of(uri, context)).begin(_room_of(uri), tell)
        except UnknownRoom:
            return None
        except LetAgentsError as error:
            raise _refused(uri, error) from error

    async def _visit_of(self, uri: str, context: Context) -> Visit:
        if (visit := await self.sessions(context)) is None:
            raise _refused(uri, _no_rooms())
        return visit

    async def _watches_of(self, uri: str, context: Context) -> "Watches":
        if (watches := (await self._visit_of(uri, context)).watches) is None:
            raise _refused(uri, _no_rooms())
        return watches


def _room_of(uri: str) -> "RoomId":
    from letagents.domain import rooms

    found = _OF_A_ROOM.fullmatch(uri)
    if found is None:
        raise _not_found(uri, f"There is no such resource. Read {MESSAGES}, or {READINESS}.")
    try:
        return rooms.canonical(unquote(found["room"], errors="strict"))
    except (LetAgentsError, UnicodeDecodeError) as error:
        raise _not_found(
            uri, "No room can be called that. Read it under an id as get_current_room shows it."
        ) from error


def _no_rooms() -> LetAgentsError:
    return NotAvailable(
        "This process has no rooms.", remedy="Read it in a process that nobody supervises."
    )


def _refused(uri: str, error: LetAgentsError) -> MCPError:
    return _not_found(uri, f"{error} [{error.code}]")


def _not_found(uri: str, why: str) -> MCPError:
    from letagents.domain.ids import quoted

    said = f"Resource {quoted(uri)}: {why}"
    return MCPError(code=INVALID_PARAMS, message=said, data={"uri": uri[:LONGEST]})
