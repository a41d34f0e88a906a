"""What live sessions need of Codex: servers, and what goes on in their threads.

Y40  A server that was launched is ready when it is returned; one that is not is ended again, and
     no process is left.
Y41  `look` changes nothing, and begins nothing. A thread in which nothing was written yet is empty.
Y50  Of all processes of this machine one at a time shows what a session does; when it ends,
     another may.
Y42  A server is ended only if its process is still the one that was launched.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Protocol

import attrs

from letagents.domain.errors import LetAgentsError, Retry
from letagents.domain.progress import Activity

IsOpen = Callable[[], bool]
"""Whether a server is listened to yet: a line may end by itself."""


class CodexUnreachable(LetAgentsError):
    """A Codex app-server is not there, or does not answer."""

    code = "codex_unreachable"
    retry = Retry.LATER

    def __init__(self, why: str) -> None:
        super().__init__(
            f"Codex app-server: {why}.",
            remedy="Call status_local_codex_session to see how it is, or start another one.",
        )


@attrs.frozen
class Server:
    """An app-server that was launched."""

    url: str
    pid: int
    birth: str


@attrs.frozen
class Begun:
    """A thread and the turn that was begun in it."""

    thread_id: str
    turn_id: str


@attrs.frozen
class Seen:
    """What a server tells of a thread: where it stands, and the last that was said in its turn."""

    thread_status: str | None = None
    turn_status: str | None = None
    items: tuple[dict[str, object], ...] = ()
    activity: Activity | None = None


class LiveCodex(Protocol):
    """Codex on this machine."""

    @property
    def set_url(self) -> str | None:
        """Where the person set that a server is."""
        ...

    def folder(self, cwd: str | None) -> str:
        """Return the folder that a session works in, as it really is; by default, this one.

        Raises:
            Malformed: it is none.
        """
        ...

    async def is_ready(self, url: str) -> bool:
        """Whether a server there says that it is ready."""
        ...

    async def launch(self, url: str | None, cwd: str) -> Server:
        """Start a server, at `url` or at a free address.

        Raises:
            ProviderMissing, ProviderUnusable: it cannot be.
        """
        ...

    async def begin(self, url: str, cwd: str, prompt: str) -> Begun:
        """Begin a thread and its one turn.

        Raises:
            CodexUnreachable: nobody answers, or it refuses.
        """
        ...

    async def look(self, url: str, thread_id: str, turn_id: str) -> Seen:
        """Return how a turn stands.

        Raises:
            CodexUnreachable: nobody answers, or it refuses.
        """
        ...

    async def interrupt(self, url: str, thread_id: str, turn_id: str) -> None:
        """Break a turn off, if it is not over.

        Raises:
            CodexUnreachable: nobody answers, or it refuses.
        """
        ...

    def follow(
        self, url: str, tell: Callable[[Activity], None]
    ) -> AbstractAsyncContextManager[IsOpen]:
        """Tell what goes on at a server, as long as this is open; it says whether it is yet.

        Raises:
            CodexUnreachable: nobody answers.
        """
        ...

    def showing(self, session_id: str) -> AbstractContextManager[bool]:
        """Tell whether this process is the one that shows what a session does (Y50)."""
        ...

    async def terminate(self, pid: int, birth: str) -> None:
        """End a server that was launched here."""
        ...
