"""What every place does that can be searched: inherit the suite and give it a fixture `rooms`.

    class TestMyRooms(RoomSearchContract):
        @pytest.fixture
        def rooms(self) -> RoomTransport:
            return MyRooms()

Where the place can be opened twice, a fixture `elsewhere` gives a second transport on it.
"""

from datetime import timedelta
from typing import Protocol

import pytest

from letagents.domain.errors import ConnectionReplaced, SessionEnded, UnknownMessage, UnknownRoom
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.messages import Message
from letagents.domain.search import SNIPPET_LENGTH, Found, Query, asked
from letagents.domain.sessions import Connection
from letagents.ports.rooms import RoomTransport
from letagents.ports.search import Search
from letagents.testing.contracts.room_callers import ADA, ROOM, RoomCallers, arrival, draft
from letagents.testing.determinism import ManualClock

OTHER = RoomId("another room")


class Searchable(RoomTransport, Search, Protocol):
    """Rooms that can be searched."""


def numbers(found: Found) -> list[int]:
    """Return the numbers of the hits, in their order."""
    return [hit.id.number for hit in found.hits]


@pytest.mark.anyio
class RoomSearchContract(RoomCallers):
    """Needs a fixture `rooms`; may have a fixture `elsewhere`."""

    async def say(
        self, rooms: Searchable, who: Connection, *texts: str, thread: Message | None = None
    ) -> list[Message]:
        """Say each of `texts`, one after another."""
        room_id = who.session.room_id
        return [await rooms.post(room_id, draft(one, thread=thread), who.fence) for one in texts]

    async def found(self, rooms: Searchable, text: str) -> list[int]:
        """Return the numbers of what fits `text`."""
        return numbers(await rooms.search(ROOM, asked(text)))

    # --- words ------------------------------------------------------------------------------------

    @pytest.mark.rule("V1")
    async def test_words_are_found_however_they_are_written(
        self, rooms: Searchable, ada: Connection
    ) -> None:
        await self.say(
            rooms, ada, "The Lexer is DONE", "Fix the café's naïve parser", "lexers, all"
        )

        for text, expected in (
            ("lexer", [1]),
            ("LEXER", [1]),
            ("le\u0301xer", [1]),
            ("ＬＥＸＥＲ", [1]),
            ("cafe", [2]),
            ("CAFE\u0301", [2]),
            ("naive", [2]),
            ("lexe", []),
            ("the", [2, 1]),
        ):
            assert await self.found(rooms, text) == expected, text

    @pytest.mark.rule("V2")
    async def test_a_script_without_spaces_is_found_by_any_part(
        self, rooms: Searchable, ada: Connection
    ) -> None:
        await self.say(
            rooms,
            ada,
            "数据库迁移已经完成",
            "データベースを移行した",
            "데이터베이스를 옮겼다",
            "ฐานข้อมูลพร้อมแล้ว",
        )

        for text, expected in (
            ("迁移", [1]),
            ("数据", [1]),
            ("数迁", []),
            ("库", [1]),
            ("ベース", [2]),
            ("移", [2, 1]),
            ("ﾃﾞｰﾀ", [2]),
            ("데이터", [3]),
            ("ข้อมูล", [4]),
        ):
            assert await self.found(rooms, text) == expected, text

    @pytest.mark.rule("V3")
    async def test_all_words_must_be_there_and_phrases_in_a_row(
        self, rooms: Searchable, ada: Connection
    ) -> None:
        await self.say(
            rooms, ada, "the parser of the lexer", "the lexer, and a parser", "see local_posts.py"
        )

        for text, expected in (
            ("lexer parser", [2, 1]),
            ("parser missing", []),
            ('"the lexer"', [2, 1]),
            ('"lexer and"', [2]),
            ('"lexer the"', []),
            ('parser "the lexer"', [2, 1]),
            ("\u201cof the lexer\u201d", [1]),
            ("posts", [3]),
            ("local_posts.py", [3]),
            ("posts_local", []),
            ('"local posts', [3]),
        ):
            assert await self.found(rooms, text) == expected, text

    @pytest.mark.rule("V4")
    async def test_a_star_stands_for_any_ending_and_nothing_else_has_a_meaning(
        self, rooms: Searchable, ada: Connection
    ) -> None:
        await self.say(rooms, ada, "migrations are done", "a migration", "lo and or not near words")

        for text, expected in (
            ("migr*", [2, 1]),
            ("migration*", [2, 1]),
            ("migration", [2]),
            ('"a migr*"', []),
            ("lo and", [3]),
            ("lo AND or NOT near", [3]),
            ("words:lo", []),
            ("-lo ^or +near", [3]),
            ("NEAR(lo or)", []),
            ("(lo)", [3]),
            ("lo OR missing", []),
            ("'lo' OR 1=1 --", []),
        ):
            assert await self.found(rooms, text) == expected, text

    @pytest.mark.rule("V5")
    async def test_a_word_counts_by_its_beginning(self, rooms: Searchable, ada: Connection) -> None:
        await self.say(rooms, ada, f"see {'a' * 70}", f"see {'a' * 63}")

        assert await self.found(rooms, "a" * 64) == [1]
        assert await self.found(rooms, "a" * 100) == [1]
        assert await self.found(rooms, f"{'a' * 60}*") == [2, 1]

    # --- who, where and when ----------------------------------------------------------------------

    @pytest.mark.rule("V10")
    async def test_an_author_is_found_by_name(
        self, rooms: Searchable, ada: Connection, bob: Connection
    ) -> None:
        await self.say(rooms, ada, "the lexer is mine", "hello")
        await self.say(rooms, bob, "the lexer is yours")

        for author in ("Worker1", "worker1", "@Worker1", " WORKER 1 ", ada.session.actor_label):
            assert numbers(await rooms.search(ROOM, asked("lexer", author=author))) == [1], author
        assert numbers(await rooms.search(ROOM, asked(author="Worker1"))) == [2, 1]
        assert numbers(await rooms.search(ROOM, asked(author="Worker"))) == []

    @pytest.mark.rule("V11")
    async def test_a_thread_is_searched_with_its_root(
        self, rooms: Searchable, ada: Connection
    ) -> None:
        [root, _] = await self.say(rooms, ada, "a plan for the lexer", "the lexer, elsewhere")
        [reply] = await self.say(rooms, ada, "the lexer first", thread=root)

        for thread in (root, reply):
            assert numbers(await rooms.search(ROOM, asked("lexer", thread=thread.id))) == [3, 1]
        assert numbers(await rooms.search(ROOM, asked(thread=MessageId(2)))) == [2]
        with pytest.raises(UnknownMessage, match="msg_9"):
            await rooms.search(ROOM, asked("lexer", thread=MessageId(9)))

    @pytest.mark.rule("V12")
    async def test_a_time_has_its_first_moment_and_not_its_last(
        self, rooms: Searchable, ada: Connection, clock: ManualClock
    ) -> None:
        begin = clock.now()
        for at in range(4):
            await self.say(rooms, ada, f"lexer {at}")
            clock.pass_by(timedelta(hours=1))

        hours = [begin + timedelta(hours=at) for at in range(5)]
        for query, expected in (
            (asked("lexer", since=hours[1]), [4, 3, 2]),
            (asked("lexer", until=hours[1]), [1]),
            (asked("lexer", since=hours[1], until=hours[3]), [3, 2]),
            (asked("lexer", since=hours[4]), []),
            (asked("lexer", until=begin), []),
            (asked(since=hours[2]), [4, 3]),
            (asked(), [4, 3, 2, 1]),
            (asked(until=hours[2], author="Worker1"), [2, 1]),
        ):
            assert numbers(await rooms.search(ROOM, query)) == expected, query

    @pytest.mark.rule("V12")
    async def test_a_clock_that_was_set_back_hides_nothing(
        self, rooms: Searchable, ada: Connection, clock: ManualClock
    ) -> None:
        late = clock.now()
        await self.say(rooms, ada, "late")
        clock.pass_by(timedelta(days=-1))
        await self.say(rooms, ada, "early")

        assert numbers(await rooms.search(ROOM, asked(since=late))) == [1]
        assert numbers(await rooms.search(ROOM, asked(until=late))) == [2]

    @pytest.mark.rule("V12")
    async def test_a_time_is_found_whenever_else_was_searched(
        self, rooms: Searchable, ada: Connection, clock: ManualClock
    ) -> None:
        begin = clock.now()
        for at in range(3):
            await self.say(rooms, ada, f"lexer {at}")
            await rooms.search(ROOM, asked("lexer"))
            clock.pass_by(timedelta(hours=1))

        for at, expected in enumerate(([1], [2], [3], [])):
            since = begin + timedelta(hours=at)
            query = asked("lexer", since=since, until=since + timedelta(hours=1))
            assert numbers(await rooms.search(ROOM, query)) == expected, at

    # --- pages ------------------------------------------------------------------------------------

    @pytest.mark.rule("V7")
    async def test_pages_go_on_where_the_last_one_ended_whatever_is_said_meanwhile(
        self, rooms: Searchable, ada: Connection
    ) -> None:
        await self.say(rooms, ada, *(f"lexer {at}" for at in range(7)))
        seen: list[int] = []
        query = asked("lexer", limit=3)
        for _ in range(5):
            found = await rooms.search(ROOM, query)
            seen += numbers(found)
            if not found.more:
                break
            await self.say(rooms, ada, f"lexer, after {len(seen)}")
            query = asked("lexer", limit=3, cursor=query.cursor(found.hits[-1].id))

        assert seen == [7, 6, 5, 4, 3, 2, 1]

    @pytest.mark.rule("V7")
    async def test_a_page_says_whether_there_is_more(
        self, rooms: Searchable, ada: Connection
    ) -> None:
        await self.say(rooms, ada, "lexer one", "lexer two")

        for limit, more in ((1, True), (2, False), (3, False)):
            assert (await rooms.search(ROOM, asked("lexer", limit=limit))).more is more

    @pytest.mark.rule("V9")
    async def test_a_hit_says_who_said_it_when_where_and_a_little_of_what(
        self, rooms: Searchable, ada: Connection
    ) -> None:
        text = f"{'before ' * 100}the lexer\nis slow {'after ' * 100}"
        [root] = await self.say(rooms, ada, "a plan")
        [said] = await self.say(rooms, ada, text, thread=root)

        [hit] = (await rooms.search(ROOM, asked("lexer"))).hits
        assert (hit.id, hit.sender, hit.said_at, hit.thread_root) == (
            said.id,
            said.sender,
            said.said_at,
            root.id,
        )
        assert "the lexer is slow" in hit.snippet
        assert len(hit.snippet) <= SNIPPET_LENGTH

    # --- what the port promises -------------------------------------------------------------------

    @pytest.mark.rule("V13")
    async def test_what_was_answered_is_found_at_once_wherever_it_was_said(
        self, rooms: Searchable, elsewhere: Searchable, ada: Connection
    ) -> None:
        assert await self.found(rooms, "lexer") == []
        for at in range(1, 4):
            await self.say(elsewhere, ada, f"the lexer, {at}")

            assert await self.found(rooms, "lexer") == list(range(at, 0, -1))
            assert await self.found(elsewhere, "lexer") == list(range(at, 0, -1))

    @pytest.mark.rule("V13")
    async def test_each_room_is_searched_by_itself(
        self, rooms: Searchable, ada: Connection
    ) -> None:
        await rooms.join(OTHER)
        other = await rooms.connect(OTHER, arrival(ADA, 1))
        await self.say(rooms, ada, "the lexer here")
        await self.say(rooms, other, "hello", "the lexer there")

        assert await self.found(rooms, "lexer") == [1]
        assert numbers(await rooms.search(OTHER, asked("lexer"))) == [2]
        assert numbers(await rooms.search(OTHER, asked("here"))) == []

    @pytest.mark.rule("V14", "R11")
    async def test_a_viewer_who_was_replaced_finds_nothing(
        self, rooms: Searchable, ada: Connection
    ) -> None:
        await self.say(rooms, ada, "the lexer")
        new = await rooms.connect(ROOM, arrival(ADA, 11, after=ada))

        with pytest.raises(ConnectionReplaced):
            await self.seen(rooms, asked("lexer"), ada.fence)
        assert await self.seen(rooms, asked("lexer"), new.fence) == [1]
        await rooms.disconnect(ROOM, new.fence)
        with pytest.raises(SessionEnded):
            await self.seen(rooms, asked("lexer"), new.fence)

    @pytest.mark.rule("V14")
    async def test_a_room_that_is_not_there_is_refused(self, rooms: Searchable) -> None:
        with pytest.raises(UnknownRoom):
            await rooms.search(OTHER, asked("lexer"))

    async def seen(self, rooms: Searchable, query: Query, viewer: Fence) -> list[int]:
        """Return the numbers of what `viewer` finds."""
        return numbers(await rooms.search(ROOM, query, viewer))
