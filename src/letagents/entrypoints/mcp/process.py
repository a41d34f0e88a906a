"""One process that serves one client over standard input and output, from first to last.

Nothing heavy is imported here before `serve` is called, so that the command line can look at its
arguments, and refuse them, at once.
"""

import asyncio
import gc
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import attrs

from letagents.entrypoints.mcp.lifetime import Lifetime, leave_at_once_on_signals
from letagents.entrypoints.mcp.tool import Tool

if TYPE_CHECKING:
    from mcp.server import Server

    from letagents.entrypoints.mcp.opening import Opening
    from letagents.entrypoints.mcp.server import Through

S = TypeVar("S")


def _nothing_more(_server: "Server[Any]", _opening: object) -> None:
    """Add neither prompts nor resources."""


@attrs.frozen(kw_only=True)
class Service(Generic[S]):
    """What is served: tools that act on one session, which is opened once and closed at the end.

    It is opened once the client has been told of the tools, or for its first call. `extend` may add
    handlers, such as those of resources, to the finished server. `before` hears before each call
    what the client's program is called. `through` answers calls in the place of the tools, and
    `withheld` calls of tools that are not listed.
    """

    tools: Sequence[Tool[S]]
    open_session: Callable[[], AbstractAsyncContextManager[S]]
    version: str
    name: str = "letagents"
    instructions: str | None = None
    before: Callable[[S, str | None], Awaitable[None]] | None = None
    through: "Through[S] | None" = None
    withheld: Mapping[str, dict[str, object]] | None = None
    extend: "Callable[[Server[Any], Opening[S]], None]" = _nothing_more


def serve(service: Callable[[], Service[Any]]) -> int:
    """Serve what `service` returns until there is a reason to end; return the exit code, 0.

    `service` is called once the heavy imports may begin, and does its own then. The process has
    to end after this: its standard streams are used up, and a watchdog is running.
    """
    _open_what_is_closed()
    leave_at_once_on_signals()
    lifetime = Lifetime()
    lifetime.end_with_client()
    if lifetime.reason is None:
        with _collector_off():
            served = service()
            from letagents.entrypoints.mcp import server, stdio  # noqa: F401  while it is off
        asyncio.run(run_stdio(served, lifetime))
    leave_at_once_on_signals()
    return 0


def _open_what_is_closed() -> None:
    """Let a standard stream that came closed be the null device.

    Else another file is given its number, such as the event loop's own, and taken for the client.
    """
    for standard in (0, 1, 2):
        try:
            os.fstat(standard)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one


@contextmanager
def _collector_off() -> Iterator[None]:
    """Import without looking for garbage: there is none, and looking costs a tenth of the start."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


async def run_stdio(service: Service[S], lifetime: Lifetime) -> None:
    """Serve on standard input and output until `lifetime` ends; cancel what then still runs."""
    import anyio

    from letagents.entrypoints.mcp.opening import opening
    from letagents.entrypoints.mcp.server import build_server, options_of
    from letagents.entrypoints.mcp.stdio import stdio

    lifetime.begin()
    async with stdio(lifetime.end) as (incoming, outgoing), opening(service.open_session) as opened:
        server = build_server(
            service.tools,
            opened,
            name=service.name,
            version=service.version,
            instructions=service.instructions,
            before=service.before,
            through=service.through,
            withheld=service.withheld,
        )
        service.extend(server, opened)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.run, incoming, outgoing, options_of(server))
            await lifetime.wait()
            tasks.cancel_scope.cancel()
