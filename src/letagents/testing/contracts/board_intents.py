"""What every Governance does about intents that are asked for and decided."""

import pytest

from letagents.domain.approvals import OPEN_LIMIT_EACH, IntentStatus
from letagents.domain.denials import (
    IntentNotFound,
    IntentNotPossible,
    IntentRequired,
    NotTheManager,
    TooManyIntents,
)
from letagents.domain.errors import Malformed, UnknownMessage
from letagents.domain.governance import ManagerMode
from letagents.domain.intents import (
    Action,
    change_payload,
    create_payload,
)
from letagents.domain.names import primary_label
from letagents.domain.sessions import Connection
from letagents.domain.tasks import DuplicateWork, InvalidTransition, Patch, Status, UnknownTask
from letagents.ports.board import Board
from letagents.ports.governance import Governance
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.board_callers import EverythingIsAsked, by_id
from letagents.testing.contracts.room_callers import ROOM, person


@pytest.mark.anyio
class BoardIntentsContract(EverythingIsAsked):
    """What agents ask for, and what is decided."""

    # --- asking ---------------------------------------------------------------------------------

    @pytest.mark.rule("P30", "P17")
    async def test_the_same_again_is_the_same_intent(
        self,
        governance: Governance,
        governance_elsewhere: Governance,
        ada: Connection,
        bob: Connection,
    ) -> None:
        first = await self.asks_to_create(governance, ada)
        again = await self.asks_to_create(governance_elsewhere, ada, " Oil the gate ")
        others = await self.asks_to_create(governance, bob)
        other = await self.asks_to_create(governance, ada, "Paint the gate")

        assert again.intent == first.intent
        assert again.notice == first.notice
        found = (await governance_elsewhere.intents(ROOM)).intents
        assert found == (first.intent, others.intent, other.intent)

    @pytest.mark.rule("P34")
    async def test_the_manager_is_told_of_an_intent_once(
        self, governance: Governance, rooms: RoomTransport, ada: Connection, bob: Connection
    ) -> None:
        await governance.assign_manager(ROOM, bob.session.session_id)
        asked = await self.asks_to_create(governance, ada, "Call @everyone")
        await self.asks_to_create(governance, ada, "Call @everyone")

        (told,) = await self.said(rooms, "[approval]")
        assert asked.notice.to == bob.session.session_id
        assert asked.notice.message_id == told.id
        assert f"@agent:{bob.session.agent_key} decides" in told.text
        assert "@everyone" not in told.text
        assert told.source == "system"

    @pytest.mark.rule("P34")
    async def test_where_nobody_manages_the_people_are_told(
        self, governance: Governance, rooms: RoomTransport, ada: Connection
    ) -> None:
        asked = await self.asks_to_create(governance, ada)

        (told,) = await self.said(rooms, "[approval]")
        assert asked.is_needed
        assert asked.notice.to is None
        assert f"letagents approve {ROOM} {asked.intent.intent_id}" in told.text

    async def test_an_intent_that_nothing_needs_says_so_and_tells_nobody(
        self, governance: Governance, rooms: RoomTransport, ada: Connection
    ) -> None:
        await governance.set_mode(ROOM, ManagerMode.MANAGER_OPTIONAL)

        asked = await self.asks_to_create(governance, ada)

        assert not asked.is_needed
        assert await self.said(rooms, "[approval]") == []

    async def test_an_intent_about_no_task_or_of_no_form_is_refused(
        self, governance: Governance, ada: Connection
    ) -> None:
        payload = change_payload("task_7", status="done")

        with pytest.raises(UnknownTask):
            await governance.propose(ROOM, Action.TASK_CLOSE, payload, fence=ada.fence)
        with pytest.raises(Malformed):
            await governance.propose(ROOM, Action.TASK_CREATE, payload, fence=ada.fence)
        nowhere = create_payload("Tabs", source_message_id="msg_99")
        with pytest.raises(UnknownMessage):
            await governance.propose(ROOM, Action.TASK_CREATE, nowhere, fence=ada.fence)
        assert (await governance.intents(ROOM)).intents == ()

    @pytest.mark.rule("P21")
    async def test_what_an_approval_could_not_let_through_is_neither_asked_for_nor_approved(
        self, governance: Governance, board: Board, ada: Connection
    ) -> None:
        await governance.set_mode(ROOM, ManagerMode.OFF)
        proposed = await self.new_task(board, ada, "Oil the gate")
        task = await self.a_task(board)
        await self.claim(board, ada, task)
        await governance.set_mode(ROOM, ManagerMode.INTENT_REQUIRED)
        with pytest.raises(InvalidTransition, match="proposed -> assigned"):
            await self.asks_to_claim(governance, ada, proposed)
        await board.change(ROOM, task.task_id, Patch(status=Status.IN_PROGRESS), ada.fence)
        payload = change_payload(task.task_id, status="blocked")
        asked = await governance.propose(ROOM, Action.TASK_UPDATE, payload, fence=ada.fence)
        await board.change(ROOM, task.task_id, Patch(status=Status.IN_REVIEW), ada.fence)
        await board.change(ROOM, task.task_id, Patch(status=Status.IN_PROGRESS), ada.fence)
        closing = change_payload(task.task_id, status="done")
        done = await governance.propose(ROOM, Action.TASK_CLOSE, closing, fence=ada.fence)
        await board.change(ROOM, task.task_id, Patch(status=Status.BLOCKED), ada.fence)

        with pytest.raises(IntentNotPossible, match="blocked -> done"):
            await governance.approve(ROOM, done.intent.intent_id)
        assert await self.status_of(governance, done.intent) is IntentStatus.PENDING
        assert await self.status_of(governance, asked.intent) is IntentStatus.SUPERSEDED

    async def test_nobody_can_ask_without_end(
        self, governance: Governance, ada: Connection
    ) -> None:
        for number in range(OPEN_LIMIT_EACH):
            await self.asks_to_create(governance, ada, f"Task {number}")

        with pytest.raises(TooManyIntents):
            await self.asks_to_create(governance, ada, "One more")
        first = (await governance.intents(ROOM, limit=20)).intents
        rest = await governance.intents(ROOM, after=first[-1].intent_id, limit=200)
        assert len(first) + len(rest.intents) == OPEN_LIMIT_EACH
        assert not rest.more
        with pytest.raises(IntentNotFound):
            await governance.intents(ROOM, after="intent_999")

    @pytest.mark.rule("P19")
    async def test_who_asks_for_nothing_is_told_what_to_call(
        self, governance: Governance, board: Board, ada: Connection
    ) -> None:
        task = await self.a_task(board)

        with pytest.raises(IntentRequired) as refused:
            await self.claim(board, ada, task)
        assert "register_task_claim_intent(task_id='task_1')" in refused.value.remedy
        asked = await self.asks_to_claim(governance, ada, task)
        with pytest.raises(IntentRequired, match="pending"):
            await self.claim(board, ada, task)
        await governance.approve(ROOM, asked.intent.intent_id)
        with pytest.raises(IntentRequired, match="board_intent_id='intent_1'"):
            await self.claim(board, ada, task)

    # --- deciding -------------------------------------------------------------------------------

    @pytest.mark.rule("P32", "P34")
    async def test_approving_a_creation_creates_the_task(
        self,
        governance: Governance,
        board: Board,
        rooms: RoomTransport,
        ada: Connection,
    ) -> None:
        asked = await self.asks_to_create(governance, ada)

        decided = await governance.approve(ROOM, asked.intent.intent_id, "go on")

        assert decided.token is None
        assert decided.task is not None
        shown = (await board.task(ROOM, decided.task.task_id)).task
        assert (shown.status, shown.title) == (Status.PROPOSED, "Oil the gate")
        assert shown.created_by == ada.session.actor_label
        assert decided.intent.status is IntentStatus.USED
        assert decided.intent.task_id == shown.task_id
        told = (await self.said(rooms, "[approval]"))[-1]
        assert decided.notice.to == ada.session.session_id
        assert decided.notice.message_id == told.id
        assert f"@agent:{ada.session.agent_key} has its task: task_1" in told.text
        (put,) = await self.said(rooms, "[task]")
        name = primary_label(ada.session.actor_label)
        assert f"proposed by {name}, approved by {self.owner}: Oil the gate" in put.text

    @pytest.mark.rule("P32")
    async def test_what_cannot_be_created_is_not_approved(
        self, governance: Governance, board: Board, ada: Connection, bob: Connection
    ) -> None:
        asked = await self.asks_to_create(governance, ada, "Mend the clock")
        task = await self.a_task(board, "Mend the clock")
        await governance.set_mode(ROOM, ManagerMode.INTENT_REQUIRED)
        claim = await self.asks_to_claim(governance, bob, task)
        await governance.approve(ROOM, claim.intent.intent_id)
        await self.claim(board, bob, task, by_id(claim.intent))

        with pytest.raises(DuplicateWork):
            await governance.approve(ROOM, asked.intent.intent_id)
        assert await self.status_of(governance, asked.intent) is IntentStatus.PENDING

    @pytest.mark.rule("P20")
    async def test_of_workers_only_the_live_manager_decides(
        self,
        governance: Governance,
        rooms: RoomTransport,
        ada: Connection,
        bob: Connection,
        cy: Connection,
    ) -> None:
        intent_id = (await self.asks_to_create(governance, ada)).intent.intent_id
        with pytest.raises(NotTheManager):
            await governance.approve(ROOM, intent_id, fence=bob.fence)
        await governance.assign_manager(ROOM, bob.session.session_id)
        for other in (ada, cy):
            with pytest.raises(NotTheManager):
                await governance.deny(ROOM, intent_id, fence=other.fence)

        decided = await governance.approve(ROOM, intent_id, fence=bob.fence)

        assert decided.intent.decision_by == bob.session.actor_label
        await rooms.disconnect(ROOM, bob.fence)

    @pytest.mark.rule("P20")
    async def test_a_person_decides_as_an_admin(
        self, governance: Governance, rooms: RoomTransport, ada: Connection
    ) -> None:
        asked = await self.asks_to_create(governance, ada)
        human = await rooms.connect(ROOM, person())

        decided = await governance.deny(ROOM, asked.intent.intent_id, "not now", fence=human.fence)

        assert decided.intent.status is IntentStatus.DENIED
        assert decided.intent.decision_reason == "not now"
        assert decided.intent.decision_by == "Ada"

    @pytest.mark.rule("P18", "P33")
    async def test_a_decision_stands_and_its_token_is_told_once(
        self, governance: Governance, board: Board, rooms: RoomTransport, ada: Connection
    ) -> None:
        task = await self.a_task(board)
        asked = await self.asks_to_claim(governance, ada, task)

        first = await governance.approve(ROOM, asked.intent.intent_id)
        again = await governance.approve(ROOM, asked.intent.intent_id)

        assert first.token is not None
        assert again.token is None
        assert again.intent == first.intent
        assert again.notice == first.notice
        secret_text = first.token.value
        listed = await governance.intents(ROOM)
        assert secret_text not in repr((first, listed)) + self.everything_said(
            await self.said(rooms, "")
        )
        with pytest.raises(IntentNotFound):
            await governance.deny(ROOM, asked.intent.intent_id)

    @pytest.mark.rule("P18")
    async def test_a_denial_stands(self, governance: Governance, ada: Connection) -> None:
        asked = await self.asks_to_create(governance, ada)
        first = await governance.deny(ROOM, asked.intent.intent_id, "no")

        assert await governance.deny(ROOM, asked.intent.intent_id, "still no") == first
        with pytest.raises(IntentNotFound):
            await governance.approve(ROOM, asked.intent.intent_id)
        with pytest.raises(IntentNotFound):
            await governance.approve(ROOM, "intent_99")
