"""Codex as a provider: each conversation is a thread of an app-server of its own.

A server outlives the process that started it, and is found again by its address and its birth.
(Source: supervisor 6.14.)
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import anyio
import attrs

from letagents.adapters.processes import children
from letagents.adapters.processes.births import Presence, presence
from letagents.adapters.providers import codex_server, codex_transcript
from letagents.adapters.providers.codex_conversation import CodexConversation
from letagents.adapters.providers.codex_link import CodexLink, CodexRefused, LinkClosed, open_link
from letagents.adapters.providers.codex_server import KIND, AppServer, toml
from letagents.adapters.providers.environment import REFUSED, environment, of_tools
from letagents.adapters.providers.lives import Life
from letagents.adapters.providers.programs import CODEX, command_path
from letagents.domain.turns import ConversationMissing, ProcessAmbiguous
from letagents.ports.providers import Born, Connection, Gone, Launch, Reference, unrecorded

Raw = Mapping[str, Any]

TOOLS = "letagents"
TOOLS_WITHIN = 30.0
_POLICY = {"approvalPolicy": "never", "sandbox": "workspace-write"}
_UNKNOWN_METHOD = -32601


@attrs.frozen
class CodexProvider:
    """Runs agents in Codex."""

    name: str = "codex"

    async def version(self) -> str:
        """Return which Codex is installed."""
        return await CODEX.version()

    async def start(self, launch: Launch, born: Born = unrecorded) -> CodexConversation:
        """Start a server and a thread in it."""

        async def begin(link: CodexLink) -> Raw:
            return await link.call("thread/start", {**_thread(launch), "historyMode": "legacy"})

        return await self._opened(launch, begin, born)

    async def resume(
        self, launch: Launch, conversation_id: str, born: Born = unrecorded
    ) -> CodexConversation:
        """Start a server that goes on with the thread."""

        async def go_on(link: CodexLink) -> Raw:
            asked = {"threadId": conversation_id, **_thread(launch)}
            try:
                thread = await link.call("thread/resume", asked)
            except CodexRefused as error:
                if error.code == _UNKNOWN_METHOD:
                    raise CODEX.unusable("it cannot resume a thread; it is too old") from error
                raise ConversationMissing(CODEX.name, conversation_id) from error
            if _thread_id(thread) != conversation_id:
                raise ConversationMissing(CODEX.name, conversation_id)
            return thread

        return await self._opened(launch, go_on, born)

    async def attach(self, launch: Launch, reference: Reference) -> CodexConversation | Gone:
        """Speak again to the server of a conversation; one that says nothing is ended."""
        at = reference.connection
        if presence(at.pid, at.birth) is Presence.GONE:
            if at.url is not None and await codex_server.is_ready(at.url):
                raise ProcessAmbiguous(at.pid, at.url)  # a launcher went before its program
            return Gone()
        try:
            conversation = await _found(launch, reference)
        except (LinkClosed, CodexRefused):
            await children.end(at.pid, at.birth)
            return Gone()
        if presence(at.pid, at.birth) is not Presence.SAME:
            await conversation.leave()
            raise ProcessAmbiguous(at.pid)
        return conversation

    async def abandon(self, connection: Connection) -> None:
        """End a server that came to no conversation."""
        await children.end(connection.pid, connection.birth)

    async def _opened(
        self, launch: Launch, thread: Callable[[CodexLink], Awaitable[Raw]], born: Born
    ) -> CodexConversation:
        binary = CODEX.found()
        workspace = command_path(launch.workspace)
        server = await codex_server.launch(
            binary,
            codex_server.free_url(),
            overrides(launch, workspace),
            cwd=workspace,
            env=environment(launch),
            born=born,
        )
        link: CodexLink | None = None
        try:
            link = await open_link(server.url)
            await _see_tools(link, launch)
            return _conversation(link, server, _thread_id(await thread(link)))
        except BaseException as error:
            with anyio.CancelScope(shield=True):
                if link is not None:
                    await link.aclose()
                await server.child.end()
            tail = server.output.close()
            if isinstance(error, LinkClosed | CodexRefused):
                raise CODEX.unusable(str(error), tail) from error
            raise


def overrides(launch: Launch, workspace: str) -> list[str]:
    """Return what is set for one server alone, in TOML as its command line takes it."""
    trusted = f"projects.{toml(workspace)}.trust_level={toml('trusted')}"
    if not launch.tools:
        return [trusted]
    server = f"mcp_servers.{TOOLS}"
    # What the owner's own configuration sets for letagents is merged with this: it is blanked.
    told = {**dict.fromkeys(REFUSED, ""), **of_tools(launch)}
    env = ", ".join(f"{name} = {toml(value)}" for name, value in told.items())
    return [
        trusted,
        f"{server}.command={toml(launch.tools[0])}",
        f"{server}.args=[{', '.join(map(toml, launch.tools[1:]))}]",
        f"{server}.cwd={toml(workspace)}",
        f"{server}.env={{{env}}}",
        f"{server}.enabled=true",
        *_only(server, launch.enabled),
    ]


def _only(server: str, tools: tuple[str, ...]) -> list[str]:
    """Return what lets an agent have these tools of letagents and no others, if any is named."""
    if not tools:
        return []
    return [
        f"{server}.env_vars=[]",
        f"{server}.enabled_tools=[{', '.join(map(toml, tools))}]",
        f"{server}.disabled_tools=[]",
    ]


def _thread(launch: Launch) -> dict[str, object]:
    named = {} if launch.model is None else {"model": launch.model}
    return {**_POLICY, **launch.policy, **named, "cwd": command_path(launch.workspace)}


def _thread_id(answer: Raw) -> str:
    thread = answer.get("thread")
    found = thread.get("id") if isinstance(thread, Mapping) else None
    if not isinstance(found, str) or not found:
        raise CODEX.unusable("Codex app-server did not return a thread id")
    return found


async def _see_tools(link: CodexLink, launch: Launch) -> None:
    """See that Codex lists letagents among its servers.

    Raises:
        ProviderUnusable: it does not.
    """
    if not launch.tools:
        return
    with anyio.move_on_after(TOOLS_WITHIN):
        answer = await link.call("mcpServerStatus/list", {})
        found = answer.get("data") or answer.get("servers") or []
        if any(isinstance(one, Mapping) and one.get("name") == TOOLS for one in found):
            return
    raise CODEX.unusable("it does not list letagents among its MCP servers")


async def _found(launch: Launch, reference: Reference) -> CodexConversation:
    """Return the conversation that goes on in a server which an earlier supervisor has started.

    Raises:
        LinkClosed, CodexRefused: it cannot be spoken to.
    """
    link = await open_link(reference.connection.url or "")
    try:
        conversation = CodexConversation(link, reference, None, Life())
        if not codex_transcript.is_active(await conversation.look()):
            await _subscribed(link, launch, reference.conversation_id)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await link.aclose()
        raise
    return conversation


async def _subscribed(link: CodexLink, launch: Launch, conversation_id: str) -> None:
    """Have a server that we found again tell us of a thread; else we look from time to time."""
    with suppress(CodexRefused):
        await link.call("thread/resume", {"threadId": conversation_id, **_thread(launch)})


def _conversation(link: CodexLink, server: AppServer, thread_id: str) -> CodexConversation:
    child = server.child
    connection = Connection(KIND, child.pid, child.birth, server.url)
    return CodexConversation(link, Reference(thread_id, connection), child, Life(server.output))
