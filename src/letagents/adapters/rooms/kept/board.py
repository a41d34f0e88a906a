"""The board of rooms that are kept in books."""

from collections.abc import Collection
from datetime import timedelta

import attrs

from letagents.adapters.rooms.book import Book, Keeping, Where
from letagents.adapters.rooms.kept import board_records, doing, mutes, origins
from letagents.adapters.rooms.kept import leases as kept_leases
from letagents.adapters.rooms.kept import tasks as kept_tasks
from letagents.adapters.rooms.kept.board_records import EVENTS, LOCKS, TASKS
from letagents.adapters.rooms.kept.board_sheet import Sheet
from letagents.domain import locks, orders, tasks
from letagents.domain.board import (
    LARGEST_PAGE,
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
from letagents.domain.leases import Lease, LeaseKind
from letagents.domain.locks import Lock, LockReason
from letagents.domain.sessions import Session
from letagents.domain.tasks import AdminRequired, Patch, Proposal, Status
from letagents.domain.verdicts import Record, Verdict

TERM = timedelta(minutes=15)
"""How long a lease is held after its holder's last sign, where nothing else is set."""


def adopt(book: Book, session: Session) -> list[Lease]:
    """Return the leases that a session which has just arrived has: its own, and those it adopts."""
    own = kept_leases.resumed(book, session)
    if session.worker_id is not None:
        return own
    return own + kept_leases.adopted(Sheet(book, TERM), session)


@attrs.frozen
class KeptBoard:
    """The board of rooms that are kept in books."""

    _rooms: Keeping
    _term: timedelta = TERM

    async def propose(
        self,
        room_id: RoomId,
        proposal: Proposal,
        fence: Fence | None = None,
        *,
        approval: Approval | None = None,
    ) -> Admitted:
        """Put a task on the board."""

        def propose(book: Book) -> Admitted:
            return kept_tasks.propose(self._writing(book), proposal, approval)

        return await self._rooms.change(room_id, propose, fence)

    async def tasks(self, room_id: RoomId, query: Query, viewer: Fence | None = None) -> TaskPage:
        """Return a page of the board. What is due in the room is done first."""
        await doing.done(self._rooms, room_id)

        def tasks(book: Book) -> TaskPage:
            found = book.find(TASKS, _where(query))
            stops = board_records.locks(book)
            shown = board_records.views(book, found[: query.bounded], self._term, stops)
            return TaskPage(
                tasks=tuple(mutes.marked(book, shown)),
                more=len(found) > query.bounded,
                locks=tuple(board_records.locks_on(None, stops)),
            )

        return await self._rooms.look(room_id, tasks, viewer)

    async def task(self, room_id: RoomId, task_id: str, viewer: Fence | None = None) -> TaskView:
        """Return one task."""

        def task(book: Book) -> TaskView:
            sheet = self._sheet(book)
            return mutes.view(sheet, sheet.task(task_id))

        return await self._rooms.look(room_id, task, viewer)

    async def change(
        self,
        room_id: RoomId,
        task_id: str,
        patch: Patch,
        fence: Fence | None = None,
        *,
        approval: Approval | None = None,
        epoch: int | None = None,
        where: Collection[Status] | None = None,
        under: LeaseKind | None = None,
    ) -> TaskView:
        """Change a task."""
        shown = kept_tasks.Shown(epoch, under)

        def change(book: Book) -> TaskView:
            sheet = self._writing(book)
            if where is not None:
                orders.check_place(sheet.task(task_id), patch.status, where)
            task = kept_tasks.change(sheet, task_id, patch, approval=approval, shown=shown)
            return sheet.view(task)

        return await self._rooms.change(room_id, change, fence)

    async def lease_action(
        self,
        room_id: RoomId,
        task_id: str,
        action: Release | Handoff,
        fence: Fence | None = None,
        *,
        approval: Approval | None = None,
    ) -> LeaseMoved:
        """Let the work lease of a task go, or hand it over."""

        def act(book: Book) -> LeaseMoved:
            return kept_leases.lease_action(self._writing(book), task_id, action, approval)

        return await self._rooms.change(room_id, act, fence)

    async def review_action(
        self,
        room_id: RoomId,
        task_id: str,
        action: ReviewClaim | ReviewAssign | Release,
        fence: Fence | None = None,
    ) -> LeaseMoved:
        """Take the review of a task, give it to another, or let it go."""

        def act(book: Book) -> LeaseMoved:
            return kept_leases.review_action(self._writing(book), task_id, action)

        return await self._rooms.change(room_id, act, fence)

    async def verdict(
        self,
        room_id: RoomId,
        task_id: str,
        verdict: Verdict,
        fence: Fence | None = None,
        *,
        epoch: int | None = None,
    ) -> Record:
        """Note what the reviewer of a task says of it."""

        def note(book: Book) -> Record:
            return kept_leases.verdict(self._sheet(book), task_id, verdict, epoch)

        return await self._rooms.change(room_id, note, fence)

    async def history(
        self,
        room_id: RoomId,
        task_id: str,
        viewer: Fence | None = None,
        *,
        after: int = 0,
        limit: int = LARGEST_PAGE,
    ) -> History:
        """Return what happened to a task, and how it stands."""
        most = min(max(limit, 1), LARGEST_PAGE)

        def history(book: Book) -> History:
            sheet = self._sheet(book)
            view = mutes.view(sheet, sheet.task(task_id))
            found = book.find(EVENTS, Where(about=task_id, after=after, limit=most + 1))
            return History(view=view, events=tuple(found[:most]), more=len(found) > most)

        return await self._rooms.look(room_id, history, viewer)

    async def mute(
        self, room_id: RoomId, task_id: str, fence: Fence | None = None, *, is_muted: bool = True
    ) -> TaskView:
        """Let nobody be told that a task waits, or let them be told again."""

        def mute(book: Book) -> TaskView:
            return mutes.mute(self._sheet(book), task_id, is_muted=is_muted)

        return await self._rooms.change(room_id, mute, fence)

    async def lock(
        self,
        room_id: RoomId,
        task_id: str | None,
        *,
        reason: LockReason = LockReason.HUMAN_STOP,
        message: str | None = None,
        fence: Fence | None = None,
    ) -> Lock:
        """Stop the work on a task, or on the whole board."""

        def lock(book: Book) -> Lock:
            sheet = self._admins(book)
            task = None if task_id is None else sheet.task(task_id)
            made = Lock(
                number=book.next_number(LOCKS),
                task_id=task_id,
                reason=reason,
                message=tasks.reason_of(message),
                created_by=sheet.actor,
                created_at=book.now,
            )
            if (there := locks.repeated(sheet.locks(task), made)) is not None:
                return there
            sheet.put_lock(made)
            return made

        return await self._rooms.change(room_id, lock, fence)

    async def unlock(self, room_id: RoomId, lock_id: str, fence: Fence | None = None) -> Lock:
        """Let the work go on."""

        def unlock(book: Book) -> Lock:
            sheet = self._admins(book)
            before = book.get(LOCKS, lock_id)
            cleared = locks.cleared(before, lock_id, sheet.actor, now=book.now)
            if cleared != before:
                sheet.put_lock(cleared)
            return cleared

        return await self._rooms.change(room_id, unlock, fence)

    def _sheet(self, book: Book) -> Sheet:
        return Sheet(book, self._term)

    def _writing(self, book: Book) -> Sheet:
        origins.check(book)
        return self._sheet(book)

    def _admins(self, book: Book) -> Sheet:
        sheet = self._sheet(book)
        sheet.worker()
        if not book.is_admin:
            raise AdminRequired(
                "Only an admin of the room locks its board.", remedy="Ask the person in charge."
            )
        return sheet


def _where(query: Query) -> Where:
    after, limit = query.after, query.bounded + 1
    if query.status is not None:
        return Where(state=query.status.value, after=after, limit=limit)
    return Where(is_open=True if query.open_only else None, after=after, limit=limit)
