"""What becomes of tasks on a board. A part of what every Board does."""

import anyio
import attrs
import pytest

from letagents.domain.board import Query, Release, ReviewClaim
from letagents.domain.errors import KeyReused, Malformed, UnknownMessage
from letagents.domain.ids import MessageId
from letagents.domain.leases import LeaseHeld, LeaseMissing
from letagents.domain.moves import NotYours, ReviewRequired
from letagents.domain.sessions import Connection, SessionKind
from letagents.domain.tasks import (
    Assignee,
    DuplicateWork,
    InvalidTransition,
    Patch,
    Proposal,
    Status,
    UnknownTask,
    WorkerRequired,
)
from letagents.ports.board import Board
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import ROOM, arrival, draft, person
from letagents.testing.contracts.task_holders import (
    CLAIM,
    PULL_REQUEST,
    TERM,
    HoldersOfTasks,
    lease_of,
    to,
)
from letagents.testing.determinism import ManualClock


@pytest.mark.anyio
class BoardTasksContract(HoldersOfTasks):
    """Needs fixtures `rooms` and `board`."""

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

    async def test_who_proposes_what_nobody_works_on_any_more_is_told_to_take_it(
        self,
        rooms: RoomTransport,
        board: Board,
        ada: Connection,
        bob: Connection,
        clock: ManualClock,
    ) -> None:
        task_id = await self.claimed(board, ada, "mend the roof")
        self.kill(rooms)
        clock.pass_by(TERM)

        with pytest.raises(DuplicateWork, match="not there any more") as refused:
            await board.propose(ROOM, Proposal(title="mend the roof"), bob.fence)
        assert f"claim_task(task_id={task_id!r})" in refused.value.remedy

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
