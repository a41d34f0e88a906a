"""A provider that does what a test tells it: nothing is started, and every behaviour can be played.

    provider = ScriptedProvider()
    provider.plays.append(Play("done"))
    conversation = await provider.start(Launch(workspace="/tmp"))

Each turn takes the next play; without one it answers "ok". What happened is kept in `transcript`,
which a provider opened on the same file shares: so it outlives a killed process, as real ones do.
"""

import enum
import itertools
import json
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import attrs

from letagents.domain import turns
from letagents.domain.progress import Activity
from letagents.domain.turns import (
    Answered,
    ConversationBusy,
    ConversationMissing,
    Failed,
    Fate,
    Interrupted,
    NeverStarted,
    Outcome,
    ProcessAmbiguous,
    ProviderMissing,
    Running,
    Silent,
    TurnUnsettled,
    Unknowable,
    Unreadable,
)
from letagents.ports.providers import (
    Born,
    Cause,
    Connection,
    Ending,
    Gone,
    Launch,
    Reference,
    Started,
    Turn,
    unrecorded,
)


class Crash(enum.Enum):
    """When the process of a turn dies."""

    BEFORE_ITS_ID = "before the turn has an id"
    AFTER_ITS_ID = "after the turn's id was told"
    AFTER_ITS_ANSWER = "after the transcript has the answer, before we do"


@attrs.define
class Play:
    """What happens in one turn."""

    text: str = "ok"
    crash: Crash | None = None
    hangs: bool = False
    quota: bool = False
    doing: tuple[Activity, ...] = ()
    go: anyio.Event | None = None
    """Where there is one, the turn waits for it."""

    @property
    def outcome(self) -> Outcome:
        if self.quota:
            return Failed("its account has nothing left for now", is_quota=True)
        return turns.said(self.text)


@attrs.define
class Transcript:
    """What happened in all conversations, one line each; in a file where there is one."""

    file: Path | None = None
    _lines: list[dict[str, Any]] = attrs.field(factory=list)

    def note(self, **line: Any) -> None:
        """Write a line down."""
        if self.file is None:
            self._lines.append(line)
            return
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def of(self, conversation_id: str) -> Iterator[dict[str, Any]]:
        """Yield what happened in one conversation."""
        return (line for line in self.lines() if line["conversation"] == conversation_id)

    def lines(self) -> list[dict[str, Any]]:
        """Return everything; a line that a kill cut off is left out."""
        if self.file is None:
            return self._lines
        text = self.file.read_text("utf-8") if self.file.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def turns_run(self) -> list[str]:
        """Return the items whose turns have begun, in order, each as often as it was begun."""
        return [line["item"] for line in self.lines() if line["what"] == "began"]


@attrs.define(eq=False)
class ScriptedProvider:
    """Starts conversations that play what they are told."""

    transcript: Transcript = attrs.field(factory=Transcript)
    plays: deque[Play] = attrs.field(factory=deque)
    is_installed: bool = True
    is_attachable: bool = True
    cannot_tell: bool = False
    name: str = "scripted"
    started: list["ScriptedConversation"] = attrs.field(factory=list)
    _births: int = 0

    async def version(self) -> str:
        """Return a version, or say how to install one."""
        if not self.is_installed:
            raise ProviderMissing("Scripted", "scripted", "pip install scripted", "SCRIPTED_BIN")
        return "1.0"

    async def start(self, launch: Launch, born: Born = unrecorded) -> "ScriptedConversation":
        """Begin a conversation."""
        await self.version()
        connection = await self._born(born)
        number = sum(line["what"] == "opened" for line in self.transcript.lines()) + 1
        self.transcript.note(conversation=f"conversation-{number}", what="opened")
        return self._conversation(f"conversation-{number}", connection)

    async def resume(
        self, launch: Launch, conversation_id: str, born: Born = unrecorded
    ) -> "ScriptedConversation":
        """Go on with a conversation."""
        await self.version()
        if not list(self.transcript.of(conversation_id)):
            raise ConversationMissing("Scripted", conversation_id)
        return self._conversation(conversation_id, await self._born(born))

    async def attach(self, launch: Launch, reference: Reference) -> "ScriptedConversation | Gone":
        """Return the conversation if its process is there."""
        if self.cannot_tell:
            raise ProcessAmbiguous(reference.connection.pid)
        for one in self.started:
            if one.reference == reference and not one.is_over:
                if self.is_attachable:
                    return one
                await one.end()
        return Gone()

    async def abandon(self, connection: Connection) -> None:
        """End the process, if it is there."""
        if self.cannot_tell:
            raise ProcessAmbiguous(connection.pid)
        for one in self.started:
            if one.reference.connection == connection:
                await one.end()

    async def _born(self, born: Born) -> Connection:
        self._births += 1
        connection = Connection("scripted", self._births, f"birth-{self._births}")
        await born(connection)
        return connection

    def _conversation(self, conversation_id: str, connection: Connection) -> "ScriptedConversation":
        conversation = ScriptedConversation(self, Reference(conversation_id, connection))
        self.started.append(conversation)
        return conversation


@attrs.define(eq=False)
class ScriptedConversation:
    """One conversation, whose process is this object."""

    _provider: ScriptedProvider
    reference: Reference
    _ending: Ending | None = None
    _over: anyio.Event = attrs.field(factory=anyio.Event)
    _running: "_Turn | None" = None
    _listeners: dict[int, Callable[[Activity], None]] = attrs.field(factory=dict)
    _numbers: Iterator[int] = attrs.field(factory=itertools.count)

    @property
    def is_over(self) -> bool:
        return self._ending is not None

    async def run(self, turn: Turn, started: Started) -> Outcome:
        """Play the next play."""
        if self._running is not None:
            raise ConversationBusy
        if self._ending is not None:
            raise TurnUnsettled("its process has ended")
        plays = self._provider.plays
        play = plays.popleft() if plays else Play()
        if play.crash is Crash.BEFORE_ITS_ID:
            self.crash()
            raise TurnUnsettled("its process has ended")
        self._running = running = _Turn(turn, play, f"turn-{turn.proposed_id}")
        self._note("began", turn=running.turn_id, item=turn.item_id)
        try:
            await started(running.turn_id)
        except BaseException:
            self._settle(running, Interrupted())
            raise
        return await self._played(running)

    async def _played(self, running: "_Turn") -> Outcome:
        play = running.play
        for activity in play.doing:
            self._tell(activity)
        if play.crash is Crash.AFTER_ITS_ID:
            self.crash()
        elif play.go is not None:
            await self._first_of(running.is_over, play.go)
        elif play.hangs:
            await running.is_over.wait()
        if self._ending is None and running.outcome is None:
            self._settle(running, play.outcome)
        if play.crash is Crash.AFTER_ITS_ANSWER:
            self.crash()
        if running.outcome is None or play.crash is not None:
            raise TurnUnsettled("its process has ended")
        return running.outcome

    async def fate(self, item_id: str, turn_id: str | None) -> Fate:
        """Return what the transcript tells."""
        lines = [
            line
            for line in self._provider.transcript.of(self.reference.conversation_id)
            if line.get("item") == item_id and turn_id in (None, line.get("turn"))
        ]
        if not lines:
            return NeverStarted() if turn_id is None else Unknowable("the transcript lacks it")
        if lines[-1]["what"] == "ended":
            return _outcome(lines[-1])
        if self._running is not None and self._running.turn_id == lines[-1]["turn"]:
            return Running()
        return Unknowable("its process ended before the turn did")

    async def interrupt(self, turn_id: str) -> bool:
        """Break the turn off."""
        running = self._running
        if running is not None and running.turn_id == turn_id and self._ending is None:
            self._settle(running, Interrupted())
            return True
        told = self._provider.transcript.of(self.reference.conversation_id)
        return any(line.get("turn") == turn_id and line["what"] == "ended" for line in told)

    def watch(self, tell: Callable[[Activity], None]) -> Callable[[], None]:
        """Tell what the plays say."""
        number = next(self._numbers)
        self._listeners[number] = tell
        return lambda: self._listeners.pop(number, None) and None

    async def ended(self) -> Ending:
        """Wait for the end."""
        await self._over.wait()
        assert self._ending is not None
        return self._ending

    async def end(self) -> Ending:
        """End it."""
        return self._ended(Ending(Cause.STOPPED, 0))

    async def leave(self) -> None:
        """Leave it."""

    def crash(self) -> None:
        """Die."""
        self._ended(Ending(Cause.CRASHED, -9))

    def _ended(self, ending: Ending) -> Ending:
        if self._ending is None:
            self._ending = ending
            self._over.set()
            if self._running is not None:
                self._running.is_over.set()
                self._running = None
        return self._ending

    def _settle(self, running: "_Turn", outcome: Outcome) -> None:
        running.outcome = outcome
        self._note("ended", turn=running.turn_id, item=running.turn.item_id, **_plain(outcome))
        self._running = None
        running.is_over.set()

    def _tell(self, activity: Activity) -> None:
        for tell in tuple(self._listeners.values()):
            tell(activity)

    def _note(self, what: str, **more: Any) -> None:
        self._provider.transcript.note(
            conversation=self.reference.conversation_id, what=what, **more
        )

    async def _first_of(self, *events: anyio.Event) -> None:
        async with anyio.create_task_group() as tasks:

            async def wait(event: anyio.Event) -> None:
                await event.wait()
                tasks.cancel_scope.cancel()

            for event in events:
                tasks.start_soon(wait, event)


@attrs.define(eq=False)
class _Turn:
    turn: Turn
    play: Play
    turn_id: str
    outcome: Outcome | None = None
    is_over: anyio.Event = attrs.field(factory=anyio.Event)


def _plain(outcome: Outcome) -> dict[str, Any]:
    return {"outcome": type(outcome).__name__, "with": attrs.asdict(outcome)}


_OUTCOMES = {one.__name__: one for one in (Answered, Silent, Interrupted, Failed, Unreadable)}


def _outcome(line: dict[str, Any]) -> Outcome:
    outcome: Outcome = _OUTCOMES[line["outcome"]](**line["with"])
    return outcome
