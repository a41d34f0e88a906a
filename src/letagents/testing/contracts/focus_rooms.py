"""What all keep of the rooms beside rooms: give the suite `rooms`, `board` and `focus`."""

import anyio
import attrs
import pytest

from letagents.domain.errors import ConnectionLost, Malformed, UnknownMessage, UnknownRoom
from letagents.domain.focus_rooms import (
    Changes,
    Details,
    FocusRoomConcluded,
    NoFocusRoomThere,
    Outcome,
    ParentBoardReadOnly,
    Routing,
    Scope,
    Settings,
    Visibility,
)
from letagents.domain.ids import RoomId
from letagents.domain.leases import LeaseHeld, LeaseMissing
from letagents.domain.locks import Locked
from letagents.domain.messages import Draft, Latest
from letagents.domain.rooms import Room
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Patch, Proposal, Status, UnknownTask
from letagents.ports.board import Board
from letagents.ports.focus_rooms import FocusRooms
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import ADA, ROOM, RoomCallers, arrival, draft, person

CLAIM = Patch(status=Status.ASSIGNED)
DONE = Outcome(
    summary="The roof holds.",
    details=Details(review_state="reviewed", blocker_state="none", parent_task_next="mark_done"),
)


def of(room: Room) -> str:
    """Return the key of a focus room."""
    assert room.focus is not None
    return room.focus.key


def calling_from(room: Room, by: Connection) -> Connection:
    """Return a connection whose owner says that it acts from within a room."""
    return attrs.evolve(by, fence=attrs.evolve(by.fence, origin=room.room_id))


@pytest.mark.anyio
class FocusRoomsContract(RoomCallers):
    """Needs fixtures `rooms`, `board` and `focus`; may have a `focus_elsewhere`."""

    @pytest.fixture
    def focus_elsewhere(self, focus: FocusRooms) -> FocusRooms:
        """Return the focus rooms as another process has them, where there can be one."""
        return focus

    @pytest.fixture
    async def task_id(self, board: Board, ada: Connection) -> str:
        """Return a task that Ada works on."""
        made = await board.propose(ROOM, Proposal(title="mend the roof"))
        await board.change(ROOM, made.view.task.task_id, CLAIM, ada.fence)
        return made.view.task.task_id

    @pytest.mark.rule("R20", "R21", "R41")
    async def test_a_focus_room_is_entered_by_its_id_and_by_its_locator(
        self,
        rooms: RoomTransport,
        focus: FocusRooms,
        focus_elsewhere: FocusRooms,
        ada: Connection,
    ) -> None:
        opened = await focus.open(ROOM, "Which  roof?", ada.fence)
        room = opened.room

        assert opened.is_new
        assert (str(room.room_id), of(room)) == ("focus_1", "which-roof")
        assert room.focus is not None
        assert (room.focus.parent, room.focus.settings) == (ROOM, Settings())
        assert (room.display_name, room.access_id) == ("Which roof?", ROOM)
        assert await rooms.join(room.room_id) == room
        assert await rooms.join(RoomId(f"{ROOM}/focus/which-roof"), create=False) == room
        assert await focus_elsewhere.beside(ROOM) == (room,)
        assert await focus_elsewhere.of_key(ROOM, "which-roof", ada.fence) == room
        assert room in await rooms.known()

    @pytest.mark.rule("R20", "K4")
    @pytest.mark.parametrize("name", ["focus_7", "workshop/focus/roof", "focus/roof"])
    async def test_no_focus_room_is_made_by_joining_it(
        self, rooms: RoomTransport, ada: Connection, name: str
    ) -> None:
        with pytest.raises(UnknownRoom):
            await rooms.join(RoomId(name))

        assert [str(one.room_id) for one in await rooms.known()] == [str(ROOM)]

    @pytest.mark.rule("R22", "R40")
    async def test_who_opens_the_same_is_given_the_same(
        self, focus: FocusRooms, ada: Connection, bob: Connection, task_id: str
    ) -> None:
        first = await focus.open(ROOM, "roof", ada.fence)
        again = await focus.open(ROOM, "roof", bob.fence, display_name="another")
        for_task = await focus.open_for_task(ROOM, task_id, ada.fence, display_name="The roof")
        person_too = await focus.open_for_task(ROOM, task_id)

        assert (again.room, again.is_new) == (first.room, False)
        assert (person_too.room, person_too.is_new) == (for_task.room, False)
        assert for_task.room.focus is not None
        assert for_task.room.focus.task_id == task_id == of(for_task.room)
        assert for_task.room.display_name == "The roof"
        assert await focus.beside(ROOM) == (for_task.room, first.room)

    @pytest.mark.rule("R40")
    async def test_of_all_who_open_one_at_once_one_makes_it(
        self, focus: FocusRooms, focus_elsewhere: FocusRooms, ada: Connection
    ) -> None:
        found = []

        async def open_one(place: FocusRooms) -> None:
            found.append(await place.open(ROOM, "roof", ada.fence))

        async with anyio.create_task_group() as together:
            for place in (focus, focus_elsewhere) * 3:
                together.start_soon(open_one, place)

        assert len({one.room.room_id for one in found}) == 1
        assert [one.is_new for one in found].count(True) == 1

    @pytest.mark.rule("R20", "R40")
    async def test_rooms_that_open_one_at_once_open_different_ones(
        self, rooms: RoomTransport, focus: FocusRooms, focus_elsewhere: FocusRooms
    ) -> None:
        parents = [RoomId(f"workshop {number}") for number in range(6)]
        for parent in parents:
            await rooms.join(parent)
        found = []

        async def open_one(place: FocusRooms, parent: RoomId) -> None:
            found.append((await place.open(parent, "roof")).room)

        async with anyio.create_task_group() as together:
            for place, parent in zip((focus, focus_elsewhere) * 3, parents, strict=True):
                together.start_soon(open_one, place, parent)

        assert len({room.room_id for room in found}) == 6
        assert {room.focus and room.focus.parent for room in found} == set(parents)

    @pytest.mark.rule("R42")
    async def test_only_who_works_on_a_task_opens_and_concludes_its_room(
        self, focus: FocusRooms, board: Board, ada: Connection, bob: Connection, task_id: str
    ) -> None:
        free = (await board.propose(ROOM, Proposal(title="paint it"))).view.task.task_id
        with pytest.raises(LeaseHeld):
            await focus.open_for_task(ROOM, task_id, bob.fence)
        with pytest.raises(LeaseMissing):
            await focus.open_for_task(ROOM, free, bob.fence)
        with pytest.raises(UnknownTask):
            await focus.open_for_task(ROOM, "task_9", ada.fence)
        assert await focus.beside(ROOM) == ()

        made = (await focus.open_for_task(ROOM, task_id, ada.fence)).room
        with pytest.raises(LeaseHeld):
            await focus.conclude(ROOM, of(made), DONE, bob.fence)
        lock = await board.lock(ROOM, task_id)
        with pytest.raises(Locked):
            await focus.conclude(ROOM, of(made), DONE, ada.fence)
        await board.unlock(ROOM, lock.lock_id)
        assert await focus.of_key(ROOM, of(made)) == made

    @pytest.mark.rule("R23")
    async def test_none_is_opened_within_another_or_for_a_task_that_is_over(
        self, rooms: RoomTransport, focus: FocusRooms, board: Board, ada: Connection, task_id: str
    ) -> None:
        made = (await focus.open(ROOM, "roof", ada.fence)).room
        await board.change(ROOM, task_id, Patch(status=Status.CANCELLED))

        with pytest.raises(NoFocusRoomThere):
            await focus.open(made.room_id, "roof of the roof")
        with pytest.raises(NoFocusRoomThere):
            await focus.open_for_task(ROOM, task_id)
        assert await focus.beside(ROOM) == (made,)

    @pytest.mark.rule("R24", "R25", "R26", "R43")
    async def test_it_is_concluded_once_and_its_summary_said_in_the_parent(
        self,
        rooms: RoomTransport,
        focus: FocusRooms,
        focus_elsewhere: FocusRooms,
        ada: Connection,
        task_id: str,
    ) -> None:
        made = (await focus.open_for_task(ROOM, task_id, ada.fence)).room
        with pytest.raises(Malformed, match="conclusion_details"):
            await focus.conclude(ROOM, of(made), Outcome(summary="Done."), ada.fence)
        done = await focus.conclude(ROOM, of(made), DONE, ada.fence)
        again = await focus_elsewhere.conclude(ROOM, of(made), DONE, ada.fence)

        assert done.room.focus is not None
        assert done.room.focus.conclusion is not None
        assert done.room.focus.conclusion.outcome == DONE
        assert again.room == done.room == await rooms.join(made.room_id)
        (said,) = [
            one
            for one in (await rooms.read(ROOM, Latest())).messages
            if one.text.startswith("[focus]")
        ]
        assert "The roof holds." in said.text
        assert "parent task next: mark_done" in said.text
        assert done.message is not None
        assert again.message is not None
        assert done.message.id == again.message.id == said.id
        with pytest.raises(FocusRoomConcluded):
            await focus.conclude(ROOM, of(made), attrs.evolve(DONE, summary="No."), ada.fence)
        assert await focus.of_key(ROOM, of(made)) == done.room

    @pytest.mark.rule("R21", "R22")
    async def test_after_a_conclusion_another_one_can_be_opened(
        self, focus: FocusRooms, ada: Connection, task_id: str
    ) -> None:
        first = (await focus.open_for_task(ROOM, task_id, ada.fence)).room
        await focus.conclude(ROOM, of(first), DONE, ada.fence)
        second = await focus.open_for_task(ROOM, task_id, ada.fence)

        assert second.is_new
        assert of(second.room) == f"{task_id}-2"
        assert second.room.room_id != first.room_id

    @pytest.mark.rule("R26", "R42")
    async def test_a_silent_one_tells_its_parent_nothing(
        self, rooms: RoomTransport, focus: FocusRooms, ada: Connection, task_id: str
    ) -> None:
        human = await rooms.connect(ROOM, person())
        made = (await focus.open_for_task(ROOM, task_id, human.fence)).room
        changes = Changes(parent_visibility=Visibility.SILENT, github_event_routing=Routing.OFF)
        changed = await focus.set(ROOM, of(made), changes, human.fence)
        before = await rooms.read(ROOM, Latest())
        done = await focus.conclude(ROOM, of(made), DONE, human.fence)

        assert changed.focus is not None
        assert changed.focus.settings == Settings(
            parent_visibility=Visibility.SILENT, github_event_routing=Routing.OFF
        )
        assert done.message is None
        assert await rooms.read(ROOM, Latest()) == before

    @pytest.mark.rule("R27")
    async def test_from_one_that_keeps_to_itself_no_agent_writes_on_the_parents_board(
        self, rooms: RoomTransport, focus: FocusRooms, board: Board, ada: Connection, task_id: str
    ) -> None:
        made = (await focus.open(ROOM, "roof", ada.fence)).room
        within = calling_from(made, ada).fence
        await board.propose(ROOM, Proposal(title="paint it"), within)
        await focus.set(ROOM, of(made), Changes(activity_scope=Scope.ROOM))

        with pytest.raises(ParentBoardReadOnly):
            await board.propose(ROOM, Proposal(title="mend the door"), within)
        with pytest.raises(ParentBoardReadOnly):
            await board.change(ROOM, task_id, Patch(status=Status.IN_PROGRESS), within)
        with pytest.raises(ParentBoardReadOnly):
            await focus.open_for_task(ROOM, task_id, within)
        await board.change(ROOM, task_id, Patch(status=Status.IN_PROGRESS), ada.fence)
        there = await rooms.connect(made.room_id, arrival(ADA, 9))
        own = calling_from(made, there).fence
        assert (await board.propose(made.room_id, Proposal(title="a door"), own)).is_new

    @pytest.mark.rule("R44")
    async def test_a_session_and_a_message_of_one_room_mean_nothing_in_the_other(
        self, rooms: RoomTransport, focus: FocusRooms, board: Board, ada: Connection, task_id: str
    ) -> None:
        made = (await focus.open(ROOM, "roof", ada.fence)).room
        within = await rooms.connect(made.room_id, arrival(ADA, 9))
        said = await rooms.post(ROOM, draft("hello"), ada.fence)
        answer = Draft("yes", draft("yes").key, reply_to=said.id)

        with pytest.raises(ConnectionLost):
            await rooms.post(made.room_id, draft("ahoy"), ada.fence)
        with pytest.raises(ConnectionLost):
            await rooms.read(ROOM, Latest(), within.fence)
        with pytest.raises(UnknownMessage):
            await rooms.post(made.room_id, answer, within.fence)
        with pytest.raises(UnknownTask):
            await board.change(made.room_id, task_id, Patch(status=Status.BLOCKED), within.fence)
        with pytest.raises(UnknownRoom):
            await focus.of_key(made.room_id, of(made))
        assert (await rooms.read(made.room_id, Latest())).messages == ()
