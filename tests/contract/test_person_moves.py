"""A person moves an agent to another room: after the turn in which it is, and once."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from tests.contract.keeping import ROOM, World
from tests.contract.test_turn_control import Stopping

from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.errors import LetAgentsError
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.inbox import Stage
from letagents.domain.manifest import MovePhase
from letagents.domain.messages import Latest
from letagents.domain.room_moves import RoomMoveRefused
from letagents.entrypoints.daemon.moves import Moves
from letagents.testing.scripted_provider import Play
from letagents.wire import supervisor as wire

pytestmark = pytest.mark.anyio


class Moving(Stopping):
    """An agent in a turn, and who moves it."""

    async def ask(self, method: str, **params: object) -> Any:
        assert self.controls is not None
        sessions = self.controls.sessions
        generation = sessions.hold.generation
        moves = Moves(self.controls.household, sessions)
        given = {"entry_id": "e1", "daemon_generation": generation, **params}
        return await moves.table()[method](wire.Request(2, "1", method, given))

    async def move(self, destination: str) -> Any:
        wanted = {"destination_room_id": destination, "request_id": destination}
        prepared = await self.ask(wire.PREPARE_MOVE, **wanted)
        return await self.ask(wire.COMMIT_MOVE, operation_id=prepared["operation_id"])

    def is_bound_in(self, room_id: str) -> bool:
        binding = self.world.place.journal.binding("e1")
        return binding is not None and binding.room_id == room_id

    @property
    def fence(self) -> Fence:
        """What the agent shows in its room."""
        binding = self.world.place.journal.binding("e1")
        assert self.controls is not None
        assert binding is not None
        held = self.controls.sessions.vault.of(binding)
        assert held is not None
        return Fence(SessionId(binding.session_id), UNNUMBERED, held.token)

    @property
    def phase(self) -> MovePhase | None:
        wanted = self.world.entry.room_move
        return wanted.phase if wanted is not None else None


@pytest.fixture
async def moving(anyio_backend: str) -> AsyncIterator[Moving]:
    world = World()
    await world.open()
    yield Moving(world)
    await world.end()


@pytest.mark.rule("J148", "J150")
async def test_a_move_is_made_when_the_turn_is_answered(moving: Moving) -> None:
    go = anyio.Event()
    await moving.open(Play("late", go=go))
    told = await moving.move("elsewhere")
    await moving.world.ask()
    await moving.world.until(lambda: len(moving.items) == 2)

    assert (told["phase"], told["source_room_id"]) == ("active", "workshop")
    assert moving.world.entry.room_id == "workshop"
    go.set()
    await moving.world.until(lambda: moving.phase is MovePhase.COMPLETED)
    assert await moving.world.answers(1) == ["late"]
    assert moving.world.entry.room_id == "elsewhere"
    assert [one.stage for one in moving.items] == [
        Stage.ACKNOWLEDGED,
        Stage.CANCELLED_BY_ROOM_MOVE,
    ]
    current = await moving.ask(wire.GET_CURRENT_MOVE)
    assert current["phase"] == "completed"
    assert await moving.ask(wire.GET_MOVE, operation_id=told["operation_id"]) == current


async def test_who_was_moved_is_in_its_old_room_no_more(moving: Moving) -> None:
    await moving.supervise()
    await moving.world.is_there()
    before = moving.fence
    await moving.move("elsewhere")
    await moving.world.until(lambda: moving.is_bound_in("elsewhere"))

    for fence in (before, moving.fence):
        with pytest.raises(LetAgentsError):
            await moving.world.rooms.read(ROOM, Latest(1), fence)
    await moving.world.rooms.read(RoomId("elsewhere"), Latest(1), moving.fence)


@pytest.mark.rule("J148")
async def test_a_move_that_is_rolled_back_is_not_made(moving: Moving) -> None:
    await moving.supervise()
    await moving.world.is_there()
    wanted = {"destination_room_id": "elsewhere", "request_id": "r1"}
    told = await moving.ask(wire.PREPARE_MOVE, **wanted)
    operation = {"operation_id": told["operation_id"]}
    given_up = await moving.ask(wire.ROLL_BACK_MOVE, **operation, error="Not now.")

    assert (given_up["phase"], given_up["error"]) == ("failed", "Not now.")
    with pytest.raises(RoomMoveRefused):
        await moving.ask(wire.COMMIT_MOVE, **operation)
    assert moving.world.entry.move is None


@pytest.mark.rule("J150")
async def test_a_room_that_lets_nobody_in_is_told(
    moving: Moving, monkeypatch: pytest.MonkeyPatch
) -> None:
    await moving.supervise()
    await moving.world.is_there()

    async def refused(_rooms: MemoryRooms, _room_id: object) -> object:
        raise LetAgentsError("It lets nobody in.", remedy="Ask its people.")

    monkeypatch.setattr(MemoryRooms, "join", refused)
    await moving.move("elsewhere")
    await moving.world.until(lambda: moving.phase is MovePhase.FAILED)

    assert moving.world.entry.room_id == "workshop"
    assert "It lets nobody in." in (moving.world.entry.last_error or "")


@pytest.mark.rule("J150")
@pytest.mark.parametrize("edge", range(1, 9))
async def test_wherever_a_supervisor_is_killed_the_turn_is_answered_before_the_move(
    moving: Moving, edge: int
) -> None:
    world, go = moving.world, anyio.Event()
    await moving.open(Play("late", go=go))
    await moving.move("elsewhere")
    world.edge.reached, world.edge.at = 0, edge
    go.set()
    await world.until(lambda: world.edge.reached >= edge)
    await world.end()
    world.edge.at = 0
    await moving.supervise()
    await world.until(lambda: moving.phase is MovePhase.COMPLETED)

    assert await world.answers(1) == ["late"]
    assert world.entry.room_id == "elsewhere"
    assert len(world.provider.transcript.turns_run()) == 1
