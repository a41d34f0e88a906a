"""Cursor as a provider: each turn is a run of its program, and says its answer by a tool.

What the program writes at its end is everything that it thought aloud, so the answer is what the
turn said by `complete_room_turn`, which the supervisor has written down. A shell lives as long as
the conversation and starts one run after another: it is the process that is found again, and with
its group everything ends. (Source: supervisor 5.7, 6.14.)
"""

import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import attrs
from anyio import to_thread

from letagents.adapters.processes import children
from letagents.adapters.processes.births import Presence, presence
from letagents.adapters.providers import claude_transcript
from letagents.adapters.providers.environment import environment
from letagents.adapters.providers.lines import LineProcess, LinesEnded
from letagents.adapters.providers.lives import Life
from letagents.adapters.providers.programs import CURSOR, Output, command_path
from letagents.domain.progress import Activity
from letagents.domain.turns import (
    Answered,
    ConversationBusy,
    Failed,
    Fate,
    Interrupted,
    Outcome,
    ProcessAmbiguous,
    ProviderUnusable,
    Running,
    Silent,
    TurnUnsettled,
    Unknowable,
    Unreadable,
)
from letagents.ports.providers import (
    Born,
    Connection,
    Ending,
    Gone,
    Launch,
    Reference,
    Started,
    Turn,
    unrecorded,
)

Raw = Mapping[str, Any]
KIND = "cursor_cli"
TOOLS = "letagents"
READY_WITHIN = 60.0
INTERRUPTED_WITHIN = 10.0
LONGEST = 120_000
"""Bytes of what is said in a turn: more is no word of a command line."""
NATURAL_END = 5.0
_EXIT = "letagents_exit"
_TURNS = f"""
child=
trap '[ -n "$child" ] && kill -TERM "$child" 2>/dev/null' USR1
while read -r turn file; do
  LETAGENTS_SUPERVISOR_PROVIDER_TURN_ID=$turn "$@" "$(cat "$file"; rm -f "$file")" </dev/null &
  child=$!
  wait "$child"
  code=$?
  while kill -0 "$child" 2>/dev/null; do wait "$child"; code=$?; done
  child=
  printf '\\n{{"type":"{_EXIT}","turn":"%s","code":%d}}\\n' "$turn" "$code"
done
"""
"""Runs one turn after another. The signal ends the one that runs; the end of its lines ends it."""


@attrs.frozen
class CursorProvider:
    """Runs agents in Cursor."""

    said: Callable[[str], Awaitable[Answered | Silent | None]]
    """Returns the answer that the turn of an item said by the tool, if it said one."""
    name: str = "cursor"

    async def version(self) -> str:
        """Return which Cursor is installed."""
        return await CURSOR.version()

    async def start(self, launch: Launch, born: Born = unrecorded) -> "CursorConversation":
        """Begin a chat."""
        return await self._opened(launch, None, born)

    async def resume(
        self, launch: Launch, conversation_id: str, born: Born = unrecorded
    ) -> "CursorConversation":
        """Go on with a chat; whether there is one is seen in its first turn."""
        return await self._opened(launch, conversation_id, born)

    async def attach(self, launch: Launch, reference: Reference) -> Gone:
        """See that the process of a conversation ends, if it has not: nobody can speak to it."""
        at = reference.connection
        if presence(at.pid, at.birth) is Presence.UNKNOWN:
            raise ProcessAmbiguous(at.pid)
        if not await children.gone_within(at.pid, at.birth, NATURAL_END):
            await children.end(at.pid, at.birth)
        return Gone()

    async def abandon(self, connection: Connection) -> None:
        """End a process that came to no conversation."""
        await children.end(connection.pid, connection.birth)

    async def _opened(
        self, launch: Launch, chat_id: str | None, born: Born
    ) -> "CursorConversation":
        binary, output = CURSOR.found(), Output()
        process: LineProcess | None = None
        try:
            workspace, env = command_path(launch.workspace), environment(launch)
            words = ["/bin/sh", "-c", _waiting_for(arguments(launch, workspace)), "letagents"]
            process = await LineProcess.start([*words, binary], workspace, env, output, KIND, born)
            with anyio.fail_after(READY_WITHIN):
                if launch.tools:
                    await _see_tools(binary, workspace, env)
                if chat_id is None:
                    chat_id = await _asked(binary, ["create-chat"], workspace, env)
                await process.send(f"{chat_id}\n".encode())
            return CursorConversation(process, chat_id, self.said)
        except BaseException as error:
            with anyio.CancelScope(shield=True):
                if process is not None:
                    await process.end()
            tail = output.close()
            if isinstance(error, OSError | LinesEnded | TimeoutError):
                raise CURSOR.unusable(str(error) or "it is not ready in time", tail) from error
            raise


def arguments(launch: Launch, workspace: str) -> list[str]:
    """Return the words of each run, but for its chat and what is said in it."""
    words = [
        "-p", "--output-format", "stream-json", "--approve-mcps", "--trust", "--workspace",
        workspace,
    ]  # fmt: skip
    if launch.policy.get("force") is True:
        words.append("--force")
    if launch.policy.get("sandbox") is True:
        words += ["--sandbox", "enabled"]
    if launch.model is not None:
        words += ["--model", launch.model]
    return words


def _waiting_for(words: list[str]) -> str:
    """Return the script of the shell: it is told the chat first, and then turn by turn."""
    return f'read -r chat || exit 0\nset -- "$@" {shlex.join(words)} "--resume=$chat"\n{_TURNS}'


async def _asked(binary: str, words: list[str], workspace: str, env: Mapping[str, str]) -> str:
    """Return what the program answers at once.

    Raises:
        ProviderUnusable: it says no, or nothing.
    """
    done = await anyio.run_process(
        [binary, *words], cwd=workspace, env=env, check=False, stderr=subprocess.STDOUT
    )
    text = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode != 0 or not text:
        raise CURSOR.unusable(f"`{CURSOR.command} {' '.join(words)}` failed", text)
    return text.splitlines()[-1].strip() if words == ["create-chat"] else text


async def _see_tools(binary: str, workspace: str, env: Mapping[str, str]) -> None:
    """See that the person has given their Cursor our tools.

    Raises:
        ProviderUnusable: they have not.
    """
    if TOOLS not in await _asked(binary, ["mcp", "list"], workspace, env):
        raise ProviderUnusable(
            "Cursor does not list letagents among its MCP servers.",
            remedy="Add it to ~/.cursor/mcp.json as docs/how-to/run-agents.md shows: without it an "
            "agent cannot say its answer.",
        )


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
    _done: dict[str, Outcome] = attrs.field(factory=dict)
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
        await self._settle()
        if self._running is not None:
            raise ConversationBusy
        if self._process.closed.is_set():
            raise TurnUnsettled("its process has ended")
        prompt = await to_thread.run_sync(_written, turn.text)
        self._running = running = _Running(turn.proposed_id, turn.item_id, prompt)
        try:
            await started(running.turn_id)
        except BaseException:
            self._over(running)
            raise
        if len(turn.text.encode()) > LONGEST:
            self._over(running)
            found = self._done[running.turn_id] = Failed("what is said to it is too long")
            return found
        # Whoever is cancelled from here on leaves a turn behind, which keeps others out.
        try:
            await self._process.send(f"{running.turn_id} {prompt}\n".encode())
        except LinesEnded as error:
            self._over(running)
            raise TurnUnsettled(str(error)) from error
        await self._until_over(running)
        return await self._outcome(running)

    async def _until_over(self, running: _Running) -> None:
        async with anyio.create_task_group() as tasks:

            async def until_closed() -> None:
                await self._process.closed.wait()
                running.over.set()

            tasks.start_soon(until_closed)
            await running.over.wait()
            tasks.cancel_scope.cancel()

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
        self._done[running.turn_id] = found
        return found

    async def fate(self, item_id: str, turn_id: str | None) -> Fate:
        """Return what was told of a turn, or said by its tool."""
        await self._settle()
        if turn_id is not None and turn_id in self._done:
            return self._done[turn_id]
        running = self._running
        if running is not None and running.turn_id == turn_id and not self._process.closed.is_set():
            return Running()
        said = await self._said(item_id)
        return said or Unknowable("it said no answer, and Cursor does not tell how it ended")

    async def interrupt(self, turn_id: str) -> bool:
        """End the run of the turn, and wait until the shell says that it has ended."""
        running = self._running
        if running is None or running.turn_id != turn_id:
            return turn_id in self._done
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
        if running is not None and line.get("type") == _EXIT:
            self._has_ended(running, line.get("code"))
        self._life.tell(_activity(line))

    def _has_ended(self, running: _Running, code: object) -> None:
        """Take note that the run of a turn has ended, in order or not."""
        if running.is_broken_off:
            running.outcome = self._done[running.turn_id] = Interrupted()
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


def _written(text: str) -> Path:
    """Write what is said into a file for this user alone; the shell reads it from there."""
    descriptor, name = tempfile.mkstemp(prefix="letagents-")  # mode 0600
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return Path(name)


def _activity(line: Raw) -> Activity | None:
    match line.get("type"):
        case "tool_call":
            return Activity("cursor/tool_call", "Cursor uses a tool.")
        case "thinking":
            return Activity("cursor/thinking", "Cursor is thinking.")
        case "assistant":
            return Activity("cursor/assistant", "Cursor is writing.")
    return None
