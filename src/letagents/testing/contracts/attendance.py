"""What every Attendance does: inherit the suite and give it `rooms` and an `attendance` of them."""

from datetime import timedelta

import anyio
import attrs
import pytest

from letagents.domain.errors import ConnectionLost, SessionEnded
from letagents.domain.ids import Token
from letagents.domain.names import name_key
from letagents.domain.sessions import Arrival, Connection
from letagents.ports.attendance import Attendance, Over
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import ADA, ROOM, SOON, RoomCallers, arrival
from letagents.testing.determinism import ManualClock

HERE, THERE = "phost_here", "phost_there"
ON_ITS_MACHINE = timedelta(seconds=15)


def coming(
    number: int, token: int, after: Connection | None = None, *, host: str = HERE, name: str = ""
) -> Arrival:
    """Return how a worker arrives through a server, from the machine `host`."""
    plain = arrival(number, token, after)
    named = name or plain.display_name
    return attrs.evolve(plain, account="account_1", process_host=host, display_name=named)


class AttendanceContract(RoomCallers):
    """Needs fixtures `rooms` and `attendance`, whose time is that of `clock`."""

    @pytest.fixture
    async def ada(self, rooms: RoomTransport) -> Connection:
        """Return a worker that came through a server."""
        await rooms.join(ROOM)
        return await rooms.connect(ROOM, coming(ADA, 1))

    async def settle(self) -> None:
        """Return once the rooms know of everything that was left."""

    async def named(self, rooms: RoomTransport, number: int, *, host: str = HERE) -> bool:
        """Whether a new worker, on `host`, is given the name of the first one."""
        asked = coming(number, number, host=host, name=f"Worker{ADA}")
        given = await rooms.connect(ROOM, asked)
        return name_key(given.session.display_name) == name_key(f"Worker{ADA}")

    @pytest.mark.rule("E40", "E33")
    async def test_who_attends_keeps_its_name_however_long_it_is_silent(
        self, rooms: RoomTransport, attendance: Attendance, ada: Connection
    ) -> None:
        async with attendance.attend(ROOM, ada.fence) as attended:
            assert attended.connection_id
            assert not await self.named(rooms, 5)

    @pytest.mark.rule("E40", "E43")
    async def test_who_left_loses_its_name_on_its_own_machine(
        self, rooms: RoomTransport, attendance: Attendance, ada: Connection, clock: ManualClock
    ) -> None:
        async with attendance.attend(ROOM, ada.fence):
            pass
        await self.settle()
        clock.pass_by(ON_ITS_MACHINE)

        assert not await self.named(rooms, 5, host=THERE)
        assert await self.named(rooms, 6, host=HERE)
        with pytest.raises(ConnectionLost):
            await rooms.disconnect(ROOM, ada.fence)

    @pytest.mark.rule("E42", "E43")
    async def test_who_said_that_it_exits_loses_its_name_at_once_everywhere(
        self, rooms: RoomTransport, attendance: Attendance, ada: Connection, clock: ManualClock
    ) -> None:
        async with attendance.attend(ROOM, ada.fence) as attended:
            clock.pass_by(timedelta(seconds=1))

            assert await attendance.exited(ROOM, ada.fence, attended.connection_id)
            assert await self.named(rooms, 5, host=THERE)
            with anyio.fail_after(SOON.total_seconds()):
                assert await attended.over() is Over.ENDED
        with pytest.raises(SessionEnded):
            async with attendance.attend(ROOM, ada.fence):
                pass

    @pytest.mark.rule("E42")
    async def test_an_exit_is_kept_only_where_it_can_be_true(
        self, rooms: RoomTransport, attendance: Attendance, ada: Connection
    ) -> None:
        assert not await attendance.exited(ROOM, ada.fence, None)
        async with attendance.attend(ROOM, ada.fence):
            assert not await attendance.exited(ROOM, ada.fence, "another")
            assert not await attendance.exited(ROOM, ada.fence, None)
        await self.settle()

        assert not await self.named(rooms, 5, host=THERE)
        assert await attendance.exited(ROOM, ada.fence, None)
        assert not await attendance.exited(ROOM, ada.fence, "exited")
        assert await self.named(rooms, 6, host=THERE)

    @pytest.mark.rule("E41")
    async def test_who_ends_its_session_is_told_that_it_ended(
        self, rooms: RoomTransport, attendance: Attendance, ada: Connection
    ) -> None:
        async with attendance.attend(ROOM, ada.fence) as attended:
            await rooms.disconnect(ROOM, ada.fence)

            with anyio.fail_after(SOON.total_seconds()):
                assert await attended.over() is Over.ENDED

    @pytest.mark.rule("E40", "E41")
    async def test_a_newer_connection_takes_the_place_of_the_one_before(
        self, rooms: RoomTransport, attendance: Attendance, ada: Connection, clock: ManualClock
    ) -> None:
        async with (
            attendance.attend(ROOM, ada.fence) as newer,
            attendance.attend(ROOM, ada.fence) as newest,
        ):
            assert newest.connection_id != newer.connection_id
            with anyio.fail_after(SOON.total_seconds()):
                assert await newer.over() is Over.CLOSED
            assert not await attendance.exited(ROOM, ada.fence, newer.connection_id)
            clock.pass_by(ON_ITS_MACHINE)
            assert not await self.named(rooms, 5)
        await self.settle()

    @pytest.mark.rule("E40")
    async def test_who_connects_again_is_there_again(
        self, rooms: RoomTransport, attendance: Attendance, ada: Connection, clock: ManualClock
    ) -> None:
        async with attendance.attend(ROOM, ada.fence) as attended:
            assert await attendance.exited(ROOM, ada.fence, attended.connection_id)
        await self.settle()
        back = await rooms.connect(ROOM, coming(ADA, 2, after=ada))
        clock.pass_by(ON_ITS_MACHINE)

        assert not await self.named(rooms, 5)
        async with attendance.attend(ROOM, back.fence):
            assert not await self.named(rooms, 6)
        await self.settle()

    @pytest.mark.rule("E40")
    async def test_a_stranger_attends_for_nobody(
        self, attendance: Attendance, ada: Connection
    ) -> None:
        stranger = attrs.evolve(ada.fence, token=Token("x" * 43))

        with pytest.raises(ConnectionLost):
            async with attendance.attend(ROOM, stranger):
                pass
        with pytest.raises(ConnectionLost):
            await attendance.exited(ROOM, stranger, None)
