"""What every RoomTransport does: inherit the suite and give it a fixture `rooms`.

    class TestMyRooms(RoomTransportContract):
        @pytest.fixture
        def rooms(self) -> RoomTransport:
            return MyRooms()

Where the place can be opened twice, a fixture `elsewhere` gives a second transport on it, as
another process would have; else the one transport plays both.
"""

import hashlib
from datetime import timedelta

import anyio
import attrs
import pytest

from letagents.domain.activation import Decision, Reason
from letagents.domain.errors import (
    ConnectionLost,
    ConnectionReplaced,
    KeyReused,
    Malformed,
    NotConnected,
    RegistrationConflict,
    SessionEnded,
    UnknownMessage,
    UnknownRoom,
)
from letagents.domain.fencing import Fence
from letagents.domain.ids import ClientKey, MessageId, RoomId, SessionId, Token, WorkerId
from letagents.domain.messages import After, Before, Draft, Latest, Message, Page, Window
from letagents.domain.sessions import Arrival, Connection, Predecessor, SessionKind
from letagents.ports.rooms import RoomTransport
from letagents.testing.determinism import ManualClock

ROOM = RoomId("workshop")
ADA, BOB = 1, 2
SOON = timedelta(seconds=5)
AT_ONCE = timedelta(0)


def secret(number: int) -> Token:
    """Return the `number`-th secret."""
    return Token(f"s{number:042d}")


def worker(number: int) -> WorkerId:
    """Return the `number`-th worker's handle."""
    return WorkerId(f"worker_{number:032x}")


def arrival(number: int, token: int, after: Connection | None = None) -> Arrival:
    """Return how the worker of that number arrives under a secret, following a connection."""
    return Arrival(
        token=secret(token),
        agent_key=f"ada/worker-{number:032x}",
        instance_id=str(worker(number)),
        display_name=f"Worker{number}",
        owner_label="Ada",
        ide_label="Claude Code",
        runtime="claude-code",
        worker_id=worker(number),
        predecessor=Predecessor(after.fence.session_id, after.fence.token) if after else None,
    )


def person(token: int = 900) -> Arrival:
    """Return how a human being arrives."""
    return attrs.evolve(
        arrival(9, token),
        agent_key="human/ada",
        display_name="Ada",
        worker_id=None,
        instance_id="terminal",
        kind=SessionKind.PERSON,
    )


def passing_chat(token: int, *, name: str = "Guest") -> Arrival:
    """Return how a chat without a lasting handle arrives; all of them are one agent."""
    return attrs.evolve(
        arrival(8, token),
        agent_key="guest/chat",
        display_name=name,
        worker_id=None,
        instance_id="process-1",
    )


def draft(text: str, *, reply_to: Message | None = None, thread: Message | None = None) -> Draft:
    """Return a draft whose key is its text."""
    return Draft(
        text,
        ClientKey(hashlib.sha256(text.encode()).hexdigest()),
        reply_to=reply_to.id if reply_to else None,
        thread=thread.id if thread else None,
    )


def texts(page: Page) -> list[str]:
    """Return what is said in a page."""
    return [message.text for message in page.messages]


def cursor(number: int) -> MessageId:
    """Return the id of the message with that number."""
    return MessageId(number)


@pytest.mark.anyio
class RoomTransportContract:
    """Needs a fixture `rooms`; may have a fixture `elsewhere`."""

    @pytest.fixture
    def clock(self) -> ManualClock:
        """Return what moves the time of `rooms`, if they take their time from it."""
        return ManualClock()

    @pytest.fixture
    def elsewhere(self, rooms: RoomTransport) -> RoomTransport:
        """Return another transport on the place of `rooms`, where there can be one."""
        return rooms

    @pytest.fixture
    async def ada(self, rooms: RoomTransport) -> Connection:
        """Return a worker connected in a new room."""
        await rooms.join(ROOM)
        return await rooms.connect(ROOM, arrival(ADA, 1))

    @pytest.fixture
    async def bob(self, rooms: RoomTransport, ada: Connection) -> Connection:
        """Return a second worker of the same room."""
        return await rooms.connect(ROOM, arrival(BOB, 2))

    # --- rooms ----------------------------------------------------------------------------------

    @pytest.mark.rule("K1")
    async def test_a_created_room_is_entered_by_its_code(self, rooms: RoomTransport) -> None:
        made = await rooms.create()

        assert made.code == str(made.room_id)
        assert await rooms.join(made.room_id) == made

    async def test_two_created_rooms_are_two(self, rooms: RoomTransport) -> None:
        assert await rooms.create() != await rooms.create()

    async def test_joining_makes_a_room_once(
        self, rooms: RoomTransport, elsewhere: RoomTransport
    ) -> None:
        made = await rooms.join(ROOM)

        assert made.display_name == str(ROOM)
        assert made.code is None
        assert await elsewhere.join(ROOM) == made

    @pytest.mark.rule("K4")
    @pytest.mark.parametrize("create", [True, False])
    async def test_no_room_is_made_for_a_code_that_nobody_gave(
        self, rooms: RoomTransport, create: bool
    ) -> None:
        with pytest.raises(UnknownRoom):
            await rooms.join(RoomId("AAAA-BBBB-CCCC"), create=create)

        assert await rooms.known() == ()

    async def test_joining_without_making_finds_only_what_is_there(
        self, rooms: RoomTransport
    ) -> None:
        with pytest.raises(UnknownRoom):
            await rooms.join(ROOM, create=False)

        made = await rooms.join(ROOM)
        assert await rooms.join(ROOM, create=False) == made

    async def test_rooms_are_known_latest_active_first(
        self, rooms: RoomTransport, ada: Connection, clock: ManualClock
    ) -> None:
        clock.pass_by(timedelta(minutes=1))
        other = await rooms.join(RoomId("other"))
        assert [room.room_id for room in await rooms.known()] == [other.room_id, ROOM]

        clock.pass_by(timedelta(minutes=1))
        await rooms.post(ROOM, draft("hello"), ada.fence)
        assert [room.room_id for room in await rooms.known()] == [ROOM, other.room_id]

    async def test_a_room_that_is_not_there_is_refused_everywhere(
        self, rooms: RoomTransport
    ) -> None:
        nowhere = RoomId("nowhere")
        fence = Fence(SessionId("local_x"), 1, secret(1))

        with pytest.raises(UnknownRoom):
            await rooms.connect(nowhere, arrival(ADA, 1))
        with pytest.raises(UnknownRoom):
            await rooms.disconnect(nowhere, fence)
        with pytest.raises(UnknownRoom):
            await rooms.post(nowhere, draft("hello"), fence)
        with pytest.raises(UnknownRoom):
            await rooms.read(nowhere, Latest())
        with pytest.raises(UnknownRoom):
            await rooms.wait(nowhere, After(), timeout=SOON)
        with pytest.raises(UnknownRoom):
            await rooms.message(nowhere, cursor(1))
        assert await rooms.known() == ()

    # --- connections ----------------------------------------------------------------------------

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

    # --- saying ---------------------------------------------------------------------------------

    @pytest.mark.rule("R9")
    async def test_the_room_fills_in_who_speaks(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        said = await rooms.post(ROOM, draft("hello"), ada.fence)

        assert said.sender == ada.session.actor_label == "Worker1 | Ada's agent | Claude Code"
        assert said.agent_key == ada.session.agent_key
        assert said.session_id == ada.session.session_id
        assert said.source == "agent"

    @pytest.mark.rule("R3", "M5")
    async def test_messages_are_numbered_from_one(
        self, rooms: RoomTransport, ada: Connection, bob: Connection
    ) -> None:
        said = [
            await rooms.post(ROOM, draft(f"from {one.session.display_name} {at}"), one.fence)
            for at in range(3)
            for one in (ada, bob)
        ]

        assert [message.id for message in said] == [cursor(number) for number in range(1, 7)]

    @pytest.mark.rule("R3", "R4")
    async def test_many_at_once_are_numbered_without_a_gap(
        self, rooms: RoomTransport, elsewhere: RoomTransport, ada: Connection, bob: Connection
    ) -> None:
        said: list[Message] = []

        async def speak(transport: RoomTransport, who: Connection, at: int) -> None:
            said.append(await transport.post(ROOM, draft(f"{at}"), who.fence))

        async with anyio.create_task_group() as speakers:
            for at in range(40):
                speakers.start_soon(speak, (rooms, elsewhere)[at % 2], (ada, bob)[at % 2], at)

        read = (await elsewhere.read(ROOM, Latest())).messages
        assert [message.id.number for message in read] == list(range(1, 41))
        assert sorted(said, key=lambda one: one.id) == list(read)

    @pytest.mark.rule("R5", "M6")
    async def test_the_same_draft_again_is_the_same_message(
        self, rooms: RoomTransport, elsewhere: RoomTransport, ada: Connection
    ) -> None:
        first = await rooms.post(ROOM, draft("hello"), ada.fence)

        assert await rooms.post(ROOM, draft("hello"), ada.fence) == first
        assert await elsewhere.post(ROOM, draft("hello"), ada.fence) == first
        assert (await rooms.read(ROOM, Latest())).messages == (first,)

    @pytest.mark.rule("R5")
    async def test_a_draft_is_found_again_after_a_reconnection(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        first = await rooms.post(ROOM, draft("hello"), ada.fence)
        new = await rooms.connect(ROOM, arrival(ADA, 11, after=ada))

        assert await rooms.post(ROOM, draft("hello"), new.fence) == first

    @pytest.mark.rule("R5", "M6")
    async def test_a_key_with_other_content_is_refused(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        first = await rooms.post(ROOM, Draft("hello", ClientKey("k")), ada.fence)

        for other in (
            Draft("goodbye", ClientKey("k")),
            Draft("hello", ClientKey("k"), reply_to=first.id),
            Draft("hello", ClientKey("k"), thread=first.id),
        ):
            with pytest.raises(KeyReused):
                await rooms.post(ROOM, other, ada.fence)
        assert (await rooms.read(ROOM, Latest())).messages == (first,)

    @pytest.mark.rule("R5")
    async def test_a_key_is_its_authors_and_its_rooms_own(
        self, rooms: RoomTransport, ada: Connection, bob: Connection
    ) -> None:
        other = (await rooms.join(RoomId("other"))).room_id
        there = await rooms.connect(other, arrival(ADA, 3))

        said = await rooms.post(ROOM, Draft("mine", ClientKey("k")), ada.fence)
        assert (await rooms.post(ROOM, Draft("yours", ClientKey("k")), bob.fence)).id > said.id
        assert (await rooms.post(other, Draft("there", ClientKey("k")), there.fence)).text

    @pytest.mark.rule("R5")
    async def test_the_same_draft_many_times_at_once_is_one_message(
        self, rooms: RoomTransport, elsewhere: RoomTransport, ada: Connection
    ) -> None:
        made: list[Message] = []

        async def speak(transport: RoomTransport) -> None:
            made.append(await transport.post(ROOM, draft("hello"), ada.fence))

        async with anyio.create_task_group() as speakers:
            for at in range(10):
                speakers.start_soon(speak, (rooms, elsewhere)[at % 2])

        assert made == [made[0]] * 10
        assert len((await rooms.read(ROOM, Latest())).messages) == 1

    @pytest.mark.rule("M3")
    async def test_a_reply_quotes_and_stays_top_level(
        self, rooms: RoomTransport, ada: Connection, bob: Connection
    ) -> None:
        first = await rooms.post(ROOM, draft("hello"), ada.fence)
        reply = await rooms.post(ROOM, draft("hello yourself", reply_to=first), bob.fence)

        assert not reply.is_thread_reply
        assert reply.thread_root == reply.id
        assert reply.reply_to is not None
        assert reply.reply_to.id == first.id
        assert reply.reply_to.text == "hello"
        assert reply.reply_to.sender == first.sender
        assert reply.reply_to.source == "agent"
        assert reply.reply_to.said_at == first.said_at
        assert reply.reply_to.agent_key == ada.session.agent_key
        assert reply.reply_to.session_id == ada.session.session_id
        assert await rooms.message(ROOM, reply.id) == reply

    @pytest.mark.rule("M4")
    async def test_a_thread_is_that_of_its_root(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        root = await rooms.post(ROOM, draft("root"), ada.fence)
        first = await rooms.post(ROOM, draft("first", thread=root), ada.fence)
        second = await rooms.post(ROOM, draft("second", thread=first), ada.fence)
        third = await rooms.post(ROOM, draft("third", reply_to=first, thread=root), ada.fence)

        assert [one.thread_root for one in (root, first, second, third)] == [root.id] * 4
        assert second.is_thread_reply
        assert second.reply_to is None
        assert third.reply_to is not None
        assert third.reply_to.id == first.id

    @pytest.mark.rule("M3", "M4")
    async def test_a_draft_that_refers_to_nothing_is_refused(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        first = await rooms.post(ROOM, draft("one"), ada.fence)
        second = await rooms.post(ROOM, draft("two"), ada.fence)
        nothing = cursor(3)

        with pytest.raises(UnknownMessage):
            await rooms.post(ROOM, Draft("a", ClientKey("a"), reply_to=nothing), ada.fence)
        with pytest.raises(UnknownMessage):
            await rooms.post(ROOM, Draft("b", ClientKey("b"), thread=nothing), ada.fence)
        with pytest.raises(Malformed):
            await rooms.post(ROOM, draft("c", reply_to=first, thread=second), ada.fence)
        assert (await rooms.read(ROOM, Latest())).messages == (first, second)

    @pytest.mark.rule("R1")
    async def test_a_refused_draft_spoils_none_beside_it(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        refused: list[str] = []

        async def speak(at: int) -> None:
            bad = cursor(999) if at % 3 == 0 else None
            try:
                await rooms.post(ROOM, Draft(f"{at}", ClientKey(f"{at}"), reply_to=bad), ada.fence)
            except UnknownMessage:
                refused.append(f"{at}")

        async with anyio.create_task_group() as speakers:
            for at in range(12):
                speakers.start_soon(speak, at)

        said = texts(await rooms.read(ROOM, Latest()))
        assert sorted(refused) == sorted(["0", "3", "6", "9"])
        assert sorted(said) == sorted({f"{at}" for at in range(12)} - set(refused))

    @pytest.mark.rule("M1", "M2")
    async def test_the_longest_text_comes_back_as_it_was(
        self, rooms: RoomTransport, ada: Connection
    ) -> None:
        text = "\t🙂\r\n" + "é" * 65_532
        said = await rooms.post(ROOM, draft(text), ada.fence)

        assert said.text == text
        assert (await rooms.read(ROOM, Latest())).messages == (said,)

    # --- reading --------------------------------------------------------------------------------

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

    # --- waiting --------------------------------------------------------------------------------

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

    # --- for whom a message is --------------------------------------------------------------------

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
