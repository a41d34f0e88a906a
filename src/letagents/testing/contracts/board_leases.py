"""How long who claimed a task has it. A part of what every Board does."""

from datetime import timedelta

import attrs
import pytest

from letagents.domain.board import Handoff, Release, Target
from letagents.domain.denials import IntentRequired
from letagents.domain.errors import ConnectionReplaced
from letagents.domain.intents import Approval
from letagents.domain.leases import (
    LeaseFenceStale,
    LeaseHeld,
    LeaseMissing,
    LeaseStatus,
    StaleLeaseReference,
)
from letagents.domain.messages import Latest
from letagents.domain.moves import NotYours
from letagents.domain.sessions import Connection
from letagents.domain.targets import TargetSessionRequired, TargetSessionUnreachable, UnknownTarget
from letagents.domain.tasks import Assignee, Patch, Status
from letagents.ports.board import Board
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import BOB, ROOM, arrival, passing_chat, texts
from letagents.testing.contracts.task_holders import CLAIM, TERM, HoldersOfTasks, lease_of, to
from letagents.testing.determinism import ManualClock


@pytest.mark.anyio
class BoardLeasesContract(HoldersOfTasks):
    """Needs fixtures `rooms` and `board`."""

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

    @pytest.mark.rule("L14")
    async def test_who_comes_back_under_another_label_holds_what_it_held(
        self, rooms: RoomTransport, board: Board, ada: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)
        coming = attrs.evolve(arrival(1, 5, after=ada), ide_label="Cursor")
        back = await rooms.connect(ROOM, coming)
        await self.adopt(rooms, back)
        view = await board.task(ROOM, task_id)
        lease = lease_of(view)

        assert back.session.actor_label != ada.session.actor_label
        assert view.task.assignee == Assignee.of(back.session)
        assert lease is not None
        assert (lease.actor_label, lease.epoch) == (back.session.actor_label, 1)

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

    @pytest.mark.rule("L9")
    async def test_who_lets_go_has_released_and_whom_another_frees_was_revoked(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)
        own = await board.lease_action(ROOM, task_id, Release(), ada.fence)
        await board.change(ROOM, task_id, CLAIM, ada.fence)
        action = Release(reason="she is on holiday")
        others = await board.lease_action(ROOM, task_id, action)

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

    @pytest.mark.rule("L15")
    async def test_no_worker_ends_what_another_holds_who_is_there(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)
        await board.change(ROOM, task_id, to(Status.IN_PROGRESS), ada.fence)
        before = await board.task(ROOM, task_id)
        lease = lease_of(before)
        assert lease is not None
        to_bob = Handoff(target=Target(agent_key=bob.session.agent_key))

        for action in (Release(), Release(lease_id=lease.lease_id, epoch=lease.epoch)):
            with pytest.raises(LeaseHeld, match=ada.session.display_name):
                await board.lease_action(ROOM, task_id, action, bob.fence)
        with pytest.raises(IntentRequired, match="register_task_lease_action_intent"):
            await board.lease_action(ROOM, task_id, to_bob, bob.fence)
        cancelled = to(Status.CANCELLED)
        for approval in (None, Approval()):
            with pytest.raises(LeaseHeld, match=ada.session.display_name):
                await board.change(ROOM, task_id, cancelled, bob.fence, approval=approval)
        assert await board.task(ROOM, task_id) == before

    @pytest.mark.rule("L15")
    @pytest.mark.parametrize("way", ["released", "cancelled", "given away"])
    async def test_what_is_held_no_more_another_worker_ends(
        self,
        rooms: RoomTransport,
        board: Board,
        ada: Connection,
        eve: Connection,
        clock: ManualClock,
        way: str,
    ) -> None:
        task_id = await self.claimed(board, ada)
        self.kill(rooms)
        clock.pass_by(TERM)
        self.lives_in(rooms, "another life")
        bob = await rooms.connect(ROOM, arrival(BOB, 12))
        if way == "cancelled":
            await board.change(ROOM, task_id, to(Status.CANCELLED), bob.fence)
        elif way == "released":
            await board.lease_action(ROOM, task_id, Release(), bob.fence)
        else:
            to_bob = Handoff(target=Target(agent_key=bob.session.agent_key))
            await board.lease_action(ROOM, task_id, to_bob, bob.fence)

        lease = lease_of(await board.task(ROOM, task_id))
        assert lease is None or lease.agent_key == bob.session.agent_key

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

    @pytest.mark.rule("L15")
    @pytest.mark.parametrize("by", ["a person", "another worker"])
    async def test_who_loses_a_task_is_told_as_is_who_gets_it(
        self,
        rooms: RoomTransport,
        board: Board,
        ada: Connection,
        bob: Connection,
        clock: ManualClock,
        by: str,
    ) -> None:
        task_id = await self.claimed(board, ada)
        to_bob = Handoff(target=Target(agent_key=bob.session.agent_key))
        if by == "another worker":
            self.kill(rooms)
            clock.pass_by(TERM)
            self.lives_in(rooms, "another life")
            bob = await rooms.connect(ROOM, arrival(BOB, 12, after=bob))
            await board.lease_action(ROOM, task_id, to_bob, bob.fence)
        else:
            await board.lease_action(ROOM, task_id, to_bob)

        told = texts(await rooms.read(ROOM, Latest(1)))[0]
        for one in (ada, bob):
            assert f"@agent:{one.session.agent_key}" in told

    async def test_who_is_put_on_a_task_is_told_as_is_who_was_on_it(
        self, rooms: RoomTransport, board: Board, ada: Connection, bob: Connection
    ) -> None:
        task_id = await self.claimed(board, ada)
        await board.change(ROOM, task_id, Patch(assignee=Assignee.of(bob.session)))

        told = texts(await rooms.read(ROOM, Latest(1)))[0]
        for one in (ada, bob):
            assert f"@agent:{one.session.agent_key}" in told

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
        await board.change(ROOM, task_id, to(Status.CANCELLED), ada.fence)
        target = Target(agent_key=bob.session.agent_key)

        with pytest.raises(LeaseMissing):
            await board.lease_action(ROOM, task_id, Handoff(target=target), ada.fence)

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
