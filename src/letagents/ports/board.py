"""What the application needs of the board of a room, wherever it is kept.

B1   Who writes under a lease is compared with it in the transaction of what is written: lease,
     epoch and session. So whoever was succeeded changes nothing, and is told by whom; neither does
     a call that comes so late that its own session has the thing again, under another lease.
B2   Of all who claim a task at once, from wherever, one has it, and the others are told who.
B3   A proposal with a key that was used before answers with its task; so does a verdict.
B4   A change that was answered is kept, with its event and what the room says of it, by any board
     opened on the same place; one that was refused left nothing of all that.
B5   Tasks and events come in the order of their numbers, and a reader with a cursor misses none.
B6   A replaced or ended connection that shows its fence changes nothing and reads nothing.
B7   No order of calls leaves a task that can neither be claimed nor be closed.
B8   What a person does to a task, to its leases or to its locks is told in the room with their
     name, and names each agent that has the task, or has it no more, by its key.
"""

from collections.abc import Collection
from typing import Protocol

from letagents.domain.board import (
    Admitted,
    Handoff,
    History,
    LeaseMoved,
    Query,
    Release,
    ReviewAssign,
    ReviewClaim,
    TaskPage,
    TaskView,
)
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.intents import Approval
from letagents.domain.leases import LeaseKind
from letagents.domain.locks import Lock, LockReason
from letagents.domain.tasks import Patch, Proposal, Status
from letagents.domain.verdicts import Record, Verdict


class Board(Protocol):
    """The tasks of rooms, and who holds them. Without a fence, the room's owner acts.

    Every verb raises UnknownRoom, ConnectionLost where the fence does not admit, RoomsUnavailable
    and OutcomeUnknown as those of RoomTransport do, and UnknownTask where a task is named.
    """

    async def propose(
        self,
        room_id: RoomId,
        proposal: Proposal,
        fence: Fence | None = None,
        *,
        approval: Approval | None = None,
    ) -> Admitted:
        """Put a task on the board.

        Raises:
            Locked, DuplicateWork, KeyReused, UnknownMessage: it is not admitted.
        """
        ...

    async def tasks(self, room_id: RoomId, query: Query, viewer: Fence | None = None) -> TaskPage:
        """Return a page of the board."""
        ...

    async def task(self, room_id: RoomId, task_id: str, viewer: Fence | None = None) -> TaskView:
        """Return one task."""
        ...

    async def change(
        self,
        room_id: RoomId,
        task_id: str,
        patch: Patch,
        fence: Fence | None = None,
        *,
        approval: Approval | None = None,
        epoch: int | None = None,
        under: LeaseKind | None = None,
        where: Collection[Status] | None = None,
    ) -> TaskView:
        """Change a task; to set it to assigned is to claim it. `epoch` is compared if it is shown.

        It is of the lease that the change needs, unless `under` says of which kind it is. A claim
        needs none: there it is compared if the caller has the task already and attaches something.
        With `where` given, a task that stands nowhere there stays as it is.

        Raises:
            WrongStatus, InvalidTransition: it does not stand where it has to.
            AdminRequired, ReviewDecisionOnly, ReviewWorkerRequired, NotYours, ReviewRequired,
            Locked, LeaseHeld, LeaseMissing, LeaseFenceStale, InvalidTransition: in this order, the
            first that fits; or what `approvals` refuses with, before InvalidTransition.
        """
        ...

    async def lease_action(
        self,
        room_id: RoomId,
        task_id: str,
        action: Release | Handoff,
        fence: Fence | None = None,
        *,
        approval: Approval | None = None,
    ) -> LeaseMoved:
        """Let the work lease of a task go, or hand it over.

        A person also puts back a task on which nobody has a lease.

        Raises:
            LeaseMissing, StaleLeaseReference, LeaseFenceStale, AdminRequired, WrongStatus, Locked,
            UnknownTarget, TargetSessionRequired, TargetSessionUnreachable: it cannot be.
        """
        ...

    async def review_action(
        self,
        room_id: RoomId,
        task_id: str,
        action: ReviewClaim | ReviewAssign | Release,
        fence: Fence | None = None,
    ) -> LeaseMoved:
        """Take the review of a task, give it to another, or let it go.

        Raises:
            WorkerRequired, WrongStatus, WorksOnIt, LeaseHeld, LeaseMissing, AdminRequired,
            StaleLeaseReference, LeaseFenceStale, and of a target as `lease_action`: it cannot be.
        """
        ...

    async def verdict(
        self,
        room_id: RoomId,
        task_id: str,
        verdict: Verdict,
        fence: Fence | None = None,
        *,
        epoch: int | None = None,
    ) -> Record:
        """Note what the reviewer of a task says of it. `epoch` is compared if it is shown.

        Raises:
            KeyReused, WorkerRequired, WrongStatus, LeaseFenceStale, ReviewLeaseRequired: it cannot
            be.
        """
        ...

    async def history(
        self,
        room_id: RoomId,
        task_id: str,
        viewer: Fence | None = None,
        *,
        after: int = 0,
        limit: int = 500,
    ) -> History:
        """Return what happened to a task, and how it stands."""
        ...

    async def mute(
        self, room_id: RoomId, task_id: str, fence: Fence | None = None, *, is_muted: bool = True
    ) -> TaskView:
        """Let nobody be told that a task waits, until it changes; or let them be told again."""
        ...

    async def lock(
        self,
        room_id: RoomId,
        task_id: str | None,
        *,
        reason: LockReason = LockReason.HUMAN_STOP,
        message: str | None = None,
        fence: Fence | None = None,
    ) -> Lock:
        """Stop the work on a task, or on the whole board; again, the answer is the same.

        Raises:
            AdminRequired: the caller is no admin of the room.
        """
        ...

    async def unlock(self, room_id: RoomId, lock_id: str, fence: Fence | None = None) -> Lock:
        """Let the work go on. Raises UnknownLock, AdminRequired."""
        ...
