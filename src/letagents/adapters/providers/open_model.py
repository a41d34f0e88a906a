"""Any model under OpenAI's interface as a provider, run by OpenCode: a conversation is its session.

A server outlives the process that started it, and is found again by its address, its birth and the
file with its password. (Source: supervisor 6.14.)
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import attrs

from letagents.adapters.processes import children
from letagents.adapters.processes.births import Presence, presence
from letagents.adapters.providers import opencode_server
from letagents.adapters.providers.codex_server import free_url
from letagents.adapters.providers.opencode_conversation import OpenModelConversation
from letagents.adapters.providers.opencode_server import KIND, TOOLS, OpenCode, Silence
from letagents.adapters.providers.programs import OPENCODE, command_path
from letagents.domain.open_models import Endpoint
from letagents.domain.turns import ConversationMissing, ProcessAmbiguous, ProviderUnusable
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids
from letagents.ports.providers import Born, Connection, Gone, Launch, Reference, unrecorded

Raw = Mapping[str, Any]

TOOLS_WITHIN = 120.0
"""It sets its plugins up first, and tries for a while where it cannot reach their registry."""


@attrs.frozen
class OpenModelProvider:
    """Runs agents on the model that `endpoint` returns, if a person has set one."""

    endpoint: Callable[[], Endpoint | None]
    run_dir: Path
    clock: Clock
    ids: Ids
    name: str = "open-model"

    async def version(self) -> str:
        """Return which OpenCode is installed."""
        return await OPENCODE.version()

    async def start(self, launch: Launch, born: Born = unrecorded) -> OpenModelConversation:
        """Start a server and a session in it."""
        return await self._opened(launch, None, born)

    async def resume(
        self, launch: Launch, conversation_id: str, born: Born = unrecorded
    ) -> OpenModelConversation:
        """Start a server that goes on with the session."""
        return await self._opened(launch, conversation_id, born)

    async def attach(self, launch: Launch, reference: Reference) -> OpenModelConversation | Gone:
        """Speak again to the server of a conversation; one that says nothing is ended."""
        at = reference.connection
        if presence(at.pid, at.birth) is Presence.GONE:
            return Gone()
        try:
            server = opencode_server.connect(at.url or "", at.auth_path or "")
        except OSError:
            return await self._fenced(at)
        try:
            await server.call("GET", f"/session/{reference.conversation_id}")
            if presence(at.pid, at.birth) is not Presence.SAME:
                raise ProcessAmbiguous(at.pid)
            return OpenModelConversation(server, reference, self._model(), self.clock)
        except BaseException as error:
            with anyio.CancelScope(shield=True):
                await server.aclose()
            if isinstance(error, Silence):
                return await self._fenced(at)
            raise

    async def _fenced(self, at: Connection) -> Gone:
        """End a server that cannot be spoken to. Raises: ProcessAmbiguous."""
        await self.abandon(at)
        return Gone()

    async def abandon(self, connection: Connection) -> None:
        """End a server that came to no conversation, and forget its password."""
        await children.end(connection.pid, connection.birth)
        opencode_server.forget(connection.auth_path)

    async def _opened(
        self, launch: Launch, session_id: str | None, born: Born
    ) -> OpenModelConversation:
        OPENCODE.found()
        endpoint = self._model()
        workspace = command_path(launch.workspace)
        url = free_url().replace("ws://", "http://")
        server = await opencode_server.launch(
            launch, workspace, endpoint, self.run_dir, url, self.ids, born
        )
        try:
            await _see_tools(server, launch)
            return self._conversation(server, endpoint, await _session(server, session_id))
        except BaseException as error:
            with anyio.CancelScope(shield=True):
                await opencode_server.end(server)
            tail = server.output.close() if server.output is not None else ""
            if isinstance(error, Silence):
                raise OPENCODE.unusable(str(error), tail) from error
            raise

    def _model(self) -> Endpoint:
        endpoint = self.endpoint()
        if endpoint is None:
            raise ProviderUnusable(
                "Open Model supervised launch is missing a model: none is set.",
                remedy="Set the model's address, name and key for this agent, then start it.",
            )
        return endpoint

    def _conversation(
        self, server: OpenCode, endpoint: Endpoint, session_id: str
    ) -> OpenModelConversation:
        assert server.child is not None  # noqa: S101  # it was started here
        child = server.child
        connection = Connection(KIND, child.pid, child.birth, server.url, server.auth_path)
        reference = Reference(session_id, connection)
        return OpenModelConversation(server, reference, endpoint, self.clock)


async def _session(server: OpenCode, session_id: str | None) -> str:
    """Return the session that is gone on with, or that was begun."""
    if session_id is None:
        made = await server.call("POST", "/session", {"title": "letagents"})
        return str(made["id"])
    try:
        await server.call("GET", f"/session/{session_id}")
    except Silence as error:
        if error.status in (400, 404):
            raise ConversationMissing(OPENCODE.name, session_id) from error
        raise
    return session_id


async def _see_tools(server: OpenCode, launch: Launch) -> None:
    """See that our tools are connected.

    Raises:
        ProviderUnusable: they are not.
    """
    if not launch.tools:
        return
    state: object = None
    with anyio.move_on_after(TOOLS_WITHIN):
        told = await server.call("GET", "/mcp")
        found = told.get(TOOLS) if isinstance(told, Mapping) else None
        state = found.get("status") if isinstance(found, Mapping) else None
    if state != "connected":
        raise OPENCODE.unusable(f"its letagents server is {state}")
