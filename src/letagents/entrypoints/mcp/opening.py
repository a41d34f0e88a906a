"""A client's session, opened when it is first needed and closed by whoever keeps it.

What a session stands on takes long to load. So a client is told of the tools first, and what they
need is loaded while it makes up its mind, or at once for its first call.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Generic, Protocol, Self, TypeVar

import anyio

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)

BEGIN = 5.0
"""Seconds after which it is opened although the client has asked for nothing. (Source: 1.2.)"""

BREATH = 0.05
"""Seconds that the list of tools is given to be on its way, and what is asked for with it."""


class Sessions(Protocol[S_co]):
    """Knows the session that a call is part of. `context` is the call's, as the SDK has it."""

    async def __call__(self, context: Any = None, /) -> S_co:
        """Return the session, opened now if it was not yet."""
        ...

    def soon(self) -> None:
        """Let it be opened in a moment: the client knows what it can call."""
        ...


class Opening(Generic[S]):
    """One session, on its way: that of all calls, whatever their context."""

    def __init__(self) -> None:
        self._session: S | None = None
        self._soon = anyio.Event()
        self._needed = anyio.Event()
        self._opened = anyio.Event()
        self._left = anyio.Event()

    @classmethod
    def of(cls, session: S) -> Self:
        """Return one that is open already."""
        opening = cls()
        opening._session = session
        opening._opened.set()
        return opening

    async def __call__(self, _context: Any = None, /) -> S:
        """Return the session, opened now if it was not yet."""
        if not self._opened.is_set():
            self._soon.set()
            self._needed.set()
            await self._opened.wait()
        return self._session  # type: ignore[return-value]  # it is there once it was opened

    def soon(self) -> None:
        """Let it be opened in a moment: the client knows what it can call."""
        self._soon.set()

    async def keep(self, open_session: Callable[[], AbstractAsyncContextManager[S]]) -> None:
        """Open the session when it is time, and close it once it was left."""
        with anyio.move_on_after(BEGIN):
            await self._soon.wait()
        with anyio.move_on_after(BREATH):
            await self._needed.wait()
        if self._left.is_set():
            return
        with anyio.CancelScope(shield=True):  # it ends by being left, and then in order
            async with open_session() as self._session:
                self._opened.set()
                await self._left.wait()

    def leave(self) -> None:
        """Let the session be closed, or never be opened."""
        self._left.set()
        self._soon.set()
        self._needed.set()


@asynccontextmanager
async def opening(
    open_session: Callable[[], AbstractAsyncContextManager[S]],
) -> AsyncIterator[Opening[S]]:
    """Hand over a session that is opened when it is needed; close it at the end if it was."""
    one: Opening[Any] = Opening()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one.keep, open_session)
        try:
            yield one
        finally:
            one.leave()
