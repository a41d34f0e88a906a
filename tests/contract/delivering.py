"""A room, a journal and a mind, with one supervisor after another that delivers messages."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import attrs
from tests.contract.edges import Edge, Killed, MortalJournal

from letagents.adapters.rooms.kept.receipts import KeptReceipts
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.adapters.supervision.memory import MemoryPlace, MemorySupervision
from letagents.application.agents.agent import Agent
from letagents.application.agents.delivery import Delivery
from letagents.application.agents.recovering import recover
from letagents.application.receipts import Reached
from letagents.domain import turns
from letagents.domain.errors import RoomsUnavailable
from letagents.domain.fencing import Fence
from letagents.domain.ids import ClientKey, RoomId
from letagents.domain.inbox import Item
from letagents.domain.manifest import Entry
from letagents.domain.messages import Draft, Latest, Message, Page, Window
from letagents.domain.progress import Activity
from letagents.domain.turns import Answered, Fate, Outcome
from letagents.entrypoints.daemon.words import WordsForAgents
from letagents.ports.providers import Connection, Conversation, Reference, Turn
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import ADA, BOB, arrival
from letagents.testing.determinism import CountingIds, ManualClock

ROOM = RoomId("workshop")
REFERENCE = Reference("c1", Connection("scripted", 1, "birth-1"))


async def at_rest() -> None:
    """Do nothing."""


@attrs.define(eq=False)
class Mind:
    """A provider that outlives whoever asks it, and its process does so too."""

    names_its_turns_first: bool = False
    says: Callable[[str], Outcome] = lambda item_id: Answered(f"answer to {item_id[-5:]}")
    can_be_read: bool = True
    during: Callable[[], Awaitable[None]] = at_rest
    begun: list[tuple[str, str]] = attrs.field(factory=list)
    texts: list[str] = attrs.field(factory=list)

    def fate(self, item_id: str, turn_id: str | None) -> Fate:
        of_item = [one for one in self.begun if one[0] == item_id]
        if not of_item:
            return turns.NeverStarted()
        return self.says(item_id) if self.can_be_read else turns.Unknowable("it is unreadable")


@attrs.define(eq=False)
class OneConversation:
    """What one supervisor sees of it."""

    mind: Mind
    edge: Edge
    reference: Reference = REFERENCE

    async def run(self, turn: Turn, started: Callable[[str], Awaitable[None]]) -> Outcome:
        if self.mind.names_its_turns_first:
            await started(turn.proposed_id)
        self.edge.pass_by()
        self.mind.begun.append((turn.item_id, turn.proposed_id))
        self.mind.texts.append(turn.text)
        await self.mind.during()
        self.edge.pass_by()
        if not self.mind.names_its_turns_first:
            await started(turn.proposed_id)
        return self.mind.says(turn.item_id)

    async def fate(self, item_id: str, turn_id: str | None) -> Fate:
        return self.mind.fate(item_id, turn_id)

    def watch(self, tell: Callable[[Activity], None]) -> Callable[[], None]:
        return lambda: None


@attrs.define(eq=False)
class MortalRooms:
    """Rooms before and after each of whose messages the supervisor may be killed.

    They are away the first `away` times that something is said, and `unread` times as they are
    read.
    """

    inner: MemoryRooms
    edge: Edge
    away: int = 0
    unread: int = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    async def read(self, room_id: RoomId, window: Window, viewer: Fence | None = None) -> Page:
        if self.unread:
            self.unread -= 1
            raise RoomsUnavailable("It is away.", remedy="Wait.")
        return await self.inner.read(room_id, window, viewer)

    async def post(self, room_id: RoomId, draft: Draft, fence: Fence) -> Message:
        self.edge.pass_by()
        if self.away:
            self.away -= 1
            raise RoomsUnavailable("It is away.", remedy="Wait.")
        said = await self.inner.post(room_id, draft, fence)
        self.edge.pass_by()
        return said


@attrs.define(eq=False)
class World:
    """A room, a journal and a mind, and one supervisor after another."""

    mind: Mind = attrs.field(factory=Mind)
    rooms: MemoryRooms = attrs.field(factory=lambda: MemoryRooms(CountingIds(), ManualClock()))
    place: MemoryPlace = attrs.field(factory=MemoryPlace)
    ids: CountingIds = attrs.field(factory=CountingIds)
    fence: Fence | None = None
    asker: Fence | None = None
    asked: int = 0
    pauses: int = 0
    paused: asyncio.Event = attrs.field(factory=asyncio.Event)
    meanwhile: Callable[[], None] = lambda: None
    """What happens while a supervisor pauses."""

    async def open(self) -> None:
        await self.rooms.join(ROOM)
        self.fence = (await self.rooms.connect(ROOM, arrival(ADA, 1))).fence
        self.asker = (await self.rooms.connect(ROOM, arrival(BOB, 2))).fence
        journal = MemorySupervision(self.place, 1)
        clock = ManualClock()
        entry = Entry("e1", str(ROOM), "Worker1", "codex", clock.now())
        await journal.change(lambda one: one.put_entry(entry))

    async def ask(self, *texts: str) -> None:
        assert self.asker is not None
        for text in texts:
            self.asked += 1
            await self.rooms.post(ROOM, Draft(text, ClientKey(f"ask-{self.asked}")), self.asker)

    async def supervisor(
        self,
        edge: Edge | None = None,
        conversation: Conversation | None = None,
        away: int = 0,
        unread: int = 0,
    ) -> Delivery:
        """Begin as a supervisor begins that finds what the last one left."""
        edge = edge or Edge()
        journal = MortalJournal(MemorySupervision(self.place, self.place.generation + 1), edge)
        clock = ManualClock()
        await recover(journal, clock)
        assert self.fence is not None
        mind: Conversation = conversation or OneConversation(self.mind, edge)  # type: ignore[assignment]  # as much of one as is needed
        agent = Agent("e1", ROOM, "Be kind.", "w1", "x1", self.fence, mind)
        rooms: RoomTransport = MortalRooms(self.rooms, edge, away, unread)  # type: ignore[assignment]  # it passes on all but one verb
        return Delivery(
            agent,
            journal,
            rooms,
            WordsForAgents(),
            clock,
            self.ids,
            pause=self._paused,
            reached=Reached(lambda: KeptReceipts(self.rooms)),
        )

    async def _paused(self, _seconds: float) -> None:
        self.pauses += 1
        self.paused.set()
        self.meanwhile()

    async def live(self, edge: Edge) -> bool:
        """Let a supervisor do all there is to do; return whether it was killed."""
        try:
            delivery = await self.supervisor(edge)
            await delivery.collect(timedelta(0))
            while await delivery.deliver():
                pass
        except Killed:
            return True
        return False

    def items(self) -> list[Item]:
        return list(self.place.journal._items.values())

    async def answers(self) -> list[tuple[str, str]]:
        page = await self.rooms.read(ROOM, Latest())
        answers = ((said.reply_to, said.text) for said in page.messages)
        return [(str(asked.id), text) for asked, text in answers if asked is not None]
