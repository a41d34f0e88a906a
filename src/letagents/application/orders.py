"""What a person says about a room's tasks, who is on them, what stops them and who manages them."""

from typing import TYPE_CHECKING

import attrs

from letagents.application.board import Boards
from letagents.application.governance import Governing
from letagents.domain import orders, targets
from letagents.domain.board import Handoff, Query, Release, ReviewAssign, Target, TaskView
from letagents.domain.governance import Manager, RuntimeSource
from letagents.domain.leases import Lease, LeaseKind
from letagents.domain.locks import Lock, UnknownLock
from letagents.domain.orders import Order
from letagents.domain.sessions import Connection, Session
from letagents.domain.tasks import WORKING, Assignee, Patch, Status

if TYPE_CHECKING:
    from letagents.domain.ids import RoomId


@attrs.frozen
class Orders:
    """A person's word on the board of a room. Its verbs raise what those of the ports do."""

    boards: Boards
    governing: Governing

    async def move(self, by: Connection, task_id: str, order: Order) -> TaskView:
        """Make of a task what a word says, if it stands where the word is meant."""
        patch = Patch(status=orders.TO[order])
        return await self.boards.change(by, task_id, patch, where=orders.places(order))

    async def worker(self, room_id: "RoomId", said: str) -> tuple[Session, bool | None]:
        """Return the worker of the room that a person means, and whether its process is there.

        Raises:
            UnknownTarget, TargetSessionRequired: they mean none, or several.
        """
        found = await self.governing.candidates(room_id)
        session = targets.named(said, [one.session for one in found])
        return session, next(one.is_there for one in found if one.session == session)

    async def give(
        self, by: Connection, task_id: str, said: str, reason: str | None = None
    ) -> TaskView:
        """Put a worker on a task, in place of who is on it.

        Raises:
            TargetSessionUnreachable: the worker is not there.
        """
        room_id = by.session.room_id
        view = await self.boards.task(room_id, task_id)
        to, is_there = await self.worker(room_id, said)
        targets.check_there(to, is_there)
        status, work = view.task.status, _work(view)
        if work is not None and status in WORKING:
            if work.session_id == to.session_id:
                return view
            hand = Handoff(target=_target(to), lease_id=work.lease_id, reason=reason)
            return (await self.boards.lease_action(by, task_id, hand)).view
        moved = None if status in WORKING else Status.ASSIGNED
        patch = Patch(status=moved, assignee=Assignee.of(to))
        where = {status} & {Status.ACCEPTED, *WORKING}
        return await self.boards.change(by, task_id, patch, where=where)

    async def give_review(
        self, by: Connection, task_id: str, said: str, reason: str | None = None
    ) -> TaskView:
        """Let a worker review a task."""
        to, _ = await self.worker(by.session.room_id, said)
        action = ReviewAssign(target=_target(to), reason=reason)
        return (await self.boards.review_action(by, task_id, action)).view

    async def let_go(self, by: Connection, task_id: str, reason: str | None = None) -> TaskView:
        """Put a task back on the board, for whoever wants it."""
        return (await self.boards.lease_action(by, task_id, Release(reason=reason))).view

    async def let_review_go(
        self, by: Connection, task_id: str, reason: str | None = None
    ) -> TaskView:
        """Let nobody review a task."""
        return (await self.boards.review_action(by, task_id, Release(reason=reason))).view

    async def lift(self, by: Connection, task_id: str | None) -> list[Lock]:
        """Lift all locks of a task, or of the whole board; return them.

        Raises:
            UnknownLock: there is none.
        """
        room_id = by.session.room_id
        if task_id is None:
            locks = (await self.boards.tasks(room_id, Query(limit=1))).locks
        else:
            locks = (await self.boards.task(room_id, task_id)).locks
        found = [one for one in locks if one.task_id == task_id]
        if not found:
            raise UnknownLock(
                f"There is no lock on {task_id or 'the whole board'}.",
                remedy="get_board shows the locks of each task as active_locks.",
            )
        return [await self.boards.unlock(by, one.lock_id) for one in found]

    async def manage(self, by: Connection, said: str) -> Manager:
        """Let a worker manage the board, in place of who does now.

        Raises:
            TargetSessionUnreachable: the worker is not there.
        """
        session, is_there = await self.worker(by.session.room_id, said)
        targets.check_there(session, is_there)
        return await self.governing.assign_manager(by, session.session_id, RuntimeSource.UNKNOWN)


def _work(view: TaskView) -> Lease | None:
    held = (one.lease for one in view.leases)
    return next((one for one in held if one.kind is LeaseKind.WORK), None)


def _target(session: Session) -> Target:
    return Target(agent_key=session.agent_key, session_id=str(session.session_id))
