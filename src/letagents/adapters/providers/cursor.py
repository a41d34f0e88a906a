"""Cursor as a provider: each turn is a run of its program, and says its answer by a tool.

What the program writes at its end is everything that it thought aloud, so the answer is what the
turn said by `complete_room_turn`, which the supervisor has written down. A shell lives as long as
the conversation and starts one run after another: it is the process that is found again, and with
its group everything ends. (Source: supervisor 5.7, 6.14.)
"""

import subprocess
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import attrs

from letagents.adapters.processes import children
from letagents.adapters.providers.cursor_conversation import KIND, CursorConversation
from letagents.adapters.providers.cursor_shell import waiting_for
from letagents.adapters.providers.environment import environment
from letagents.adapters.providers.lines import LineProcess, beginning, gone
from letagents.adapters.providers.programs import CURSOR, command_path
from letagents.domain.turns import Answered, ProviderUnusable, Silent
from letagents.ports.providers import Born, Connection, Gone, Launch, Reference, unrecorded

Raw = Mapping[str, Any]
TOOLS = "letagents"
READY_WITHIN = 60.0


@attrs.frozen
class CursorProvider:
    """Runs agents in Cursor."""

    said: Callable[[str], Awaitable[Answered | Silent | None]]
    """Returns the answer that the turn of an item said by the tool, if it said one."""
    name: str = "cursor"

    async def version(self) -> str:
        """Return which Cursor is installed."""
        return await CURSOR.version()

    async def start(self, launch: Launch, born: Born = unrecorded) -> CursorConversation:
        """Begin a chat."""
        return await self._opened(launch, None, born)

    async def resume(
        self, launch: Launch, conversation_id: str, born: Born = unrecorded
    ) -> CursorConversation:
        """Go on with a chat; whether there is one is seen in its first turn."""
        return await self._opened(launch, conversation_id, born)

    async def attach(self, launch: Launch, reference: Reference) -> Gone:
        """See that the process of a conversation ends, if it has not: nobody can speak to it."""
        return await gone(reference.connection)

    async def abandon(self, connection: Connection) -> None:
        """End a process that came to no conversation."""
        await children.end(connection.pid, connection.birth)

    async def _opened(self, launch: Launch, chat_id: str | None, born: Born) -> CursorConversation:
        binary = CURSOR.found()
        async with beginning(CURSOR) as begun:
            workspace, env = command_path(launch.workspace), environment(launch)
            script = waiting_for(arguments(launch, workspace))
            words = ["/bin/sh", "-c", script, "letagents", binary]
            process = await LineProcess.start(words, workspace, env, begun.output, KIND, born)
            begun.process = process
            with anyio.fail_after(READY_WITHIN):
                if launch.tools:
                    await _see_tools(binary, workspace, env)
                if chat_id is None:
                    chat_id = await _asked(binary, ["create-chat"], workspace, env)
                await process.send(f"{chat_id}\n".encode())
        return CursorConversation(process, chat_id, self.said)


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
