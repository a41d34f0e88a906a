"""What a person does to a board, and who learns of it. A part of what every Board does."""

import attrs
import pytest

from letagents.domain.activation import Decision
from letagents.domain.board import Query, Release, ReviewAssign, ReviewClaim, Stale, Target
from letagents.domain.events import EventType
from letagents.domain.leases import LeaseKind, LeaseMissing
from letagents.domain.locks import LockReason
from letagents.domain.messages import Latest, Message
from letagents.domain.moves import WrongStatus
from letagents.domain.sessions import Connection
from letagents.domain.stalls import WAITING
from letagents.domain.tasks import Assignee, InvalidTransition, Patch, Proposal, Status
from letagents.ports.board import Board
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import ROOM, person
from letagents.testing.contracts.task_holders import HoldersOfTasks, lease_of, to
from letagents.testing.determinism import ManualClock

GIVEN = Status.ASSIGNED


@pytest.mark.anyio
class BoardPeopleContract(HoldersOfTasks):
    """Needs fixtures `rooms` and `board`."""

    @pytest.fixture
    async def human(self, rooms: RoomTransport, ada: Connection) -> Connection:
        """Return a person who is called Ada, as the owner of the agents is."""
        return await rooms.connect(ROOM, person())

    async def heard(self, rooms: RoomTransport, who: Connection) -> tuple[Message, Decision]:
        """Return what was said last in the room, and what that worker is to do."""
        [message] = (await rooms.read(ROOM, Latest(1), who.fence)).messages
        assert message.activation is not None
        return message, message.activation.decision

    @pytest.mark.rule("T61")
    async def test_what_was_meant_for_another_standing_changes_nothing(
        self, board: Board, board_elsewhere: Board, human: Connection
    ) -> None:
        task_id = await self.accepted(board)
        await board.change(ROOM, task_id, to(Status.CANCELLED))
        before = await board.task(ROOM, task_id)
        accept = to(Status.ACCEPTED)
        with pytest.raises(WrongStatus, match="task_1 is cancelled, and not proposed"):
            await board.change(ROOM, task_id, accept, human.fence, where={Status.PROPOSED})
        with pytest.raises(InvalidTransition, match=r"cancelled -> done\. Allowed: accepted"):
            await board.change(ROOM, task_id, to(Status.DONE), human.fence, where=())

        assert await board_elsewhere.task(ROOM, task_id) == before
        again = await board.change(ROOM, task_id, accept, human.fence, where={Status.CANCELLED})
        assert again.task.status is Status.ACCEPTED

    @pytest.mark.rule("D36", "D37")
    async def test_what_somebody_muted_is_muted_until_it_changes(
        self, board: Board, board_elsewhere: Board, clock: ManualClock, human: Connection
    ) -> None:
        task_id = await self.accepted(board)
        fresh = (await board.task(ROOM, task_id)).stale
        clock.pass_by(WAITING[Status.ACCEPTED])
        muted = await board.mute(ROOM, task_id, human.fence)
        again = await board.mute(ROOM, task_id, human.fence)
        [listed] = (await board_elsewhere.tasks(ROOM, Query())).tasks
        loud = (await board.mute(ROOM, task_id, human.fence, is_muted=False)).stale
        await board.mute(ROOM, task_id, human.fence)
        await board.change(ROOM, task_id, to(Status.CANCELLED), human.fence)
        changed = (await board_elsewhere.task(ROOM, task_id)).stale

        waits = Stale(reason="accepted_unclaimed", lasts=WAITING[Status.ACCEPTED])
        by = human.session.actor_label
        mute = attrs.evolve(waits, muted_by=by, muted_at=clock.now())
        assert muted.stale == again.stale == listed.stale == mute
        assert (fresh, loud, changed) == (Stale(), waits, Stale())

    @pytest.mark.rule("B8")
    async def test_who_loses_a_task_to_a_person_is_called(
        self,
        rooms: RoomTransport,
        board: Board,
        ada: Connection,
        bob: Connection,
        human: Connection,
    ) -> None:
        task_id = await self.claimed(board, bob)
        await board.change(ROOM, task_id, to(Status.CANCELLED), human.fence)

        message, decision = await self.heard(rooms, bob)
        assert "[task] task_1 assigned → cancelled by Ada" in message.text
        assert decision is Decision.ACTIVATE
        assert (await self.heard(rooms, ada))[1] is Decision.SILENT
        last = (await board.history(ROOM, task_id)).events[-1]
        assert (last.type, last.actor) == (EventType.CLOSED, "Ada")

    @pytest.mark.rule("B8", "T9")
    async def test_a_person_gives_a_task_to_a_worker_who_then_reviews_it_no_more(
        self,
        rooms: RoomTransport,
        board: Board,
        ada: Connection,
        bob: Connection,
        human: Connection,
    ) -> None:
        task_id = await self.in_review(board, ada)
        await board.review_action(ROOM, task_id, ReviewClaim(), bob.fence)
        given = Patch(assignee=Assignee.of(bob.session))
        view = await board.change(ROOM, task_id, given, human.fence)

        assert (view.task.assignee_key, view.leases) == (bob.session.agent_key, ())
        assert [(await self.heard(rooms, one))[1] for one in (ada, bob)] == [
            Decision.ACTIVATE,
            Decision.ACTIVATE,
        ]
        last = (await board.history(ROOM, task_id)).events[-1]
        assert last.detail == f"to {bob.session.actor_label}"

    @pytest.mark.rule("B8")
    async def test_a_person_puts_back_what_somebody_was_put_on_and_never_began(
        self, rooms: RoomTransport, board: Board, ada: Connection, human: Connection
    ) -> None:
        task_id = await self.accepted(board)
        given = Patch(status=GIVEN, assignee=Assignee.of(ada.session))
        await board.change(ROOM, task_id, given, human.fence)
        with pytest.raises(LeaseMissing):
            await board.lease_action(ROOM, task_id, Release(), ada.fence)
        with pytest.raises(LeaseMissing):
            await board.lease_action(ROOM, task_id, Release(epoch=1), human.fence)
        moved = await board.lease_action(ROOM, task_id, Release(reason="not now"), human.fence)

        assert (moved.view.task.status, moved.view.task.assignee) == (Status.ACCEPTED, None)
        assert (await self.heard(rooms, ada))[1] is Decision.ACTIVATE
        last = (await board.history(ROOM, task_id)).events[-1]
        assert (last.type, last.reason, last.actor) == (EventType.RELEASED, "not now", "Ada")

    @pytest.mark.rule("B8")
    async def test_a_task_that_is_put_back_has_no_review_any_more(
        self,
        rooms: RoomTransport,
        board: Board,
        ada: Connection,
        bob: Connection,
        human: Connection,
    ) -> None:
        task_id = await self.in_review(board, ada)
        await board.review_action(ROOM, task_id, ReviewClaim(), bob.fence)
        moved = await board.lease_action(ROOM, task_id, Release(), human.fence)

        assert (moved.view.task.status, moved.view.leases) == (Status.ACCEPTED, ())
        for one in (ada, bob):
            assert (await self.heard(rooms, one))[1] is Decision.ACTIVATE

    @pytest.mark.rule("B8")
    async def test_who_is_given_a_review_and_who_loses_it_are_called(
        self,
        rooms: RoomTransport,
        board: Board,
        ada: Connection,
        bob: Connection,
        human: Connection,
    ) -> None:
        task_id = await self.in_review(board, ada)
        to_bob = ReviewAssign(target=Target(agent_key=bob.session.agent_key))
        given = await board.review_action(ROOM, task_id, to_bob, human.fence)
        message, decision = await self.heard(rooms, bob)
        assert lease_of(given.view, LeaseKind.REVIEW) is not None
        assert (decision, "review given to Worker2 by Ada" in message.text) == (
            Decision.ACTIVATE,
            True,
        )
        assert (await self.heard(rooms, ada))[1] is Decision.SILENT

        await board.review_action(ROOM, task_id, to_bob, human.fence)
        assert (await self.heard(rooms, bob))[0] == message
        await board.review_action(ROOM, task_id, Release(), human.fence)
        message, decision = await self.heard(rooms, bob)
        assert (decision, "review let go for Worker2 by Ada" in message.text) == (
            Decision.ACTIVATE,
            True,
        )

    @pytest.mark.rule("B8", "T22")
    async def test_who_works_on_what_is_locked_is_called_and_again_when_it_is_not(
        self,
        rooms: RoomTransport,
        board: Board,
        ada: Connection,
        bob: Connection,
        human: Connection,
    ) -> None:
        task_id = await self.claimed(board, ada)
        lock = await board.lock(ROOM, task_id, message="wait @bob", fence=human.fence)
        message, decision = await self.heard(rooms, ada)
        assert "[task] task_1 locked by Ada (wait @ bob): mend the roof" in message.text
        assert decision is Decision.ACTIVATE
        assert (await self.heard(rooms, bob))[1] is Decision.SILENT

        again = await board.lock(ROOM, task_id, message="wait @bob", fence=human.fence)
        assert (again, (await self.heard(rooms, ada))[0]) == (lock, message)
        other = await board.lock(ROOM, task_id, reason=LockReason.POLICY, fence=human.fence)
        assert (await board.task(ROOM, task_id)).locks == (lock, other)

        await board.unlock(ROOM, other.lock_id, human.fence)
        opened = await board.unlock(ROOM, lock.lock_id, human.fence)
        message, decision = await self.heard(rooms, ada)
        assert (decision, "task_1 unlocked by Ada" in message.text) == (Decision.ACTIVATE, True)
        assert await board.unlock(ROOM, lock.lock_id) == opened
        assert (await self.heard(rooms, ada))[0] == message
        events = (await board.history(ROOM, task_id)).events
        assert [one.type for one in events[-4:]] == 2 * [EventType.LOCKED] + 2 * [
            EventType.UNLOCKED
        ]
        anew = await board.lock(ROOM, task_id, message="wait @bob", fence=human.fence)
        assert anew.number > other.number

    @pytest.mark.rule("B8")
    async def test_what_anybody_can_take_up_again_is_shown_to_all(
        self, rooms: RoomTransport, board: Board, ada: Connection, human: Connection
    ) -> None:
        task_id = await self.accepted(board)
        lock = await board.lock(ROOM, task_id, fence=human.fence)
        assert (await self.heard(rooms, ada))[1] is Decision.SILENT
        await board.unlock(ROOM, lock.lock_id, human.fence)
        assert (await self.heard(rooms, ada))[1] is Decision.UNCLEAR

    @pytest.mark.rule("B8", "T20")
    async def test_a_locked_board_is_shown_to_all_and_stands_on_every_page(
        self, rooms: RoomTransport, board: Board, board_elsewhere: Board, human: Connection,
        ada: Connection,
    ) -> None:  # fmt: skip
        lock = await board.lock(ROOM, None, message="lunch", fence=human.fence)
        message, decision = await self.heard(rooms, ada)
        assert message.text == "[board] The board is locked by Ada (lunch)."
        assert decision is Decision.UNCLEAR
        assert (await board_elsewhere.tasks(ROOM, Query())).locks == (lock,)
        assert await board_elsewhere.lock(ROOM, None, message="lunch") == lock

        await board.unlock(ROOM, lock.lock_id, human.fence)
        assert (await board.tasks(ROOM, Query())).locks == ()
        assert (await board.propose(ROOM, Proposal(title="x"), human.fence)).is_new
