"""Codex as a provider: each conversation is a thread of an app-server of its own.

A server outlives the process that started it, and is found again by its address and its birth.
(Source: supervisor 6.14.)
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import anyio
import attrs

from letagents.adapters.processes import children
from letagents.adapters.processes.births import Presence, presence
from letagents.adapters.processes.children import Child
from letagents.adapters.providers import codex_server, codex_transcript
from letagents.adapters.providers.codex_link import CodexLink, CodexRefused, LinkClosed, open_link
from letagents.adapters.providers.codex_server import KIND, AppServer, toml
from letagents.adapters.providers.environment import REFUSED, environment, of_tools
from letagents.adapters.providers.lives import Life
from letagents.adapters.providers.programs import CODEX, command_path
from letagents.domain.progress import Activity, Streams
from letagents.domain.turns import (
    ConversationBusy,
    ConversationMissing,
    Fate,
    NeverStarted,
    Outcome,
    ProcessAmbiguous,
    Running,
    TurnUnsettled,
    Unknowable,
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

T = TypeVar("T")
Raw = Mapping[str, Any]

TOOLS = "letagents"
OVER = ("completed", "interrupted", "failed", "cancelled", "stopped")
INTERRUPTED_WITHIN = 10.0
LOOKING = 0.05
LOOKED_EVERY = 5.0
"""Seconds between two looks at a turn, where nothing tells that it is over."""
TOOLS_WITHIN = 30.0
_POLICY = {"approvalPolicy": "never", "sandbox": "workspace-write"}
_UNKNOWN_METHOD = -32601
_NOT_OVER = (Running, NeverStarted, Unknowable)


@attrs.frozen
class CodexProvider:
    """Runs agents in Codex."""

    name: str = "codex"

    async def version(self) -> str:
        """Return which Codex is installed."""
        return await CODEX.version()

    async def start(self, launch: Launch, born: Born = unrecorded) -> "CodexConversation":
        """Start a server and a thread in it."""

        async def begin(link: CodexLink) -> Raw:
            return await link.call("thread/start", {**_thread(launch), "historyMode": "legacy"})

        return await self._opened(launch, begin, born)

    async def resume(
        self, launch: Launch, conversation_id: str, born: Born = unrecorded
    ) -> "CodexConversation":
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

    async def attach(self, launch: Launch, reference: Reference) -> "CodexConversation | Gone":
        """Speak again to the server of a conversation."""
        at = reference.connection
        if presence(at.pid, at.birth) is Presence.GONE:
            if at.url is not None and await codex_server.is_ready(at.url):
                raise ProcessAmbiguous(at.pid)  # its first process ended, and one goes on for it
            return Gone()
        try:
            link = await open_link(at.url or "")
            conversation = CodexConversation(link, reference, None, Life())
            if not codex_transcript.is_active(await conversation.look()):
                await _subscribed(link, launch, reference.conversation_id)
        except (LinkClosed, CodexRefused) as error:
            raise ProcessAmbiguous(at.pid) from error
        if presence(at.pid, at.birth) is not Presence.SAME:
            await link.aclose()
            raise ProcessAmbiguous(at.pid)
        return conversation

    async def abandon(self, connection: Connection) -> None:
        """End a server that came to no conversation."""
        await children.end(connection.pid, connection.birth)

    async def _opened(
        self, launch: Launch, thread: Callable[[CodexLink], Awaitable[Raw]], born: Born
    ) -> "CodexConversation":
        binary = CODEX.found()
        try:
            workspace = command_path(launch.workspace)
        except OSError as error:
            raise CODEX.unusable(f"{launch.workspace} is no folder") from error
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


async def _subscribed(link: CodexLink, launch: Launch, conversation_id: str) -> None:
    """Have a server that we found again tell us of a thread; else we look from time to time."""
    with suppress(CodexRefused):
        await link.call("thread/resume", {"threadId": conversation_id, **_thread(launch)})


def _conversation(link: CodexLink, server: AppServer, thread_id: str) -> "CodexConversation":
    child = server.child
    connection = Connection(KIND, child.pid, child.birth, server.url)
    return CodexConversation(link, Reference(thread_id, connection), child, Life(server.output))


@attrs.define(eq=False)
class CodexConversation:
    """One thread, in a server that this process has started or found."""

    _link: CodexLink
    reference: Reference
    _child: Child | None
    _life: Life
    _running: str | None = None
    _is_asking: bool = False
    _has_read_all: bool = False
    """Whether no turn can have begun here that the server does not tell of."""
    _over: dict[str, anyio.Event] = attrs.field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self._link.listen(self._heard)
        self._has_read_all = self._child is None

    async def look(self) -> Raw:
        """Return the thread as it is; one in which nothing was said yet is empty."""
        asked = {"threadId": self.reference.conversation_id, "includeTurns": True}
        try:
            return await self._link.call("thread/read", asked)
        except CodexRefused as error:
            if "not materialized yet" not in error.text:
                raise
        return await self._link.call("thread/read", {**asked, "includeTurns": False})

    async def run(self, turn: Turn, started: Started) -> Outcome:
        """Run one turn to its end."""
        if self._is_asking or await self._is_running():
            raise ConversationBusy
        turn_id = await self._begun(turn)
        try:
            await started(turn_id)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.interrupt(turn_id)
            raise
        return await self._outcome(turn_id)

    async def _is_running(self) -> bool:
        """Whether a turn of ours runs. Who is not told of its end looks."""
        if self._running is None:
            return False
        if isinstance(await self._fate_of(self._running), _NOT_OVER):
            return True
        self._running = None
        return False

    async def _begun(self, turn: Turn) -> str:
        said = {"type": "text", "text": turn.text, "text_elements": []}
        asked = {"threadId": self.reference.conversation_id, "input": [said]}
        self._is_asking = True
        try:
            answer = (await self._link.call("turn/start", asked)).get("turn")
        except LinkClosed as error:
            raise TurnUnsettled(str(error)) from error
        except CodexRefused as error:
            raise TurnUnsettled(f"Codex answered: {error.text}") from error
        finally:
            self._is_asking = False
        turn_id = answer.get("id") if isinstance(answer, Mapping) else None
        if not isinstance(turn_id, str) or not turn_id:
            raise TurnUnsettled("Codex app-server did not return a turn id")
        if not self._end_of(turn_id).is_set():
            self._running = turn_id
        return turn_id

    async def _outcome(self, turn_id: str) -> Outcome:
        fate: Fate = Running()
        while isinstance(fate, _NOT_OVER):
            is_told = False
            with anyio.move_on_after(LOOKED_EVERY):
                await _first_of(self._end_of(turn_id).wait, self._link.closed.wait)
                is_told = True
            fate = await self._fate_of(turn_id)
            if is_told and isinstance(fate, _NOT_OVER):
                raise TurnUnsettled("its transcript does not tell of its end")
        self._over.pop(turn_id, None)
        if self._running == turn_id:
            self._running = None
        return fate

    async def fate(self, item_id: str, turn_id: str | None) -> Fate:
        """Return what the thread tells of a turn."""
        if turn_id is not None:
            return await self._fate_of(turn_id)
        read = await self._read()
        turn = codex_transcript.turn_about(read, item_id)
        if turn is not None:
            return codex_transcript.fate_of(turn)
        if codex_transcript.is_active(read):
            raise TurnUnsettled("a turn is under way, and it does not tell yet which")
        if self._has_read_all:
            return NeverStarted()
        return Unknowable("the process that may have begun it has ended, and its thread lacks it")

    async def _fate_of(self, turn_id: str) -> Fate:
        turn = codex_transcript.turn_of(await self._read(), turn_id)
        if turn is None:
            return Unknowable("its thread lacks it")
        fate = codex_transcript.fate_of(turn)
        if isinstance(fate, Running) and self._child is not None and self._running != turn_id:
            return Unknowable("its process ended before it did")
        return fate

    async def _read(self) -> Raw:
        try:
            return await self.look()
        except LinkClosed as error:
            raise TurnUnsettled(str(error)) from error
        except CodexRefused as error:
            raise TurnUnsettled(f"Codex answered: {error.text}") from error

    async def interrupt(self, turn_id: str) -> bool:
        """Break the turn off, and look until the thread says so."""
        asked = {"threadId": self.reference.conversation_id, "turnId": turn_id}
        with suppress(LinkClosed, CodexRefused):  # it may be over already: the thread tells
            await self._link.call("turn/interrupt", asked)
        with anyio.move_on_after(INTERRUPTED_WITHIN):
            while not self._link.closed.is_set():
                if not isinstance(await self._fate_of(turn_id), Running | Unknowable):
                    return True
                await anyio.sleep(LOOKING)
        return False

    def watch(self, tell: Callable[[Activity], None]) -> Callable[[], None]:
        """Tell what the server notifies of."""
        streams = Streams()
        return self._link.listen(lambda method, params: tell(streams.activity(method, params)))

    async def ended(self) -> Ending:
        """Wait until the server has ended."""
        at = self.reference.connection
        code = None
        if self._child is not None:
            code = await self._child.ended()
        else:
            await children.gone(at.pid, at.birth)
        await self._link.aclose()
        return self._life.ending(code)

    async def end(self) -> Ending:
        """End the server."""
        self._life.is_stopped = True
        at = self.reference.connection
        code = None
        if self._child is not None:
            code = await self._child.end()
        else:
            await children.end(at.pid, at.birth)
        await self._link.aclose()
        return self._life.ending(code)

    async def leave(self) -> None:
        """Let go of it: the server goes on, and is found again by its reference."""
        await self._link.aclose()
        if self._child is not None:
            self._child.leave()
        self._life.left()

    def _heard(self, method: str, params: Raw) -> None:
        kind, _, what = method.partition("/")
        if kind != "turn" or what not in OVER:
            return
        turn = params.get("turn")
        turn_id = turn.get("id") if isinstance(turn, Mapping) else params.get("turnId")
        if params.get("threadId") == self.reference.conversation_id and isinstance(turn_id, str):
            self._end_of(turn_id).set()
            if self._running == turn_id:
                self._running = None

    def _end_of(self, turn_id: str) -> anyio.Event:
        return self._over.setdefault(turn_id, anyio.Event())


async def _first_of(*waits: Callable[[], Awaitable[object]]) -> None:
    async with anyio.create_task_group() as tasks:

        async def wait(one: Callable[[], Awaitable[object]]) -> None:
            await one()
            tasks.cancel_scope.cancel()

        for one in waits:
            tasks.start_soon(wait, one)
