"""Messages become turns and turns answers, one each, wherever the supervisor is killed."""

import asyncio
from datetime import timedelta

import attrs
import pytest
from tests.contract.delivering import ROOM, Mind, World, at_rest
from tests.contract.edges import Edge

from letagents.adapters.rooms.kept.receipts import KeptReceipts
from letagents.domain import inbox, turns
from letagents.domain.errors import ConnectionLost, Malformed
from letagents.domain.ids import ClientKey, MessageId
from letagents.domain.inbox import Stage
from letagents.domain.ingress import RoomChanged
from letagents.domain.messages import After, Draft, Latest
from letagents.domain.receipts import State
from letagents.domain.turns import Answered, Outcome
from letagents.ports.providers import Launch
from letagents.testing.contracts.room_callers import ADA, arrival
from letagents.testing.scripted_provider import Crash, Play, ScriptedProvider

pytestmark = pytest.mark.anyio
ASKED = ("@Worker1 one?", "@Worker1 two?", "@Worker1 three?")


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


@pytest.mark.rule("J157")
@pytest.mark.parametrize(
    "fate",
    [
        turns.Failed("It has nothing left.", is_quota=True),
        turns.Unreadable("It is garbage."),
        turns.Interrupted(),
    ],
)
async def test_a_turn_without_an_answer_is_not_run_again(world: World, fate: Outcome) -> None:
    world.mind.says = lambda _: fate
    await world.ask(ASKED[0])
    await world.live(Edge())

    assert [one.stage for one in world.items()] == [Stage.BLOCKED]
    assert len(world.mind.begun) == 1


async def test_a_room_that_is_away_is_asked_again(world: World) -> None:
    await world.ask(ASKED[0])
    delivery = await world.supervisor(away=5, unread=3)
    await delivery.collect(timedelta(0))
    while await delivery.deliver():
        pass

    assert len(await world.answers()) == 1
    assert len(world.mind.begun) == 1
    assert world.pauses == 8


async def test_what_a_person_passes_over_just_then_is_not_run(world: World) -> None:
    def skip() -> None:
        (item,) = world.items()
        world.place.journal.put_item(inbox.skipped(item))

    await world.ask(ASKED[0])
    delivery = await world.supervisor(unread=1)
    await delivery.collect(timedelta(0))
    world.meanwhile = skip
    while await delivery.deliver():
        pass

    assert world.mind.begun == []
    assert await world.answers() == []


async def test_who_is_told_to_leave_waits_until_its_turn_has_a_name(world: World) -> None:
    begun, goes_on = asyncio.Event(), asyncio.Event()

    async def during() -> None:
        begun.set()
        await goes_on.wait()

    world.mind.during = during
    await world.ask(ASKED[0])
    delivery = await world.supervisor()
    running = asyncio.create_task(delivery.run())
    async with asyncio.timeout(30):
        await begun.wait()
        running.cancel()
        goes_on.set()
        await asyncio.gather(running, return_exceptions=True)

    (item,) = world.items()
    assert item.turn is not None


async def test_an_answer_of_who_is_let_in_no_more_is_posted_once_it_is_again(world: World) -> None:
    async def be_replaced() -> None:
        world.mind.during = at_rest
        again = attrs.evolve(arrival(ADA, 3), insists=True)
        world.fence = (await world.rooms.connect(ROOM, again)).fence

    world.mind.during = be_replaced
    await world.ask(ASKED[0])
    delivery = await world.supervisor()
    await delivery.collect(timedelta(0))
    with pytest.raises(ConnectionLost):
        await delivery.deliver()
    await world.live(Edge())

    assert len(await world.answers()) == 1
    assert len(world.mind.begun) == 1


@pytest.mark.rule("J85")
async def test_nothing_of_a_room_is_written_down_that_an_agent_has_left(world: World) -> None:
    await world.ask(ASKED[0])
    delivery = await world.supervisor()
    before = world.place.journal.ingress("e1")
    entry = world.place.journal.entry("e1")
    assert entry is not None
    world.place.journal.put_entry(attrs.evolve(entry, room_id="elsewhere"))

    with pytest.raises(RoomChanged):
        await delivery.collect(timedelta(0))
    assert world.items() == []
    assert world.place.journal.ingress("e1") == before


@pytest.mark.rule("J153")
async def test_an_answer_that_no_room_keeps_as_it_is_blocks_nobody(world: World) -> None:
    world.mind.says = lambda _: Answered("\x1b[1m" + "a" * 10_000_000)
    await world.ask(ASKED[0])
    await world.live(Edge())

    (item,) = world.items()
    assert item.stage is Stage.ACKNOWLEDGED


async def test_an_answer_that_the_room_refuses_is_kept_and_told(world: World) -> None:
    world.mind.says = lambda _: Answered("\N{ZERO WIDTH SPACE}")
    await world.ask(ASKED[0])
    with pytest.raises(Malformed):
        Draft("\N{ZERO WIDTH SPACE}", ClientKey("k"))
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
