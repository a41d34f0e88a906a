"""Connecting, taking over, leaving and coming back. A part of what every RoomTransport does."""

from datetime import timedelta

import attrs
import pytest

from letagents.domain.errors import (
    ConnectionLost,
    ConnectionReplaced,
    NotConnected,
    RegistrationConflict,
    SessionEnded,
)
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.messages import Latest
from letagents.domain.sessions import Connection
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import (
    ADA,
    BOB,
    ROOM,
    RoomCallers,
    arrival,
    cursor,
    draft,
    passing_chat,
    person,
    secret,
)
from letagents.testing.determinism import ManualClock


@pytest.mark.anyio
class RoomConnectionsContract(RoomCallers):
    """Needs a fixture `rooms`; may have a fixture `elsewhere`."""

    @pytest.mark.rule("R2", "E2")
    async def test_a_replaced_connection_says_nothing(
        self, rooms: RoomTransport, elsewhere: RoomTransport, ada: Connection
    ) -> None:
        new = await elsewhere.connect(ROOM, arrival(ADA, 11, after=ada))

        with pytest.raises(ConnectionReplaced):
            await rooms.post(ROOM, draft("from the old life"), ada.fence)

        assert new.fence.generation == ada.fence.generation + 1
        assert (await rooms.post(ROOM, draft("from the new one"), new.fence)).id == cursor(1)

    @pytest.mark.rule("R2", "E2")
    async def test_the_same_arrival_again_gives_the_same_connection(
        self, rooms: RoomTransport, elsewhere: RoomTransport, ada: Connection
    ) -> None:
        assert await elsewhere.connect(ROOM, arrival(ADA, 1)) == ada
        assert await rooms.connect(ROOM, arrival(ADA, 1)) == ada

    @pytest.mark.rule("E1")
    async def test_a_worker_that_returns_finds_its_place(
        self, rooms: RoomTransport, ada: Connection, clock: ManualClock
    ) -> None:
        clock.pass_by(timedelta(hours=1))
        again = await rooms.connect(
            ROOM, attrs.evolve(arrival(ADA, 11, after=ada), display_name="Other")
        )

        assert again.session == attrs.evolve(
            ada.session,
            updated_at=again.session.updated_at,
            last_seen_at=again.session.last_seen_at,
            seen=again.session.seen,
        )
        assert again.session.updated_at > ada.session.created_at

    @pytest.mark.rule("E3")
    async def test_an_arrival_that_follows_nobody_is_in_conflict(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        with pytest.raises(RegistrationConflict):
            await rooms.connect(ROOM, arrival(ADA, 11))

        assert (await rooms.post(ROOM, draft("still me"), ada.fence)).id == cursor(1)

    @pytest.mark.rule("E3")
    async def test_of_two_that_follow_the_same_connection_one_is_heard(
        self, rooms: RoomTransport, elsewhere: RoomTransport, ada: Connection
    ) -> None:
        first = await rooms.connect(ROOM, arrival(ADA, 11, after=ada))

        with pytest.raises(RegistrationConflict):
            await elsewhere.connect(ROOM, arrival(ADA, 12, after=ada))
        assert (await elsewhere.post(ROOM, draft("I was first"), first.fence)).id == cursor(1)

    @pytest.mark.rule("R1", "F3")
    async def test_a_disconnected_worker_says_nothing(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        ended = await rooms.disconnect(ROOM, ada.fence)

        assert ended.ended_at is not None
        with pytest.raises(SessionEnded):
            await rooms.post(ROOM, draft("from beyond"), ada.fence)
        with pytest.raises(SessionEnded):
            await rooms.disconnect(ROOM, ada.fence)

    @pytest.mark.rule("E5")
    async def test_a_disconnected_worker_comes_back_as_itself(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        await rooms.disconnect(ROOM, ada.fence)
        again = await rooms.connect(ROOM, arrival(ADA, 11, after=ada))

        assert again.session.session_id == ada.session.session_id
        assert again.session.display_name == ada.session.display_name
        assert again.session.ended_at is None
        assert again.fence.generation == ada.fence.generation + 1
        with pytest.raises(ConnectionLost):
            await rooms.post(ROOM, draft("from the old life"), ada.fence)

    @pytest.mark.rule("R1")
    async def test_a_replaced_connection_ends_nothing(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        new = await rooms.connect(ROOM, arrival(ADA, 11, after=ada))

        with pytest.raises(ConnectionReplaced):
            await rooms.disconnect(ROOM, ada.fence)
        assert (await rooms.post(ROOM, draft("still here"), new.fence)).id == cursor(1)

    @pytest.mark.rule("R1", "F1", "F2")
    async def test_half_a_fence_opens_nothing(self, rooms: RoomTransport, ada: Connection) -> None:
        fence = ada.fence
        for wrong in (
            attrs.evolve(fence, generation=fence.generation + 1),
            attrs.evolve(fence, token=secret(99)),
        ):
            with pytest.raises(ConnectionReplaced):
                await rooms.post(ROOM, draft("hello"), wrong)
        with pytest.raises(NotConnected):
            await rooms.post(ROOM, draft("hello"), attrs.evolve(fence, session_id=SessionId("x")))

        assert (await rooms.read(ROOM, Latest())).messages == ()

    async def test_a_fence_of_one_room_opens_no_other(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        other = (await rooms.join(RoomId("other"))).room_id

        with pytest.raises(NotConnected):
            await rooms.post(other, draft("hello"), ada.fence)

    @pytest.mark.rule("E4")
    async def test_a_name_that_another_ever_had_is_not_given_again(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        await rooms.disconnect(ROOM, ada.fence)
        alike = attrs.evolve(arrival(BOB, 2), display_name="WORKER 1")
        bob = await rooms.connect(ROOM, alike)

        assert bob.session.display_name not in (ada.session.display_name, alike.display_name)
        assert bob.session.base_name == alike.display_name
        assert bob.session.actor_label.startswith(f"{bob.session.display_name} | ")
        assert await rooms.connect(ROOM, alike) == bob

    @pytest.mark.rule("E4")
    async def test_a_name_is_free_in_another_room(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        other = (await rooms.join(RoomId("other"))).room_id
        bob = await rooms.connect(
            other, attrs.evolve(arrival(BOB, 2), display_name=ada.session.display_name)
        )

        assert bob.session.display_name == ada.session.display_name

    @pytest.mark.rule("E6")
    async def test_a_passing_chat_gets_a_new_session_and_ends_its_earlier_one(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        first = await rooms.connect(ROOM, passing_chat(1_001))
        second = await rooms.connect(ROOM, passing_chat(1_002))

        assert first.session.session_id != second.session.session_id
        assert second.session.display_name == first.session.display_name == "Guest"
        assert second.fence.generation == 1
        with pytest.raises(SessionEnded):
            await rooms.post(ROOM, draft("from the old chat"), first.fence)
        assert (await rooms.post(ROOM, draft("from the new"), second.fence)).id == cursor(1)
        assert (await rooms.post(ROOM, draft("from another"), ada.fence)).id == cursor(2)

    @pytest.mark.rule("R2", "E2")
    async def test_a_passing_chat_that_asks_again_gets_the_same_session(
        self, rooms: RoomTransport, elsewhere: RoomTransport, ada: Connection
    ) -> None:
        first = await rooms.connect(ROOM, passing_chat(1_001))

        assert await elsewhere.connect(ROOM, passing_chat(1_001)) == first

    async def test_a_person_speaks_under_the_bare_name_and_ends_nobody(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        first = await rooms.connect(ROOM, person(901))
        await rooms.connect(ROOM, person(902))
        said = await rooms.post(ROOM, draft("hello"), first.fence)
        reply = await rooms.post(ROOM, draft("hello Ada", reply_to=said), ada.fence)

        assert (said.sender, said.source, said.agent_key) == ("Ada", "browser", None)
        assert said.session_id == first.session.session_id
        assert reply.reply_to is not None
        assert (reply.reply_to.source, reply.reply_to.agent_key) == ("browser", None)
        assert await rooms.message(ROOM, said.id) == said
        assert await rooms.message(ROOM, reply.id) == reply
