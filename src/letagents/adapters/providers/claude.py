"""Claude Code as a provider: each conversation is a headless process that is spoken to by lines.

Such a process cannot be found again by another one of ours: its lines end with us, and then it ends
by itself. What became of a turn is read in the transcript that it keeps. (Source: supervisor 6.14.)
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import attrs
from anyio import to_thread

from letagents.adapters.processes import children
from letagents.adapters.providers import claude_transcript
from letagents.adapters.providers.claude_conversation import KIND, ClaudeConversation
from letagents.adapters.providers.claude_process import ClaudeProcess
from letagents.adapters.providers.environment import environment, of_tools
from letagents.adapters.providers.lines import beginning, gone
from letagents.adapters.providers.programs import CLAUDE, command_path, written
from letagents.domain.turns import ConversationMissing, ProviderUnusable
from letagents.ports.ids import Ids
from letagents.ports.providers import Born, Connection, Gone, Launch, Reference, unrecorded

Raw = Mapping[str, Any]

TOOLS = "letagents"
READY_WITHIN = 30.0
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

    async def start(self, launch: Launch, born: Born = unrecorded) -> ClaudeConversation:
        """Start a process with a conversation of its own."""
        session_id = self.ids.uuid()
        return await self._opened(launch, session_id, f"--session-id={session_id}", born)

    async def resume(
        self, launch: Launch, conversation_id: str, born: Born = unrecorded
    ) -> ClaudeConversation:
        """Start a process that goes on with a conversation."""
        CLAUDE.found()
        if not claude_transcript.files_of(conversation_id, environment(launch)):
            raise ConversationMissing(CLAUDE.name, conversation_id)
        return await self._opened(launch, conversation_id, f"--resume={conversation_id}", born)

    async def attach(self, launch: Launch, reference: Reference) -> Gone:
        """See that the process of a conversation ends, if it has not: nobody can speak to it."""
        return await gone(reference.connection)

    async def abandon(self, connection: Connection) -> None:
        """End a process that came to no conversation."""
        await children.end(connection.pid, connection.birth)

    async def _opened(
        self, launch: Launch, session_id: str, which: str, born: Born
    ) -> ClaudeConversation:
        binary = CLAUDE.found()
        async with beginning(CLAUDE) as begun, _told_of_tools(launch) as config:
            workspace, env = command_path(launch.workspace), environment(launch)
            words = arguments(binary, launch, config, which)
            process = await ClaudeProcess.start(words, workspace, env, begun.output, KIND, born)
            begun.process = process
            await _see_tools(process, launch)
        return ClaudeConversation(process, session_id, env)


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


@asynccontextmanager
async def _told_of_tools(launch: Launch) -> AsyncIterator[Path | None]:
    """Have a file meanwhile that tells which tools it has, if it has any."""
    if not launch.tools:
        yield None
        return
    command, *words = launch.tools
    server = {"type": "stdio", "command": command, "args": words, "env": of_tools(launch)}
    text = json.dumps({"mcpServers": {TOOLS: server}})
    file = await to_thread.run_sync(written, text, ".json")
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)


async def _see_tools(process: ClaudeProcess, launch: Launch) -> None:
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
