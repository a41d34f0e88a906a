"""The boards of rooms on a server, through its HTTP interface. (Source: hosted-api 3.8.)"""

from collections.abc import Callable, Collection
from typing import Any, TypeVar

import attrs

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.meant import about
from letagents.adapters.rooms.hosted.projects import Absent
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
from letagents.domain.errors import NotAvailable
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.intents import Approval
from letagents.domain.leases import LeaseKind
from letagents.domain.locks import Lock, LockReason
from letagents.domain.tasks import Patch, Proposal, Status, UnknownTask
from letagents.domain.verdicts import Record, Verdict
from letagents.wire.http import board as wire
from letagents.wire.http import board_asks as asks
from letagents.wire.http import credentials, rooms
from letagents.wire.http import leases as wire_leases
from letagents.wire.http.places import part
from letagents.wire.http.reading import Fields

T = TypeVar("T")


@attrs.frozen
class HostedBoard:
    """The boards of rooms on one server, used by one account."""

    _calls: Calls

    async def propose(
        self,
        room_id: RoomId,
        proposal: Proposal,
        fence: Fence | None = None,
        *,
        approval: Approval | None = None,
    ) -> Admitted:
        """Put a task on the board."""
        asked = asks.plain_proposal(proposal) | asks.plain_approval(approval)
        return await self._calls.projects.either(
            room_id,
            lambda path: self._calls.send(
                "POST",
                f"{path}/tasks",
                asked | credentials.in_body_of_anybody(fence),
                _admitted,
                headers=credentials.origin(fence),
            ),
        )

    async def tasks(self, room_id: RoomId, query: Query, viewer: Fence | None = None) -> TaskPage:
        """Return a page of the board."""
        return await self._calls.projects.either(
            room_id,
            lambda path: self._calls.get(
                f"{path}/tasks",
                wire.page,
                query=asks.plain_query(query),
                headers=credentials.in_headers(viewer),
            ),
        )

    async def task(self, room_id: RoomId, task_id: str, viewer: Fence | None = None) -> TaskView:
        """Return one task."""
        try:
            return await self._calls.projects.either(
                room_id,
                lambda path: self._calls.get(
                    f"{path}{_of(task_id)}",
                    about(task_id, _id_of, wire.view),
                    headers=credentials.in_headers(viewer),
                ),
            )
        except Absent as error:
            raise UnknownTask(task_id) from error

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
        """Change a task."""
        asked = asks.plain_patch(patch) | asks.plain_approval(approval) | asks.plain_where(where)
        asked |= asks.plain_epoch(epoch, under) | credentials.in_body_of_anybody(fence)
        shown = credentials.origin(fence)
        try:
            return await self._calls.projects.either(
                room_id,
                lambda path: self._calls.send(
                    "PATCH",
                    f"{path}{_of(task_id)}",
                    asked,
                    about(task_id, _id_of, wire.view),
                    headers=shown,
                ),
            )
        except Absent as error:
            raise UnknownTask(task_id) from error

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
        asked = asks.plain_action(action) | asks.plain_approval(approval)
        return await self._send(room_id, task_id, "/lease-action", asked, fence, _moved(task_id))

    async def review_action(
        self,
        room_id: RoomId,
        task_id: str,
        action: ReviewClaim | ReviewAssign | Release,
        fence: Fence | None = None,
    ) -> LeaseMoved:
        """Take the review of a task, give it to another, or let it go."""
        asked, read = asks.plain_action(action), _moved(task_id)
        return await self._send(room_id, task_id, "/review-lease-action", asked, fence, read)

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
        asked = asks.plain_verdict(verdict) | asks.plain_epoch(epoch)
        return await self._send(
            room_id,
            task_id,
            "/review-verdict",
            asked,
            fence,
            about(task_id, lambda kept: kept.task_id, lambda kept: wire.record(kept, verdict)),
        )

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
        try:
            return await self._calls.get(
                f"{_path(room_id, task_id)}/history",
                about(task_id, lambda told: _id_of(told.view), wire.history),
                query={"after": after, "limit": limit},
                headers=credentials.in_headers(viewer),
            )
        except Absent as error:
            raise _not_there("the history of tasks") from error

    async def mute(
        self, room_id: RoomId, task_id: str, fence: Fence | None = None, *, is_muted: bool = True
    ) -> TaskView:
        """Let nobody be told that a task waits, or let them be told again."""
        asked = {"muted": is_muted}
        read = about(task_id, _id_of, wire.view)
        return await self._send(room_id, task_id, "/stale-prompt-mute", asked, fence, read)

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
        asked = asks.plain_lock(task_id, reason, message)
        return await self._lock("POST", f"{rooms.path(room_id)}/locks", asked, fence)

    async def unlock(self, room_id: RoomId, lock_id: str, fence: Fence | None = None) -> Lock:
        """Let the work go on."""
        path = f"{rooms.path(room_id)}/locks/{part(lock_id)}"
        return await self._lock("DELETE", path, {}, fence)

    async def _lock(
        self, method: str, path: str, asked: dict[str, Any], fence: Fence | None
    ) -> Lock:
        try:
            return await self._calls.send(
                method,
                path,
                asked | credentials.in_body_of_anybody(fence),
                lambda answer: wire_leases.lock(Fields(answer).document.get("lock")),
            )
        except Absent as error:
            raise _not_there("locks") from error

    async def _send(
        self,
        room_id: RoomId,
        task_id: str,
        verb: str,
        asked: dict[str, Any],
        fence: Fence | None,
        read: Callable[[Any], T],
    ) -> T:
        try:
            return await self._calls.send(
                "POST",
                f"{_path(room_id, task_id)}{verb}",
                asked | credentials.in_body_of_anybody(fence),
                read,
                headers=credentials.origin(fence),
            )
        except Absent as error:
            raise UnknownTask(task_id) from error


def _admitted(made: Any) -> Admitted:
    return Admitted(view=wire.view(made), is_new=not Fields(made).flag("idempotent"))


def _id_of(view: TaskView) -> str:
    return view.task.task_id


def _moved(task_id: str) -> Callable[[Any], LeaseMoved]:
    return about(task_id, lambda moved: _id_of(moved.view), wire.moved)


def _path(room_id: RoomId, task_id: str) -> str:
    return f"{rooms.path(room_id)}{_of(task_id)}"


def _of(task_id: str) -> str:
    return f"/tasks/{part(task_id)}"


def _not_there(what: str) -> NotAvailable:
    return NotAvailable(
        f"The server of these rooms has no such thing as {what}.",
        remedy="Ask the person in charge; get_board shows how tasks stand.",
    )
