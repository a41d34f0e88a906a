"""What the supervisor needs of a program that runs agents: Codex, Claude Code and the like.

A provider starts processes; each holds one conversation, which goes on in the next process. A turn
is one message in, one answer out.

Y20  `version` tells that a program is missing, or cannot be used, before anything is started; so do
     `start` and `resume`.
Y21  A turn's id is told to `started`, and written down there, before its outcome is returned. When
     it cannot be written down, no outcome is returned: the turn is broken off or unsettled.
Y22  `run` begins one turn at most. It begins none while another one runs.
Y23  `fate` begins nothing, ends nothing, and says the same whoever asks, also after a restart.
Y24  Of a turn that is over, `fate` returns what `run` returned, or would have returned.
Y25  A process that ends while a turn runs leaves it unsettled; no outcome is made up.
Y26  An answer that cannot be read is unreadable; used-up quota is a failure that says so.
Y27  `interrupt` returns True only when it is proven that the turn is over.
Y28  `end` leaves no process: it is asked, given time, and killed only if it is still the same one.
     Of one that was told to have ended already it tells the same.
Y29  `attach` never leaves two processes in one conversation: it returns the one that is there, or
     that none is, and raises where it cannot tell.
Y30  Nothing that a provider returns or raises, and no line of arguments, holds a secret.
Y44  A process is told to `born`, and written down there, before its program begins. When it cannot
     be written down, or whoever starts it dies before, its program never begins, and none is left.
Y45  `abandon` ends a process that came to no conversation, and no other one.
"""

import enum
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

import attrs

from letagents.domain.progress import Activity
from letagents.domain.turns import Fate, Outcome

Started = Callable[[str], Awaitable[None]]
"""Writes down the id of the turn that has begun."""


@attrs.frozen(kw_only=True)
class Launch:
    """How one agent is run.

    `tools` is the command that starts letagents for it. `coordinates` are environment variables by
    which that, and the process itself, find the supervisor. `policy` is what the agent may do, in
    the provider's own words. `enabled` names the tools of letagents that it is to have, where
    it is not to have all.
    """

    workspace: str
    tools: tuple[str, ...] = ()
    coordinates: Mapping[str, str] = attrs.field(factory=dict)
    model: str | None = None
    policy: Mapping[str, object] = attrs.field(factory=dict)
    enabled: tuple[str, ...] = ()


@attrs.frozen
class Connection:
    """How to find the process of a conversation again, and to know that it is the same one.

    `auth_path` is a file, for its owner alone, with the password that the process asks for.
    """

    kind: str
    pid: int
    birth: str
    url: str | None = None
    auth_path: str | None = None


Born = Callable[[Connection], Awaitable[None]]
"""Writes down how a process is found again."""


async def unrecorded(_connection: Connection) -> None:
    """Write nothing down: nobody comes after us who would look for the process."""


@attrs.frozen
class Reference:
    """What is to be kept of a conversation, so that it can be gone on with."""

    conversation_id: str
    connection: Connection


@attrs.frozen
class Turn:
    """One thing to be said to an agent.

    `proposed_id` becomes the turn's id where the provider lets us choose it.
    """

    item_id: str
    text: str = attrs.field(repr=False)
    proposed_id: str


class Cause(enum.Enum):
    """Why a process ended. (Source: supervisor 6.14.)"""

    EXITED = "exited"
    KILLED = "killed"
    STOPPED = "stopped"
    CRASHED = "crashed"
    PROTOCOL_ERROR = "protocol_error"


@attrs.frozen
class Ending:
    """That a process ended, and what it wrote last, without secrets."""

    cause: Cause
    exit_code: int | None = None
    tail: str = attrs.field(default="", repr=False)


@attrs.frozen
class Gone:
    """It is proven that the process of a conversation is not there any more."""


class Conversation(Protocol):
    """One conversation, in a process that this one started or found."""

    @property
    def reference(self) -> Reference:
        """What is to be kept of it."""
        ...

    async def run(self, turn: Turn, started: Started) -> Outcome:
        """Run one turn to its end. A caller that is cancelled leaves the turn running.

        Raises:
            ConversationBusy: another turn runs; nothing was begun.
            TurnUnsettled: it may have begun, and its outcome is to be asked with `fate`.
        """
        ...

    async def fate(self, item_id: str, turn_id: str | None) -> Fate:
        """Return what is known of a turn; `turn_id` is None where it was never learned."""
        ...

    async def interrupt(self, turn_id: str) -> bool:
        """Break the turn off; return whether it is proven to be over."""
        ...

    def watch(self, tell: Callable[[Activity], None]) -> Callable[[], None]:
        """Tell what the agent does from now on; return what ends that."""
        ...

    async def ended(self) -> Ending:
        """Wait until its process has ended."""
        ...

    async def end(self) -> Ending:
        """End its process."""
        ...

    async def leave(self) -> None:
        """Let go of it without ending it: whoever comes after us attaches to it, if it is there."""
        ...


class Provider(Protocol):
    """One kind of program that runs agents."""

    @property
    def name(self) -> str:
        """Its name in the manifest."""
        ...

    async def version(self) -> str:
        """Return which version is installed.

        Raises:
            ProviderMissing: none is.
            ProviderUnusable: it does not say, or is too old.
        """
        ...

    async def start(self, launch: Launch, born: Born = unrecorded) -> Conversation:
        """Begin a conversation in a new process.

        Raises:
            ProviderMissing, ProviderUnusable: nothing was begun, and no process is left.
        """
        ...

    async def resume(
        self, launch: Launch, conversation_id: str, born: Born = unrecorded
    ) -> Conversation:
        """Go on with a conversation, whose process has ended, in a new one.

        Raises:
            ConversationMissing: the provider knows no such one.
            ProviderMissing, ProviderUnusable: as `start`.
        """
        ...

    async def attach(self, launch: Launch, reference: Reference) -> "Conversation | Gone":
        """Find a conversation's process again, after a restart of ours.

        Where the process cannot be spoken to any more, it is ended, and Gone.

        Raises:
            ProcessAmbiguous: whether it is there cannot be told; nothing was started or ended.
        """
        ...

    async def abandon(self, connection: Connection) -> None:
        """End a process of an earlier supervisor that never came to a conversation.

        Raises:
            ProcessAmbiguous: whether it is there cannot be told, or it does not end.
        """
        ...
