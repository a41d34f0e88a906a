"""Messages become turns and turns answers, one each, wherever the supervisor is killed."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

import attrs
import pytest

from letagents.adapters.rooms.kept.receipts import KeptReceipts
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.adapters.supervision.memory import MemoryPlace, MemorySupervision
from letagents.application.agents import Agent
from letagents.application.delivery import Delivery
from letagents.application.receipts import Reached
from letagents.application.recovering import recover
from letagents.domain import inbox, turns
from letagents.domain.errors import Malformed, RoomsUnavailable
from letagents.domain.fencing import Fence
from letagents.domain.ids import ClientKey, MessageId, RoomId
from letagents.domain.inbox import Item, Stage
from letagents.domain.manifest import Entry
from letagents.domain.messages import After, Draft, Latest, Message
from letagents.domain.progress import Activity
from letagents.domain.receipts import State
from letagents.domain.turns import Answered, Fate, Outcome
from letagents.entrypoints.daemon.words import WordsForAgents
from letagents.ports.providers import Connection, Conversation, Launch, Reference, Turn
from letagents.ports.rooms import RoomTransport
from letagents.ports.supervision import Journal, Supervision
from letagents.testing.contracts.room_callers import ADA, BOB, arrival
from letagents.testing.determinism import CountingIds, ManualClock
from letagents.testing.scripted_provider import Crash, Play, ScriptedProvider

pytestmark = pytest.mark.anyio
T = TypeVar("T")
ROOM = RoomId("workshop")
REFERENCE = Reference("c1", Connection("scripted", 1, "birth-1"))
ASKED = ("@Worker1 one?", "@Worker1 two?", "@Worker1 three?")


class Killed(BaseException):
    """The supervisor is there no more."""


@attrs.define
class Edge:
    """Where the supervisor is killed: at the edge of that number, counted from 1; at none, if 0."""

    at: int = 0
    reached: int = 0

    def pass_by(self) -> None:
        """Go on, unless this is where it is killed, or it was killed before."""
        self.reached += 1
        if self.at and self.reached >= self.at:
            raise Killed


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
class MortalJournal:
    """A journal before and after each of whose changes the supervisor may be killed."""

    inner: Supervision
    edge: Edge

    async def change(self, work: Callable[[Journal], T]) -> T:
        self.edge.pass_by()
        done = await self.inner.change(work)
        self.edge.pass_by()
        return done

    async def look(self, work: Callable[[Journal], T]) -> T:
        return await self.inner.look(work)


@attrs.define(eq=False)
class MortalRooms:
    """Rooms before and after each of whose messages the supervisor may be killed."""

    inner: MemoryRooms
    edge: Edge
    away: int = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

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
        self, edge: Edge | None = None, conversation: Conversation | None = None, away: int = 0
    ) -> Delivery:
        """Begin as a supervisor begins that finds what the last one left."""
        edge = edge or Edge()
        journal = MortalJournal(MemorySupervision(self.place, self.place.generation + 1), edge)
        clock = ManualClock()
        await recover(journal, clock)
        assert self.fence is not None
        mind: Conversation = conversation or OneConversation(self.mind, edge)  # type: ignore[assignment]  # as much of one as is needed
        agent = Agent("e1", ROOM, "Be kind.", "w1", "x1", self.fence, mind)
        rooms: RoomTransport = MortalRooms(self.rooms, edge, away)  # type: ignore[assignment]  # it passes on all but one verb
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


@pytest.fixture
async def world(anyio_backend: str) -> World:
    world = World()
    await world.open()
    delivery = await world.supervisor()
    await delivery.collect(timedelta(0))
    return world


@pytest.mark.rule("J12", "J20", "J21", "J22", "J23", "J24", "J28")
@pytest.mark.parametrize("names_first", [True, False])
async def test_wherever_it_is_killed_each_message_is_one_turn_and_one_answer(
    names_first: bool,
) -> None:
    edges, was_killed = 0, True
    while was_killed:
        edges += 1
        world = World(Mind(names_its_turns_first=names_first))
        await world.open()
        await (await world.supervisor()).collect(timedelta(0))
        await world.ask(*ASKED[:2])
        was_killed = await world.live(Edge(at=edges))
        assert not await world.live(Edge())

        assert await world.answers() == [
            (f"msg_{number}", f"answer to msg_{number}") for number in (1, 2)
        ], edges
        assert len(world.mind.begun) == 2, edges
        assert [one.stage for one in world.items()] == [Stage.ACKNOWLEDGED] * 2
    assert edges > 25


@pytest.mark.rule("J22")
async def test_what_cannot_be_known_waits_for_a_person() -> None:
    edges, was_killed, blocked = 0, True, 0
    while was_killed:
        edges += 1
        world = World()
        await world.open()
        await (await world.supervisor()).collect(timedelta(0))
        await world.ask(ASKED[0])
        was_killed = await world.live(Edge(at=edges))
        world.mind.can_be_read = False
        await world.live(Edge())

        (item,) = world.items()
        assert item.stage in (Stage.ACKNOWLEDGED, Stage.BLOCKED)
        assert len(world.mind.begun) == 1
        assert len(await world.answers()) == (item.stage is Stage.ACKNOWLEDGED)
        if item.stage is Stage.BLOCKED:
            blocked += 1
            world.place.journal.put_item(inbox.released(item))
            await world.live(Edge())
            assert len(world.mind.begun) == 2
            assert len(await world.answers()) == 1
    assert blocked > 2


@pytest.mark.rule("J13", "J14")
async def test_an_agent_is_told_of_what_is_for_it_since_it_came(world: World) -> None:
    await world.ask("to nobody", ASKED[0], "@Worker2 not you")
    await world.live(Edge())

    assert [one.message_id for one in world.items()] == ["msg_2"]
    ((item_id, _),) = world.mind.begun
    assert item_id == "supervised-room:e1:workshop:msg_2"
    (text,) = world.mind.texts
    assert "Be kind." in text
    assert "to nobody" in text
    assert "@Worker2" not in text
    known = world.place.journal.ingress("e1")
    assert known is not None
    assert str(known.cursor) == "msg_3"


@pytest.mark.rule("J12", "J13")
async def test_an_agents_own_words_are_written_down_with_the_next_of_somebody_else(
    world: World,
) -> None:
    assert world.fence is not None
    edge, began = Edge(), world.place.journal.ingress("e1")
    delivery = await world.supervisor(edge)
    edge.reached = 0
    async with asyncio.timeout(30):
        collecting = asyncio.create_task(delivery.collect(timedelta(30)))
        for number in range(3):
            said = Draft("@Worker1 I am at it.", ClientKey(f"own-{number}"))
            await world.rooms.post(ROOM, said, world.fence)
            await world.paused.wait()
            world.paused.clear()
        assert (edge.reached, world.place.journal.ingress("e1")) == (0, began)
        await world.ask(ASKED[0])

        assert await collecting == 1
    known = world.place.journal.ingress("e1")
    assert [one.message_id for one in world.items()] == ["msg_4"]
    assert (str(known.cursor) if known is not None else None) == "msg_4"


@pytest.mark.rule("J12", "J13")
async def test_an_agents_own_words_are_written_down_when_nobody_else_speaks(world: World) -> None:
    assert world.fence is not None
    await world.rooms.post(ROOM, Draft("I am at it.", ClientKey("own")), world.fence)

    assert await (await world.supervisor()).collect(timedelta(0)) == 0
    known = world.place.journal.ingress("e1")
    assert (str(known.cursor) if known is not None else None) == "msg_1"


async def test_silence_is_acknowledged(world: World) -> None:
    world.mind.says = lambda _: turns.Silent()
    await world.ask(ASKED[0])
    await world.live(Edge())

    assert await world.answers() == []
    assert [one.stage for one in world.items()] == [Stage.ACKNOWLEDGED_NO_REPLY]
    [receipt] = await KeptReceipts(world.rooms).of(ROOM, MessageId(1))
    assert receipt.state is State.ACKNOWLEDGED


@pytest.mark.parametrize(
    ("fate", "stage"),
    [
        (turns.Failed("It has nothing left.", is_quota=True), Stage.BLOCKED),
        (turns.Unreadable("It is garbage."), Stage.BLOCKED),
        (turns.Interrupted(), Stage.CANCELLED_BY_USER),
    ],
)
async def test_a_turn_without_an_answer_is_not_run_again(
    world: World, fate: Outcome, stage: Stage
) -> None:
    world.mind.says = lambda _: fate
    await world.ask(ASKED[0])
    await world.live(Edge())

    assert [one.stage for one in world.items()] == [stage]
    assert len(world.mind.begun) == 1


async def test_a_room_that_is_away_is_asked_again(world: World) -> None:
    await world.ask(ASKED[0])
    delivery = await world.supervisor(away=5)
    await delivery.collect(timedelta(0))
    while await delivery.deliver():
        pass

    assert len(await world.answers()) == 1
    assert world.pauses == 5


async def test_an_answer_that_the_room_refuses_is_kept_and_told(world: World) -> None:
    world.mind.says = lambda _: Answered("a" * 10_000_000)
    await world.ask(ASKED[0])
    with pytest.raises(Malformed):
        Draft("a" * 10_000_000, ClientKey("k"))
    await world.live(Edge())

    (item,) = world.items()
    assert item.stage is Stage.BLOCKED
    assert item.has_answer
    assert item.trouble


async def test_a_process_that_dies_in_its_turn_is_asked_about_it(world: World) -> None:
    provider = ScriptedProvider()
    provider.plays.append(Play("It was me.", crash=Crash.AFTER_ITS_ANSWER))
    first = await provider.start(Launch(workspace="."))
    await world.ask(ASKED[0])
    delivery = await world.supervisor(conversation=first)
    await delivery.collect(timedelta(0))
    with pytest.raises(turns.TurnUnsettled):
        await delivery.deliver()

    again = await provider.resume(Launch(workspace="."), first.reference.conversation_id)
    delivery = await world.supervisor(conversation=again)
    while await delivery.deliver():
        pass
    assert await world.answers() == [("msg_1", "It was me.")]
    assert len(provider.transcript.turns_run()) == 1


async def test_it_goes_on_by_itself_as_messages_come(world: World) -> None:
    delivery = await world.supervisor()
    running = asyncio.create_task(delivery.run())
    async with asyncio.timeout(30):
        for number, text in enumerate(ASKED, 1):
            await world.ask(text)
            page = await world.rooms.wait(
                ROOM,
                After((await world.rooms.read(ROOM, Latest(1))).messages[-1].id),
                timeout=timedelta(seconds=20),
            )
            assert len(page.messages) == 1, number
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert len(await world.answers()) == 3
