"""What every Board does, whatever it is kept in."""

from datetime import timedelta

import anyio
import attrs
import pytest

from letagents.domain.board import (
    Handoff,
    Query,
    Release,
    ReviewAssign,
    ReviewClaim,
    Target,
    TaskView,
)
from letagents.domain.errors import ConnectionReplaced, KeyReused, Malformed, UnknownMessage
from letagents.domain.events import EventType
from letagents.domain.ids import MessageId
from letagents.domain.leases import (
    Lease,
    LeaseFenceStale,
    LeaseHeld,
    LeaseKind,
    LeaseMissing,
    LeaseStatus,
    StaleLeaseReference,
)
from letagents.domain.locks import Locked, UnknownLock
from letagents.domain.messages import Latest
from letagents.domain.moves import (
    NotYours,
    ReviewDecisionOnly,
    ReviewRequired,
    ReviewWorkerRequired,
    WorksOnIt,
    WrongStatus,
)
from letagents.domain.sessions import Connection, SessionKind
from letagents.domain.targets import (
    TargetSessionRequired,
    TargetSessionUnreachable,
    UnknownTarget,
)
from letagents.domain.tasks import (
    Artifact,
    ArtifactKind,
    Assignee,
    DuplicateWork,
    InvalidTransition,
    Patch,
    Proposal,
    Provider,
    Status,
    UnknownTask,
    WorkerRequired,
)
from letagents.domain.verdicts import ReviewLeaseRequired, Verdict, VerdictKind
from letagents.ports.board import Board
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import (
    ROOM,
    RoomCallers,
    arrival,
    draft,
    passing_chat,
    person,
    texts,
)
from letagents.testing.determinism import ManualClock

TERM = timedelta(minutes=15)
"""The term of leases on the boards of this suite."""
SHA = "0123456789abcdef" * 2 + "01234567"
CLAIM = Patch(status=Status.ASSIGNED)
PULL_REQUEST = Artifact(
    provider=Provider.GITHUB,
    kind=ArtifactKind.PULL_REQUEST,
    number=7,
    url="https://github.com/o/r/pull/7",
)


def to(status: Status) -> Patch:
    """Return the change to a status."""
    return Patch(status=status)


def lease_of(view: TaskView, kind: LeaseKind = LeaseKind.WORK) -> Lease | None:
    """Return the active lease of a task."""
    return next((one.lease for one in view.leases if one.lease.kind is kind), None)


@pytest.mark.anyio
class BoardContract(RoomCallers):
    """Needs fixtures `rooms` and `board`; may have a `board_elsewhere` on the same place.

    `board` has leases of `TERM`, and `rooms` take processes to be there until `kill` ends them.
    """

    @pytest.fixture
    def board_elsewhere(self, board: Board) -> Board:
        """Return another board on the same place, where there can be one."""
        return board

    def lives_in(self, rooms: RoomTransport, process: str) -> None:
        """Let all calls from now on come from `process`."""
        raise NotImplementedError

    def kill(self, rooms: RoomTransport) -> None:
        """Let the process from which calls came until now be known to be gone."""
        raise NotImplementedError

    @pytest.fixture
    async def eve(self, rooms: RoomTransport, ada: Connection) -> Connection:
        """Return a third worker."""
        return await rooms.connect(ROOM, arrival(3, 3))

    async def accepted(self, board: Board, title: str = "mend the roof") -> str:
        """Return the id of a new task that can be claimed."""
        made = await board.propose(ROOM, Proposal(title=title))
        return made.view.task.task_id

    async def claimed(self, board: Board, by: Connection, title: str = "mend the roof") -> str:
        """Return the id of a new task that `by` has claimed."""
        task_id = await self.accepted(board, title)
        await board.change(ROOM, task_id, CLAIM, by.fence)
        return task_id

    async def in_review(self, board: Board, by: Connection) -> str:
        """Return the id of a task of `by` that waits for its review."""
        task_id = await self.claimed(board, by)
        await board.change(ROOM, task_id, to(Status.IN_REVIEW), by.fence)
        return task_id

    # --- tasks ---

    async def test_what_a_worker_proposes_has_to_be_accepted(
        self, board: Board, ada: Connection
    ) -> None:
        proposal = Proposal(title=" mend the roof ", description="It leaks.")
        made = await board.propose(ROOM, proposal, ada.fence)
        task = made.view.task

        assert made.is_new
        assert (task.task_id, task.title, task.description) == (
            "task_1",
            "mend the roof",
            "It leaks.",
        )
        assert (task.status, task.created_by) == (Status.PROPOSED, ada.session.actor_label)
        assert (task.assignee, made.view.leases) == (None, ())
        with pytest.raises(InvalidTransition, match=r"proposed -> assigned.*accepted, cancelled"):
            await board.change(ROOM, "task_1", CLAIM, ada.fence)

    async def test_what_a_person_proposes_is_accepted(
        self, rooms: RoomTransport, board: Board, ada: Connection
    ) -> None:
        human = await rooms.connect(ROOM, person())
        made = await board.propose(ROOM, Proposal(title="mend the roof"), human.fence)

        assert made.view.task.status is Status.ACCEPTED

    @pytest.mark.rule("B3")
    async def test_a_proposal_with_the_same_key_is_the_same_task(
        self, board: Board, board_elsewhere: Board, ada: Connection, bob: Connection
    ) -> None:
        proposal = Proposal(title="mend the roof", client_task_id="k")
        first = await board.propose(ROOM, proposal, ada.fence)
        again = await board_elsewhere.propose(ROOM, proposal, bob.fence)

        assert (again.is_new, again.view) == (False, first.view)
        with pytest.raises(KeyReused):
            await board.propose(ROOM, attrs.evolve(proposal, title="another"), ada.fence)

    async def test_what_is_asked_for_in_a_message_is_on_the_board_once(
        self, rooms: RoomTransport, board: Board, ada: Connection, bob: Connection
    ) -> None:
        message = await rooms.post(ROOM, draft("the roof leaks"), ada.fence)
        proposal = Proposal(title="mend the roof", source_message=message.id)
        first = await board.propose(ROOM, proposal, ada.fence)
        again = await board.propose(ROOM, proposal, ada.fence)

        assert (again.is_new, again.view.task) == (False, first.view.task)
        with pytest.raises(DuplicateWork, match="task_1"):
            await board.propose(ROOM, attrs.evolve(proposal, title="a leak"), bob.fence)
        nowhere = Proposal(title="mend the roof", source_message=MessageId(99))
        with pytest.raises(UnknownMessage):
            await board.propose(ROOM, nowhere, ada.fence)

    async def test_what_somebody_works_on_is_not_proposed_again(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.claimed(board, ada, "mend the roof")

        with pytest.raises(DuplicateWork, match=ada.session.display_name):
            await board.propose(ROOM, Proposal(title="mend the roof"), bob.fence)
        await board.lease_action(ROOM, task_id, Release(), ada.fence)
        again = await board.propose(ROOM, Proposal(title="mend the roof"), bob.fence)
        assert again.is_new

    @pytest.mark.rule("B5")
    async def test_a_board_is_read_page_by_page(self, board: Board, ada: Connection) -> None:
        for number in range(1, 8):
            await self.accepted(board, f"task number {number}")
        await board.change(ROOM, "task_3", to(Status.CANCELLED), ada.fence)
        await board.change(ROOM, "task_5", CLAIM, ada.fence)

        found: list[str] = []
        query = Query(limit=2)
        while True:
            page = await board.tasks(ROOM, query)
            found += [view.task.task_id for view in page.tasks]
            if not page.more:
                break
            query = attrs.evolve(query, after=page.tasks[-1].task.number)
        assert found == ["task_1", "task_2", "task_4", "task_5", "task_6", "task_7"]
        closed = await board.tasks(ROOM, Query(status=Status.CANCELLED))
        assert [view.task.task_id for view in closed.tasks] == ["task_3"]
        taken = await board.tasks(ROOM, Query(status=Status.ASSIGNED))
        assert taken.tasks == (await board.task(ROOM, "task_5"),)
        assert len((await board.tasks(ROOM, Query(open_only=False))).tasks) == 7

    async def test_a_task_that_is_not_there_is_said_to_be_unknown(
        self, board: Board, ada: Connection
    ) -> None:
        for call in (
            board.task(ROOM, "task_9"),
            board.change(ROOM, "task_9", CLAIM, ada.fence),
            board.lease_action(ROOM, "task_9", Release(), ada.fence),
            board.review_action(ROOM, "task_9", ReviewClaim(), ada.fence),
            board.history(ROOM, "task_9"),
        ):
            with pytest.raises(UnknownTask):
                await call

    # --- claims ---

    async def test_who_claims_a_task_is_on_it_under_a_lease(
        self, board: Board, board_elsewhere: Board, ada: Connection
    ) -> None:
        task_id = await self.accepted(board, "mend the roof")
        view = await board.change(ROOM, task_id, CLAIM, ada.fence)
        lease = lease_of(view)

        assert view.task.assignee == Assignee.of(ada.session)
        assert view.task.status is Status.ASSIGNED
        assert lease is not None
        assert (lease.epoch, lease.session_id) == (1, ada.session.session_id)
        assert lease.output_intent == "mend the roof"
        assert view.leases[0].is_held
        assert await board_elsewhere.task(ROOM, task_id) == view

    @pytest.mark.rule("B2", "L4")
    async def test_of_many_who_claim_at_once_one_has_it(
        self, rooms: RoomTransport, board: Board, board_elsewhere: Board, ada: Connection
    ) -> None:
        task_id = await self.accepted(board)
        others = [await rooms.connect(ROOM, arrival(one, one)) for one in range(10, 20)]
        had, told = [], []

        async def claim(by: Connection, where: Board) -> None:
            try:
                await where.change(ROOM, task_id, CLAIM, by.fence)
                had.append(by.session.actor_label)
            except LeaseHeld as refused:
                told.append(refused.happened)

        async with anyio.create_task_group() as claiming:
            for number, one in enumerate(others):
                claiming.start_soon(claim, one, (board, board_elsewhere)[number % 2])

        assert len(had) == 1
        assert len(told) == len(others) - 1
        assert all(had[0] in one for one in told)

    @pytest.mark.rule("L7")
    async def test_who_claims_again_has_what_it_had(self, board: Board, ada: Connection) -> None:
        task_id = await self.claimed(board, ada)
        first = await board.task(ROOM, task_id)
        await board.change(ROOM, task_id, to(Status.IN_PROGRESS), ada.fence)
        again = await board.change(ROOM, task_id, CLAIM, ada.fence)

        assert again.task.status is Status.IN_PROGRESS
        assert [one.lease.lease_id for one in again.leases] == [
            one.lease.lease_id for one in first.leases
        ]

    async def test_nobody_claims_for_another(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.accepted(board)
        for_bob = Patch(status=Status.ASSIGNED, assignee=Assignee.of(bob.session))

        with pytest.raises(NotYours, match="for themselves"):
            await board.change(ROOM, task_id, for_bob, ada.fence)
        await board.change(ROOM, task_id, CLAIM, ada.fence)
        with pytest.raises(NotYours, match="cannot reassign"):
            await board.change(ROOM, task_id, Patch(assignee=Assignee.of(bob.session)), ada.fence)

    # --- how long a lease is held ---

    @pytest.mark.rule("L1")
    async def test_who_is_busy_for_an_hour_keeps_its_task(
        self, board: Board, ada: Connection, bob: Connection, clock: ManualClock
    ) -> None:
        task_id = await self.claimed(board, ada)
        clock.pass_by(timedelta(hours=1))

        with pytest.raises(LeaseHeld, match=ada.session.display_name):
            await board.change(ROOM, task_id, CLAIM, bob.fence)

    @pytest.mark.rule("L2")
    async def test_who_died_keeps_its_task_for_a_term(
        self,
        rooms: RoomTransport,
        board: Board,
        ada: Connection,
        bob: Connection,
        clock: ManualClock,
    ) -> None:
        task_id = await self.claimed(board, ada)
        self.kill(rooms)
        clock.pass_by(TERM - timedelta(seconds=1))

        with pytest.raises(LeaseHeld):
            await board.change(ROOM, task_id, CLAIM, bob.fence)
        clock.pass_by(timedelta(seconds=1))
        view = await board.change(ROOM, task_id, CLAIM, bob.fence)
        lease = lease_of(view)
        assert view.task.assignee == Assignee.of(bob.session)
        assert lease is not None
        assert lease.epoch == 2

    @pytest.mark.rule("L3")
    async def test_a_clock_that_is_set_frees_no_task_and_keeps_none(
        self,
        rooms: RoomTransport,
        board: Board,
        ada: Connection,
        bob: Connection,
        clock: ManualClock,
    ) -> None:
        task_id = await self.claimed(board, ada)
        self.kill(rooms)
        clock.set_to(clock.now() + timedelta(hours=1))

        with pytest.raises(LeaseHeld):
            await board.change(ROOM, task_id, CLAIM, bob.fence)
        clock.set_to(clock.now() - timedelta(hours=3))
        clock.pass_by(TERM)
        view = await board.change(ROOM, task_id, CLAIM, bob.fence)
        assert view.task.assignee == Assignee.of(bob.session)

    @pytest.mark.rule("L5")
    async def test_who_slept_has_its_task_if_nobody_came(
        self, rooms: RoomTransport, board: Board, ada: Connection, clock: ManualClock
    ) -> None:
        task_id = await self.claimed(board, ada)
        self.kill(rooms)
        clock.pass_by(3 * TERM)
        asleep = await board.task(ROOM, task_id)
        awake = await board.change(ROOM, task_id, to(Status.IN_PROGRESS), ada.fence, epoch=1)

        assert [one.is_held for one in asleep.leases] == [False]
        assert [one.is_held for one in awake.leases] == [True]

    @pytest.mark.rule("B1", "L6", "L8")
    async def test_who_slept_is_refused_and_told_who_came(
        self,
        rooms: RoomTransport,
        board: Board,
        ada: Connection,
        bob: Connection,
        clock: ManualClock,
    ) -> None:
        task_id = await self.claimed(board, ada)
        self.kill(rooms)
        clock.pass_by(3 * TERM)
        await board.change(ROOM, task_id, CLAIM, bob.fence)
        before = await board.task(ROOM, task_id)

        for patch, epoch, refusal in (
            (to(Status.IN_PROGRESS), None, NotYours),
            (Patch(pr_url="https://x/1"), None, LeaseHeld),
            (Patch(pr_url="https://x/1"), 1, LeaseFenceStale),
            (to(Status.CANCELLED), 1, LeaseFenceStale),
            (CLAIM, None, LeaseHeld),
        ):
            with pytest.raises(refusal, match=bob.session.display_name):
                await board.change(ROOM, task_id, patch, ada.fence, epoch=epoch)
        assert await board.task(ROOM, task_id) == before

    @pytest.mark.rule("L8")
    async def test_an_epoch_of_ones_own_that_is_over_is_refused(
        self, board: Board, ada: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)
        await board.lease_action(ROOM, task_id, Release(), ada.fence)
        await board.change(ROOM, task_id, CLAIM, ada.fence)

        with pytest.raises(LeaseFenceStale, match="epoch 2"):
            await board.change(ROOM, task_id, Patch(pr_url="https://x/1"), ada.fence, epoch=1)
        await board.change(ROOM, task_id, Patch(pr_url="https://x/1"), ada.fence, epoch=2)

    async def test_who_comes_back_has_its_lease_again(
        self, rooms: RoomTransport, board: Board, ada: Connection, clock: ManualClock
    ) -> None:
        task_id = await self.claimed(board, ada)
        self.kill(rooms)
        clock.pass_by(2 * TERM)
        self.lives_in(rooms, "ada's next")
        back = await rooms.connect(ROOM, arrival(1, 5, after=ada))
        view = await board.task(ROOM, task_id)

        assert [one.is_held for one in view.leases] == [True]
        await board.change(ROOM, task_id, to(Status.IN_PROGRESS), back.fence, epoch=1)
        with pytest.raises(ConnectionReplaced):
            await board.change(ROOM, task_id, to(Status.BLOCKED), ada.fence)

    @pytest.mark.rule("T7")
    @pytest.mark.parametrize(
        "path",
        [
            (),
            (Status.IN_PROGRESS,),
            (Status.IN_PROGRESS, Status.BLOCKED),
            (Status.IN_REVIEW,),
        ],
        ids=["assigned", "in_progress", "blocked", "in_review"],
    )
    async def test_what_a_dead_worker_left_can_be_claimed_wherever_it_stood(
        self,
        rooms: RoomTransport,
        board: Board,
        ada: Connection,
        bob: Connection,
        clock: ManualClock,
        path: tuple[Status, ...],
    ) -> None:
        task_id = await self.claimed(board, ada)
        for status in path:
            await board.change(ROOM, task_id, to(status), ada.fence)
        self.kill(rooms)
        clock.pass_by(TERM)
        view = await board.change(ROOM, task_id, CLAIM, bob.fence)

        assert (view.task.status, view.task.assignee) == (
            Status.ASSIGNED,
            Assignee.of(bob.session),
        )
        mention = f"@agent:{ada.session.agent_key}"
        assert mention in texts(await rooms.read(ROOM, Latest(1)))[0]

    # --- moves ---

    async def test_a_task_is_worked_on_reviewed_and_closed(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)
        await board.change(ROOM, task_id, to(Status.IN_PROGRESS), ada.fence)
        done = Patch(status=Status.IN_REVIEW, pr_url="https://x/1", artifacts=(PULL_REQUEST,))
        view = await board.change(ROOM, task_id, done, ada.fence)
        assert (view.task.pr_url, view.task.artifacts) == ("https://x/1", (PULL_REQUEST,))
        with pytest.raises(ReviewRequired):
            await board.change(ROOM, task_id, to(Status.MERGED), ada.fence)
        await board.review_action(ROOM, task_id, ReviewClaim(), bob.fence)
        view = await board.change(ROOM, task_id, to(Status.MERGED), ada.fence)

        assert view.task.status is Status.MERGED
        assert view.leases == (), "nobody is on what is over"
        view = await board.change(ROOM, task_id, to(Status.ACCEPTED), bob.fence)
        assert view.task.assignee is None

    @pytest.mark.rule("T1")
    async def test_a_move_that_the_table_has_not_is_refused_with_those_it_has(
        self, board: Board, ada: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)

        with pytest.raises(InvalidTransition) as refused:
            await board.change(ROOM, task_id, to(Status.BLOCKED), ada.fence)
        assert refused.value.happened == (
            "Invalid transition: assigned -> blocked. Allowed: in_progress, in_review, cancelled."
        )
        with pytest.raises(Malformed, match="status"):
            await board.change(ROOM, task_id, Patch(), ada.fence)

    @pytest.mark.rule("T3")
    async def test_only_who_is_on_a_task_moves_it_on(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)
        with pytest.raises(NotYours, match=ada.session.display_name):
            await board.change(ROOM, task_id, to(Status.IN_PROGRESS), bob.fence)
        await board.change(ROOM, task_id, to(Status.IN_PROGRESS), ada.fence)
        with pytest.raises(NotYours, match=ada.session.display_name):
            await board.change(ROOM, task_id, to(Status.DONE), bob.fence)

        view = await board.change(ROOM, task_id, to(Status.DONE), ada.fence)
        assert view.task.status is Status.DONE

    async def test_what_nobody_works_on_carries_nothing(
        self, board: Board, ada: Connection
    ) -> None:
        task_id = await self.accepted(board)

        with pytest.raises(LeaseMissing, match="no active work lease"):
            await board.change(ROOM, task_id, Patch(pr_url="https://x/1"), ada.fence)

    async def test_whom_a_person_puts_on_a_task_works_under_a_lease(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.claimed(board, bob)
        for_ada = Patch(assignee=Assignee.of(ada.session))
        view = await board.change(ROOM, task_id, for_ada)
        assert view.leases == (), "the person took it from bob"
        with pytest.raises(NotYours):
            await board.change(ROOM, task_id, CLAIM, bob.fence)
        view = await board.change(ROOM, task_id, to(Status.IN_PROGRESS), ada.fence)

        lease = lease_of(view)
        assert lease is not None
        assert (lease.agent_key, lease.epoch) == (ada.session.agent_key, 2)

    async def test_whoever_only_watches_changes_nothing(
        self, rooms: RoomTransport, board: Board, ada: Connection
    ) -> None:
        watching = attrs.evolve(
            arrival(7, 7), kind=SessionKind.CONTROLLER, worker_id=None, instance_id="w"
        )
        watcher = await rooms.connect(ROOM, watching)

        with pytest.raises(WorkerRequired):
            await board.propose(ROOM, Proposal(title="mend the roof"), watcher.fence)

    # --- letting go ---

    @pytest.mark.rule("L9")
    async def test_who_lets_go_has_released_and_whom_another_frees_was_revoked(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)
        own = await board.lease_action(ROOM, task_id, Release(), ada.fence)
        await board.change(ROOM, task_id, CLAIM, ada.fence)
        action = Release(reason="she is on holiday")
        others = await board.lease_action(ROOM, task_id, action, bob.fence)

        assert own.ended is not None
        assert others.ended is not None
        assert (own.ended.status, others.ended.status) == (
            LeaseStatus.RELEASED,
            LeaseStatus.REVOKED,
        )
        assert others.ended.revoked_reason == "she is on holiday"
        assert (others.view.task.status, others.view.task.assignee) == (Status.ACCEPTED, None)
        assert others.view.leases == ()
        with pytest.raises(LeaseMissing):
            await board.lease_action(ROOM, task_id, Release(), ada.fence)

    async def test_a_lease_that_is_named_has_to_be_the_one_that_counts(
        self, board: Board, ada: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)

        with pytest.raises(StaleLeaseReference, match="work_lease_1"):
            await board.lease_action(ROOM, task_id, Release(lease_id="lease_0"), ada.fence)
        with pytest.raises(LeaseFenceStale):
            await board.lease_action(ROOM, task_id, Release(epoch=9), ada.fence)
        action = Release(lease_id="work_lease_1", epoch=1)
        await board.lease_action(ROOM, task_id, action, ada.fence)

    @pytest.mark.rule("L13")
    async def test_what_is_handed_over_goes_on_under_the_next_epoch(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)
        await board.change(ROOM, task_id, to(Status.IN_PROGRESS), ada.fence)
        target = Target(agent_key=bob.session.agent_key)
        moved = await board.lease_action(ROOM, task_id, Handoff(target=target), ada.fence)

        assert moved.ended is not None
        assert moved.lease is not None
        assert moved.ended.status is LeaseStatus.RELEASED
        assert (moved.lease.agent_key, moved.lease.epoch) == (bob.session.agent_key, 2)
        assert moved.lease.output_intent == moved.ended.output_intent
        assert moved.view.task.status is Status.ASSIGNED
        with pytest.raises(NotYours, match=bob.session.display_name):
            await board.change(ROOM, task_id, to(Status.IN_PROGRESS), ada.fence)
        await board.change(ROOM, task_id, to(Status.IN_PROGRESS), bob.fence, epoch=2)

    @pytest.mark.rule("T50", "T51")
    async def test_a_lease_goes_to_one_who_is_there(
        self, rooms: RoomTransport, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)

        async def hand(target: Target) -> None:
            await board.lease_action(ROOM, task_id, Handoff(target=target), ada.fence)

        with pytest.raises(UnknownTarget, match="nobody/here"):
            await hand(Target(agent_key="nobody/here"))
        with pytest.raises(TargetSessionRequired, match="0 live sessions"):
            await hand(Target(agent_key=bob.session.agent_key, session_id="another"))
        self.kill(rooms)
        with pytest.raises(TargetSessionUnreachable):
            await hand(Target(agent_key=bob.session.agent_key))
        view = await board.task(ROOM, task_id)
        assert view.task.assignee == Assignee.of(ada.session)

    async def test_what_is_over_is_not_handed_over(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)
        await board.change(ROOM, task_id, to(Status.CANCELLED), bob.fence)
        target = Target(agent_key=bob.session.agent_key)

        with pytest.raises(LeaseMissing):
            await board.lease_action(ROOM, task_id, Handoff(target=target), ada.fence)

    # --- reviews ---

    @pytest.mark.rule("T9")
    async def test_nobody_reviews_their_own_work(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)
        with pytest.raises(WrongStatus, match="assigned"):
            await board.review_action(ROOM, task_id, ReviewClaim(), bob.fence)
        await board.change(ROOM, task_id, to(Status.IN_REVIEW), ada.fence)
        with pytest.raises(WorksOnIt):
            await board.review_action(ROOM, task_id, ReviewClaim(), ada.fence)

        moved = await board.review_action(ROOM, task_id, ReviewClaim(), bob.fence)
        again = await board.review_action(ROOM, task_id, ReviewClaim(), bob.fence)
        assert moved.lease is not None
        assert again.lease is not None
        assert moved.lease.kind is LeaseKind.REVIEW
        assert again.lease.lease_id == moved.lease.lease_id

    async def test_one_reviews_at_a_time(
        self,
        rooms: RoomTransport,
        board: Board,
        ada: Connection,
        bob: Connection,
        eve: Connection,
        clock: ManualClock,
    ) -> None:
        task_id = await self.in_review(board, ada)
        await board.review_action(ROOM, task_id, ReviewClaim(), bob.fence)
        with pytest.raises(LeaseHeld, match=bob.session.display_name):
            await board.review_action(ROOM, task_id, ReviewClaim(), eve.fence)
        self.kill(rooms)
        clock.pass_by(TERM)
        moved = await board.review_action(ROOM, task_id, ReviewClaim(), eve.fence)

        assert moved.lease is not None
        assert (moved.lease.agent_key, moved.lease.epoch) == (eve.session.agent_key, 2)
        with pytest.raises(LeaseHeld, match=eve.session.display_name):
            await board.change(ROOM, task_id, to(Status.BLOCKED), bob.fence)

    @pytest.mark.rule("T4")
    async def test_a_reviewer_sends_a_task_back_and_changes_nothing_else(
        self, rooms: RoomTransport, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.in_review(board, ada)
        back = to(Status.BLOCKED)
        with pytest.raises(LeaseMissing, match="claim_task_review"):
            await board.change(ROOM, task_id, back, bob.fence)
        await board.review_action(ROOM, task_id, ReviewClaim(), bob.fence)
        with pytest.raises(ReviewDecisionOnly):
            await board.change(ROOM, task_id, attrs.evolve(back, pr_url="https://x"), bob.fence)
        with pytest.raises(ReviewWorkerRequired):
            await board.change(ROOM, task_id, back)
        view = await board.change(ROOM, task_id, back, bob.fence)

        assert view.task.status is Status.BLOCKED
        mention = f"@agent:{ada.session.agent_key}"
        assert mention in texts(await rooms.read(ROOM, Latest(1)))[0]
        await board.change(ROOM, task_id, to(Status.IN_PROGRESS), ada.fence)

    async def test_a_review_is_assigned_and_let_go(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.in_review(board, ada)
        to_bob = ReviewAssign(target=Target(agent_key=bob.session.agent_key))
        to_ada = ReviewAssign(target=Target(agent_key=ada.session.agent_key))
        with pytest.raises(WorksOnIt):
            await board.review_action(ROOM, task_id, to_ada, bob.fence)
        assigned = await board.review_action(ROOM, task_id, to_bob, ada.fence)
        released = await board.review_action(ROOM, task_id, Release(), bob.fence)

        assert assigned.lease is not None
        assert assigned.lease.agent_key == bob.session.agent_key
        assert released.ended is not None
        assert released.ended.status is LeaseStatus.RELEASED
        with pytest.raises(LeaseMissing):
            await board.review_action(ROOM, task_id, Release(), bob.fence)

    async def test_a_reviewer_that_takes_the_work_over_reviews_no_more(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.in_review(board, ada)
        await board.review_action(ROOM, task_id, ReviewClaim(), bob.fence)
        target = Target(agent_key=bob.session.agent_key)
        moved = await board.lease_action(ROOM, task_id, Handoff(target=target), ada.fence)

        assert lease_of(moved.view, LeaseKind.REVIEW) is None

    async def test_a_reviewer_that_claims_what_lapsed_reviews_no_more(
        self,
        rooms: RoomTransport,
        board: Board,
        ada: Connection,
        bob: Connection,
        clock: ManualClock,
    ) -> None:
        task_id = await self.in_review(board, ada)
        await board.review_action(ROOM, task_id, ReviewClaim(), bob.fence)
        self.kill(rooms)
        clock.pass_by(TERM)
        view = await board.change(ROOM, task_id, CLAIM, bob.fence)

        assert [one.lease.kind for one in view.leases] == [LeaseKind.WORK]

    @pytest.mark.rule("T40", "T41", "B3")
    async def test_a_verdict_is_kept_once(
        self, rooms: RoomTransport, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.in_review(board, ada)
        said = Verdict(kind=VerdictKind.REQUEST_CHANGES, head_sha=SHA, key="k", body="It leaks.")
        with pytest.raises(ReviewLeaseRequired):
            await board.verdict(ROOM, task_id, said, bob.fence)
        await board.review_action(ROOM, task_id, ReviewClaim(), bob.fence)
        record = await board.verdict(ROOM, task_id, said, bob.fence)
        again = await board.verdict(ROOM, task_id, said, bob.fence)

        assert record.verdict == said
        assert again == record
        other = attrs.evolve(said, kind=VerdictKind.APPROVE)
        with pytest.raises(KeyReused):
            await board.verdict(ROOM, task_id, other, bob.fence)
        history = await board.history(ROOM, task_id)
        decided = [one for one in history.events if one.type is EventType.REVIEW_DECIDED]
        assert [one.reason for one in decided] == ["It leaks."]
        told = texts(await rooms.read(ROOM, Latest(1)))[0]
        assert f"@agent:{ada.session.agent_key}" in told

    async def test_a_verdict_needs_something_to_review(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)
        said = Verdict(kind=VerdictKind.APPROVE, head_sha=SHA, key="k")

        with pytest.raises(WrongStatus):
            await board.verdict(ROOM, task_id, said, bob.fence)
        with pytest.raises(WorkerRequired):
            await board.verdict(ROOM, task_id, said)

    # --- locks ---

    @pytest.mark.rule("T20", "T21")
    async def test_a_lock_stops_the_work_and_not_letting_go(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)
        lock = await board.lock(ROOM, task_id, message="wait for the rain")
        target = Target(agent_key=bob.session.agent_key)
        for call in (
            board.change(ROOM, task_id, to(Status.IN_PROGRESS), ada.fence),
            board.change(ROOM, task_id, CLAIM, bob.fence),
            board.lease_action(ROOM, task_id, Handoff(target=target), ada.fence),
        ):
            with pytest.raises(Locked, match="wait for the rain"):
                await call
        await board.propose(ROOM, Proposal(title="something else"), ada.fence)
        await board.lease_action(ROOM, task_id, Release(), ada.fence)
        assert (await board.task(ROOM, task_id)).locks == (lock,)
        await board.unlock(ROOM, lock.lock_id)
        await board.change(ROOM, task_id, CLAIM, bob.fence)

        assert (await board.task(ROOM, task_id)).locks == ()
        with pytest.raises(UnknownLock):
            await board.unlock(ROOM, "lock_9")

    @pytest.mark.rule("T20")
    async def test_a_lock_on_the_board_stops_new_tasks(self, board: Board, ada: Connection) -> None:
        task_id = await self.accepted(board)
        await board.lock(ROOM, None)

        with pytest.raises(Locked):
            await board.propose(ROOM, Proposal(title="something else"), ada.fence)
        with pytest.raises(Locked):
            await board.change(ROOM, task_id, CLAIM, ada.fence)

    # --- what is told of it ---

    @pytest.mark.rule("B4", "T30", "T31", "T32")
    async def test_why_a_task_stands_as_it_does_can_be_told(
        self, board: Board, board_elsewhere: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)
        with pytest.raises(LeaseHeld):
            await board.change(ROOM, task_id, CLAIM, bob.fence)
        target = Target(agent_key=bob.session.agent_key)
        action = Handoff(target=target, reason="he knows roofs")
        await board.lease_action(ROOM, task_id, action, ada.fence)
        history = await board_elsewhere.history(ROOM, task_id)

        assert [
            (one.type, one.before, one.after, one.lease_id, one.epoch) for one in history.events
        ] == [
            (EventType.ADMITTED, None, None, None, None),
            (EventType.CLAIMED, "accepted", "assigned", "work_lease_1", 1),
            (EventType.HANDED_OVER, None, None, "work_lease_2", 2),
        ]
        assert history.events[-1].actor == ada.session.actor_label
        assert history.events[-1].reason == "he knows roofs"
        assert history.view == await board.task(ROOM, task_id)
        rest = await board.history(ROOM, task_id, after=history.events[0].number, limit=1)
        assert (rest.events, rest.more) == ((history.events[1],), True)

    @pytest.mark.rule("B4")
    async def test_what_becomes_of_a_task_is_said_in_the_room_and_a_refusal_is_not(
        self, rooms: RoomTransport, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.claimed(board, ada, "mend @everyone " + "x" * 100)
        with pytest.raises(LeaseHeld):
            await board.change(ROOM, task_id, CLAIM, bob.fence)

        told = texts(await rooms.read(ROOM, Latest(10)))
        assert told[1].startswith("[task] task_1 accepted → assigned by Worker1: mend @ everyone x")
        assert told[1].endswith("…")
        assert len(told) == 2

    @pytest.mark.rule("B6")
    async def test_a_replaced_connection_sees_and_changes_nothing(
        self, rooms: RoomTransport, board: Board, ada: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)
        await rooms.connect(ROOM, arrival(1, 5, after=ada))

        for call in (
            board.tasks(ROOM, Query(), ada.fence),
            board.task(ROOM, task_id, ada.fence),
            board.history(ROOM, task_id, ada.fence),
            board.propose(ROOM, Proposal(title="another"), ada.fence),
            board.change(ROOM, task_id, to(Status.IN_PROGRESS), ada.fence),
        ):
            with pytest.raises(ConnectionReplaced):
                await call

    # --- coming back without a handle ---

    async def test_a_chat_without_a_handle_takes_up_what_its_dead_process_left(
        self, rooms: RoomTransport, board: Board, ada: Connection
    ) -> None:
        self.lives_in(rooms, "first life")
        before = await rooms.connect(ROOM, passing_chat(50))
        task_id = await self.claimed(board, before)
        self.kill(rooms)
        self.lives_in(rooms, "second life")
        after = await rooms.connect(ROOM, attrs.evolve(passing_chat(51), instance_id="process-2"))
        await self.adopt(rooms, after)
        view = await board.task(ROOM, task_id)
        lease = lease_of(view)

        assert view.task.assignee == Assignee.of(after.session)
        assert lease is not None
        assert (lease.session_id, lease.epoch) == (after.session.session_id, 2)
        await board.change(ROOM, task_id, to(Status.IN_PROGRESS), after.fence)

    async def adopt(self, rooms: RoomTransport, connection: Connection) -> None:
        """Let who has just connected take up what it left, where connecting does not do so."""
