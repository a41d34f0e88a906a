"""What every Governance does about intents that nobody decides."""

import pytest

from letagents.domain.approvals import IntentStatus
from letagents.domain.governance import ManagerMode
from letagents.domain.names import primary_label
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Status
from letagents.ports.board import Board
from letagents.ports.governance import Governance
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.board_callers import MINUTE, EverythingIsAsked
from letagents.testing.contracts.room_callers import ROOM
from letagents.testing.determinism import ManualClock


@pytest.mark.anyio
class BoardEscalationsContract(EverythingIsAsked):
    """Where nobody decides."""

    @pytest.mark.rule("P35")
    async def test_what_people_have_to_decide_is_shown_to_them_once(
        self, governance: Governance, rooms: RoomTransport, clock: ManualClock, ada: Connection
    ) -> None:
        asked = await self.asks_to_create(governance, ada)
        await self.after(rooms, clock, 9 * MINUTE)
        early = await self.said(rooms, "[status]")
        for _ in range(3):
            await self.after(rooms, clock, 2 * MINUTE)

        (told,) = await self.said(rooms, "[status]")
        assert early == []
        assert told.source == "agent_liveness"
        assert f"letagents approve {ROOM} {asked.intent.intent_id}" in told.text
        assert (await governance.intents(ROOM)).intents[0].escalated_at == told.said_at

    @pytest.mark.rule("P35")
    async def test_a_mere_task_creates_itself_five_times_an_hour(
        self,
        governance: Governance,
        board: Board,
        rooms: RoomTransport,
        clock: ManualClock,
        ada: Connection,
    ) -> None:
        await governance.set_mode(ROOM, ManagerMode.MANAGER_OPTIONAL)
        asked = [await self.asks_to_create(governance, ada, f"Task {one}") for one in range(6)]
        await self.after(rooms, clock, 10 * MINUTE)

        found = (await governance.intents(ROOM)).intents
        assert [one.status for one in found] == [IntentStatus.USED] * 5 + [IntentStatus.PENDING]
        assert {one.decision_by for one in found[:5]} == {"letagents:intent_escalation"}
        task = (await board.task(ROOM, found[0].task_id or "")).task
        assert (task.status, task.title) == (Status.ACCEPTED, "Task 0")
        assert task.created_by == ada.session.actor_label
        put = (await self.said(rooms, "[task]"))[0]
        name = primary_label(ada.session.actor_label)
        assert f"accepted by itself, proposed by {name}: Task 0" in put.text
        (event,) = (await board.history(ROOM, task.task_id)).events
        assert event.actor == "letagents:intent_escalation"
        told = await self.said(rooms, "[status]")
        assert f"@agent:{ada.session.agent_key} can claim it" in told[0].text
        await self.after(rooms, clock, 60 * MINUTE)
        assert await self.status_of(governance, asked[5].intent) is IntentStatus.USED

    @pytest.mark.rule("P35")
    async def test_nothing_creates_itself_while_a_manager_can_decide(
        self,
        governance: Governance,
        rooms: RoomTransport,
        clock: ManualClock,
        ada: Connection,
        bob: Connection,
    ) -> None:
        await governance.set_mode(ROOM, ManagerMode.MANAGER_OPTIONAL)
        asked = await self.asks_to_create(governance, ada)
        clock.pass_by(9 * MINUTE)
        await governance.assign_manager(ROOM, bob.session.session_id)
        await self.after(rooms, clock, MINUTE)

        assert await self.status_of(governance, asked.intent) is IntentStatus.PENDING
        assert await self.said(rooms, "[status]") == []
