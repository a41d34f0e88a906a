"""One conversation with Claude Code: its turns, one after another, and what it does in them."""

from collections.abc import Callable, Mapping
from typing import Any

import anyio
import attrs
from anyio import to_thread

from letagents.adapters.providers import claude_transcript
from letagents.adapters.providers.claude_process import ClaudeProcess
from letagents.adapters.providers.lines import LinesEnded
from letagents.adapters.providers.lives import Life, Outcomes
from letagents.adapters.providers.races import first_of
from letagents.domain.progress import Activity
from letagents.domain.turns import ConversationBusy, Fate, Outcome, Running, TurnUnsettled
from letagents.ports.providers import Connection, Ending, Reference, Started, Turn

Raw = Mapping[str, Any]

KIND = "claude_cli"
INTERRUPTED_WITHIN = 10.0


@attrs.define(eq=False)
class _Running:
    turn_id: str
    outcome: Outcome | None = None
    is_broken_off: bool = False
    over: anyio.Event = attrs.field(factory=anyio.Event)


@attrs.define(eq=False)
class ClaudeConversation:
    """One conversation, in a process that this process has started."""

    _process: ClaudeProcess
    _session_id: str
    _environ: Mapping[str, str] = attrs.field(repr=False)
    _running: _Running | None = None
    _done: Outcomes = attrs.field(factory=Outcomes)
    _life: Life = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._process.told = self._heard
        self._life = Life(self._process.output)

    @property
    def reference(self) -> Reference:
        """What is to be kept of it."""
        child = self._process.child
        return Reference(self._session_id, Connection(KIND, child.pid, child.birth))

    async def run(self, turn: Turn, started: Started) -> Outcome:
        """Run one turn to its end."""
        self._life.trim()
        if self._running is not None:
            raise ConversationBusy
        if self._process.closed.is_set():
            raise TurnUnsettled("its process has ended")
        self._running = running = _Running(turn.proposed_id)
        try:
            await started(running.turn_id)
        except BaseException:
            self._running = None
            raise
        # Whoever is cancelled from here on leaves a turn behind, which keeps others out.
        try:
            await self._process.say(_said(turn, self._session_id))
        except LinesEnded as error:
            raise TurnUnsettled(str(error)) from error
        return await self._outcome(running)

    async def _outcome(self, running: _Running) -> Outcome:
        await first_of(running.over.wait, self._process.closed.wait)
        running.over.set()
        if running.outcome is None:
            self._running = None
            raise TurnUnsettled("its process has ended")
        return running.outcome

    async def fate(self, item_id: str, turn_id: str | None) -> Fate:
        """Return what was told of a turn, or is written down of it."""
        if (outcome := self._done.of(turn_id)) is not None:
            return outcome
        running = self._running
        if running is not None and running.turn_id == turn_id and not self._process.closed.is_set():
            return Running()
        files = claude_transcript.files_of(self._session_id, self._environ)
        return await to_thread.run_sync(claude_transcript.fate, files, item_id, turn_id)

    async def interrupt(self, turn_id: str) -> bool:
        """Ask the program to break off, and wait until it says that it has."""
        running = self._running
        if running is None or running.turn_id != turn_id:
            return self._done.of(turn_id) is not None
        running.is_broken_off = True
        with anyio.move_on_after(INTERRUPTED_WITHIN):
            try:
                await self._process.ask({"subtype": "interrupt"})
            except LinesEnded:
                return False
            await running.over.wait()
        return running.outcome is not None

    def watch(self, tell: Callable[[Activity], None]) -> Callable[[], None]:
        """Tell what the program says that it does."""
        return self._life.watch(tell)

    async def ended(self) -> Ending:
        """Wait until the process has ended."""
        return self._life.ending(await self._process.ended())

    async def end(self) -> Ending:
        """End the process."""
        self._life.is_stopped = True
        return self._life.ending(await self._process.end())

    async def leave(self) -> None:
        """Let go of it; it ends by itself."""
        await self._process.leave()

    def _heard(self, line: Raw) -> None:
        running = self._running
        if line.get("type") == "result" and running is not None and self._is_of(line, running):
            outcome = claude_transcript.result(line, is_broken_off=running.is_broken_off)
            running.outcome = self._done.put(running.turn_id, outcome)
            self._running = None
            running.over.set()
        self._life.tell(_activity(line))

    def _is_of(self, line: Raw, running: _Running) -> bool:
        named = line.get("user_message_uuid")
        is_here = line.get("session_id") in (None, self._session_id)
        return is_here and named in (None, running.turn_id)


def _said(turn: Turn, session_id: str) -> Raw:
    message = {"role": "user", "content": [{"type": "text", "text": turn.text}]}
    return {
        "type": "user",
        "message": message,
        "uuid": turn.proposed_id,
        "session_id": session_id,
        "parent_tool_use_id": None,
    }


def _activity(line: Raw) -> Activity | None:
    """Return what a line of the program tells of what it does; of its words nothing is shown."""
    message = line.get("message")
    if line.get("type") != "assistant" or not isinstance(message, Mapping):
        return None
    parts = message.get("content")
    kinds = [one for one in parts if isinstance(one, Mapping)] if isinstance(parts, list) else []
    for part in kinds:
        if part.get("type") == "tool_use":
            return Activity("assistant/tool_use", f"Claude uses {part.get('name')}")
        if part.get("type") == "thinking":
            return Activity("assistant/thinking", "Claude is thinking.")
    return Activity("assistant/text", "Claude is writing.")
