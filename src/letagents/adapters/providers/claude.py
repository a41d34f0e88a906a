"""Claude Code as a provider: each conversation is a headless process that is spoken to by lines.

Such a process cannot be found again by another one of ours: its lines end with us, and then it ends
by itself. What became of a turn is read in the transcript that it keeps. (Source: supervisor 6.14.)
"""

import asyncio
import itertools
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import attrs
from anyio import to_thread

from letagents.adapters.processes import children
from letagents.adapters.processes.births import Presence, presence
from letagents.adapters.providers import claude_transcript
from letagents.adapters.providers.environment import environment, of_tools
from letagents.adapters.providers.lines import LineProcess, LinesEnded
from letagents.adapters.providers.lives import Life
from letagents.adapters.providers.programs import CLAUDE, Output, command_path
from letagents.domain.progress import Activity
from letagents.domain.turns import (
    ConversationBusy,
    ConversationMissing,
    Fate,
    Outcome,
    ProcessAmbiguous,
    ProviderUnusable,
    Running,
    TurnUnsettled,
)
from letagents.ports.ids import Ids
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

KIND = "claude_cli"
TOOLS = "letagents"
READY_WITHIN = 30.0
INTERRUPTED_WITHIN = 10.0
NATURAL_END = 5.0
_RESERVED = frozenset(
    {
        "print", "inputFormat", "outputFormat", "resume", "continue", "cwd", "verbose", "sessionId",
        "noSessionPersistence", "mcpConfig", "strictMcpConfig",
    }
)  # fmt: skip
"""What of its command line is ours to say."""


@attrs.frozen
class ClaudeProvider:
    """Runs agents in Claude Code."""

    ids: Ids
    name: str = "claude-code"

    async def version(self) -> str:
        """Return which Claude Code is installed."""
        return await CLAUDE.version()

    async def start(self, launch: Launch, born: Born = unrecorded) -> "ClaudeConversation":
        """Start a process with a conversation of its own."""
        session_id = self.ids.uuid()
        return await self._opened(launch, session_id, f"--session-id={session_id}", born)

    async def resume(
        self, launch: Launch, conversation_id: str, born: Born = unrecorded
    ) -> "ClaudeConversation":
        """Start a process that goes on with a conversation."""
        CLAUDE.found()
        if not claude_transcript.files_of(conversation_id, environment(launch)):
            raise ConversationMissing(CLAUDE.name, conversation_id)
        return await self._opened(launch, conversation_id, f"--resume={conversation_id}", born)

    async def attach(self, launch: Launch, reference: Reference) -> Gone:
        """See that the process of a conversation ends, if it has not: nobody can speak to it."""
        at = reference.connection
        there = presence(at.pid, at.birth)
        if there is Presence.UNKNOWN:
            raise ProcessAmbiguous(at.pid)
        if not await children.gone_within(at.pid, at.birth, NATURAL_END):
            await children.end(at.pid, at.birth)
        return Gone()

    async def abandon(self, connection: Connection) -> None:
        """End a process that came to no conversation."""
        await children.end(connection.pid, connection.birth)

    async def _opened(
        self, launch: Launch, session_id: str, which: str, born: Born
    ) -> "ClaudeConversation":
        binary = CLAUDE.found()
        output = Output()
        config: Path | None = None
        process: _Process | None = None
        try:
            workspace = command_path(launch.workspace)
            config = await to_thread.run_sync(_tools_file, launch)
            words = arguments(binary, launch, config, which)
            process = await _Process.start(
                words, workspace, environment(launch), output, KIND, born
            )
            await _see_tools(process, launch)
            return ClaudeConversation(process, session_id, environment(launch))
        except BaseException as error:
            with anyio.CancelScope(shield=True):
                if process is not None:
                    await process.end()
            tail = output.close()
            if isinstance(error, OSError | LinesEnded | TimeoutError):
                raise CLAUDE.unusable(str(error) or "it is not ready in time", tail) from error
            raise
        finally:
            if config is not None:
                config.unlink(missing_ok=True)


def arguments(binary: str, launch: Launch, config: Path | None, which: str) -> list[str]:
    """Return the command line of one conversation.

    Raises:
        ProviderUnusable: the policy says what is not its to say.
    """
    words = [
        binary, "--print", "--verbose", "--input-format=stream-json",
        "--output-format=stream-json", "--strict-mcp-config",
    ]  # fmt: skip
    if config is not None:
        words.append(f"--mcp-config={config}")
    words += _flags({**launch.policy, "allowedTools": _allowed(launch)})
    if launch.model is not None:
        words.append(f"--model={launch.model}")
    return [*words, which]


def _allowed(launch: Launch) -> list[str]:
    """Return which tools it may use unasked: nobody is there whom it could ask about ours."""
    named = launch.policy.get("allowedTools")
    others = list(map(str, named)) if isinstance(named, list | tuple) else []
    return [*others, f"mcp__{TOOLS}"]


def _flags(policy: Raw) -> list[str]:
    words = []
    for name, value in policy.items():
        if name in _RESERVED or not name.isidentifier():
            raise ProviderUnusable(
                f"The policy of a Claude Code agent cannot set {name!r}.",
                remedy="Leave it out of the agent's policy.",
            )
        flag = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)
        if value is True:
            words.append(f"--{flag}")
        elif isinstance(value, list | tuple):
            words.append(f"--{flag}={','.join(map(str, value))}")
        elif value is not None and value is not False:
            words.append(f"--{flag}={value}")
    return words


def _tools_file(launch: Launch) -> Path | None:
    """Write which tools it has into a file for it alone, and return that."""
    if not launch.tools:
        return None
    command, *words = launch.tools
    server = {"type": "stdio", "command": command, "args": words, "env": of_tools(launch)}
    descriptor, name = tempfile.mkstemp(prefix="letagents-", suffix=".json")  # mode 0600
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"mcpServers": {TOOLS: server}}, file)
    return Path(name)


async def _see_tools(process: "_Process", launch: Launch) -> None:
    """See that it speaks with us, and has our tools.

    Raises:
        ProviderUnusable, TimeoutError: it does not, or has not.
    """
    with anyio.fail_after(READY_WITHIN):
        await process.ask({"subtype": "initialize"})
        if not launch.tools:
            return
        while True:
            told = await process.ask({"subtype": "mcp_status"})
            state = next((one for one in _servers(told) if one.get("name") == TOOLS), {})
            if state.get("status") == "connected":
                return
            if state.get("status") not in ("pending", None):
                raise CLAUDE.unusable(f"its letagents server is {state.get('status')}")
            await anyio.sleep(0.1)


def _servers(told: Raw) -> list[Raw]:
    found = told.get("mcpServers")
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


@attrs.define(eq=False)
class _Process(LineProcess):
    """A process that is also asked about itself."""

    _waiting: "dict[str, asyncio.Future[Raw]]" = attrs.field(factory=dict)
    _numbers: Iterator[int] = attrs.field(factory=lambda: itertools.count(1))

    async def ask(self, request: Raw) -> Raw:
        """Return the program's answer to a request about itself.

        Raises:
            LinesEnded: it gives none.
        """
        number = f"letagents-{next(self._numbers)}"
        answer = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            await self.say({"type": "control_request", "request_id": number, "request": request})
            told: Raw = await answer
        finally:
            self._waiting.pop(number, None)
        return told

    async def say(self, line: Raw) -> None:
        """Send a line. Raises: LinesEnded."""
        await self.send(json.dumps(line).encode() + b"\n")

    def heard(self, line: Raw) -> None:
        """Take a line."""
        if line.get("type") == "control_response":
            self._settle(line.get("response"))
        else:
            self.told(line)

    def silenced(self) -> None:
        """Tell those who wait for an answer that none comes."""
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(LinesEnded("its process has ended"))

    def _settle(self, response: object) -> None:
        if not isinstance(response, Mapping):
            return
        answer = self._waiting.get(str(response.get("request_id")))
        if answer is not None and not answer.done():
            told = response.get("response")
            answer.set_result(told if isinstance(told, Mapping) else {})


@attrs.define(eq=False)
class _Running:
    turn_id: str
    outcome: Outcome | None = None
    is_broken_off: bool = False
    over: anyio.Event = attrs.field(factory=anyio.Event)


@attrs.define(eq=False)
class ClaudeConversation:
    """One conversation, in a process that this process has started."""

    _process: _Process
    _session_id: str
    _environ: Mapping[str, str] = attrs.field(repr=False)
    _running: _Running | None = None
    _done: dict[str, Outcome] = attrs.field(factory=dict)
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
        async with anyio.create_task_group() as tasks:

            async def until_closed() -> None:
                await self._process.closed.wait()
                running.over.set()

            tasks.start_soon(until_closed)
            await running.over.wait()
            tasks.cancel_scope.cancel()
        if running.outcome is None:
            self._running = None
            raise TurnUnsettled("its process has ended")
        return running.outcome

    async def fate(self, item_id: str, turn_id: str | None) -> Fate:
        """Return what was told of a turn, or is written down of it."""
        if turn_id is not None and turn_id in self._done:
            return self._done[turn_id]
        running = self._running
        if running is not None and running.turn_id == turn_id and not self._process.closed.is_set():
            return Running()
        files = claude_transcript.files_of(self._session_id, self._environ)
        return await to_thread.run_sync(claude_transcript.fate, files, item_id, turn_id)

    async def interrupt(self, turn_id: str) -> bool:
        """Ask the program to break off, and wait until it says that it has."""
        running = self._running
        if running is None or running.turn_id != turn_id:
            return turn_id in self._done
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
            running.outcome = self._done[running.turn_id] = outcome
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
