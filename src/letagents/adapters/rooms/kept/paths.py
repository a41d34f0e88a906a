"""The claimed paths of rooms that are kept in books."""

from datetime import timedelta

import attrs

from letagents.adapters.rooms.book import Book, Keeping
from letagents.adapters.rooms.kept import board_records, path_records
from letagents.adapters.rooms.kept.board import TERM
from letagents.adapters.rooms.kept.board_sheet import Sheet
from letagents.adapters.rooms.kept.path_records import PATH_CLAIMS, open_claims
from letagents.domain import leases, path_claims
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.leases import Lease, LeaseKind, LeaseStatus
from letagents.domain.path_claims import ClaimView, Granted, PathClaim, Query, Wanted
from letagents.domain.sessions import Session
from letagents.ports.path_claims import PathClaimPage


@attrs.frozen
class KeptPaths:
    """The claimed paths of rooms that are kept in books."""

    _rooms: Keeping
    _term: timedelta = TERM

    async def claim(self, room_id: RoomId, wanted: Wanted, fence: Fence | None = None) -> Granted:
        """Claim paths for a task that the caller holds."""

        def claim(book: Book) -> Granted:
            return _claimed(Sheet(book, self._term), wanted)

        return await self._rooms.change(room_id, claim, fence)

    async def release(
        self,
        room_id: RoomId,
        task_id: str,
        *,
        claim_id: str | None = None,
        epoch: int | None = None,
        fence: Fence | None = None,
    ) -> tuple[PathClaim, ...]:
        """Let one claim of a task go, or all that the caller has for it."""

        def release(book: Book) -> tuple[PathClaim, ...]:
            return _released(Sheet(book, self._term), task_id, claim_id, epoch)

        return await self._rooms.change(room_id, release, fence)

    async def claims(
        self, room_id: RoomId, query: Query, viewer: Fence | None = None
    ) -> PathClaimPage:
        """Return a page of the claims that have not ended."""
        return await self._rooms.look(room_id, lambda book: _page(book, query, self._term), viewer)


def _claimed(sheet: Sheet, wanted: Wanted) -> Granted:
    by, book = sheet.sole_worker(), sheet.book
    work = _work_of(sheet, wanted, by)
    mine = list(open_claims(book, task_id=wanted.task_id))
    if (before := path_claims.same(mine, wanted, by)) is not None:
        return Granted(claim=_moved(book, before, wanted.root), is_new=False)
    path_claims.check_count(wanted.task_id, len(mine))
    lapsed = _in_the_way(sheet, wanted, by)
    number = book.next_number(PATH_CLAIMS)
    claim = path_claims.opened(wanted, work, by, number=number, now=book.now, tick=book.tick)
    for over in lapsed:
        path_records.end_lapsed(book, over, by.actor_label)
    book.put(PATH_CLAIMS, claim)
    return Granted(claim=claim)


def _work_of(sheet: Sheet, wanted: Wanted, by: Session) -> Lease:
    work = sheet.active(LeaseKind.WORK, sheet.task(wanted.task_id))
    leases.check(work, by, kind=LeaseKind.WORK, about=wanted.task_id, epoch=wanted.epoch)
    assert work is not None  # noqa: S101  # otherwise the check has raised
    return work


def _in_the_way(sheet: Sheet, wanted: Wanted, by: Session) -> list[PathClaim]:
    """Return the claims that lapsed and would be in the way. Raises PathsHeld of one that did not.

    Patterns are compared first: to ask after a holder takes longer.
    """
    lapsed = []
    for seen in path_records.glances(sheet.book, wanted.repository):
        if (met := path_claims.meeting(wanted, seen, by.agent_key)) is None:
            continue
        claim = path_records.whole(sheet.book, seen)
        if _is_held(sheet.book, claim, sheet.term):
            raise path_claims.held(claim, *met)
        lapsed.append(claim)
    return lapsed


def _is_held(book: Book, claim: PathClaim, term: timedelta) -> bool:
    work = board_records.active(book, LeaseKind.WORK, claim.task_id)
    return work is not None and board_records.is_held(book, work, term)


def _moved(book: Book, claim: PathClaim, root: str | None) -> PathClaim:
    """Return a claim that is repeated, which may be from another checkout."""
    if root is None or claim.root == root:
        return claim
    moved = attrs.evolve(claim, root=root)
    book.put(PATH_CLAIMS, moved)
    return moved


def _released(
    sheet: Sheet, task_id: str, claim_id: str | None, epoch: int | None
) -> tuple[PathClaim, ...]:
    by, book = sheet.sole_worker(), sheet.book
    work = sheet.active(LeaseKind.WORK, sheet.task(task_id))
    if work is not None:  # without one there are no claims either
        leases.check_epoch(work, epoch)
    if claim_id is None:
        found = [
            claim
            for claim in open_claims(book, task_id=task_id)
            if claim.lease.session_id == by.session_id
        ]
    else:
        one = book.get(PATH_CLAIMS, claim_id)
        found = [path_claims.check_release(one, by, claim_id=claim_id, task_id=task_id)]
    over = [
        path_claims.ended(one, LeaseStatus.RELEASED, now=book.now, reason="released")
        for one in found
    ]
    for claim in over:
        book.put(PATH_CLAIMS, claim)
    return tuple(over)


def _page(book: Book, query: Query, term: timedelta) -> PathClaimPage:
    found: list[PathClaim] = []
    for claim in open_claims(book, task_id=query.task_id, after=query.after or None):
        if not query.fits(claim):
            continue
        if len(found) == query.bounded:
            return _shown(book, found, term, more=True)
        found.append(claim)
    return _shown(book, found, term, more=False)


def _shown(book: Book, claims: list[PathClaim], term: timedelta, *, more: bool) -> PathClaimPage:
    views = tuple(ClaimView(claim=one, is_held=_is_held(book, one, term)) for one in claims)
    return PathClaimPage(views, more, claims[-1].lease.number if claims else 0)
