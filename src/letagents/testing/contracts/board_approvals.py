"""What every Governance and Board do about approvals: what they let through, once."""

from datetime import timedelta

import anyio
import pytest

from letagents.domain.approvals import APPROVAL_TERM, PENDING_TERM, IntentStatus
from letagents.domain.board import Handoff, Release, Target
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
)
from letagents.domain.errors import LetAgentsError
from letagents.domain.governance import ManagerMode
from letagents.domain.intents import (
    Action,
    Approval,
    ApprovalToken,
    change_payload,
    lease_payload,
)
from letagents.domain.leases import LeaseHeld, LeaseMissing
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Status
from letagents.ports.board import Board
from letagents.ports.governance import Governance
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.board_callers import EverythingIsAsked, by_id, with_token
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival, secret
from letagents.testing.determinism import ManualClock

A_SECOND = timedelta(seconds=1)


@pytest.mark.anyio
class BoardApprovalsContract(EverythingIsAsked):
    """What an approval lets through."""

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

    @pytest.mark.rule("P12")
    async def test_a_clock_that_is_set_neither_ends_an_approval_nor_brings_one_back(
        self, governance: Governance, board: Board, clock: ManualClock, ada: Connection
    ) -> None:
        task = await self.a_task(board)
        slow = await self.asks_to_create(governance, ada)
        asked = await self.asks_to_claim(governance, ada, task)
        await governance.approve(ROOM, asked.intent.intent_id)
        begin = clock.now()
        clock.set_to(begin + 2 * PENDING_TERM)
        names = [asked.intent.intent_id, slow.intent.intent_id]
        stand = [(await governance.intent(ROOM, name)).status for name in names]
        assert stand == [IntentStatus.APPROVED, IntentStatus.PENDING]

        clock.pass_by(APPROVAL_TERM)
        clock.set_to(begin - PENDING_TERM)
        for _ in range(2):
            with pytest.raises(IntentExpired, match="approval of intent_2 has expired"):
                await self.claim(board, ada, task, by_id(asked.intent))
            clock.set_to(begin)

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

    @pytest.mark.rule("P16")
    async def test_what_its_task_has_overtaken_stays_void_though_nobody_looked_before_it_is_back(
        self, governance: Governance, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task = await self.a_task(board)
        asked = await self.asks_to_claim(governance, ada, task)
        approved = await self.asks_to_claim(governance, bob, task)
        await governance.approve(ROOM, approved.intent.intent_id)

        await self.move(board, await self.move(board, task, Status.CANCELLED), Status.ACCEPTED)

        for one in (asked.intent, approved.intent):
            assert await self.status_of(governance, one) is IntentStatus.SUPERSEDED
        again = await self.asks_to_claim(governance, ada, task)
        assert again.intent.intent_id not in (asked.intent.intent_id, approved.intent.intent_id)

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

    @pytest.mark.rule("P14", "P21")
    async def test_a_release_of_anothers_lease_is_asked_for_and_done(
        self, governance: Governance, board: Board, ada: Connection, bob: Connection
    ) -> None:
        await governance.set_mode(ROOM, ManagerMode.OFF)
        task = await self.a_task(board)
        payload = lease_payload(task.task_id, "release")
        with pytest.raises(LeaseMissing):
            await governance.propose(ROOM, Action.TASK_OVERRIDE, payload, fence=bob.fence)
        await self.claim(board, ada, task)
        asked = await governance.propose(ROOM, Action.TASK_OVERRIDE, payload, fence=bob.fence)
        await governance.approve(ROOM, asked.intent.intent_id)

        with pytest.raises(LeaseHeld):
            await board.lease_action(ROOM, task.task_id, Release(), bob.fence)
        moved = await board.lease_action(
            ROOM, task.task_id, Release(), bob.fence, approval=by_id(asked.intent)
        )

        assert asked.is_needed
        assert moved.view.task.status is Status.ACCEPTED
        assert await self.status_of(governance, asked.intent) is IntentStatus.USED
