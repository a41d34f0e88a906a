"""What becomes of messages in a room: part of the suite of every RoomTransport that keeps receipts.

Needs the fixtures `rooms` and `receipts`, both on the same place.
"""

import contextlib

import anyio
import attrs
import pytest

from letagents.domain.activation import Decision, Reason
from letagents.domain.errors import ConnectionLost, UnknownMessage
from letagents.domain.messages import After, Latest, Message
from letagents.domain.receipts import NoReceipt, State
from letagents.domain.sessions import Connection
from letagents.ports.receipts import Receipts
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import (
    ROOM,
    SOON,
    RoomCallers,
    arrival,
    cursor,
    draft,
    passing_chat,
    person,
)

QUEUED, RESPONDING = State.QUEUED, State.RESPONDING
ACKNOWLEDGED, UNAVAILABLE = State.ACKNOWLEDGED, State.UNAVAILABLE


@pytest.mark.anyio
class ReceiptsContract(RoomCallers):
    """Needs fixtures `rooms` and `receipts`."""

    @pytest.fixture
    def as_another(self, rooms: RoomTransport) -> RoomTransport:
        """Return the rooms as another owner's agents come in."""
        return rooms

    @pytest.mark.rule("A70", "A78")
    async def test_whom_a_message_wakes_has_a_receipt_from_the_beginning(
        self, rooms: RoomTransport, receipts: Receipts, ada: Connection, bob: Connection
    ) -> None:
        carl = await rooms.connect(ROOM, arrival(3, 3))
        for_bob = await rooms.post(ROOM, draft("@Worker2 look"), ada.fence)
        for_all = await rooms.post(ROOM, draft("everyone, look"), bob.fence)
        for_nobody = await rooms.post(ROOM, draft("it is done"), carl.fence)
        [one] = await receipts.of(ROOM, for_bob.id, ada.fence)

        assert one.session_id == bob.session.session_id
        assert one.agent_key == bob.session.agent_key
        assert one.actor_label == bob.session.actor_label
        assert (one.reason, one.state) == (Reason.EXPLICIT_MENTION, QUEUED)
        both = {ada.session.session_id, carl.session.session_id}
        assert {one.session_id for one in await receipts.of(ROOM, for_all.id)} == both
        assert await receipts.of(ROOM, for_nobody.id) == ()

    @pytest.mark.rule("A70")
    async def test_a_person_wakes_a_small_room_a_thread_and_their_partner(
        self, rooms: RoomTransport, receipts: Receipts, ada: Connection, bob: Connection
    ) -> None:
        human = await rooms.connect(ROOM, person())
        small = await rooms.post(ROOM, draft("good morning"), human.fence)
        carl = await rooms.connect(ROOM, arrival(3, 3))
        root = await rooms.post(ROOM, draft("a thread"), carl.fence)
        await rooms.post(ROOM, draft("in it", thread=root), ada.fence)
        below = await rooms.post(ROOM, draft("go on", thread=root), human.fence)
        asked = await rooms.post(ROOM, draft("@Worker2 look"), human.fence)
        again = await rooms.post(ROOM, draft("and now"), human.fence)

        assert await self.reasons(receipts, small) == {1: "small_room", 2: "small_room"}
        takes_part = "thread_participant"
        assert await self.reasons(receipts, below) == {1: takes_part, 3: takes_part}
        assert await self.reasons(receipts, asked) == {2: "explicit_mention"}
        assert await self.reasons(receipts, again) == {2: "recent_conversation"}

    @pytest.mark.rule("A71")
    async def test_a_receipt_moves_when_its_session_is_shown_the_message(
        self, rooms: RoomTransport, receipts: Receipts, ada: Connection, bob: Connection
    ) -> None:
        carl = await rooms.connect(ROOM, arrival(3, 3))
        said = await rooms.post(ROOM, draft("@Worker2 look"), ada.fence)
        await rooms.read(ROOM, Latest(), carl.fence)
        await rooms.read(ROOM, Latest(), ada.fence)
        await rooms.read(ROOM, Latest())
        assert await self.states(receipts, said) == [QUEUED]
        await rooms.wait(ROOM, After(), timeout=SOON, viewer=bob.fence)

        await self.until(receipts, said, RESPONDING)

    @pytest.mark.rule("A79", "A73")
    async def test_a_session_says_itself_how_far_it_is(
        self, rooms: RoomTransport, receipts: Receipts, ada: Connection, bob: Connection
    ) -> None:
        said = await rooms.post(ROOM, draft("@Worker2 look"), ada.fence)
        with pytest.raises(NoReceipt):
            await receipts.declare(ROOM, said.id, ACKNOWLEDGED, ada.fence)
        with pytest.raises(UnknownMessage):
            await receipts.declare(ROOM, cursor(70), ACKNOWLEDGED, bob.fence)
        told = [
            await receipts.declare(ROOM, said.id, state, bob.fence)
            for state in (State.BLOCKED, RESPONDING, ACKNOWLEDGED, RESPONDING)
        ]

        states = [State.BLOCKED, RESPONDING, ACKNOWLEDGED, ACKNOWLEDGED]
        assert [one.state for one in told] == states
        assert {one.session_id for one in told} == {bob.session.session_id}
        assert await self.states(receipts, said) == [ACKNOWLEDGED]

    @pytest.mark.rule("A72", "A73")
    async def test_what_a_session_says_next_acknowledges_what_it_was_shown(
        self, rooms: RoomTransport, receipts: Receipts, ada: Connection, bob: Connection
    ) -> None:
        seen = await rooms.post(ROOM, draft("@Worker2 first"), ada.fence)
        await rooms.read(ROOM, Latest(), bob.fence)
        await self.until(receipts, seen, RESPONDING)
        later = await rooms.post(ROOM, draft("@Worker2 second"), ada.fence)
        await rooms.post(ROOM, draft("I am on it"), bob.fence)

        assert await self.states(receipts, seen) == [ACKNOWLEDGED]
        assert await self.states(receipts, later) == [QUEUED]
        await rooms.read(ROOM, Latest(), bob.fence)
        await self.until(receipts, later, RESPONDING)
        assert await self.states(receipts, seen) == [ACKNOWLEDGED]

    @pytest.mark.rule("A72")
    async def test_a_reply_acknowledges_what_it_refers_to_though_it_was_not_shown(
        self, rooms: RoomTransport, receipts: Receipts, ada: Connection, bob: Connection
    ) -> None:
        quoted = await rooms.post(ROOM, draft("@Worker2 first"), ada.fence)
        root = await rooms.post(ROOM, draft("@Worker2 second"), ada.fence)
        other = await rooms.post(ROOM, draft("@Worker2 third"), ada.fence)
        await rooms.post(ROOM, draft("yes", reply_to=quoted), bob.fence)
        await rooms.post(ROOM, draft("no", thread=root), bob.fence)

        assert await self.states(receipts, quoted) == [ACKNOWLEDGED]
        assert await self.states(receipts, root) == [ACKNOWLEDGED]
        assert await self.states(receipts, other) == [QUEUED]

    @pytest.mark.rule("A71", "A75")
    async def test_what_was_said_before_a_restart_is_for_who_comes_back(
        self, rooms: RoomTransport, receipts: Receipts, ada: Connection, bob: Connection
    ) -> None:
        said = await rooms.post(ROOM, draft("@Worker2 look"), ada.fence)
        again = await rooms.connect(ROOM, arrival(2, 22, after=bob))
        assert await self.states(receipts, said) == [QUEUED]
        page = await rooms.read(ROOM, Latest(), again.fence)

        activation = page.messages[-1].activation
        assert activation is not None
        assert activation.decision is Decision.ACTIVATE
        assert activation.reason is Reason.EXPLICIT_MENTION
        await self.until(receipts, said, RESPONDING)

    @pytest.mark.rule("A74", "A75")
    async def test_what_a_session_leaves_is_unavailable_until_its_agent_is_back(
        self, rooms: RoomTransport, receipts: Receipts, ada: Connection, bob: Connection
    ) -> None:
        said = await rooms.post(ROOM, draft("everyone, look"), ada.fence)
        await rooms.disconnect(ROOM, bob.fence)
        assert await self.states(receipts, said) == [UNAVAILABLE]
        again = await rooms.connect(ROOM, arrival(2, 22, after=bob))
        page = await rooms.read(ROOM, Latest(), again.fence)

        assert page.messages[-1].activation is not None
        assert page.messages[-1].activation.reason is Reason.BROADCAST
        await self.until(receipts, said, RESPONDING)

    @pytest.mark.rule("A74")
    async def test_what_a_session_leaves_passes_to_another_of_its_agent(
        self, rooms: RoomTransport, receipts: Receipts, ada: Connection
    ) -> None:
        guest = await rooms.connect(ROOM, passing_chat(7))
        said = await rooms.post(ROOM, draft("@Guest look"), ada.fence)
        heir = await rooms.connect(ROOM, attrs.evolve(passing_chat(8), instance_id="process-2"))
        with contextlib.suppress(ConnectionLost):  # its room may have ended it by now
            await rooms.disconnect(ROOM, guest.fence)
        [one] = await receipts.of(ROOM, said.id)

        assert guest.session.session_id != heir.session.session_id
        assert (one.session_id, one.state) == (heir.session.session_id, QUEUED)

    @pytest.mark.rule("A76")
    async def test_who_comes_later_is_not_woken_by_what_others_were_called_for(
        self, rooms: RoomTransport, ada: Connection, bob: Connection
    ) -> None:
        await rooms.post(ROOM, draft("everyone, look"), ada.fence)
        await rooms.post(ROOM, draft("@Worker3 welcome"), ada.fence)
        carl = await rooms.connect(ROOM, arrival(3, 3))
        page = await rooms.read(ROOM, Latest(), carl.fence)

        told = [one.activation and one.activation.reason for one in page.messages]
        assert told == [Reason.UNADDRESSED, Reason.EXPLICIT_MENTION]

    @pytest.mark.rule("A77")
    async def test_only_who_mentions_several_alike_is_told_so(
        self,
        rooms: RoomTransport,
        as_another: RoomTransport,
        receipts: Receipts,
        ada: Connection,
        bob: Connection,
    ) -> None:
        human = await rooms.connect(ROOM, person())
        end_of_key = bob.session.agent_key.rpartition("/")[2]
        alike = attrs.evolve(arrival(5, 5), agent_key=f"carl/{end_of_key}", owner_label="Carl")
        await as_another.connect(ROOM, alike)
        said = await rooms.post(ROOM, draft(f"@{end_of_key} look"), human.fence)
        again = await rooms.post(ROOM, draft(f"@{end_of_key} look"), human.fence)
        [notice] = said.mention_notices

        assert again.mention_notices == said.mention_notices
        assert f"@agent:{bob.session.agent_key}" in [one.mention for one in notice.candidates]
        assert len(notice.candidates) == 2
        assert await receipts.of(ROOM, said.id) == ()
        page = await rooms.read(ROOM, Latest(), bob.fence)
        assert page.messages[-1].mention_notices == ()
        exact = await rooms.post(ROOM, draft(f"{notice.candidates[0].mention} look"), human.fence)
        assert len(await receipts.of(ROOM, exact.id)) == 1

    @pytest.mark.rule("A78")
    async def test_a_message_that_is_not_there_has_none(
        self, rooms: RoomTransport, receipts: Receipts, ada: Connection
    ) -> None:
        with pytest.raises(UnknownMessage):
            await receipts.of(ROOM, cursor(7), ada.fence)

    async def reasons(self, receipts: Receipts, said: Message) -> dict[int, str]:
        """Return why a message woke workers, by their numbers."""
        found = await receipts.of(ROOM, said.id)
        return {int(one.agent_key[-1]): one.reason.value for one in found}

    async def states(self, receipts: Receipts, said: Message) -> list[State]:
        """Return how far a message has come."""
        return [one.state for one in await receipts.of(ROOM, said.id)]

    async def until(self, receipts: Receipts, said: Message, state: State) -> None:
        """Return once a message has come so far: nobody waits for that to be written down."""
        with anyio.fail_after(30):
            while await self.states(receipts, said) != [state]:  # noqa: ASYNC110  # no event tells
                await anyio.sleep(0.002)
