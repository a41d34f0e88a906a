"""Approvals and managers, in memory, on this machine and in PostgreSQL."""

from pathlib import Path

import attrs
import pytest
from tests.contract.kept_rooms import InMemory, InPostgres, KeptRooms, OnThisMachine

from letagents.adapters.rooms.evidence import ToldProcesses, UnknownProcesses
from letagents.adapters.rooms.kept import doing
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.governance import KeptGovernance
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.approvals import Intent, IntentStatus
from letagents.domain.board import Handoff, Release, Target
from letagents.domain.denials import (
    IntentPayloadMismatch,
    IntentPending,
    IntentRequired,
    IntentWorkerMismatch,
)
from letagents.domain.errors import LetAgentsError
from letagents.domain.governance import ManagerMode
from letagents.domain.intents import Action, Approval, lease_payload
from letagents.domain.leases import LeaseStatus, StaleLeaseReference
from letagents.domain.sessions import Connection
from letagents.domain.tasks import AdminRequired, Status, Task
from letagents.ports.board import Board
from letagents.ports.governance import Governance
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.board_callers import MINUTE, BoardCallers, by_id, with_token
from letagents.testing.contracts.governance import ApprovalsContract, GovernanceContract
from letagents.testing.contracts.room_callers import BOB, ROOM, arrival
from letagents.testing.determinism import CountingIds, ManualClock


class _Kept(BoardCallers):
    @pytest.fixture
    def board(self, rooms: KeptRooms) -> Board:
        self.kept_rooms = rooms
        return KeptBoard(rooms)

    @pytest.fixture
    def board_elsewhere(self, elsewhere: KeptRooms) -> Board:
        return KeptBoard(elsewhere)

    @pytest.fixture
    def governance(self, rooms: KeptRooms) -> Governance:
        self.kept_rooms = rooms
        return KeptGovernance(rooms)

    @pytest.fixture
    def governance_elsewhere(self, elsewhere: KeptRooms) -> Governance:
        return KeptGovernance(elsewhere)

    async def let_time_be(self, rooms: RoomTransport) -> None:
        await doing.done(self.kept_rooms, ROOM)


class _InMemory(InMemory):
    """Where nothing is known of processes, as on the machine of the other suite."""

    @pytest.fixture
    def rooms(self, clock: ManualClock) -> KeptRooms:
        return MemoryRooms(CountingIds(), clock, UnknownProcesses())


class TestManagersInMemory(_InMemory, _Kept, GovernanceContract):
    pass


class TestManagersOnThisMachine(OnThisMachine, _Kept, GovernanceContract):
    pass


class TestManagersInPostgres(InPostgres, _Kept, GovernanceContract):
    pass


class TestIntentsInMemory(_InMemory, _Kept, ApprovalsContract):
    pass


class TestIntentsOnThisMachine(OnThisMachine, _Kept, ApprovalsContract):
    @pytest.mark.rule("P33")
    async def test_no_file_holds_a_token(
        self, governance: Governance, board: Board, ada: Connection, tmp_path: Path
    ) -> None:
        asked = await self.asks_to_claim(governance, ada, await self.a_task(board))
        token = (await governance.approve(ROOM, asked.intent.intent_id)).token

        assert token is not None
        kept = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
        assert any(asked.intent.intent_id.encode() in one for one in kept)
        assert not any(token.value.encode() in one for one in kept)


class TestIntentsInPostgres(InPostgres, _Kept, ApprovalsContract):
    pass


@pytest.mark.anyio
class TestManagersWithProcesses(_Kept):
    """What is known of a manager's process counts for more than its silence."""

    @pytest.fixture
    def processes(self) -> ToldProcesses:
        return ToldProcesses()

    @pytest.fixture
    def rooms(self, clock: ManualClock, processes: ToldProcesses) -> KeptRooms:
        return MemoryRooms(CountingIds(), clock, processes)

    @pytest.mark.rule("P3")
    async def test_a_manager_whose_process_is_there_may_be_silent_for_long(
        self,
        governance: Governance,
        rooms: RoomTransport,
        clock: ManualClock,
        ada: Connection,
        bob: Connection,
    ) -> None:
        await governance.assign_manager(ROOM, bob.session.session_id)
        await self.after(rooms, clock, 60 * MINUTE)

        manager = (await governance.governed(ROOM)).manager
        assert manager is not None
        assert manager.session_id == bob.session.session_id

    @pytest.mark.rule("P4", "P36")
    async def test_a_manager_whose_process_is_gone_is_waited_for_five_minutes(
        self,
        governance: Governance,
        rooms: RoomTransport,
        processes: ToldProcesses,
        clock: ManualClock,
        ada: Connection,
        bob: Connection,
    ) -> None:
        await governance.assign_manager(ROOM, bob.session.session_id)
        processes.own = "bob's"
        back = await rooms.connect(ROOM, arrival(BOB, 8, after=bob))
        processes.gone = {"bob's"}
        await self.after(rooms, clock, 4 * MINUTE)
        waited_for = (await governance.governed(ROOM)).manager
        await self.after(rooms, clock, 2 * MINUTE)

        manager = (await governance.governed(ROOM)).manager
        assert waited_for is not None
        assert waited_for.session_id == back.session.session_id
        assert manager is not None
        assert manager.session_id == ada.session.session_id


@pytest.mark.anyio
class TestApprovedHandovers(_Kept):
    """A worker picks up what another left: by right it may not, with an approval it does."""

    @pytest.fixture(params=list(ManagerMode))
    async def mode(
        self, request: pytest.FixtureRequest, governance: Governance, ada: Connection
    ) -> ManagerMode:
        mode: ManagerMode = request.param
        await governance.set_mode(ROOM, mode)
        return mode

    @pytest.fixture
    def rooms(self, clock: ManualClock) -> KeptRooms:
        """Rooms whose only admin is their owner."""
        return MemoryRooms(CountingIds(), clock, UnknownProcesses(), lambda one: one is None)

    @pytest.fixture
    async def task(
        self, board: Board, governance: Governance, rooms: KeptRooms, ada: Connection,
        bob: Connection, mode: ManagerMode,
    ) -> Task:  # fmt: skip
        """A task that Ada had, who has left; Bob is there."""
        task = await self.a_task(board)
        approval = None
        if mode is ManagerMode.INTENT_REQUIRED:
            asked = await self.asks_to_claim(governance, ada, task)
            await governance.approve(ROOM, asked.intent.intent_id)
            approval = by_id(asked.intent)
        claimed = await self.claim(board, ada, task, approval)
        await rooms.disconnect(ROOM, ada.fence)
        return claimed

    async def asks_for_it(
        self, governance: Governance, board: Board, bob: Connection, task: Task
    ) -> tuple[Intent, Handoff]:
        """Return Bob's intent to have the task, and the exact call."""
        lease = (await board.task(ROOM, task.task_id)).leases[0].lease
        key = bob.session.agent_key
        payload = lease_payload(
            task.task_id, "handoff", lease_id=lease.lease_id, target_actor_key=key
        )
        asked = await governance.propose(ROOM, Action.TASK_OVERRIDE, payload, fence=bob.fence)
        assert asked.is_needed
        return asked.intent, Handoff(target=Target(agent_key=key), lease_id=lease.lease_id)

    @pytest.mark.rule("P14", "P15")
    async def test_nothing_but_what_was_approved_hands_over(
        self, governance: Governance, board: Board, bob: Connection, cy: Connection, task: Task
    ) -> None:
        intent, handoff = await self.asks_for_it(governance, board, bob, task)

        async def refused(
            error: type[LetAgentsError], who: Connection, call: Handoff, shown: Approval | None
        ) -> None:
            with pytest.raises(error):
                await board.lease_action(ROOM, task.task_id, call, who.fence, approval=shown)

        await refused(IntentRequired, bob, handoff, None)
        await refused(IntentPending, bob, handoff, by_id(intent))
        token = (await governance.approve(ROOM, intent.intent_id)).token
        shown = with_token(token, intent)
        await refused(StaleLeaseReference, bob, attrs.evolve(handoff, lease_id="lease_9"), shown)
        await refused(IntentWorkerMismatch, cy, handoff, shown)
        to_cy = Target(agent_key=cy.session.agent_key)
        await refused(IntentPayloadMismatch, bob, attrs.evolve(handoff, target=to_cy), shown)
        release = Release(lease_id=handoff.lease_id)
        with pytest.raises(IntentPayloadMismatch):
            await board.lease_action(ROOM, task.task_id, release, bob.fence, approval=shown)
        with pytest.raises(AdminRequired):
            await board.lease_action(ROOM, task.task_id, release, bob.fence)
        assert (await board.task(ROOM, task.task_id)).task == task

    @pytest.mark.rule("P13")
    async def test_what_was_approved_hands_over_once(
        self, governance: Governance, board: Board, bob: Connection, task: Task
    ) -> None:
        intent, handoff = await self.asks_for_it(governance, board, bob, task)
        await governance.approve(ROOM, intent.intent_id)
        shown = by_id(intent)

        moved = await board.lease_action(ROOM, task.task_id, handoff, bob.fence, approval=shown)

        assert moved.ended is not None
        assert moved.ended.status is LeaseStatus.REVOKED
        assert moved.view.task.assignee_key == bob.session.agent_key
        assert moved.view.task.status is Status.ASSIGNED
        assert await self.status_of(governance, intent) is IntentStatus.USED
        with pytest.raises(StaleLeaseReference):
            await board.lease_action(ROOM, task.task_id, handoff, bob.fence, approval=shown)
