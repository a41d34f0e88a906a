"""What every store of threads does: give the suite `rooms` and `threads`."""

import pytest

from letagents.domain.errors import Malformed
from letagents.domain.ids import MessageId
from letagents.domain.messages import Message
from letagents.domain.sessions import Connection
from letagents.domain.threads import Threads, UnknownThread
from letagents.ports.rooms import RoomTransport
from letagents.ports.threads import ThreadsOf
from letagents.testing.contracts.room_callers import ROOM, RoomCallers, draft

TESS, UMA = "account_1", "account_2"


def roots(found: Threads) -> list[int]:
    """Return the roots of threads."""
    return [one.root.number for one in found.threads]


@pytest.mark.anyio
class ThreadsContract(RoomCallers):
    """Needs fixtures `rooms` and `threads`; may have `threads_elsewhere`."""

    @pytest.fixture
    def threads_elsewhere(self, threads: ThreadsOf) -> ThreadsOf:
        """Return the threads as another process has them, where there can be one."""
        return threads

    @pytest.fixture
    async def talk(self, rooms: RoomTransport, ada: Connection, bob: Connection) -> None:
        """Begin two threads and a message without any: 1 <- 3, 5; 2 <- 4; 6."""
        roots_of = {1: None, 2: None, 3: 1, 4: 2, 5: 1, 6: None}
        said: dict[int | None, Message] = {}
        for number, root in roots_of.items():
            speaker = bob if number in (4, 5) else ada
            words = draft(f"{number}", thread=said.get(root))
            said[number] = await rooms.post(ROOM, words, speaker.fence)

    @pytest.mark.rule("K120")
    async def test_the_thread_with_the_newest_reply_comes_first(
        self, threads: ThreadsOf, talk: None
    ) -> None:
        found = await threads.threads(ROOM, TESS)

        first, second = found.threads
        assert roots(found) == [1, 2]
        assert (first.replies, second.replies, found.more) == (2, 1, False)
        assert first.latest is not None
        assert (first.latest.id, first.latest.text) == (MessageId(5), "5")
        assert [(one.messages, one.latest) for one in first.voices] == [(1, 5), (2, 3)]

    @pytest.mark.rule("K120")
    async def test_threads_come_in_pages(self, threads: ThreadsOf, talk: None) -> None:
        first = await threads.threads(ROOM, TESS, limit=1)
        second = await threads.threads(ROOM, TESS, limit=1, before=MessageId(1))
        beyond = await threads.threads(ROOM, TESS, before=MessageId(6))

        assert (roots(first), first.more) == ([1], True)
        assert (roots(second), second.more) == ([2], False)
        assert roots(beyond) == []

    @pytest.mark.rule("K121", "K122", "K123")
    async def test_what_somebody_read_is_read_for_them_alone(
        self, threads: ThreadsOf, threads_elsewhere: ThreadsOf, talk: None
    ) -> None:
        before = await threads.threads(ROOM, TESS)
        partly = await threads.read(ROOM, MessageId(1), TESS, MessageId(3))
        wholly = await threads.read(ROOM, MessageId(4), TESS)
        hers = await threads_elsewhere.threads(ROOM, TESS)
        unread = await threads_elsewhere.threads(ROOM, TESS, unread_only=True)
        others = await threads_elsewhere.threads(ROOM, UMA)

        assert ([one.unread for one in before.threads], before.unread) == ([2, 1], 2)
        assert (partly.unread, partly.read_to, partly.replies) == (1, 3, 2)
        assert (wholly.root.number, wholly.unread, wholly.read_to) == (2, 0, 4)
        assert ([one.unread for one in hers.threads], hers.unread) == ([1, 0], 1)
        assert roots(unread) == [1]
        assert ([one.unread for one in others.threads], others.unread) == ([2, 1], 2)

    @pytest.mark.rule("K127")
    async def test_beside_messages_the_threads_of_which_they_are_are_told_in_short(
        self, threads: ThreadsOf, threads_elsewhere: ThreadsOf, talk: None
    ) -> None:
        await threads.read(ROOM, MessageId(1), TESS, MessageId(3))
        alone = await threads.around(ROOM, MessageId(6), MessageId(6), TESS)
        by_a_reply = await threads.around(ROOM, MessageId(4), MessageId(4), TESS)
        both = await threads_elsewhere.around(ROOM, MessageId(1), MessageId(6), TESS)
        listed = await threads.threads(ROOM, TESS)
        others = await threads.around(ROOM, MessageId(1), MessageId(1), UMA)

        assert alone == {}
        assert list(by_a_reply) == [MessageId(2)]
        assert both == {one.root: one for one in listed.threads}
        assert [(one.unread, one.read_to) for one in both.values()] == [(1, 3), (1, 0)]
        assert others[MessageId(1)].unread == 2

    @pytest.mark.rule("K121")
    async def test_reading_never_goes_back_and_a_new_reply_is_unread(
        self, rooms: RoomTransport, threads: ThreadsOf, ada: Connection, talk: None
    ) -> None:
        await threads.read(ROOM, MessageId(1), TESS)
        again = await threads.read(ROOM, MessageId(1), TESS, MessageId(1))
        root = await rooms.message(ROOM, MessageId(1))
        await rooms.post(ROOM, draft("seven", thread=root), ada.fence)
        found = await threads.threads(ROOM, TESS, unread_only=True)

        assert (again.unread, again.read_to) == (0, 5)
        assert [(one.root.number, one.unread) for one in found.threads] == [(1, 1), (2, 1)]

    @pytest.mark.rule("K122")
    async def test_what_is_of_another_thread_or_not_there_is_refused(
        self, threads: ThreadsOf, talk: None
    ) -> None:
        with pytest.raises(Malformed):
            await threads.read(ROOM, MessageId(1), TESS, MessageId(4))
        for thread, up_to in ((70, None), (1, 70)):
            with pytest.raises(UnknownThread):
                await threads.read(
                    ROOM, MessageId(thread), TESS, MessageId(up_to) if up_to else None
                )

        assert (await threads.threads(ROOM, TESS)).unread == 2

    @pytest.mark.rule("K122")
    async def test_a_message_without_replies_can_be_read_too(
        self, threads: ThreadsOf, talk: None
    ) -> None:
        alone = await threads.read(ROOM, MessageId(6), TESS)

        assert (alone.replies, alone.latest, alone.unread) == (0, None, 0)
