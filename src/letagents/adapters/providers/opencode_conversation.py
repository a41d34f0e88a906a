"""One session of an OpenCode server: its turns, one after another, and what it does in them."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import anyio
import attrs

from letagents.adapters.processes import children
from letagents.adapters.providers import lives, opencode_server, opencode_transcript
from letagents.adapters.providers.lives import Life
from letagents.adapters.providers.opencode_server import MODEL_SERVER, OpenCode, Silence
from letagents.domain.open_models import Endpoint
from letagents.domain.progress import Activity
from letagents.domain.turns import (
    ConversationBusy,
    Fate,
    NeverStarted,
    Outcome,
    Running,
    TurnUnsettled,
    Unknowable,
)
from letagents.ports.clock import Clock
from letagents.ports.providers import Ending, Reference, Started, Turn

Raw = Mapping[str, Any]

INTERRUPTED_WITHIN = 10.0
PATIENT_LOOKS = 5
LACKING = "its session lacks it"
LOOKED_EVERY = 2.0
"""Seconds between two looks, where no event tells that a turn is over."""
_BY_THE_WORD = "message.part."
"""How events begin that come with each word of a turn: the whole session is not read for those."""


@attrs.define(eq=False)
class OpenModelConversation:
    """One session, in a server that this process has started or found."""

    _server: OpenCode
    reference: Reference
    _endpoint: Endpoint = attrs.field(repr=False)
    _clock: Clock
    _running: str | None = None
    _news: asyncio.Event = attrs.field(factory=asyncio.Event)
    _life: Life = attrs.field(init=False)
    _listening: "asyncio.Task[None] | None" = None

    def __attrs_post_init__(self) -> None:
        self._life = Life(self._server.output)

    async def run(self, turn: Turn, started: Started) -> Outcome:
        """Run one turn to its end."""
        self._life.trim()
        if self._running is not None and isinstance(await self._fate_of(self._running), Running):
            raise ConversationBusy
        self._running = turn_id = self._id(turn)
        if self._listening is None or self._listening.done():
            self._listening = asyncio.create_task(self._listen())
        try:
            await started(turn_id)
        except BaseException:
            self._running = None
            raise
        # Whoever is cancelled from here on leaves a turn behind, which keeps others out.
        try:
            asked = self._asked(turn, turn_id)
            await self._server.call("POST", f"{self._path}/prompt_async", asked)
        except Silence as error:
            raise TurnUnsettled(str(error)) from error
        outcome = await self._outcome(turn_id)
        self._running = None
        return outcome

    async def _outcome(self, turn_id: str) -> Outcome:
        for _ in range(PATIENT_LOOKS):
            while isinstance(fate := await self._next_fate(turn_id), Running):
                pass
            if not isinstance(fate, NeverStarted | Unknowable):
                return fate
        raise TurnUnsettled("its session does not tell of its end")

    async def _next_fate(self, turn_id: str) -> Fate:
        with anyio.move_on_after(LOOKED_EVERY):
            await self._news.wait()
        self._news.clear()
        return await self._fate_of(turn_id)

    async def fate(self, item_id: str, turn_id: str | None) -> Fate:
        """Return what the session tells of a turn."""
        if turn_id is None:
            turn_id = opencode_transcript.begun(await self._messages(), item_id, None)
        if turn_id is None:
            return Unknowable(LACKING)
        fate = await self._fate_of(turn_id)
        for _ in range(PATIENT_LOOKS):  # a turn that was broken off is over before it says how
            if not isinstance(fate, Unknowable):
                break
            await anyio.sleep(opencode_server.LOOKING)
            fate = await self._fate_of(turn_id)
        return fate

    async def _fate_of(self, turn_id: str) -> Fate:
        is_busy = await self._is_busy()
        messages = await self._messages()
        if opencode_transcript.begun(messages, "", turn_id) is None:
            return Running() if turn_id == self._running and is_busy else Unknowable(LACKING)
        return opencode_transcript.fate(messages, turn_id, is_busy=is_busy)

    async def _is_busy(self) -> bool:
        told = await self._ask("GET", "/session/status")
        own = told.get(self.reference.conversation_id) if isinstance(told, Mapping) else None
        return isinstance(own, Mapping) and own.get("type") in ("busy", "retry")

    async def _messages(self) -> list[Raw]:
        found = await self._ask("GET", f"{self._path}/message")
        listed = found if isinstance(found, list) else []
        return [one for one in listed if isinstance(one, Mapping)]

    async def _ask(self, method: str, path: str) -> Any:
        try:
            return await self._server.call(method, path)
        except Silence as error:
            raise TurnUnsettled(str(error)) from error

    async def interrupt(self, turn_id: str) -> bool:
        """Break the turn off, and look until the session says so."""
        with suppress(TurnUnsettled), anyio.move_on_after(INTERRUPTED_WITHIN):
            await self._ask("POST", f"{self._path}/abort")
            while True:
                fate = await self._fate_of(turn_id)
                if not isinstance(fate, Running | Unknowable):
                    self._news.set()
                    return True
                await anyio.sleep(opencode_server.LOOKING)
        return False

    def watch(self, tell: Callable[[Activity], None]) -> Callable[[], None]:
        """Tell what the server notifies of; of the model's words nothing is shown."""
        return self._life.watch(tell)

    async def ended(self) -> Ending:
        """Wait until the server has ended."""
        code = await lives.ended(self._server.child, self.reference.connection)
        await self._let_go()
        return self._life.ending(code)

    async def end(self) -> Ending:
        """End the server."""
        self._life.is_stopped = True
        at = self.reference.connection
        if self._server.child is None:
            await children.end(at.pid, at.birth)
        code = await opencode_server.end(self._server)
        await self._let_go()
        return self._life.ending(code)

    async def leave(self) -> None:
        """Let go of it: the server goes on, and is found again by its reference."""
        await self._let_go()
        if self._server.child is not None:
            self._server.child.leave()
        self._life.left()

    async def _let_go(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
            with suppress(asyncio.CancelledError):
                await self._listening
        await self._server.aclose()

    async def _listen(self) -> None:
        async for event in self._server.events():
            told = event.get("properties")
            if not isinstance(told, Mapping) or not isinstance(event.get("type"), str):
                continue
            if told.get("sessionID") not in (None, self.reference.conversation_id):
                continue
            if not event["type"].startswith(_BY_THE_WORD):
                self._news.set()
            self._life.tell(_activity(event["type"], told))

    @property
    def _path(self) -> str:
        return f"/session/{self.reference.conversation_id}"

    def _id(self, turn: Turn) -> str:
        """Return a message's id of OpenCode's form, which sorts by the time that is in it."""
        milliseconds = int(self._clock.now().timestamp() * 1000)
        moment = (milliseconds * 0x1000 + 1) & 0xFFFF_FFFF_FFFF
        return f"msg_{moment:012x}{turn.proposed_id.replace('-', '')[-14:]}"

    def _asked(self, turn: Turn, turn_id: str) -> Raw:
        return {
            "messageID": turn_id,
            "model": {"providerID": MODEL_SERVER, "modelID": self._endpoint.model},
            "parts": [{"type": "text", "text": turn.text}],
        }


def _activity(kind: str, told: Raw) -> Activity | None:
    part = told.get("part")
    if kind != "message.part.updated" or not isinstance(part, Mapping):
        return None
    match part.get("type"):
        case "tool":
            return Activity(kind, f"The model uses {part.get('tool')}")
        case "reasoning":
            return Activity(kind, "The model is thinking.")
        case "text":
            return Activity(kind, "The model is writing.")
    return None
