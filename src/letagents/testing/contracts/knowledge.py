"""What every store of facts and requests does: give the suite `rooms` and `knowledge`."""

from typing import Any

import anyio
import pytest

from letagents.domain.activation import Decision
from letagents.domain.authors import HumansOnly
from letagents.domain.errors import ConnectionLost, Malformed, UnknownMessage, UnknownRoom
from letagents.domain.ids import RoomId
from letagents.domain.knowledge import Entry, Section, entry
from letagents.domain.messages import Latest, Message
from letagents.domain.records import (
    AlreadyAnswered,
    Archived,
    Conflict,
    Record,
    UnknownRecord,
    cursor,
)
from letagents.domain.sessions import Connection
from letagents.ports.knowledge import Knowledge, Records
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import (
    ROOM,
    SOON,
    RoomCallers,
    arrival,
    draft,
    person,
)

FACT, ASKED = Section.MEMORY, Section.ATTENTION


def a_fact(title: str = "We use tabs", **more: Any) -> Entry:
    """Return what a fact says."""
    return entry(FACT, **{"category": "decision", "title": title, "body": "All of us.", **more})


def a_question(title: str = "Tabs?", **more: Any) -> Entry:
    """Return what a request says."""
    facts = {"category": "question", "title": title, "body": "Or spaces?", **more}
    return entry(ASKED, **facts)


def ids(page: Records) -> list[str]:
    """Return which records a page holds."""
    return [record.record_id for record in page.records]


@pytest.mark.anyio
class KnowledgeContract(RoomCallers):
    """Needs fixtures `rooms` and `knowledge`; may have `knowledge_elsewhere`."""

    @pytest.fixture
    def knowledge_elsewhere(self, knowledge: Knowledge) -> Knowledge:
        """Return the records as another process has them, where there can be one."""
        return knowledge

    @pytest.fixture
    async def human(self, rooms: RoomTransport, ada: Connection) -> Connection:
        """Return a human being in the room of `ada`."""
        return await rooms.connect(ROOM, person())

    async def answers_for(self, rooms: RoomTransport, who: Connection) -> list[Message]:
        """Return the answers that `who` is called by."""
        page = await rooms.read(ROOM, Latest(), who.fence)
        return [
            one
            for one in page.messages
            if one.activation and one.activation.decision is Decision.ACTIVATE
        ]

    @pytest.mark.rule("K34")
    async def test_what_was_added_is_there_for_everybody(
        self, knowledge: Knowledge, knowledge_elsewhere: Knowledge, ada: Connection
    ) -> None:
        made = await knowledge.add(ROOM, FACT, "first_fact", a_fact(), ada.fence)

        found = await knowledge_elsewhere.records(ROOM, FACT)
        assert found == Records((made,))
        assert (made.version, made.author.kind) == (1, "agent")
        assert made.author.label == ada.session.actor_label

    @pytest.mark.rule("K22")
    async def test_the_same_again_is_the_same_record_and_another_is_refused(
        self, knowledge: Knowledge, ada: Connection, bob: Connection
    ) -> None:
        first = await knowledge.add(ROOM, FACT, "first_fact", a_fact(), ada.fence)
        again = await knowledge.add(ROOM, FACT, "first_fact", a_fact(), ada.fence)
        assert again == first

        for said, fence in ((a_fact("We use spaces"), ada.fence), (a_fact(), bob.fence)):
            with pytest.raises(Conflict):
                await knowledge.add(ROOM, FACT, "first_fact", said, fence)
        with pytest.raises(Conflict):
            await knowledge.add(ROOM, ASKED, "first_fact", a_question(), ada.fence)
        assert await knowledge.records(ROOM, FACT) == Records((first,))
        assert await knowledge.records(ROOM, ASKED) == Records(())

    @pytest.mark.rule("K22", "K25")
    async def test_a_retry_after_a_revision_is_still_the_same_record(
        self, knowledge: Knowledge, ada: Connection, human: Connection
    ) -> None:
        await knowledge.add(ROOM, FACT, "first_fact", a_fact(), ada.fence)
        revised = await knowledge.revise(
            ROOM, "first_fact", a_fact("No tabs"), version=1, fence=human.fence
        )

        assert await knowledge.add(ROOM, FACT, "first_fact", a_fact(), ada.fence) == revised
        assert revised.entry.title == "No tabs"

    @pytest.mark.rule("K37", "K23")
    async def test_a_source_is_a_message_of_the_room(
        self, rooms: RoomTransport, knowledge: Knowledge, ada: Connection
    ) -> None:
        said = await rooms.post(ROOM, draft("we decided"), ada.fence)
        with_source = a_fact(source_message_id=str(said.id))
        assert (
            await knowledge.add(ROOM, FACT, "good_source", with_source, ada.fence)
        ).entry.source_message == said.id

        bad = a_fact(source_message_id="msg_99")
        with pytest.raises(UnknownMessage):
            await knowledge.add(ROOM, FACT, "bad_source", bad, ada.fence)
        assert ids(await knowledge.records(ROOM, FACT)) == ["good_source"]

    @pytest.mark.rule("K24")
    async def test_an_agent_only_adds(
        self, knowledge: Knowledge, ada: Connection, human: Connection
    ) -> None:
        await knowledge.add(ROOM, FACT, "first_fact", a_fact(), ada.fence)
        await knowledge.add(ROOM, ASKED, "first_ask", a_question(), ada.fence)

        with pytest.raises(HumansOnly):
            await knowledge.revise(ROOM, "first_fact", a_fact("x"), version=1, fence=ada.fence)
        with pytest.raises(HumansOnly):
            await knowledge.archive(ROOM, "first_fact", version=1, fence=ada.fence)
        with pytest.raises(HumansOnly):
            await knowledge.answer(ROOM, "first_ask", "Yes.", ada.fence)
        assert [one.version for one in (await knowledge.history(ROOM, "first_fact")).records] == [1]

    @pytest.mark.rule("K25", "K26")
    async def test_every_version_is_kept_and_an_old_one_is_not_built_upon(
        self, knowledge: Knowledge, ada: Connection, human: Connection
    ) -> None:
        await knowledge.add(ROOM, FACT, "first_fact", a_fact("one"), ada.fence)
        await knowledge.revise(ROOM, "first_fact", a_fact("two"), version=1, fence=human.fence)
        with pytest.raises(Conflict):
            await knowledge.revise(ROOM, "first_fact", a_fact("no"), version=1, fence=human.fence)
        gone = await knowledge.archive(ROOM, "first_fact", version=2, fence=human.fence)
        with pytest.raises(Archived):
            await knowledge.revise(ROOM, "first_fact", a_fact("no"), version=3, fence=human.fence)
        back = await knowledge.archive(ROOM, "first_fact", version=3, archived=False)

        assert (gone.archived, back.archived) == (True, False)
        history = (await knowledge.history(ROOM, "first_fact")).records
        assert [one.version for one in history] == [4, 3, 2, 1]
        assert [one.entry.title for one in history] == ["two", "two", "two", "one"]
        assert [one.updated_by.kind for one in history] == ["human", "human", "human", "agent"]

    @pytest.mark.rule("K35")
    async def test_what_waits_comes_first_then_the_newest_and_a_cursor_finds_all(
        self, knowledge: Knowledge, ada: Connection
    ) -> None:
        for number in range(7):
            name = f"request_{number}"
            await knowledge.add(ROOM, ASKED, name, a_question(f"{number}?"), ada.fence)
        await knowledge.answer(ROOM, "request_5", "Yes.")
        await knowledge.archive(ROOM, "request_2", version=1)

        whole = ids(await knowledge.records(ROOM, ASKED))
        assert whole == [f"request_{number}" for number in (6, 4, 3, 1, 0, 5, 2)]

        found: list[str] = []
        more, after = True, None
        while more:
            page = await knowledge.records(ROOM, ASKED, after=after, limit=2)
            found, more, after = found + ids(page), page.more, cursor(page.records[-1])
        assert found == whole

    @pytest.mark.rule("K35")
    @pytest.mark.parametrize("section", [FACT, ASKED])
    async def test_no_page_misses_what_is_open_whatever_becomes_of_those_before(
        self, knowledge: Knowledge, ada: Connection, section: Section
    ) -> None:
        said = a_fact() if section is FACT else a_question()
        for number in range(6):
            await knowledge.add(ROOM, section, f"record_{number}", said, ada.fence)
        page = await knowledge.records(ROOM, section, limit=2)
        assert ids(page) == ["record_5", "record_4"]
        if section is FACT:
            await knowledge.archive(ROOM, "record_4", version=1)
        else:
            await knowledge.answer(ROOM, "record_4", "Yes.")

        rest = await knowledge.records(ROOM, section, after=cursor(page.records[-1]))
        assert ids(rest) == ["record_3", "record_2", "record_1", "record_0", "record_4"]
        await knowledge.archive(ROOM, "record_0", version=1)
        over = (await knowledge.records(ROOM, section)).records[-2]
        await knowledge.archive(ROOM, over.record_id, version=over.version, archived=False)
        behind = await knowledge.records(ROOM, section, after=cursor(over))
        assert ids(behind) == ["record_0"]

    @pytest.mark.rule("K35")
    async def test_what_is_no_place_of_a_record_is_refused(
        self, knowledge: Knowledge, ada: Connection
    ) -> None:
        with pytest.raises(UnknownRecord, match="cursor"):
            await knowledge.records(ROOM, FACT, after="open.another_one")
        for text in ("another_one", "open.", "soon.another_one", ""):
            with pytest.raises(Malformed, match="cursor"):
                await knowledge.records(ROOM, FACT, after=text)

    @pytest.mark.rule("K36", "K26", "A60")
    async def test_an_answer_is_said_once_to_who_asked_alone(
        self, rooms: RoomTransport, knowledge: Knowledge, ada: Connection, bob: Connection
    ) -> None:
        human = await rooms.connect(ROOM, person())
        await knowledge.add(ROOM, ASKED, "first_ask", a_question(), ada.fence)
        text = "Tabs. @Worker2 and @everyone: no more of this."

        answered = await knowledge.answer(ROOM, "first_ask", text, human.fence)
        with pytest.raises(AlreadyAnswered):
            await knowledge.answer(ROOM, "first_ask", text, human.fence)

        assert answered.response is not None
        assert (answered.response.body, answered.response.actor.kind) == (text, "human")
        (said,) = await self.answers_for(rooms, ada)
        handle = f"@agent:{ada.session.agent_key}"
        assert said.text == f"{handle}\n\nHuman response (first_ask):\n\n{text}"
        assert await self.answers_for(rooms, bob) == []

    @pytest.mark.rule("K36", "K26")
    async def test_of_two_answers_at_once_one_counts_and_one_is_said(
        self,
        rooms: RoomTransport,
        knowledge: Knowledge,
        knowledge_elsewhere: Knowledge,
        ada: Connection,
    ) -> None:
        await knowledge.add(ROOM, ASKED, "first_ask", a_question(), ada.fence)
        outcomes: list[str] = []

        async def answer(store: Knowledge, text: str) -> None:
            try:
                await store.answer(ROOM, "first_ask", text)
                outcomes.append(text)
            except AlreadyAnswered:
                outcomes.append("refused")

        with anyio.fail_after(SOON.total_seconds()):
            async with anyio.create_task_group() as both:
                both.start_soon(answer, knowledge, "Yes.")
                both.start_soon(answer, knowledge_elsewhere, "No.")

        assert outcomes.count("refused") == 1
        [said] = await self.answers_for(rooms, ada)
        assert said.text.endswith(next(one for one in outcomes if one != "refused"))

    @pytest.mark.rule("K22")
    async def test_the_same_fact_added_twice_at_once_is_one(
        self, knowledge: Knowledge, knowledge_elsewhere: Knowledge, ada: Connection
    ) -> None:
        made: list[Record] = []

        async def add(store: Knowledge) -> None:
            made.append(await store.add(ROOM, FACT, "first_fact", a_fact(), ada.fence))

        with anyio.fail_after(SOON.total_seconds()):
            async with anyio.create_task_group() as both:
                both.start_soon(add, knowledge)
                both.start_soon(add, knowledge_elsewhere)

        assert made[0] == made[1]
        assert await knowledge.records(ROOM, FACT) == Records((made[0],))

    @pytest.mark.rule("K26")
    async def test_what_is_archived_or_no_request_is_not_answered(
        self, rooms: RoomTransport, knowledge: Knowledge, ada: Connection
    ) -> None:
        await knowledge.add(ROOM, FACT, "first_fact", a_fact(), ada.fence)
        await knowledge.add(ROOM, ASKED, "first_ask", a_question(), ada.fence)
        await knowledge.archive(ROOM, "first_ask", version=1)
        before = (await rooms.read(ROOM, Latest())).messages

        for record_id, refused in (
            ("first_ask", Archived),
            ("first_fact", UnknownRecord),
            ("not_there", UnknownRecord),
        ):
            with pytest.raises(refused):
                await knowledge.answer(ROOM, record_id, "Yes.")
        assert (await rooms.read(ROOM, Latest())).messages == before

    async def test_a_request_is_told_to_those_who_follow_the_room_and_calls_no_agent(
        self, rooms: RoomTransport, knowledge: Knowledge, ada: Connection, bob: Connection
    ) -> None:
        await knowledge.add(ROOM, ASKED, "first_ask", a_question("@everyone?"), ada.fence)
        await knowledge.add(ROOM, ASKED, "first_ask", a_question("@everyone?"), ada.fence)

        (said,) = (await rooms.read(ROOM, Latest())).messages
        assert "@everyone? [first_ask]" in said.text
        assert await self.answers_for(rooms, bob) == []

    async def test_a_replaced_connection_adds_nothing(
        self, rooms: RoomTransport, knowledge: Knowledge, ada: Connection
    ) -> None:
        await rooms.connect(ROOM, arrival(1, 31, after=ada))

        with pytest.raises(ConnectionLost):
            await knowledge.add(ROOM, FACT, "first_fact", a_fact(), ada.fence)
        assert ids(await knowledge.records(ROOM, FACT)) == []

    async def test_rooms_know_their_own(
        self, rooms: RoomTransport, knowledge: Knowledge, ada: Connection
    ) -> None:
        await rooms.join(RoomId("elsewhere"))
        await knowledge.add(ROOM, FACT, "first_fact", a_fact(), ada.fence)

        assert ids(await knowledge.records(RoomId("elsewhere"), FACT)) == []
        with pytest.raises(UnknownRecord):
            await knowledge.history(RoomId("elsewhere"), "first_fact")
        with pytest.raises(UnknownRoom):
            await knowledge.records(RoomId("nowhere"), FACT)
