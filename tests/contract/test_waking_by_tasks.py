"""Wake rules and artifacts beside the real board, in memory, on this machine and in PostgreSQL."""

import anyio
import attrs
import pytest
from tests.contract.kept_rooms import InMemory, InPostgres, KeptRooms, OnThisMachine

from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.kept import board_records
from letagents.adapters.rooms.kept import wakes as kept_wakes
from letagents.adapters.rooms.kept.artifacts import KeptArtifacts
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.wakes import KeptWakes
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.activation import Decision
from letagents.domain.messages import After, Latest, Message
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Assignee, InvalidTransition, Patch, Proposal, Status, UnknownTask
from letagents.domain.wake_rules import AlreadySo
from letagents.testing.contracts.artifacts import pull
from letagents.testing.contracts.room_callers import ROOM, SOON, RoomCallers, arrival
from letagents.testing.contracts.wakes import on_task


class _BesideTheBoard(RoomCallers):
    @pytest.fixture
    def wakes(self, rooms: KeptRooms) -> KeptWakes:
        return KeptWakes(rooms, board_records.status_of)

    @pytest.fixture
    async def board(self, rooms: KeptRooms, ada: Connection) -> KeptBoard:
        """A board with one task, which is accepted."""
        board = KeptBoard(rooms)
        await board.propose(ROOM, Proposal(title="Mend the gear"), ada.fence)
        await board.change(ROOM, "task_1", Patch(status=Status.ACCEPTED))
        return board

    @pytest.mark.anyio
    @pytest.mark.rule("W61", "W47")
    async def test_who_waits_for_a_task_is_woken_by_the_move_of_another(
        self,
        rooms: KeptRooms,
        wakes: KeptWakes,
        board: KeptBoard,
        ada: Connection,
        bob: Connection,
    ) -> None:
        await wakes.add(ROOM, on_task(to="assigned"), ada.fence)
        newest = (await rooms.read(ROOM, Latest(1))).messages[-1].id
        heard: list[Message] = []

        async def wait() -> None:
            after = newest
            while not heard:
                page = await rooms.wait(ROOM, After(after), timeout=SOON, viewer=ada.fence)
                after = page.messages[-1].id if page.messages else after
                heard.extend(one for one in page.messages if one.source == "wake_rule")

        with anyio.fail_after(SOON.total_seconds()):
            async with anyio.create_task_group() as waiting:
                waiting.start_soon(wait)
                await anyio.lowlevel.checkpoint()
                claim = Patch(status=Status.ASSIGNED, assignee=Assignee.of(bob.session))
                await board.change(ROOM, "task_1", claim, bob.fence)

        [told] = heard
        assert "task_1 went from accepted to assigned" in told.text
        assert told.activation is not None
        assert told.activation.decision is Decision.ACTIVATE

    @pytest.mark.anyio
    @pytest.mark.rule("W61")
    async def test_a_move_that_is_refused_wakes_nobody(
        self, rooms: KeptRooms, wakes: KeptWakes, board: KeptBoard, ada: Connection
    ) -> None:
        await wakes.add(ROOM, on_task(), ada.fence)

        with pytest.raises(InvalidTransition):
            await board.change(ROOM, "task_1", Patch(status=Status.DONE))
        sources = [one.source for one in (await rooms.read(ROOM, Latest())).messages]
        assert "wake_rule" not in sources
        assert len((await wakes.rules(ROOM)).active) == 1

    @pytest.mark.anyio
    @pytest.mark.rule("W47", "K43")
    async def test_only_a_task_that_is_there_is_waited_for_or_linked_to(
        self, rooms: KeptRooms, wakes: KeptWakes, board: KeptBoard, ada: Connection
    ) -> None:
        artifacts = KeptArtifacts(rooms, board_records.task)

        with pytest.raises(UnknownTask):
            await wakes.add(ROOM, on_task("task_9"), ada.fence)
        with pytest.raises(AlreadySo):
            await wakes.add(ROOM, on_task(to="accepted"), ada.fence)
        with pytest.raises(UnknownTask):
            await artifacts.publish(ROOM, pull(3), ["task_9"], ada.fence)
        shared = await artifacts.publish(ROOM, pull(3), ["task_1"], ada.fence)
        assert (await wakes.rules(ROOM)).active == ()
        assert (await artifacts.artifacts(ROOM, task_id="task_1")).artifacts == (shared,)


class TestBesideTheBoardInMemory(InMemory, _BesideTheBoard):
    pass


class TestBesideTheBoardOnThisMachine(OnThisMachine, _BesideTheBoard):
    pass


class TestBesideTheBoardInPostgres(InPostgres, _BesideTheBoard):
    pass


@pytest.mark.anyio
@pytest.mark.rule("W61")
async def test_however_many_wait_for_a_task_all_are_woken() -> None:
    rooms = MemoryRooms()
    await rooms.join(ROOM)
    ada = await rooms.connect(ROOM, arrival(1, 1))
    first, _ = await KeptWakes(rooms).add(ROOM, on_task(), ada.fence)
    many = 1_200

    def copy(book: Book) -> None:
        for number in range(2, many + 1):
            rule = attrs.evolve(first, number=number, rule_id=f"wake_{number}")
            book.put(kept_wakes.WAKE_RULES, rule)

    await rooms.change(ROOM, copy)
    await rooms.change(
        ROOM, lambda book: kept_wakes.task_moved(book, "task_1", "accepted", "assigned")
    )
    newest = (await rooms.read(ROOM, Latest(1))).messages[-1]
    assert newest.id.number == many
