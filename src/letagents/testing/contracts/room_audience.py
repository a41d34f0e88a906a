"""For whom a message is. A part of what every RoomTransport does."""

import attrs
import pytest

from letagents.domain.activation import Decision, Reason
from letagents.domain.messages import After, Latest, Window
from letagents.domain.sessions import Connection
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import (
    ROOM,
    RoomCallers,
    arrival,
    cursor,
    draft,
    person,
)
from letagents.testing.determinism import ManualClock


@pytest.mark.anyio
class RoomAudienceContract(RoomCallers):
    """Needs a fixture `rooms`; may have a fixture `elsewhere`."""

    async def test_without_a_viewer_nothing_is_said_of_whom_a_message_is_for(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        await rooms.post(ROOM, draft("hello @everyone"), ada.fence)

        assert (await rooms.read(ROOM, Latest())).messages[0].activation is None

    @pytest.mark.rule("A3", "A4")
    async def test_a_viewer_is_told_what_is_for_them(
        self, rooms: RoomTransport, ada: Connection, bob: Connection
    ) -> None:
        mention = await rooms.post(ROOM, draft("@Worker2 please"), ada.fence)
        await rooms.post(ROOM, draft("yes", reply_to=mention), bob.fence)
        await rooms.post(ROOM, draft("hello @everyone"), ada.fence)
        await rooms.post(ROOM, draft("thinking aloud"), ada.fence)

        assert await self.labels(rooms, ada) == [
            (Decision.SILENT, Reason.SELF_MESSAGE),
            (Decision.ACTIVATE, Reason.REPLY_TARGET),
            (Decision.SILENT, Reason.SELF_MESSAGE),
            (Decision.SILENT, Reason.SELF_MESSAGE),
        ]
        assert await self.labels(rooms, bob) == [
            (Decision.ACTIVATE, Reason.EXPLICIT_MENTION),
            (Decision.SILENT, Reason.SELF_MESSAGE),
            (Decision.ACTIVATE, Reason.BROADCAST),
            (Decision.SILENT, Reason.UNADDRESSED),
        ]

    @pytest.mark.rule("A4")
    async def test_who_began_a_thread_or_spoke_in_it_takes_part_in_it(
        self, rooms: RoomTransport, ada: Connection, bob: Connection
    ) -> None:
        carl = await rooms.connect(ROOM, arrival(3, 3))
        root = await rooms.post(ROOM, draft("root"), ada.fence)
        await rooms.post(ROOM, draft("first", thread=root), bob.fence)
        await rooms.post(ROOM, draft("second", thread=root), carl.fence)
        last = After(cursor(2))

        takes_part = (Decision.ACTIVATE, Reason.THREAD_PARTICIPANT)
        assert await self.labels(rooms, ada, last) == [takes_part]
        assert await self.labels(rooms, bob, last) == [takes_part]
        dora = await rooms.connect(ROOM, arrival(4, 4))
        assert await self.labels(rooms, dora, last) == [(Decision.SILENT, Reason.UNADDRESSED)]

    async def test_whoever_has_left_is_not_mentioned(
        self, rooms: RoomTransport, ada: Connection, bob: Connection
    ) -> None:
        alike = attrs.evolve(arrival(3, 3), display_name="Worker2b")
        carl = await rooms.connect(ROOM, alike)
        await rooms.post(ROOM, draft("@Worker2b please"), ada.fence)
        assert (await self.labels(rooms, carl))[0] == (Decision.ACTIVATE, Reason.EXPLICIT_MENTION)

        await rooms.disconnect(ROOM, carl.fence)
        assert (await self.labels(rooms, bob))[0] == (
            Decision.SILENT,
            Reason.EXPLICIT_OTHER_MENTION,
        )

    @pytest.mark.rule("A45")
    async def test_a_person_is_heard_by_the_agent_they_last_talked_with(
        self, rooms: RoomTransport, ada: Connection, bob: Connection, clock: ManualClock
    ) -> None:
        human = await rooms.connect(ROOM, person())
        await rooms.post(ROOM, draft("good morning"), human.fence)
        small = (Decision.ACTIVATE, Reason.SMALL_ROOM)
        assert await self.labels(rooms, ada) == await self.labels(rooms, bob) == [small]

        carl = await rooms.connect(ROOM, arrival(3, 3))
        await rooms.post(ROOM, draft("@Worker2 how is it going"), human.fence)
        await rooms.post(ROOM, draft("well enough"), bob.fence)
        await rooms.post(ROOM, draft("and the tests"), human.fence)
        window = Latest(limit=1)
        assert await self.labels(rooms, bob, window) == [
            (Decision.ACTIVATE, Reason.RECENT_CONVERSATION)
        ]
        assert await self.labels(rooms, carl, window) == [(Decision.SILENT, Reason.UNADDRESSED)]

    @pytest.mark.rule("A45")
    @pytest.mark.parametrize("meant_by", ["mention", "quotation", "going on"])
    async def test_who_speaks_unasked_does_not_come_between_a_person_and_their_partner(
        self, meant_by: str, rooms: RoomTransport, ada: Connection, bob: Connection
    ) -> None:
        human = await rooms.connect(ROOM, person())
        await rooms.connect(ROOM, arrival(3, 3))
        hello = await rooms.post(ROOM, draft("the door is mended"), ada.fence)
        if meant_by == "quotation":
            await rooms.post(ROOM, draft("thanks", reply_to=hello), human.fence)
        else:
            await rooms.post(ROOM, draft("@Worker1 look at the roof"), human.fence)
        if meant_by == "going on":
            await rooms.post(ROOM, draft("and the walls"), human.fence)
        await rooms.post(ROOM, draft("I have painted the fence"), bob.fence)
        await rooms.post(ROOM, draft("and what is next"), human.fence)

        newest = Latest(limit=1)
        assert await self.labels(rooms, ada, newest) == [
            (Decision.ACTIVATE, Reason.RECENT_CONVERSATION)
        ]
        assert await self.labels(rooms, bob, newest) == [(Decision.SILENT, Reason.UNADDRESSED)]

    async def test_only_workers_are_told_whom_a_message_is_for(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        human = await rooms.connect(ROOM, person())
        await rooms.post(ROOM, draft("hello @everyone"), ada.fence)

        page = await rooms.read(ROOM, Latest(), human.fence)
        assert page.messages[0].activation is None

    async def labels(
        self, rooms: RoomTransport, viewer: Connection, window: Window | None = None
    ) -> list[tuple[Decision, Reason]]:
        page = await rooms.read(ROOM, window or After(), viewer.fence)
        told = [message.activation for message in page.messages]
        return [(one.decision, one.reason) for one in told if one is not None]
