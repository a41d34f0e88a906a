"""What a turn asked for is done at its end: its answer goes where it said, and then the agent."""

import sys
from datetime import timedelta

import anyio
import attrs
import pytest
from tests.contract.delivering import ROOM, Mind
from tests.contract.delivering import World as Delivering
from tests.contract.edges import Edge
from tests.contract.keeping import Held
from tests.contract.keeping import World as Keeping

from letagents.adapters.supervision.memory import MemorySupervision
from letagents.application.agents.effect_steps import Asked
from letagents.application.agents.keeping import Keeper
from letagents.application.agents.supervised_effects import SupervisedEffects
from letagents.application.agents.supervising import Supervising
from letagents.domain import turns
from letagents.domain.effect_authority import Coordinates
from letagents.domain.effects import EffectRefused, State
from letagents.domain.ids import ClientKey, MessageId, RoomId
from letagents.domain.inbox import Stage
from letagents.domain.ingress import RoomChanged
from letagents.domain.manifest import Execution
from letagents.domain.messages import Draft, Latest, Message
from letagents.domain.turns import Fate
from letagents.testing.contracts.room_callers import BOB, arrival
from letagents.testing.determinism import CountingIds, ManualClock
from letagents.testing.scripted_provider import Play
from letagents.wire.supervisor import canonical

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="supervisors are not there"),
]
ELSEWHERE = RoomId("elsewhere")
AT = Coordinates("e1", "w1", "x1", 1)


@attrs.define(eq=False)
class World(Delivering):
    """Its agent calls tools within its turn."""

    mind: Mind = attrs.field(factory=lambda: Mind(names_its_turns_first=True))
    provider: str = "codex"
    calls: int = 0
    at: Coordinates = AT

    async def open(self) -> None:
        await super().open()
        entry = self.place.journal.entry("e1")
        assert entry is not None
        execution = Execution("x1", "w1", 1, entry.created_at)
        there = attrs.evolve(entry, execution=execution, provider=self.provider)
        self.place.journal.put_entry(there)
        await self.rooms.join(ELSEWHERE)
        await (await self.supervisor()).collect(timedelta(0))

    async def call(self, tool: str, **arguments: object) -> None:
        """Let the agent call a tool, as its process asks its supervisor."""
        self.calls += 1
        journal = MemorySupervision(self.place, self.place.generation)
        sessions = Supervising(journal, Held(1), ManualClock())
        effects = SupervisedEffects(sessions, CountingIds(first=100 * self.calls), canonical)
        asked = Asked(str(self.calls), tool, arguments, canonical(arguments))
        await effects.prepare(self.at, asked, is_change=True)

    def says(self, fate: Fate) -> None:
        self.mind.says = lambda _: fate  # type: ignore[assignment,return-value]  # it is an outcome

    async def last(self) -> Message:
        return (await self.rooms.read(ROOM, Latest())).messages[-1]

    def states(self) -> list[State]:
        return [one.state for one in self.place.journal._effects.values()]


@pytest.fixture
async def world(anyio_backend: str) -> World:
    world = World()
    await world.open()
    return world


@pytest.mark.rule("J83")
async def test_an_answer_opens_a_thread_where_its_turn_asked_for_one(world: World) -> None:
    async def act() -> None:
        await world.call("set_reply_thread")

    await world.ask("@Worker1 one?")
    await world.live(Edge())
    assert (await world.last()).thread_root == (await world.last()).id
    world.mind.during = act
    await world.ask("@Worker1 two?")
    await world.live(Edge())

    assert str((await world.last()).thread_root) == "msg_3"
    assert world.states() == [State.COMPLETED]


@pytest.mark.rule("J83")
async def test_an_answer_to_a_reply_stays_in_its_thread(world: World) -> None:
    assert world.asker is not None
    await world.ask("a question")
    draft = Draft("@Worker1 one?", ClientKey("reply"), thread=MessageId(1))
    await world.rooms.post(ROOM, draft, world.asker)
    await world.live(Edge())

    answer = await world.last()
    assert str(answer.thread_root) == "msg_1"
    assert answer.reply_to is not None
    assert str(answer.reply_to.id) == "msg_2"


@pytest.mark.rule("J82")
@pytest.mark.parametrize(
    "fate",
    [turns.Answered("thought aloud"), turns.Silent(), turns.Unreadable("so"), turns.Failed("so")],
)
async def test_what_cursor_said_by_its_tool_is_the_answer(fate: Fate) -> None:
    world = World(provider="cursor")
    await world.open()
    world.says(fate)

    async def act() -> None:
        turn = world.items()[0].turn
        assert turn is not None
        world.at = attrs.evolve(AT, turn_id=turn.turn_id)
        await world.call("complete_room_turn", outcome="reply", text="Done.")
        with pytest.raises(EffectRefused, match="already complete"):
            await world.call("post_status", status="working")

    world.mind.during = act
    await world.ask("@Worker1 one?")
    await world.live(Edge())

    assert await world.answers() == [("msg_1", "Done.")]


@pytest.mark.rule("J84", "J85")
async def test_wherever_it_is_killed_an_agent_moves_once_its_answer_is_posted() -> None:
    edge, was_killed = 0, True
    while was_killed:
        edge += 1
        world = World()
        await world.open()
        world.mind.during = lambda one=world: one.call("join_room", name=" elsewhere ")  # type: ignore[misc]  # bound now
        await world.ask("@Worker1 one?", "@Worker1 two?")
        was_killed = await world.live(Edge(at=edge))
        entry = world.place.journal.entry("e1")
        if was_killed and entry is not None and entry.room_id == str(ROOM):
            await world.live(Edge())
        entry, begun = world.place.journal.entry("e1"), world.place.journal.ingress("e1")

        assert entry is not None
        assert begun is not None
        assert (entry.room_id, begun.room_id, entry.move) == ("elsewhere", "elsewhere", None)
        assert await world.answers() == [("msg_1", "answer to msg_1")], edge
        assert [one.stage for one in world.items()][1:] in (
            [Stage.CANCELLED_BY_ROOM_MOVE],
            [],  # it was not collected yet, and is of a room that the agent has left
        )
        assert world.states() == [State.COMPLETED], edge
    assert edge > 10


@pytest.mark.rule("J85", "J15")
async def test_what_is_said_in_the_old_room_is_not_told_to_who_has_left_it(world: World) -> None:
    world.mind.during = lambda: world.call("join_room", name="elsewhere")
    await world.ask("@Worker1 one?")
    delivery = await world.supervisor()
    await delivery.collect(timedelta(0))
    while await delivery.deliver():
        pass
    await world.ask("@Worker1 two?")
    begun = world.place.journal.ingress("e1")
    with pytest.raises(RoomChanged):
        await delivery.collect(timedelta(0))

    assert delivery.has_moved
    assert world.place.journal.ingress("e1") == begun
    assert len(world.items()) == 1


@pytest.mark.rule("J86")
async def test_a_move_that_is_refused_leaves_the_agent_where_it_is(world: World) -> None:
    world.mind.during = lambda: world.call("join_room", name="AAAA-BBBB")
    await world.ask("@Worker1 one?", "@Worker1 two?")
    await world.live(Edge())
    entry = world.place.journal.entry("e1")

    assert entry is not None
    assert (entry.room_id, entry.move) == (str(ROOM), None)
    assert entry.last_error
    assert len(await world.answers()) == 2
    assert world.states() == [State.FAILED] * 2


@pytest.mark.rule("J84", "J10")
async def test_a_turn_that_fails_moves_nobody(world: World) -> None:
    world.says(turns.Interrupted())
    world.mind.during = lambda: world.call("join_room", name="elsewhere")
    await world.ask("@Worker1 one?")
    await world.live(Edge())
    entry = world.place.journal.entry("e1")

    assert entry is not None
    assert (entry.room_id, entry.move) == (str(ROOM), None)
    assert world.states() == [State.FAILED]


async def test_an_agent_that_moved_answers_in_its_new_room_in_the_same_process() -> None:
    world, go = Keeping(), anyio.Event()
    await world.open()
    await world.rooms.join(ELSEWHERE)
    world.provider.plays.append(Play("On my way.", go=go))
    keeper = await world.run()
    try:
        await world.is_there()
        await world.ask()
        await world.until(lambda: bool(world.provider.transcript.turns_run()))
        await _ask_to_move(world, keeper)
        go.set()
        await world.until(lambda: world.place.journal.highest_epoch("e1") == 2)
        old = world.rooms
        fence = (await old.connect(ELSEWHERE, arrival(BOB, 7))).fence
        await old.post(ELSEWHERE, Draft("@Ada there?", ClientKey("there")), fence)
        await world.until(lambda: len(world.provider.transcript.turns_run()) == 2)
        await world.answers(2)
        page = await world.rooms.read(ELSEWHERE, Latest())

        assert [one.text for one in page.messages] == ["@Ada there?", "ok"]
        assert len(world.provider.started) == 1
        assert world.entry.room_id == str(ELSEWHERE)
    finally:
        await world.end()


async def _ask_to_move(world: Keeping, keeper: Keeper) -> None:
    execution = world.entry.execution
    assert execution is not None
    await world.until(lambda: _is_in_turn(world))
    at = Coordinates("e1", execution.work_attempt_id, execution.execution_id, 1)
    effects = SupervisedEffects(keeper.sessions, CountingIds(first=900), canonical)
    named = {"name": str(ELSEWHERE)}
    await effects.prepare(at, Asked("1", "join_room", named, canonical(named)), is_change=True)


def _is_in_turn(world: Keeping) -> bool:
    items = world.place.journal._items.values()
    return any(one.stage is Stage.AWAITING_RESULT for one in items)
