"""What every store of traces does: give the suite `rooms` and `reasonings`."""

import anyio
import pytest

from letagents.domain.errors import ConnectionLost, UnknownMessage
from letagents.domain.reasoning import (
    ClosedReasoning,
    ForeignReasoning,
    Reasoning,
    Trace,
    UnknownReasoning,
    Update,
    subject,
    trace,
)
from letagents.domain.sessions import Connection
from letagents.ports.reasoning import Reasonings
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import ROOM, SOON, RoomCallers, arrival, draft


def thinking(summary: str) -> Trace:
    """Return a trace."""
    return trace({"summary": summary, "confidence": 0.5})


@pytest.mark.anyio
class ReasoningsContract(RoomCallers):
    """Needs fixtures `rooms` and `reasonings`; may have `reasonings_elsewhere`."""

    @pytest.fixture
    def reasonings_elsewhere(self, reasonings: Reasonings) -> Reasonings:
        """Return the traces as another process has them, where there can be one."""
        return reasonings

    @pytest.mark.rule("K63", "K65")
    async def test_what_an_agent_posts_goes_on_with_its_open_trace(
        self,
        reasonings: Reasonings,
        reasonings_elsewhere: Reasonings,
        ada: Connection,
        bob: Connection,
    ) -> None:
        first, begun = await reasonings.post(ROOM, thinking("one"), ada.fence)
        second, _ = await reasonings.post(ROOM, thinking("two"), ada.fence)
        other, _ = await reasonings.post(ROOM, thinking("three"), bob.fence)

        assert second.reasoning_id == first.reasoning_id == begun.reasoning_id
        assert await reasonings_elsewhere.traces(ROOM) == (other, second)
        mine = await reasonings.traces(ROOM, agent_key=ada.session.agent_key)
        assert [one.latest.summary for one in mine] == ["two"]
        states = await reasonings_elsewhere.updates(ROOM, first.reasoning_id)
        assert [one.trace.summary for one in states] == ["two", "one"]

    @pytest.mark.rule("K64")
    async def test_a_closed_trace_is_not_gone_on_with(
        self, reasonings: Reasonings, ada: Connection, bob: Connection
    ) -> None:
        first, _ = await reasonings.post(ROOM, thinking("one"), ada.fence)
        with pytest.raises(ForeignReasoning):
            await reasonings.close(ROOM, first.reasoning_id, bob.fence)
        gone = await reasonings.close(ROOM, first.reasoning_id, ada.fence)
        assert await reasonings.close(ROOM, first.reasoning_id, ada.fence) == gone
        second, _ = await reasonings.post(ROOM, thinking("two"), ada.fence)

        assert second.reasoning_id != first.reasoning_id
        assert await reasonings.traces(ROOM) == (second,)
        assert await reasonings.traces(ROOM, is_open=None) == (second, gone)
        with pytest.raises(UnknownReasoning):
            await reasonings.updates(ROOM, "rs_0")

    @pytest.mark.rule("K64")
    async def test_a_trace_that_is_named_is_gone_on_with_by_its_agent_until_it_is_closed(
        self, reasonings: Reasonings, ada: Connection, bob: Connection
    ) -> None:
        first, _ = await reasonings.post(ROOM, thinking("one"), ada.fence)
        at = first.reasoning_id

        with pytest.raises(ForeignReasoning):
            await reasonings.post(ROOM, thinking("mine"), bob.fence, reasoning_id=at)
        with pytest.raises(UnknownReasoning):
            await reasonings.post(ROOM, thinking("none"), ada.fence, reasoning_id="rs_0")
        second, _ = await reasonings.post(ROOM, thinking("two"), ada.fence, reasoning_id=at)
        assert await reasonings.trace(ROOM, at) == second
        assert (second.reasoning_id, second.latest.summary) == (at, "two")
        gone = await reasonings.close(ROOM, at, ada.fence)
        with pytest.raises(ClosedReasoning):
            await reasonings.post(ROOM, thinking("three"), ada.fence, reasoning_id=at)
        assert await reasonings.traces(ROOM, is_open=False) == (gone,)
        assert len(await reasonings.updates(ROOM, at)) == 2
        with pytest.raises(UnknownReasoning):
            await reasonings.trace(ROOM, "rs_0")

    @pytest.mark.rule("K67")
    async def test_a_trace_is_about_what_its_agent_says(
        self,
        rooms: RoomTransport,
        reasonings: Reasonings,
        reasonings_elsewhere: Reasonings,
        ada: Connection,
        bob: Connection,
    ) -> None:
        said = await rooms.post(ROOM, draft("mend the roof"), bob.fence)
        anchored = subject({"anchor_message_id": str(said.id)}, may_clear=False)
        first, _ = await reasonings.post(ROOM, thinking("one"), ada.fence, about=anchored)
        second, _ = await reasonings.post(ROOM, thinking("two"), ada.fence)
        about = subject({"task_id": "task_7", "anchor_message_id": None}, may_clear=True)
        with pytest.raises(ForeignReasoning):
            await reasonings.relate(ROOM, first.reasoning_id, about, bob.fence)
        related = await reasonings.relate(ROOM, first.reasoning_id, about, ada.fence)
        nowhere = subject({"anchor_message_id": "msg_9"}, may_clear=False)
        with pytest.raises(UnknownMessage):
            await reasonings.relate(ROOM, first.reasoning_id, nowhere, ada.fence)
        with pytest.raises(UnknownReasoning):
            await reasonings.relate(ROOM, "rs_0", about, ada.fence)

        assert (first.anchor, second.anchor) == (said.id, said.id)
        assert (related.task_id, related.anchor) == ("task_7", None)
        assert await reasonings_elsewhere.traces(ROOM, task_id="task_7") == (related,)
        assert await reasonings_elsewhere.traces(ROOM, task_id="task_8") == ()

    @pytest.mark.rule("K66")
    async def test_two_posts_at_once_make_one_trace(
        self, reasonings: Reasonings, reasonings_elsewhere: Reasonings, ada: Connection
    ) -> None:
        made: list[tuple[Reasoning, Update]] = []

        async def post(where: Reasonings, summary: str) -> None:
            made.append(await where.post(ROOM, thinking(summary), ada.fence))

        with anyio.fail_after(SOON.total_seconds()):
            async with anyio.create_task_group() as both:
                both.start_soon(post, reasonings, "one")
                both.start_soon(post, reasonings_elsewhere, "two")

        assert len({trace.reasoning_id for trace, _ in made}) == 1
        assert len({update.update_id for _, update in made}) == 2

    async def test_a_replaced_connection_posts_nothing(
        self, rooms: RoomTransport, reasonings: Reasonings, ada: Connection
    ) -> None:
        await rooms.connect(ROOM, arrival(1, 51, after=ada))

        with pytest.raises(ConnectionLost):
            await reasonings.post(ROOM, thinking("one"), ada.fence)
        assert await reasonings.traces(ROOM, is_open=None) == ()
