"""Paths of a repository that somebody works on: claimed for a task, as long as one holds that task.

A claim is a lease of the kind `paths`. Whether it is held is not asked of it, but of the work lease
that it hangs on: the two never disagree.

K84  Only who holds a task claims paths for it; the claim has the epoch of that work lease, passes
     on with it, and ends with it.
K85  Two agents' claims on one repository do not overlap unless both are shared; who is refused is
     told who has which pattern, and for which task.
K86  What was claimed by a holder who has lost its task to silence is free: whoever claims it ends
     the earlier claim.
K87  Who claims again what it has claimed has the claim that it had.
K88  A call claims 1 to 64 patterns, and a task has at most 64 claims.
K89  A checkout's repository is its remote, or without one the git folder that its worktrees share;
     where there is no checkout, it is that whose remote is named, or else the room's, if the room
     is a repository's.
"""

import enum
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

import attrs

from letagents.domain import git_rooms, leases
from letagents.domain.errors import LetAgentsError, Malformed, Retry
from letagents.domain.git_rooms import Checkout
from letagents.domain.ids import RoomId, quoted
from letagents.domain.leases import Lease, LeaseKind, LeaseStatus
from letagents.domain.path_patterns import Pattern
from letagents.domain.sessions import Session
from letagents.domain.ticks import Tick

MOST_PATTERNS = 64
MOST_CLAIMS = 64
PAGE = 100
LARGEST_PAGE = 250


class Mode(enum.Enum):
    """Whether others may have the same paths."""

    EXCLUSIVE = "exclusive"
    SHARED = "shared"


class PathsHeld(LetAgentsError):
    """Somebody else has paths that the call wants."""

    code = "paths_held"
    retry = Retry.LATER


class TooManyClaims(LetAgentsError):
    """The task has as many claims as one may have."""

    code = "too_many_path_claims"


class UnknownClaim(LetAgentsError):
    """There is no such claim, or it is not the caller's."""

    code = "unknown_path_claim"


class UnknownRepository(LetAgentsError):
    """Nothing tells which repository the patterns are of."""

    code = "unknown_repository"


@attrs.frozen(kw_only=True)
class Wanted:
    """What somebody wants to claim. `root` is the checkout in which it works."""

    task_id: str
    patterns: tuple[Pattern, ...]
    repository: str
    mode: Mode = Mode.EXCLUSIVE
    root: str | None = None
    epoch: int | None = None


@attrs.frozen(kw_only=True)
class PathClaim:
    """Somebody's hold on paths of a repository, for a task."""

    lease: Lease
    repository: str
    patterns: tuple[str, ...]
    mode: Mode = Mode.EXCLUSIVE
    root: str | None = None

    @property
    def claim_id(self) -> str:
        """What it is called."""
        return self.lease.lease_id

    @property
    def task_id(self) -> str:
        """The task that it is for."""
        return self.lease.about

    @property
    def agent_key(self) -> str:
        """Whose it is."""
        return self.lease.agent_key


@attrs.frozen(kw_only=True)
class ClaimView:
    """A claim, and whether it keeps others off now."""

    claim: PathClaim
    is_held: bool


@attrs.frozen(kw_only=True)
class Granted:
    """A claim that somebody has; `is_new` says that it did not have it before."""

    claim: PathClaim
    is_new: bool = True


@attrs.frozen(kw_only=True)
class Query:
    """Which claims are asked for: those that have not ended, of a task, matching a path.

    They come in the order of their numbers, those after the claim `after`.
    """

    task_id: str | None = None
    path: str | None = None
    after: int = 0
    limit: int = PAGE

    @property
    def bounded(self) -> int:
        """How many are given at most."""
        return min(max(self.limit, 1), LARGEST_PAGE)

    def fits(self, claim: PathClaim) -> bool:
        """Whether `claim` is asked for, as far as its paths go."""
        return self.path is None or any(Pattern(text).matches(self.path) for text in claim.patterns)


# --- what is wanted -----------------------------------------------------------------------------


def patterns_of(texts: Sequence[str]) -> tuple[Pattern, ...]:
    """Return the patterns that `texts` spell, each once.

    Raises:
        Malformed: there are none, too many, or one is no pattern.
    """
    if not 1 <= len(texts) <= MOST_PATTERNS:
        raise Malformed(
            f"patterns: {len(texts)} were passed.",
            remedy=f"Pass 1 to {MOST_PATTERNS} patterns; a folder's name means all below it.",
        )
    return tuple(dict.fromkeys(Pattern.parse(text) for text in texts))


def claim_number(claim_id: str, field: str = "claim_id") -> int:
    """Return the number of the claim of that name. Raises Malformed."""
    number = claim_id.removeprefix(f"{LeaseKind.PATHS.value}_lease_")
    if number == claim_id or not number.isascii() or not number.isdigit() or len(number) > 9:
        raise Malformed(
            f"{field}: {quoted(claim_id)} is not the id of a claim.",
            remedy="Pass an id as list_path_claims shows it, such as paths_lease_3.",
        )
    return int(number)


def named_repository(remote: str) -> str:
    """Return the repository whose remote somebody names.

    Raises:
        Malformed: it is none that others could know.
    """
    named = git_rooms.repository_room(remote)
    if named is None:
        raise Malformed(  # not quoted: a password may stand in it
            "repository: this names no repository.",
            remedy="Pass what `git remote get-url origin` prints, or host/owner/name.",
        )
    return named


def repository_of(checkout: Checkout | None, room_id: RoomId, cwd: str | None = None) -> str:
    """Return the name of the repository in which somebody works, in `cwd` if it says so (K89).

    Raises:
        UnknownRepository: there is neither a checkout nor a room of a repository.
    """
    if checkout is not None:
        return checkout.repository or f"git-dir:{checkout.git_dir or checkout.root}"
    room = git_rooms.behind(room_id).repository if cwd is None else None
    if room is not None and git_rooms.repository_room(str(room)) == str(room):
        return str(room)
    raise UnknownRepository(
        "cwd: there is no git checkout there."
        if cwd is not None
        else "cwd: there is no git checkout here, and this room is not that of a repository.",
        remedy="Pass cwd, a folder inside the checkout in which you work; or instead repository, "
        "what `git remote get-url origin` prints there.",
    )


# --- deciding -----------------------------------------------------------------------------------


class Claimed(Protocol):
    """What of a claim tells whether it is in another's way."""

    @property
    def agent_key(self) -> str:
        """Whose it is."""
        ...

    @property
    def repository(self) -> str:
        """Where."""
        ...

    @property
    def patterns(self) -> tuple[str, ...]:
        """Of what."""
        ...

    @property
    def mode(self) -> Mode:
        """Whether others may have it too."""
        ...


def meeting(wanted: Wanted, claim: Claimed, agent_key: str) -> tuple[str, str] | None:
    """Return a pattern that an agent wants and one of `claim` that meet and may not (K85)."""
    if claim.agent_key == agent_key or claim.repository != wanted.repository:
        return None
    if wanted.mode is claim.mode is Mode.SHARED:
        return None
    for text in claim.patterns:
        theirs = Pattern(text)
        for ours in wanted.patterns:
            if ours.overlaps(theirs):
                return ours.text, text
    return None


def same(claims: Iterable[PathClaim], wanted: Wanted, by: Session) -> PathClaim | None:
    """Return the claim of `by` that is what it wants (K87)."""
    texts = {one.text for one in wanted.patterns}
    for claim in claims:
        is_own = claim.lease.session_id == by.session_id and claim.task_id == wanted.task_id
        is_here = claim.repository == wanted.repository and claim.mode is wanted.mode
        if is_own and is_here and set(claim.patterns) == texts:
            return claim
    return None


def check_count(task_id: str, count: int) -> None:
    """Let a task with so many claims have one more. Raises TooManyClaims (K88)."""
    if count >= MOST_CLAIMS:
        raise TooManyClaims(
            f"{task_id} has {count} claims of paths.",
            remedy=f"Call release_paths(task_id={task_id!r}), then claim whole folders.",
        )


def held(claim: PathClaim, ours: str, theirs: str) -> PathsHeld:
    """Return the refusal of who wants what `claim` holds."""
    lease, shared = claim.lease, " (shared)" if claim.mode is Mode.SHARED else ""
    return PathsHeld(
        f"patterns: {quoted(ours)} meets {quoted(theirs)}{shared}, which {lease.actor_label} has "
        f"for {claim.task_id} ({claim.claim_id}, epoch {lease.epoch}). Nothing was claimed.",
        remedy="Claim less, work on something else meanwhile, or ask "
        f"@agent:{lease.agent_key} in the room to release it.",
    )


def opened(
    wanted: Wanted, work: Lease, by: Session, *, number: int, now: datetime, tick: Tick
) -> PathClaim:
    """Return a new claim of `by`, which holds the task under the lease `work` (K84)."""
    lease = leases.opened(
        LeaseKind.PATHS, wanted.task_id, by, number=number, before=None, now=now, tick=tick
    )
    return PathClaim(
        lease=attrs.evolve(lease, epoch=work.epoch),
        repository=wanted.repository,
        patterns=tuple(one.text for one in wanted.patterns),
        mode=wanted.mode,
        root=wanted.root,
    )


def passed(claim: PathClaim, work: Lease, *, number: int, now: datetime) -> PathClaim:
    """Return the claim that the task's next holder has in place of `claim` (K84).

    An agent's own next session goes on in its checkout, under the same name; another agent begins
    a new claim, since nobody knows where it works.
    """
    is_same_agent = claim.lease.agent_key == work.agent_key
    lease = attrs.evolve(
        work,
        kind=LeaseKind.PATHS,
        number=claim.lease.number if is_same_agent else number,
        created_at=claim.lease.created_at if is_same_agent else now,
        updated_at=now,
        output_intent=None,
    )
    return attrs.evolve(claim, lease=lease, root=claim.root if is_same_agent else None)


def ended(claim: PathClaim, status: LeaseStatus, *, now: datetime, reason: str) -> PathClaim:
    """Return `claim` after it ended so."""
    return attrs.evolve(claim, lease=leases.ended(claim.lease, status, now=now, reason=reason))


def check_release(
    claim: PathClaim | None, by: Session, *, claim_id: str, task_id: str
) -> PathClaim:
    """Return `claim` if `by` may let it go. Raises UnknownClaim."""
    if claim is None or not claim.lease.is_active or claim.task_id != task_id:
        raise UnknownClaim(
            f"claim_id: {task_id} has no open claim {quoted(claim_id)}.",
            remedy=f"Call list_path_claims(task_id={task_id!r}) for those it has.",
        )
    if claim.lease.session_id != by.session_id:
        raise UnknownClaim(
            f"claim_id: {claim_id} is not yours: {leases.who_holds(claim.lease)}.",
            remedy=f"Ask @agent:{claim.lease.agent_key} in the room to release it.",
        )
    return claim
