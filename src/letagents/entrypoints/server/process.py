"""A room server as a process: it listens, serves, and ends in order when it is told to.

Told to end, it takes no more calls; who waits gets an empty answer at once, and whatever else was
begun has GRACE to be answered. Everything that was acknowledged is on the disk by then.
"""

import asyncio
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from letagents.application.server.hosting import Hosting
from letagents.application.server.remote_chats import Elsewhere
from letagents.domain.serving import NotServed
from letagents.entrypoints import signals
from letagents.entrypoints.server.app import application
from letagents.entrypoints.server.bounded import LARGEST_HEAD, BoundedProtocol

GRACE = 4
"""Seconds."""
IDLE = 30
"""Seconds that a connection is kept on which nothing is asked."""
WAITING = 2048
"""Connections that may wait to be taken."""


def listen(host: str, port: int) -> socket.socket:
    """Return a socket on which others can call; port 0 is any that is free.

    Raises:
        NotServed: it cannot be had.
    """
    try:
        return _listening(host.strip("[]"), port)
    except (OSError, OverflowError) as error:
        raise NotServed(
            f"Nobody could call at {host} port {port}: {getattr(error, 'strerror', error)}.",
            remedy="Pass another --port (0 is any that is free) or --host.",
        ) from error


def _listening(host: str, port: int) -> socket.socket:
    """Return the socket. It says that it is TCP's, as socket.create_server does not.

    Without that the event loop lets the kernel hold the end of each answer back for 40 ms.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name != "nt":  # there it would let two processes listen at once
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listening.bind((host, port))
        listening.listen(WAITING)
    except BaseException:
        listening.close()
        raise
    return listening


def address_of(listening: socket.socket, host: str) -> str:
    """Return the web address at which programs of this machine call."""
    port = listening.getsockname()[1]
    named = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host).strip("[]")  # noqa: S104  # nothing is bound here
    return f"http://[{named}]:{port}" if ":" in named else f"http://{named}:{port}"


async def serve(hosting: Hosting, elsewhere: Elsewhere, listening: socket.socket) -> None:
    """Serve `hosting` until a signal comes, and end in order."""
    loop = asyncio.get_running_loop()

    def told() -> None:
        # A signal may come in the middle of anything: only the loop itself may set an event of it.
        loop.call_soon_threadsafe(hosting.stopping.set)

    config = configured(application(hosting, elsewhere), hosting)
    await _Server(config, told).serve(sockets=[listening])


def configured(served: Starlette, hosting: Hosting) -> uvicorn.Config:
    """Return how `hosting` is served: within its bounds, and without a word of each request."""
    return uvicorn.Config(
        served,
        http=BoundedProtocol,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=hosting.bounds.connections + 1,  # the one that is told so counts too
        timeout_keep_alive=IDLE,
        timeout_graceful_shutdown=GRACE,
        h11_max_incomplete_event_size=LARGEST_HEAD,
        ws="none",
    )


class _Server(uvicorn.Server):
    """Tells of a signal before it acts on it, and does not raise it once more at its end."""

    def __init__(self, config: uvicorn.Config, told: Callable[[], object]) -> None:
        super().__init__(config)
        self._told = told

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        with signals.heard_by(self.handle_exit):
            yield

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._told()
        super().handle_exit(sig, frame)
