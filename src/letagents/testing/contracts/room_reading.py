"""Reading pages, and waiting for what is not there yet. A part of what every RoomTransport does."""

from datetime import timedelta

import anyio
import pytest

from letagents.domain.errors import ConnectionLost, ConnectionReplaced, SessionEnded, UnknownMessage
from letagents.domain.messages import After, Before, Latest
from letagents.domain.sessions import Connection
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import (
    ADA,
    AT_ONCE,
    ROOM,
    SOON,
    RoomCallers,
    arrival,
    cursor,
    draft,
    texts,
)


@pytest.mark.anyio
class RoomReadingContract(RoomCallers):
    """Needs a fixture `rooms`; may have a fixture `elsewhere`."""

    @pytest.mark.rule("R4")
    async def test_what_was_answered_is_read_elsewhere(
        self, rooms: RoomTransport, elsewhere: RoomTransport, ada: Connection
    ) -> None:
        said = await rooms.post(ROOM, draft("hello"), ada.fence)

        assert (await elsewhere.read(ROOM, Latest())).messages == (said,)
        assert await elsewhere.message(ROOM, said.id) == said
        assert await elsewhere.message(ROOM, cursor(2)) is None

    async def test_pages_are_bounded_and_say_what_is_left(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        for at in range(1, 6):
            await rooms.post(ROOM, draft(f"{at}"), ada.fence)

        for window, expected, more in (
            (Latest(limit=2), "45", True),
            (Latest(limit=5), "12345", False),
            (Latest(limit=0), "5", True),
            (Before(cursor(4), limit=2), "23", True),
            (Before(cursor(3), limit=2), "12", False),
            (Before(cursor(1)), "", False),
            (Before(cursor(99), limit=1), "5", True),
            (After(limit=2), "12", True),
            (After(), "12345", False),
            (After(cursor(3), limit=1), "4", True),
            (After(cursor(3), limit=2), "45", False),
            (After(cursor(5)), "", False),
        ):
            page = await rooms.read(ROOM, window)
            assert (texts(page), page.more) == (list(expected), more), window

    async def test_a_page_holds_five_hundred_at_most(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        async with anyio.create_task_group() as speakers:
            for at in range(501):
                speakers.start_soon(rooms.post, ROOM, draft(f"{at}"), ada.fence)

        page = await rooms.read(ROOM, Latest(limit=10_000))
        assert len(page.messages) == 500
        assert page.more

    @pytest.mark.rule("R12")
    async def test_a_cursor_from_the_future_is_refused(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        with pytest.raises(UnknownMessage):
            await rooms.read(ROOM, After(cursor(1)))

        await rooms.post(ROOM, draft("hello"), ada.fence)
        assert (await rooms.read(ROOM, After(cursor(1)))).messages == ()
        with pytest.raises(UnknownMessage):
            await rooms.wait(ROOM, After(cursor(2)), timeout=SOON)

    @pytest.mark.rule("R6")
    async def test_a_reader_with_a_cursor_sees_each_message_once(
        self, rooms: RoomTransport, elsewhere: RoomTransport, ada: Connection
    ) -> None:
        seen: list[str] = []

        async def follow() -> None:
            after = None
            while len(seen) < 30:
                page = await elsewhere.wait(ROOM, After(after, limit=4), timeout=SOON)
                seen.extend(texts(page))
                after = page.messages[-1].id if page.messages else after

        with anyio.fail_after(10):
            async with anyio.create_task_group() as everybody:
                everybody.start_soon(follow)
                for at in range(30):
                    await rooms.post(ROOM, draft(f"{at}"), ada.fence)

        assert seen == [f"{at}" for at in range(30)]

    @pytest.mark.rule("R11")
    async def test_a_viewer_who_was_replaced_reads_nothing(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        new = await rooms.connect(ROOM, arrival(ADA, 11, after=ada))
        await rooms.post(ROOM, draft("hello"), new.fence)

        with pytest.raises(ConnectionReplaced):
            await rooms.read(ROOM, Latest(), ada.fence)
        with pytest.raises(ConnectionReplaced):
            await rooms.wait(ROOM, After(), timeout=SOON, viewer=ada.fence)
        await rooms.disconnect(ROOM, new.fence)
        with pytest.raises(SessionEnded):
            await rooms.read(ROOM, Latest(), new.fence)

    # --- waiting ----------------------------------------------------------------------------------

    @pytest.mark.rule("R7")
    async def test_a_wait_ends_with_what_is_there_already(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        await rooms.post(ROOM, draft("hello"), ada.fence)

        assert texts(await rooms.wait(ROOM, After(), timeout=AT_ONCE)) == ["hello"]

    @pytest.mark.rule("R7")
    async def test_a_wait_for_nothing_is_empty(self, rooms: RoomTransport, ada: Connection) -> None:
        for timeout in (AT_ONCE, timedelta(milliseconds=1), timedelta(seconds=-1)):
            assert (await rooms.wait(ROOM, After(), timeout=timeout)).messages == ()

    @pytest.mark.rule("R7", "R8")
    async def test_every_waiter_is_woken_wherever_the_message_came_from(
        self, rooms: RoomTransport, elsewhere: RoomTransport, ada: Connection
    ) -> None:
        heard: list[list[str]] = []

        async def listen(transport: RoomTransport) -> None:
            heard.append(texts(await transport.wait(ROOM, After(), timeout=timedelta(minutes=1))))

        with anyio.fail_after(5):
            async with anyio.create_task_group() as waiters:
                for transport in (rooms, rooms, elsewhere):
                    waiters.start_soon(listen, transport)
                await anyio.wait_all_tasks_blocked()
                await elsewhere.post(ROOM, draft("hello"), ada.fence)

        assert heard == [["hello"]] * 3

    @pytest.mark.rule("R11")
    async def test_a_waiter_who_is_replaced_meanwhile_gets_nothing(
        self, rooms: RoomTransport, elsewhere: RoomTransport, ada: Connection
    ) -> None:
        ends: list[ConnectionLost] = []

        async def listen() -> None:
            try:
                await rooms.wait(ROOM, After(), timeout=timedelta(minutes=1), viewer=ada.fence)
            except ConnectionLost as error:
                ends.append(error)

        with anyio.fail_after(5):
            async with anyio.create_task_group() as waiters:
                waiters.start_soon(listen)
                await anyio.wait_all_tasks_blocked()
                new = await elsewhere.connect(ROOM, arrival(ADA, 11, after=ada))
                await elsewhere.post(ROOM, draft("hello"), new.fence)

        assert len(ends) == 1

    @pytest.mark.rule("R8")
    async def test_a_cancelled_wait_ends_at_once_and_takes_nothing_away(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        with anyio.fail_after(5):
            for _ in range(20):
                with anyio.move_on_after(0.001):
                    await rooms.wait(ROOM, After(), timeout=timedelta(minutes=1))

        await rooms.post(ROOM, draft("hello"), ada.fence)
        assert texts(await rooms.wait(ROOM, After(), timeout=SOON)) == ["hello"]
