"""One chat with Cursor: its turns, one after another, and what it does in them."""

import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import attrs
from anyio import to_thread

from letagents.adapters.processes.births import Presence, presence
from letagents.adapters.providers import claude_transcript
from letagents.adapters.providers.cursor_shell import EXIT
from letagents.adapters.providers.lines import LineProcess, LinesEnded
from letagents.adapters.providers.lives import Life, Outcomes
from letagents.adapters.providers.programs import written
from letagents.adapters.providers.races import first_of
from letagents.domain.progress import Activity
from letagents.domain.turns import (
    Answered,
    ConversationBusy,
    Failed,
    Fate,
    Interrupted,
    Outcome,
    Running,
    Silent,
    TurnUnsettled,
    Unknowable,
    Unreadable,
)
from letagents.ports.providers import Connection, Ending, Reference, Started, Turn

Raw = Mapping[str, Any]

KIND = "cursor_cli"
INTERRUPTED_WITHIN = 10.0
LONGEST = 120_000
"""Bytes of what is said in a turn: more is no word of a command line."""


@attrs.define(eq=False)
class _Running:
    turn_id: str
    item_id: str
    prompt: Path
    told: Raw | None = None
    """What the program said of its end."""
    is_broken_off: bool = False
    outcome: Outcome | None = None
    over: anyio.Event = attrs.field(factory=anyio.Event)


@attrs.define(eq=False)
class CursorConversation:
    """One chat, whose turns are run by a shell that this process has started."""

    _process: LineProcess
    _chat_id: str
    _said: Callable[[str], Awaitable[Answered | Silent | None]]
    _running: _Running | None = None
    _done: Outcomes = attrs.field(factory=Outcomes)
    _crash: int | None = None
    _life: Life = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._process.told = self._heard
        self._life = Life(self._process.output)

    @property
    def reference(self) -> Reference:
        """What is to be kept of it."""
        child = self._process.child
        return Reference(self._chat_id, Connection(KIND, child.pid, child.birth))

    async def run(self, turn: Turn, started: Started) -> Outcome:
        """Run one turn to its end."""
        self._life.trim()
        await self._settle()
        if self._running is not None:
            raise ConversationBusy
        if self._process.closed.is_set():
            raise TurnUnsettled("its process has ended")
        prompt = await to_thread.run_sync(written, turn.text)
        self._running = running = _Running(turn.proposed_id, turn.item_id, prompt)
        try:
            await started(running.turn_id)
        except BaseException:
            self._over(running)
            raise
        if len(turn.text.encode()) > LONGEST:
            self._over(running)
            return self._done.put(running.turn_id, Failed("what is said to it is too long"))
        # Whoever is cancelled from here on leaves a turn behind, which keeps others out.
        try:
            await self._process.send(f"{running.turn_id} {prompt}\n".encode())
        except LinesEnded as error:
            self._over(running)
            raise TurnUnsettled(str(error)) from error
        await self._until_over(running)
        return await self._outcome(running)

    async def _until_over(self, running: _Running) -> None:
        await first_of(running.over.wait, self._process.closed.wait)
        running.over.set()

    async def _settle(self) -> None:
        """Note how a turn ended whose caller had given up."""
        running = self._running
        if running is not None and running.over.is_set() and running.told is not None:
            await self._outcome(running)

    async def _outcome(self, running: _Running) -> Outcome:
        if running.outcome is not None:
            return running.outcome
        self._over(running)
        if running.told is None:
            raise TurnUnsettled("its process has ended")
        found = await self._said(running.item_id) or _without_answer(running.told)
        return self._done.put(running.turn_id, found)

    async def fate(self, item_id: str, turn_id: str | None) -> Fate:
        """Return what was told of a turn, or said by its tool."""
        await self._settle()
        if (outcome := self._done.of(turn_id)) is not None:
            return outcome
        running = self._running
        if running is not None and running.turn_id == turn_id and not self._process.closed.is_set():
            return Running()
        said = await self._said(item_id)
        return said or Unknowable("it said no answer, and Cursor does not tell how it ended")

    async def interrupt(self, turn_id: str) -> bool:
        """End the run of the turn, and wait until the shell says that it has ended."""
        running = self._running
        if running is None or running.turn_id != turn_id:
            return self._done.of(turn_id) is not None
        running.is_broken_off = True
        child = self._process.child
        if presence(child.pid, child.birth) is Presence.SAME and sys.platform != "win32":
            os.kill(child.pid, signal.SIGUSR1)
        with anyio.move_on_after(INTERRUPTED_WITHIN):
            await self._until_over(running)
        return running.outcome is not None

    def watch(self, tell: Callable[[Activity], None]) -> Callable[[], None]:
        """Tell what the program says that it does; of its words nothing is shown."""
        return self._life.watch(tell)

    async def ended(self) -> Ending:
        """Wait until the process has ended."""
        return self._ending(await self._process.ended())

    async def end(self) -> Ending:
        """End the process, and the run that it has begun."""
        self._life.is_stopped = True
        ending = self._ending(await self._process.end())
        if self._running is not None:
            self._over(self._running)
        return ending

    async def leave(self) -> None:
        """Let go of it; it ends by itself after the turn that runs."""
        await self._process.leave()

    def _ending(self, code: int) -> Ending:
        return self._life.ending(code if self._crash is None else self._crash)

    def _over(self, running: _Running) -> None:
        running.prompt.unlink(missing_ok=True)
        if self._running is running:
            self._running = None

    def _heard(self, line: Raw) -> None:
        running = self._running
        if running is not None and line.get("type") == "result":
            running.told = line
        if running is not None and line.get("type") == EXIT:
            self._has_ended(running, line.get("code"))
        self._life.tell(_activity(line))

    def _has_ended(self, running: _Running, code: object) -> None:
        """Take note that the run of a turn has ended, in order or not."""
        if running.is_broken_off:
            running.outcome = self._done.put(running.turn_id, Interrupted())
            self._over(running)
        elif running.told is None:  # whoever runs agents finds out why, and starts it anew
            self._crash = code if isinstance(code, int) and code else 1
            self._process.hang_up()
            return
        running.over.set()


def _without_answer(told: Raw) -> Failed | Unreadable:
    """Return how a turn ended that said no answer by the tool."""
    found = claude_transcript.result(told)
    if isinstance(found, Failed):
        return found
    return Unreadable("it ended without complete_room_turn")


def _activity(line: Raw) -> Activity | None:
    match line.get("type"):
        case "tool_call":
            return Activity("cursor/tool_call", "Cursor uses a tool.")
        case "thinking":
            return Activity("cursor/thinking", "Cursor is thinking.")
        case "assistant":
            return Activity("cursor/assistant", "Cursor is writing.")
    return None
