"""A Codex for live sessions that is where a test puts it: nothing is started."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import anyio
import anyio.lowlevel
import attrs

from letagents.domain.errors import Malformed
from letagents.domain.progress import Activity
from letagents.ports.live_codex import Begun, CodexUnreachable, IsOpen, Seen, Server

AT_WORK = Seen("active", "inProgress")


@attrs.define(eq=False)
class ScriptedCodex:
    """Servers that are there, and what they tell of their one thread."""

    set_url: str | None = None
    seen: Seen = AT_WORK
    prompts: list[str] = attrs.field(factory=list)
    there: dict[str, int] = attrs.field(factory=dict)
    interrupted: list[str] = attrs.field(factory=list)
    ended: list[int] = attrs.field(factory=list)
    looks: int = 0
    is_broken: bool = False
    """Whether servers say that they are ready, and answer nothing."""
    seen_later: Seen | None = None
    breaks_later: bool = False
    """What becomes of that once a turn was begun."""
    begin_together: int = 1
    """How many turns have to be begun until that is told to any who begins one."""
    _begun: anyio.Event = attrs.field(factory=anyio.Event)
    shown: set[str] = attrs.field(factory=set)
    """The sessions that somebody shows just now."""
    _told: list[Callable[[Activity], None]] = attrs.field(factory=list)
    followed: anyio.Event = attrs.field(factory=anyio.Event)

    def folder(self, cwd: str | None) -> str:
        """Return the folder, if it is an absolute one."""
        if cwd is not None and not cwd.startswith("/"):
            raise Malformed("cwd: it is no folder here.", remedy="Pass the path of a folder.")
        return cwd or "/work"

    async def is_ready(self, url: str) -> bool:
        """Whether there is a server."""
        return url in self.there

    async def launch(self, url: str | None, cwd: str) -> Server:
        """Put a server there."""
        pid = len(self.there) + len(self.ended) + 100
        where = url or f"ws://127.0.0.1:{pid}"
        self.there[where] = pid
        return Server(where, pid, f"birth-{pid}")

    async def begin(self, url: str, cwd: str, prompt: str) -> Begun:
        """Begin a thread."""
        self._check(url)
        self.prompts.append(prompt)
        self.seen, self.is_broken = self.seen_later or self.seen, self.breaks_later
        number = len(self.prompts)
        if number >= self.begin_together:
            self._begun.set()
        await self._begun.wait()
        return Begun(f"thread-{number}", f"turn-{number}")

    async def look(self, url: str, thread_id: str, turn_id: str) -> Seen:
        """Return what the test says."""
        self._check(url)
        self.looks += 1
        return self.seen

    async def interrupt(self, url: str, thread_id: str, turn_id: str) -> None:
        """Note it."""
        self._check(url)
        self.interrupted.append(turn_id)

    @asynccontextmanager
    async def follow(self, url: str, tell: Callable[[Activity], None]) -> AsyncIterator[IsOpen]:
        """Tell what the test says."""
        self._check(url)
        self._told.append(tell)
        self.followed.set()
        try:
            yield lambda: tell in self._told
        finally:
            with suppress(ValueError):
                self._told.remove(tell)

    def hang_up(self) -> None:
        """End all lines; the server goes on."""
        self._told.clear()
        self.followed = anyio.Event()

    def tell(self, activity: Activity) -> None:
        """Let all who follow know."""
        for tell in tuple(self._told):
            tell(activity)

    @contextmanager
    def showing(self, session_id: str) -> Iterator[bool]:
        """Let the first one show it."""
        is_ours = session_id not in self.shown
        self.shown.add(session_id)
        try:
            yield is_ours
        finally:
            if is_ours:
                self.shown.discard(session_id)

    async def terminate(self, pid: int, birth: str) -> None:
        """End it, if it is that one. As with a real one, that takes a moment."""
        await anyio.lowlevel.checkpoint()
        for url in [url for url, there in self.there.items() if there == pid]:
            if birth == f"birth-{pid}":
                del self.there[url]
                self.ended.append(pid)

    def _check(self, url: str) -> None:
        if url not in self.there or self.is_broken:
            raise CodexUnreachable(f"WebSocket error connecting to {url}")
