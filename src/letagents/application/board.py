"""The board of rooms, for one client: tasks proposed, moved, explained; leases taken and left."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import attrs
import structlog

from letagents.application.connections import Connections, fence_of, ids_of
from letagents.application.epochs import REVIEW, WORK, Epochs, epoch_of
from letagents.domain.errors import LetAgentsError, NotAvailable, OutcomeUnknown
from letagents.domain.ids import RoomId
from letagents.domain.sessions import Connection
from letagents.ports.ids import Ids

if TYPE_CHECKING:  # a process that asks for nothing of this loads nothing of it
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
    from letagents.domain.intents import Approval
    from letagents.domain.locks import Lock, LockReason
    from letagents.domain.tasks import Patch, Proposal, Status
    from letagents.domain.verdicts import Record, Verdict
    from letagents.ports.board import Board

log = structlog.get_logger()

BoardOpening = Callable[[], "Board | None"]
"""Returns the board; None where rooms have none."""


@attrs.frozen
class Boards:
    """The boards of rooms for one client. Its verbs raise what those of the port do.

    Those that write under a lease show the epoch that the session knows of when they begin, unless
    the call names one.
    """

    opening: BoardOpening
    connections: Connections
    ids: Ids

    @property
    def board(self) -> "Board":
        """The board. Raises NotAvailable where there is none."""
        if (board := self.opening()) is None:
            raise NotAvailable(
                "These rooms have no task board.",
                remedy="Share the work by messages: send_message.",
            )
        return board

    async def propose(
        self, by: Connection, proposal: "Proposal", approval: "Approval | None" = None
    ) -> "Admitted":
        """Put a task on the board; where the answer got lost, ask again, which the key allows."""
        key = proposal.client_task_id or str(self.ids.client_key())
        admitted = await self._proposed(by, attrs.evolve(proposal, client_task_id=key), approval)
        log.info("task.proposed", **ids_of(by), task_id=admitted.view.task.task_id)
        return admitted

    async def _proposed(
        self, by: Connection, proposal: "Proposal", approval: "Approval | None"
    ) -> "Admitted":
        async def ask() -> "Admitted":
            asked = self.board.propose(by.session.room_id, proposal, by.fence, approval=approval)
            return await self.connections.told(by, asked)

        try:
            return await ask()
        except OutcomeUnknown as unknown:
            try:
                return await ask()
            except LetAgentsError:
                raise unknown from None

    async def tasks(
        self, room_id: RoomId, query: "Query", viewer: Connection | None = None
    ) -> "TaskPage":
        """Return a page of the board."""
        known = self.epochs.of(viewer)
        page = await self.connections.told(
            viewer, self.board.tasks(room_id, query, fence_of(viewer))
        )
        self.epochs.saw(viewer, page.tasks, known)
        return page

    async def task(
        self, room_id: RoomId, task_id: str, viewer: Connection | None = None
    ) -> "TaskView":
        """Return one task."""
        known = self.epochs.of(viewer)
        view = await self.connections.told(
            viewer, self.board.task(room_id, task_id, fence_of(viewer))
        )
        self.epochs.saw(viewer, [view], known)
        return view

    async def history(
        self, room_id: RoomId, task_id: str, *, after: int = 0, viewer: Connection | None = None
    ) -> "History":
        """Return what happened to a task, oldest first, from behind the event `after`."""
        asked = self.board.history(room_id, task_id, fence_of(viewer), after=after)
        return await self.connections.told(viewer, asked)

    async def change(
        self,
        by: Connection,
        task_id: str,
        patch: "Patch",
        *,
        approval: "Approval | None" = None,
        epoch: int | None = None,
        where: "Collection[Status] | None" = None,
    ) -> "TaskView":
        """Change a task; to set it to assigned is to claim it."""
        room_id, fence, under = by.session.room_id, by.fence, None
        with self.epochs.shown(by, task_id, epoch) as known:
            if epoch is None and task_id in known:
                epoch, under = known[task_id].epoch, known[task_id].under
            asked = self.board.change(
                room_id, task_id, patch, fence,
                approval=approval, epoch=epoch, under=under, where=where,
            )  # fmt: skip
            view = await self.connections.told(by, asked)
        self.epochs.saw(by, [view], known)
        log.info("task.changed", **ids_of(by), task_id=task_id, status=view.task.status.value)
        return view

    async def lease_action(
        self,
        by: Connection,
        task_id: str,
        action: "Release | Handoff",
        approval: "Approval | None" = None,
    ) -> "LeaseMoved":
        """Let a work lease go, or hand it over."""
        room_id, fence = by.session.room_id, by.fence
        with self.epochs.shown(by, task_id, action.epoch) as known:
            if action.epoch is None:
                action = attrs.evolve(action, epoch=epoch_of(known, task_id, WORK))
            asked = self.board.lease_action(room_id, task_id, action, fence, approval=approval)
            moved = await self.connections.told(by, asked)
        self.epochs.saw(by, [moved.view], known)
        log.info("lease.released" if moved.lease is None else "lease.handed", **ids_of(by),
                 task_id=task_id)  # fmt: skip
        return moved

    async def review_action(
        self, by: Connection, task_id: str, action: "ReviewClaim | ReviewAssign | Release"
    ) -> "LeaseMoved":
        """Take the review of a task, give it to another, or let it go."""
        from letagents.domain.board import Release

        named = action.epoch if isinstance(action, Release) else None
        with self.epochs.shown(by, task_id, named) as known:
            if isinstance(action, Release) and named is None:
                action = attrs.evolve(action, epoch=epoch_of(known, task_id, REVIEW))
            asked = self.board.review_action(by.session.room_id, task_id, action, by.fence)
            moved = await self.connections.told(by, asked)
        self.epochs.saw(by, [moved.view], known)
        log.info("lease.released" if moved.lease is None else "lease.granted", **ids_of(by),
                 task_id=task_id)  # fmt: skip
        return moved

    async def verdict(
        self, by: Connection, task_id: str, verdict: "Verdict", *, epoch: int | None = None
    ) -> "Record":
        """Note what the reviewer says of a task."""
        room_id, fence = by.session.room_id, by.fence
        with self.epochs.shown(by, task_id, epoch) as known:
            shown = epoch_of(known, task_id, REVIEW) if epoch is None else epoch
            asked = self.board.verdict(room_id, task_id, verdict, fence, epoch=shown)
            record = await self.connections.told(by, asked)
        log.info("task.reviewed", **ids_of(by), task_id=task_id)
        return record

    async def lock(
        self, by: Connection, task_id: str | None, reason: "LockReason", message: str | None
    ) -> "Lock":
        """Stop the work on a task, or on the whole board."""
        room_id, fence = by.session.room_id, by.fence
        asked = self.board.lock(room_id, task_id, reason=reason, message=message, fence=fence)
        lock = await self.connections.told(by, asked)
        log.info("board.locked", **ids_of(by), task_id=task_id)
        return lock

    async def unlock(self, by: Connection, lock_id: str) -> "Lock":
        """Let the work go on."""
        lock = await self.connections.told(
            by, self.board.unlock(by.session.room_id, lock_id, by.fence)
        )
        log.info("board.unlocked", **ids_of(by), task_id=lock.task_id)
        return lock

    @property
    def epochs(self) -> Epochs:
        """What the client's sessions know of their leases."""
        return self.connections.epochs
