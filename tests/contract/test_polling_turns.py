"""An agent that polls by itself is kept in one turn, whatever happens to it or its supervisor."""

from collections import Counter, deque
from collections.abc import AsyncIterator

import attrs
import pytest
from tests.contract.edges import Edge, Killed
from tests.contract.keeping_on_a_server import SERVER, ServedWorld
from tests.contract.served import TOKEN, client, hosting

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.application.agents.keeping import Keeper
from letagents.application.agents.polls import Polls, Release, Told
from letagents.domain.bindings import Claim
from letagents.domain.custody import End, Invocation, Offer, Phase, Polling, PollRefused
from letagents.domain.ids import MessageId
from letagents.domain.manifest import Delivery, Entry
from letagents.domain.recovery import LOOP
from letagents.testing.scripted_provider import Play, ScriptedProvider

pytestmark = pytest.mark.anyio
PROCESS = "00000000-0000-4000-8000-000000000001"
OTHER = "00000000-0000-4000-8000-000000000002"


def waits() -> ScriptedProvider:
    """Return a program in whose turns an agent waits until it is killed."""
    return ScriptedProvider(plays=deque(Play(hangs=True) for _ in range(99)))


@attrs.define(eq=False)
class PollingWorld(ServedWorld):
    """Its agent polls by itself."""

    provider: ScriptedProvider = attrs.field(factory=waits)
    gives_bearers: bool = True

    async def open(self) -> None:
        await super().open()
        served = attrs.evolve(hosting(self.rooms, self.clock), takes_bearers=self.gives_bearers)
        self.hosted = HostedRooms(Calls(client(served), lambda: TOKEN))

    def fresh(self) -> Entry:
        return attrs.evolve(super().fresh(), delivery=Delivery.POLLING)

    async def polling(self) -> Polling:
        """Return how the agent polls, once it does in a process that lives."""
        await self.until(self._polls)
        assert self.entry.polling is not None
        return self.entry.polling

    def _polls(self) -> bool:
        polling, execution = self.entry.polling, self.entry.execution
        if polling is None or execution is None or execution.is_over or self.alive() != 1:
            return False
        return polling.execution_id == execution.execution_id and polling.phase is Phase.ACTIVE

    async def before(self, keeper: Keeper, cursor: str | None, process: str = PROCESS) -> Told:
        """Ask for a wait, as a process of the agent."""
        asked = Invocation(process, 1, cursor)
        return await Polls(keeper.sessions).before(self._claim(), self.place.generation, asked)

    async def offer(self, keeper: Keeper, began: int, ends: int) -> None:
        """Have it offered what a wait brought."""
        offer = Offer(PROCESS, "1", MessageId(began), MessageId(ends))
        polling = await self.polling()
        epoch = self.place.journal.highest_epoch("e1")
        release = Release(polling.revision, polling.activation_id, epoch, offer)
        await Polls(keeper.sessions).release(self._claim(), self.place.generation, release)

    def _claim(self) -> Claim:
        binding = self.place.journal.binding("e1")
        assert binding is not None
        names = ("entry_id", "room_id", "work_attempt_id", "execution_id", "session_id")
        return Claim(**{name: getattr(binding, name) for name in names}, api_url=SERVER)

    def turns(self) -> int:
        return len(self.provider.transcript.turns_run())


@pytest.fixture
async def world(anyio_backend: str) -> AsyncIterator[PollingWorld]:
    world = PollingWorld()
    await world.open()
    yield world
    await world.end()


@pytest.mark.rule("J100", "J102")
async def test_an_agent_is_begun_once_and_moves_by_what_it_acknowledges(
    world: PollingWorld,
) -> None:
    keeper = await world.run()
    await world.is_there()
    await world.ask("@Ada one?")  # a room that is empty is waited in
    await world.polling()
    await world.ask("@Ada two?")
    first = await world.before(keeper, "msg_900")
    await world.offer(keeper, 1, 2)
    again = await world.before(keeper, "msg_2", OTHER)
    moved = await world.before(keeper, "msg_2")

    cursors = [one.binding.cursor for one in (first, again, moved)]
    assert cursors == [MessageId(1), MessageId(1), MessageId(2)]
    kept = world.place.journal.ingress("e1")
    assert kept is not None
    assert kept.cursor == MessageId(2)
    assert world.turns() == 1
    assert not world.place.journal._items  # nothing is handed to it


@pytest.mark.rule("J100", "J101")
async def test_a_successor_finds_the_turn_and_what_was_offered_in_it(world: PollingWorld) -> None:
    await world.ask("@Ada one?")
    keeper = await world.run()
    before = await world.polling()
    await world.ask("@Ada two?")
    await world.offer(keeper, 1, 2)
    await world.end()
    keeper = await world.run()
    await world.until(lambda: world.place.journal.highest_epoch("e1") == 2)
    late = Release(1, before.activation_id, 1, Offer(PROCESS, "2", MessageId(1), MessageId(2)))
    with pytest.raises(PollRefused, match="changed before receipt commit"):
        await Polls(keeper.sessions).release(world._claim(), world.place.generation, late)
    moved = await world.before(keeper, "msg_2")

    assert moved.binding.cursor == MessageId(2)
    assert (await world.polling()).activation_id == before.activation_id
    assert (len(world.provider.started), world.turns()) == (1, 1)


@pytest.mark.rule("J94", "J100")
async def test_the_next_process_has_a_turn_of_its_own_from_where_the_agent_was(
    world: PollingWorld,
) -> None:
    await world.ask("@Ada one?")
    keeper = await world.run()
    before = await world.polling()
    await world.ask("@Ada two?")
    await world.offer(keeper, 1, 2)
    world.provider.started[0].crash()
    await world.until(lambda: world.turns() == 2)
    after = await world.polling()
    told = await world.before(keeper, "msg_2", OTHER)

    assert after.activation_id != before.activation_id
    assert told.binding.cursor == MessageId(1)
    assert {one.reference.conversation_id for one in world.provider.started} == {"conversation-1"}


@pytest.mark.rule("J41", "J100")
async def test_one_that_stops_waiting_again_and_again_is_left_alone(world: PollingWorld) -> None:
    world.provider.plays.clear()
    await world.ask()
    await world.run()
    await world.until(lambda: world.entry.history.is_quarantined)

    assert (world.turns(), world.alive()) == (LOOP, 0)
    assert world.entry.polling is not None
    assert world.entry.polling.end is End.COMPLETED


@pytest.mark.rule("J104")
async def test_one_whose_server_gives_no_bearers_is_told_so_and_not_started() -> None:
    world = PollingWorld(gives_bearers=False)
    await world.open()
    keeper = await world.keeper()
    await keeper.step()

    assert "gives workers no bearers" in (world.entry.last_error or "")
    assert not world.provider.started


async def killed_at(edge: int) -> bool:
    """Let a supervisor be killed at an edge, and another come; return whether it was."""
    world = PollingWorld(edge=Edge(at=edge))
    await world.open()
    await world.ask()
    try:
        await world.run()
        await world.until(lambda: world._polls() or world.edge.reached >= edge)
    except Killed:
        pass
    was_killed = world.edge.reached >= edge
    await world.end()
    world.edge = Edge()
    await world.run()
    await world.polling()

    assert world.alive() == 1, edge
    begun = Counter(
        line["item"] for line in world.provider.transcript.lines() if line["what"] == "began"
    )
    assert set(begun.values()) == {1}, edge
    assert len(begun) <= len(world.provider.started), edge
    await world.end()
    return was_killed


@pytest.mark.rule("J100")
async def test_wherever_a_supervisor_is_killed_no_process_has_two_turns() -> None:
    edge = 1
    while await killed_at(edge):
        edge += 1

    assert edge > 12
