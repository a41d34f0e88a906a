"""Reviews, locks, and what is told of all that. A part of what every Board does."""

import attrs
import pytest

from letagents.domain.board import Handoff, Query, Release, ReviewAssign, ReviewClaim, Target
from letagents.domain.errors import ConnectionReplaced, KeyReused
from letagents.domain.events import EventType
from letagents.domain.leases import LeaseHeld, LeaseKind, LeaseMissing, LeaseStatus
from letagents.domain.locks import Locked, UnknownLock
from letagents.domain.messages import Latest
from letagents.domain.moves import ReviewDecisionOnly, ReviewWorkerRequired, WorksOnIt, WrongStatus
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Proposal, Status, WorkerRequired
from letagents.domain.verdicts import ReviewLeaseRequired, Verdict, VerdictKind
from letagents.ports.board import Board
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import ROOM, arrival, texts
from letagents.testing.contracts.task_holders import CLAIM, SHA, TERM, HoldersOfTasks, lease_of, to
from letagents.testing.determinism import ManualClock


@pytest.mark.anyio
class BoardReviewsContract(HoldersOfTasks):
    """Needs fixtures `rooms` and `board`."""

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

    @pytest.mark.rule("L15")
    async def test_nobody_but_its_reviewer_ends_a_review(
        self, board: Board, ada: Connection, bob: Connection, eve: Connection
    ) -> None:
        task_id = await self.in_review(board, ada)
        await board.review_action(ROOM, task_id, ReviewClaim(), bob.fence)

        for other in (ada, eve):
            with pytest.raises(LeaseHeld, match=bob.session.display_name):
                await board.review_action(ROOM, task_id, Release(), other.fence)
        for status in (Status.DONE, Status.MERGED, Status.CANCELLED):
            with pytest.raises(LeaseHeld, match=bob.session.display_name):
                await board.change(ROOM, task_id, to(status), eve.fence)
        assert lease_of(await board.task(ROOM, task_id), LeaseKind.REVIEW) is not None
        freed = await board.review_action(ROOM, task_id, Release())
        assert freed.ended is not None
        assert freed.ended.status is LeaseStatus.REVOKED

    @pytest.mark.rule("L15")
    @pytest.mark.parametrize("who", ["the worker", "the reviewer", "another, unreviewed"])
    async def test_what_is_in_review_is_closed_by_who_works_on_it_or_reviews_it(
        self, board: Board, ada: Connection, bob: Connection, who: str
    ) -> None:
        task_id = await self.in_review(board, ada)
        if "unreviewed" not in who:
            await board.review_action(ROOM, task_id, ReviewClaim(), bob.fence)
        closing = ada if who == "the worker" else bob
        view = await board.change(ROOM, task_id, to(Status.DONE), closing.fence)

        assert (view.task.status, view.leases) == (Status.DONE, ())

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
        cy = await rooms.connect(ROOM, arrival(3, 3))
        with pytest.raises(ReviewLeaseRequired, match=bob.session.display_name) as refused:
            await board.verdict(ROOM, task_id, said, cy.fence)
        assert f"@agent:{bob.session.agent_key}" in refused.value.remedy
        assert "claim_task_review" not in refused.value.remedy
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
