"""One thread of a Codex app-server: its turns, one after another, and what it does in them."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import anyio
import attrs

from letagents.adapters.processes.children import Child
from letagents.adapters.providers import codex_transcript, lives
from letagents.adapters.providers.codex_link import CodexLink, CodexRefused, LinkClosed
from letagents.adapters.providers.lives import Life
from letagents.adapters.providers.races import first_of
from letagents.domain.progress import Activity, Streams
from letagents.domain.turns import (
    ConversationBusy,
    Fate,
    NeverStarted,
    Outcome,
    Running,
    TurnUnsettled,
    Unknowable,
)
from letagents.ports.providers import Ending, Reference, Started, Turn

Raw = Mapping[str, Any]

OVER = ("completed", "interrupted", "failed", "cancelled", "stopped")
INTERRUPTED_WITHIN = 10.0
LOOKING = 0.05
LOOKED_EVERY = 5.0
"""Seconds between two looks at a turn, where nothing tells that it is over."""
_NOT_OVER = (Running, NeverStarted, Unknowable)


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
        self._life.trim()
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
                await first_of(self._end_of(turn_id).wait, self._link.closed.wait)
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
            return Unknowable("its process ended before the turn did")
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
        code = await lives.ended(self._child, self.reference.connection)
        await self._link.aclose()
        return self._life.ending(code)

    async def end(self) -> Ending:
        """End the server."""
        self._life.is_stopped = True
        code = await lives.end(self._child, self.reference.connection)
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
