"""What a room keeps of claimed paths, and what becomes of it when a task's work lease moves.

Claims are found by their checkout and by their repository, so that a hook of git can find them too.
"""

from collections.abc import Iterator
from typing import TypeVar

import attrs

from letagents.adapters.rooms.book import Book, Kind, Where
from letagents.domain import path_claims
from letagents.domain.leases import Lease, LeaseStatus
from letagents.domain.path_claims import Mode, PathClaim

V = TypeVar("V")

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


@attrs.frozen
class _LeaseAtAGlance:
    number: int
    agent_key: str
    status: LeaseStatus = LeaseStatus.ACTIVE


@attrs.frozen
class ClaimAtAGlance:
    """So much of a claim as tells whether it is in another's way: it is read ten times as fast."""

    lease: _LeaseAtAGlance
    repository: str
    patterns: tuple[str, ...]
    mode: Mode = Mode.EXCLUSIVE

    @property
    def agent_key(self) -> str:
        """Whose it is."""
        return self.lease.agent_key


GLANCES = Kind(
    name=PATH_CLAIMS.name,
    of=ClaimAtAGlance,
    key=lambda claim: f"paths_lease_{claim.lease.number}",
    number=lambda claim: claim.lease.number,
    state=lambda claim: claim.repository,
    is_open=lambda claim: claim.lease.status is LeaseStatus.ACTIVE,
)
"""The same claims; nothing is put down so."""

_MOST = 500


def open_claims(
    book: Book, *, task_id: str | None = None, after: int | None = None
) -> Iterator[PathClaim]:
    """Yield the claims that have not ended, in the order of their numbers."""
    return _open(book, PATH_CLAIMS, Where(is_open=True, about=task_id, after=after, limit=_MOST))


def glances(book: Book, repository: str) -> Iterator[ClaimAtAGlance]:
    """Yield what is to be seen of the claims on a repository that have not ended."""
    return _open(book, GLANCES, Where(is_open=True, state=repository, limit=_MOST))


def whole(book: Book, seen: ClaimAtAGlance) -> PathClaim:
    """Return the claim of which that was seen."""
    claim = book.get(PATH_CLAIMS, GLANCES.key(seen))
    assert claim is not None  # noqa: S101  # it was seen in the same transaction
    return claim


def _open(book: Book, kind: Kind[V], where: Where) -> Iterator[V]:
    while True:
        found = book.find(kind, where)
        yield from found
        if len(found) < where.limit:
            return
        where = attrs.evolve(where, after=kind.number(found[-1]))


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
