"""Saying something, once, in order, under one name. A part of what every RoomTransport does."""

import anyio
import attrs
import pytest

from letagents.domain.errors import KeyReused, Malformed, UnknownMessage
from letagents.domain.ids import ClientKey, RoomId
from letagents.domain.messages import After, Before, Draft, Latest, Message, OnlyPrompts
from letagents.domain.sessions import Connection
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import (
    ADA,
    AT_ONCE,
    ROOM,
    RoomCallers,
    arrival,
    cursor,
    draft,
    texts,
)


@pytest.mark.anyio
class RoomSpeakingContract(RoomCallers):
    """Needs a fixture `rooms`; may have a fixture `elsewhere`."""

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

    @pytest.mark.rule("M7", "R13")
    async def test_a_prompt_alone_is_shown_to_who_asks_for_prompts_and_referred_to_by_nobody(
        self, rooms: RoomTransport, elsewhere: RoomTransport, ada: Connection
    ) -> None:
        alone = Draft("", ClientKey("prompt"), prompt_kind="auto")
        said = [
            await rooms.post(ROOM, one, ada.fence)
            for one in (draft("first"), alone, attrs.evolve(draft("with it"), prompt_kind="inline"))
        ]
        again = await rooms.post(ROOM, alone, ada.fence)
        whole = await elsewhere.read(ROOM, After())
        windows = (After(cursor(1), 1, False), Before(cursor(3), 5, False), Latest(1, False))
        shown = [await elsewhere.read(ROOM, window) for window in windows]
        waited = await rooms.wait(
            ROOM, After(cursor(1), prompts=False), timeout=AT_ONCE, viewer=ada.fence
        )
        for refers in ({"reply_to": said[1]}, {"thread": said[1]}):
            with pytest.raises(OnlyPrompts):
                await rooms.post(ROOM, draft("about it", **refers), ada.fence)

        assert again.id == said[1].id
        assert await elsewhere.message(ROOM, cursor(2)) == whole.messages[1]
        kinds = [(one.text, one.prompt_kind) for one in whole.messages]
        assert kinds == [("first", None), ("", "auto"), ("with it", "inline")]
        assert [(texts(one), one.more) for one in shown] == [
            (["with it"], False),
            (["first"], False),
            (["with it"], True),
        ]
        assert texts(waited) == ["with it"]

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
