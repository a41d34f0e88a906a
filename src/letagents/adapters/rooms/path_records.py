"""What a room keeps of claimed paths, and what becomes of it when a task's work lease moves.

Claims are found by their checkout and by their repository, so that a hook of git can find them too.
"""

from collections.abc import Iterator

from letagents.adapters.rooms.book import Book, Kind, Where
from letagents.domain import path_claims
from letagents.domain.leases import Lease, LeaseStatus
from letagents.domain.path_claims import PathClaim

PATH_CLAIMS = Kind(
    name="path_claim",
    of=PathClaim,
    key=lambda claim: claim.claim_id,
    number=lambda claim: claim.lease.number,
    state=lambda claim: claim.repository,
    is_open=lambda claim: claim.lease.is_active,
    about=lambda claim: claim.task_id,
    by=lambda claim: str(claim.lease.session_id),
    also=lambda claim: claim.root,
)

_MOST = 500


def open_claims(
    book: Book,
    *,
    task_id: str | None = None,
    repository: str | None = None,
    after: int | None = None,
) -> Iterator[PathClaim]:
    """Yield the claims that have not ended, in the order of their numbers."""
    while True:
        where = Where(is_open=True, about=task_id, state=repository, after=after, limit=_MOST)
        found = book.find(PATH_CLAIMS, where)
        yield from found
        if len(found) < _MOST:
            return
        after = found[-1].lease.number


def task_lease_moved(book: Book, task_id: str, lease: Lease | None) -> None:
    """Let a task's claims go along with its work lease: to `lease`, or to their end (K84)."""
    for claim in list(open_claims(book, task_id=task_id)):
        if lease is not None:
            _pass_on(book, claim, lease)
        else:
            _end(book, claim, "the task's lease ended")


def end_lapsed(book: Book, claim: PathClaim, by: str) -> None:
    """End a claim whose holder has lost its task, since `by` wants what it claimed (K86)."""
    over = path_claims.ended(
        claim, LeaseStatus.EXPIRED, now=book.now, reason=f"gave no sign; {by} claimed it"
    )
    book.put(PATH_CLAIMS, over)


def _pass_on(book: Book, claim: PathClaim, lease: Lease) -> None:
    number = book.next_number(PATH_CLAIMS)
    new = path_claims.passed(claim, lease, number=number, now=book.now)
    if new.claim_id != claim.claim_id:
        _end(book, claim, f"handed to {lease.actor_label}")
    book.put(PATH_CLAIMS, new)


def _end(book: Book, claim: PathClaim, reason: str) -> None:
    over = path_claims.ended(claim, LeaseStatus.RELEASED, now=book.now, reason=reason)
    book.put(PATH_CLAIMS, over)
