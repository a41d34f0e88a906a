"""What every Governance does about intents: asked for, decided, used once."""

from datetime import timedelta

import anyio
import pytest

from letagents.domain.approvals import APPROVAL_TERM, OPEN_LIMIT_EACH, PENDING_TERM, IntentStatus
from letagents.domain.board import Handoff, Target
from letagents.domain.denials import (
    IntentActionMismatch,
    IntentExpired,
    IntentManagerChanged,
    IntentNotApproved,
    IntentNotFound,
    IntentPayloadMismatch,
    IntentPending,
    IntentRequired,
    IntentTaskChanged,
    IntentTokenInvalid,
    IntentWorkerMismatch,
    IntentWorkerUnverified,
    ManagerModeOff,
    NotTheManager,
    TooManyIntents,
)
from letagents.domain.errors import LetAgentsError, Malformed, UnknownMessage
from letagents.domain.governance import ManagerMode
from letagents.domain.intents import (
    Action,
    Approval,
    ApprovalToken,
    change_payload,
    create_payload,
    lease_payload,
)
from letagents.domain.sessions import Connection
from letagents.domain.tasks import DuplicateWork, Status, UnknownTask
from letagents.ports.board import Board
from letagents.ports.governance import Governance
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.board_callers import MINUTE, BoardCallers, by_id, with_token
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival, person, secret
from letagents.testing.determinism import ManualClock

A_SECOND = timedelta(seconds=1)


@pytest.mark.anyio
class BoardIntentsContract(BoardCallers):
    """What agents ask for, and what comes of it."""

    @pytest.fixture(autouse=True)
    async def everything_is_asked(self, governance: Governance, ada: Connection) -> None:
        """Let the room want approvals for everything."""
        await governance.set_mode(ROOM, ManagerMode.INTENT_REQUIRED)

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

    # --- using ----------------------------------------------------------------------------------

    @pytest.mark.rule("P31", "P13")
    async def test_an_approval_is_used_once(
        self, governance: Governance, board: Board, board_elsewhere: Board, ada: Connection
    ) -> None:
        task = await self.a_task(board)
        asked = await self.asks_to_claim(governance, ada, task)
        decided = await governance.approve(ROOM, asked.intent.intent_id)

        claimed = await self.claim(board, ada, task, with_token(decided.token))

        assert claimed.assignee_key == ada.session.agent_key
        assert await self.status_of(governance, asked.intent) is IntentStatus.USED
        opened = await self.move(board, await self.move(board, task, Status.CANCELLED),
                                 Status.ACCEPTED)  # fmt: skip
        for shown in (with_token(decided.token), by_id(asked.intent)):
            with pytest.raises(IntentNotApproved, match="is used, not approved"):
                await self.claim(board_elsewhere, ada, opened, shown)

    @pytest.mark.rule("P31")
    async def test_of_those_who_use_it_at_once_one_gets_through(
        self, governance: Governance, board: Board, board_elsewhere: Board, ada: Connection
    ) -> None:
        task = await self.a_task(board)
        payload = change_payload(task.task_id, status="cancelled")
        asked = await governance.propose(ROOM, Action.TASK_CLOSE, payload, fence=ada.fence)
        await governance.approve(ROOM, asked.intent.intent_id)
        outcomes: list[object] = []

        async def cancel(where: Board) -> None:
            try:
                closed = await self.close(where, ada, task, by_id(asked.intent))
                outcomes.append(closed.status)
            except LetAgentsError as refused:
                outcomes.append(refused.code)

        async with anyio.create_task_group() as users:
            for where in (board, board_elsewhere) * 3:
                users.start_soon(cancel, where)

        assert outcomes.count(Status.CANCELLED) == 1
        assert len(outcomes) == 6

    @pytest.mark.rule("P15")
    async def test_only_the_proposer_uses_it_even_with_the_token(
        self,
        governance: Governance,
        board: Board,
        rooms: RoomTransport,
        ada: Connection,
        bob: Connection,
    ) -> None:
        task = await self.a_task(board)
        asked = await self.asks_to_claim(governance, ada, task)
        decided = await governance.approve(ROOM, asked.intent.intent_id)
        wrong = ApprovalToken(secret(77).value)

        for shown in (
            by_id(asked.intent),
            with_token(decided.token),
            with_token(decided.token, asked.intent),
        ):
            with pytest.raises(IntentWorkerMismatch):
                await self.claim(board, bob, task, shown)
        with pytest.raises(IntentTokenInvalid):
            await self.claim(board, ada, task, with_token(wrong, asked.intent))
        with pytest.raises(IntentNotFound):
            await self.claim(board, ada, task, with_token(wrong))
        back = await rooms.connect(ROOM, arrival(ADA, 7, after=ada))
        claimed = await self.claim(board, back, task, by_id(asked.intent))
        assert claimed.assignee_key == ada.session.agent_key

    @pytest.mark.rule("P15")
    async def test_what_no_worker_asked_for_takes_the_token(
        self, governance: Governance, board: Board, ada: Connection
    ) -> None:
        task = await self.a_task(board)
        payload = change_payload(task.task_id, status="cancelled")
        asked = await governance.propose(ROOM, Action.TASK_CLOSE, payload)
        decided = await governance.approve(ROOM, asked.intent.intent_id)

        with pytest.raises(IntentWorkerUnverified):
            await self.close(board, ada, task, by_id(asked.intent))
        closed = await self.close(board, ada, task, with_token(decided.token, asked.intent))
        assert closed.status is Status.CANCELLED

    @pytest.mark.rule("P14")
    async def test_nothing_but_what_was_approved_gets_through(
        self, governance: Governance, board: Board, ada: Connection
    ) -> None:
        task, other = await self.a_task(board), await self.a_task(board, "Another")
        asked = await self.asks_to_claim(governance, ada, task)
        await governance.approve(ROOM, asked.intent.intent_id)

        with pytest.raises(IntentPayloadMismatch, match="task_id"):
            await self.claim(board, ada, other, by_id(asked.intent))
        with pytest.raises(IntentActionMismatch):
            await self.close(board, ada, task, by_id(asked.intent))
        assert (await self.claim(board, ada, task, by_id(asked.intent))).status is Status.ASSIGNED

    @pytest.mark.rule("P12")
    async def test_time_ends_intents_and_approvals(
        self, governance: Governance, board: Board, clock: ManualClock, ada: Connection
    ) -> None:
        task = await self.a_task(board)
        slow = await self.asks_to_create(governance, ada)
        quick = await self.asks_to_claim(governance, ada, task)
        await governance.approve(ROOM, quick.intent.intent_id)
        clock.pass_by(APPROVAL_TERM)

        with pytest.raises(IntentExpired, match="approval of intent_2 has expired"):
            await self.claim(board, ada, task, by_id(quick.intent))
        assert (await governance.governed(ROOM)).pending == 1
        clock.pass_by(PENDING_TERM - APPROVAL_TERM)
        assert (await governance.governed(ROOM)).pending == 0
        with pytest.raises(IntentExpired, match="intent_1 has expired"):
            await self.new_task(board, ada, "Oil the gate", by_id(slow.intent))
        with pytest.raises(IntentNotFound):
            await governance.deny(ROOM, slow.intent.intent_id)
        expired = await governance.intents(ROOM, IntentStatus.EXPIRED)
        assert [one.number for one in expired.intents] == [1, 2]

    @pytest.mark.rule("P16", "P12")
    async def test_an_approval_lasts_to_its_last_moment(
        self, governance: Governance, board: Board, clock: ManualClock, ada: Connection
    ) -> None:
        task = await self.a_task(board)
        asked = await self.asks_to_claim(governance, ada, task)
        clock.pass_by(PENDING_TERM - A_SECOND)
        await governance.approve(ROOM, asked.intent.intent_id)
        clock.pass_by(APPROVAL_TERM - A_SECOND)

        claimed = await self.claim(board, ada, task, by_id(asked.intent))

        assert claimed.status is Status.ASSIGNED

    @pytest.mark.rule("P16")
    async def test_an_approval_is_void_once_the_task_changed(
        self, governance: Governance, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task = await self.a_task(board)
        asked = await self.asks_to_claim(governance, ada, task)
        waiting = await self.asks_to_claim(governance, bob, task)
        await governance.approve(ROOM, asked.intent.intent_id)
        cancelled = await self.move(board, task, Status.CANCELLED)
        assert await self.status_of(governance, waiting.intent) is IntentStatus.SUPERSEDED
        await self.move(board, cancelled, Status.ACCEPTED)

        with pytest.raises(IntentTaskChanged):
            await self.claim(board, ada, task, by_id(asked.intent))
        assert await self.status_of(governance, asked.intent) is IntentStatus.SUPERSEDED

    @pytest.mark.rule("P37", "P16")
    async def test_another_mode_voids_what_is_open_and_another_manager_does_not(
        self,
        governance: Governance,
        board: Board,
        ada: Connection,
        bob: Connection,
        cy: Connection,
    ) -> None:
        task, other = await self.a_task(board), await self.a_task(board, "Another")
        kept = await self.asks_to_claim(governance, ada, task)
        await governance.assign_manager(ROOM, bob.session.session_id)
        await governance.approve(ROOM, kept.intent.intent_id, fence=bob.fence)
        await governance.assign_manager(ROOM, cy.session.session_id)
        await self.claim(board, ada, task, by_id(kept.intent))
        void = await self.asks_to_claim(governance, ada, other)
        await governance.approve(ROOM, void.intent.intent_id)

        await governance.set_mode(ROOM, ManagerMode.MANAGER_OPTIONAL)

        with pytest.raises(IntentManagerChanged):
            await self.claim(board, ada, other, by_id(void.intent))
        await governance.set_mode(ROOM, ManagerMode.OFF)
        with pytest.raises(ManagerModeOff):
            await self.claim(board, ada, other, by_id(void.intent))
        assert (await self.claim(board, ada, other)).status is Status.ASSIGNED

    @pytest.mark.rule("P19")
    async def test_what_is_not_approved_or_not_there_lets_nothing_through(
        self, governance: Governance, board: Board, ada: Connection
    ) -> None:
        task = await self.a_task(board)
        asked = await self.asks_to_claim(governance, ada, task)

        with pytest.raises(IntentPending, match="is pending, not approved"):
            await self.claim(board, ada, task, by_id(asked.intent))
        with pytest.raises(IntentNotFound):
            await self.claim(board, ada, task, Approval("intent_9"))
        await governance.deny(ROOM, asked.intent.intent_id)
        with pytest.raises(IntentNotApproved, match="is denied, not approved"):
            await self.claim(board, ada, task, by_id(asked.intent))
        assert (await board.task(ROOM, task.task_id)).task.status is Status.ACCEPTED

    @pytest.mark.rule("P14", "P13")
    async def test_a_handover_is_asked_for_like_everything_else(
        self, governance: Governance, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task = await self.a_task(board)
        claim = await self.asks_to_claim(governance, ada, task)
        await governance.approve(ROOM, claim.intent.intent_id)
        await self.claim(board, ada, task, by_id(claim.intent))
        to_bob = Handoff(target=Target(agent_key=bob.session.agent_key))
        payload = lease_payload(task.task_id, "handoff", target_actor_key=bob.session.agent_key)
        asked = await governance.propose(ROOM, Action.TASK_OVERRIDE, payload, fence=ada.fence)
        await governance.approve(ROOM, asked.intent.intent_id)
        shown = by_id(asked.intent)

        for who in (ada, bob):
            with pytest.raises(IntentRequired):
                await board.lease_action(ROOM, task.task_id, to_bob, who.fence)
        moved = await board.lease_action(ROOM, task.task_id, to_bob, ada.fence, approval=shown)

        assert moved.view.task.assignee_key == bob.session.agent_key
        assert await self.status_of(governance, asked.intent) is IntentStatus.USED

    # --- where nobody decides -------------------------------------------------------------------

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
