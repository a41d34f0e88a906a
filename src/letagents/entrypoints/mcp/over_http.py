"""The tools over HTTP, on a server, for clients that start no process; in both eras.

In the older era a client has a session, and with it a current room and a voice of its own, as a
chat over pipes has. In the newer one each call stands alone: it says which room and which worker it
means. What lasts is kept for the account either way (`application/server/remote_chats.py`).

Who calls is known here already: the server that this is part of lets nobody else in.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import attrs
from anyio.abc import TaskGroup
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import CallNext, HandlerResult
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from letagents.application.client import LetAgents
from letagents.application.server.remote_chats import RemoteChats
from letagents.domain.accounts import Account, Principal, signed_in
from letagents.domain.surfaces import Caller
from letagents.entrypoints.mcp.prompts import Prompts
from letagents.entrypoints.mcp.resources import serve_resources
from letagents.entrypoints.mcp.server import build_server
from letagents.entrypoints.mcp.surface import readiness, tools_of
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.visit import Visit
from letagents.entrypoints.mcp.watches import Watches

SESSIONS = 2_000
"""So many clients of the older era are served at once."""
SESSIONS_OF_ONE = 100
"""So many of them by one account."""
IDLE = 30 * 60.0
"""Seconds after which a session ends in which nothing is asked."""

CANCELLED = -32800
"""The code of an answer to who has gone."""

INSTRUCTIONS = (
    "Rooms of a server. Register with register_agent_session(registration_key=..., room_id=...) "
    "and pass the worker_id that it returns, and room_id, with every call. Nothing here can look "
    "at your disk: tools that would say what to do instead."
)

_CALLING, _VISIT = "letagents.calling", "letagents.visit"
CALLER = Caller(is_afar=True)

Context = ServerRequestContext[Any]


@attrs.frozen
class Calling:
    """Who makes a request, from which address, and when they have gone."""

    principal: Principal
    address: str
    gone: anyio.Event = attrs.field(factory=anyio.Event)

    @property
    def account(self) -> Account:
        """The account that calls."""
        return signed_in(self.principal)


@attrs.define(eq=False)
class Visits:
    """The visits of all clients: each lasts as long as the SDK keeps that client's connection.

    So it lasts for a session in the older era, and for one call in the newer one.
    """

    chats: RemoteChats
    tasks: TaskGroup
    _sessions: Counter[str] = attrs.field(factory=Counter)

    async def __call__(self, context: Any = None, /) -> Visit:
        """Return the visit that a call is part of."""
        connection = _connection(context)
        if (visit := connection.state.get(_VISIT)) is None:
            visit = connection.state[_VISIT] = self._opened(context)
            lasts = not _stands_alone(context)
            connection.exit_stack.push_async_callback(self._close, visit, remembers=lasts)
        return visit  # type: ignore[no-any-return]  # nobody else puts anything there

    def soon(self) -> None:
        """Do nothing: all that a visit needs is there."""

    def is_full(self, account: Account) -> bool:
        """Whether an account has as many sessions as one may have."""
        return self._sessions[account.account_id] >= SESSIONS_OF_ONE

    def counted(self, context: Context) -> None:
        """Count the session that begins with a call, for as long as it lasts."""
        account_id = _calling(context).account.account_id
        self._sessions[account_id] += 1
        _connection(context).exit_stack.callback(self._left, account_id)

    def _left(self, account_id: str) -> None:
        self._sessions[account_id] -= 1
        if not self._sessions[account_id]:
            del self._sessions[account_id]

    def _opened(self, context: Context) -> Visit:
        calling, alone = _calling(context), _stands_alone(context)
        letagents: LetAgents = self.chats.of(calling.principal, calling.address)
        client = letagents.chat(lasts=not alone)
        return Visit(client, Prompts(told=alone), Watches(client.messages, self.tasks))

    async def _close(self, visit: Visit, *, remembers: bool) -> None:
        if visit.watches is not None:
            visit.watches.close()
        if remembers:
            await visit.client.places.remember()


def _connection(context: Context) -> Any:
    """Return what the SDK keeps of a client; it has no public way to it from a call."""
    return context.session._connection


def _calling(context: Context) -> Calling:
    request: Any = context.request
    calling: Calling = request.scope[_CALLING]
    return calling


def _stands_alone(context: Context) -> bool:
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


@attrs.frozen
class OverHttp:
    """What answers requests of accounts, whatever their path."""

    _manager: StreamableHTTPSessionManager
    _visits: Visits

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send, *, principal: Principal, address: str
    ) -> None:
        """Answer a request of `principal`, which comes from `address`."""
        calling = Calling(principal, address)
        scope[_CALLING] = calling
        # Sessions are bound to this by the SDK: to anybody else they are not there.
        scope["user"] = AuthenticatedUser(
            AccessToken(token="", client_id=calling.account.account_id, scopes=[])
        )
        try:
            if _begins_session(scope) and self._visits.is_full(calling.account):
                full = Response("Too many sessions of this account are open.", 429)
                await full(scope, receive, send)
            else:
                await self._manager.handle_request(scope, receive, send)
        finally:
            calling.gone.set()


def _begins_session(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    era = headers.get("mcp-protocol-version")
    return "mcp-session-id" not in headers and era not in MODERN_PROTOCOL_VERSIONS


@asynccontextmanager
async def over_http(
    chats: RemoteChats,
    version: str,
    *,
    more: Sequence[Tool[Visit]] = (),
    extend: Callable[[Server[Any]], object] = bool,
) -> AsyncIterator[OverHttp]:
    """Open what serves `chats` over HTTP; all sessions end with it.

    It serves the tools in `more` as well; whatever else `extend` gives to its server, it has too.
    """
    async with anyio.create_task_group() as tasks:
        visits = Visits(chats, tasks)
        server = _server(visits, version, more)
        extend(server)
        manager = StreamableHTTPSessionManager(
            server,
            session_idle_timeout=IDLE,
            max_sessions=SESSIONS,
            max_request_body_size=chats.hosting.bounds.body,
        )
        async with manager.run():
            yield OverHttp(manager, visits)
        tasks.cancel_scope.cancel()


def _server(visits: Visits, version: str, more: Sequence[Tool[Visit]]) -> Server[Any]:
    server = build_server(
        (*tools_of(CALLER), *more),
        visits,
        version=version,
        instructions=INSTRUCTIONS,
        before=Visit.before_a_call,
    )
    serve_resources(server, readiness(CALLER), visits)

    async def counting(ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method == "initialize":
            visits.counted(ctx)
        return await call_next(ctx)

    server.middleware.extend((counting, _until_gone))
    return server


async def _until_gone(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Let a wait end with who waits; what else was begun is done, whoever hears of it."""
    params = ctx.params or {}
    if ctx.method != "tools/call" or params.get("name") != "wait_for_messages":
        return await call_next(ctx)
    answers: list[HandlerResult] = []
    failed: list[Exception] = []

    async def end_with_caller() -> None:
        await _calling(ctx).gone.wait()
        waiting.cancel_scope.cancel()

    async with anyio.create_task_group() as waiting:
        waiting.start_soon(end_with_caller)
        try:
            answers.append(await call_next(ctx))
        except Exception as error:  # noqa: BLE001  # it is raised again outside of the group
            failed.append(error)
        waiting.cancel_scope.cancel()
    if failed:
        raise failed[0]
    if not answers:
        raise MCPError(code=CANCELLED, message="Nobody waits any more.")
    return answers[0]
