"""Who works on a thing now, who reviews it, and what becomes of that when they fall silent.

A lease has no end that is written down. Whether it is held is asked when somebody else wants the
thing: of the holder's process where the machine can tell, else of how long the holder gave no sign.

L1   A lease is held while its holder's session has not ended and the process of it is known to run.
L2   Otherwise it is held for less than a term since the holder's last sign of life: the later of
     the lease's renewal and what its session did. The term is the holder's own.
L3   A clock that people set changes nothing: signs are read on the steady clock, where after a
     restart of the machine each is as long ago as the restart at most.
L4   Of all who claim a thing one has it; the others are told who does.
L5   A lease that is held no more stays its holder's until another claims the thing, which ends it.
L6   Every lease of a thing has a higher epoch than all before it, and so has one that is passed on.
L7   A holder that claims again has the lease that it had, renewed.
L8   Who writes under a lease is its holder, and what it shows of lease and epoch is what they are;
     who is refused is told who holds the thing now. That goes for work, reviews and paths alike.
L9   A lease ends as released by its holder, and as revoked, with a reason, by anybody else.
L10  A lease of a session that ended passes to its agent's next session of the same process.
L11  It also passes if the holder's process is known to be gone: to a session of the same agent;
     or, work alone, to who bears the name, if the agent has no lasting handle and is nowhere else.
L12  It never passes so from a session that has not ended, nor to another owner's.
L13  What is passed on keeps its branch, its pull request and what it is to bring.
L14  Who comes back under another label holds what it held, under that label and the same epoch.
L15  While a lease is held no other worker ends it without an approval: neither by letting it go or
     handing it over, nor by closing its task. A person may, and who works on a task may close it.
"""

import enum
from datetime import datetime, timedelta

import attrs

from letagents.domain.errors import LetAgentsError, Retry
from letagents.domain.follow_ups import Holder
from letagents.domain.ids import SessionId
from letagents.domain.names import name_key
from letagents.domain.sessions import Session
from letagents.domain.ticks import Tick, elapsed


class LeaseKind(enum.Enum):
    """What for."""

    WORK = "work"
    REVIEW = "review"
    PATHS = "paths"


class LeaseStatus(enum.Enum):
    """Whether it counts, and how it ended if not."""

    ACTIVE = "active"
    RELEASED = "released"
    REVOKED = "revoked"
    EXPIRED = "expired"


@attrs.frozen(kw_only=True)
class Lease:
    """Somebody's hold on a thing. `number` is its place among those of its kind in the room."""

    number: int
    kind: LeaseKind
    about: str
    agent_key: str
    session_id: SessionId
    instance_id: str
    actor_label: str
    epoch: int
    renewed: Tick
    created_at: datetime
    updated_at: datetime
    last_heartbeat_at: datetime
    status: LeaseStatus = LeaseStatus.ACTIVE
    branch_ref: str | None = None
    pr_url: str | None = None
    output_intent: str | None = None
    revoked_reason: str | None = None
    term_seconds: float | None = None
    """The term that its holder has set."""

    @property
    def lease_id(self) -> str:
        """What it is called."""
        return f"{self.kind.value}_lease_{self.number}"

    @property
    def is_active(self) -> bool:
        """Whether it has not ended; whether it is held is another question."""
        return self.status is LeaseStatus.ACTIVE

    @property
    def holder(self) -> Holder:
        """Whose it is."""
        return Holder(self.agent_key, self.session_id, self.instance_id, self.actor_label)


@attrs.frozen(kw_only=True)
class Evidence:
    """What is known of a holder now. `alive` is of its process, and None where nobody can tell."""

    alive: bool | None = None
    seen: Tick | None = None
    ended: bool = False


class LeaseHeld(LetAgentsError):
    """Somebody else holds what the call needs."""

    code = "coordination_wrong_actor"
    retry = Retry.LATER


class LeaseMissing(LetAgentsError):
    """The call needs a lease, and there is none."""

    code = "coordination_missing_lease"


class LeaseFenceStale(LetAgentsError):
    """The lease that the call was made under has moved on since."""

    code = "coordination_lease_fence_stale"


class StaleLeaseReference(LetAgentsError):
    """The call names a lease that is not the active one."""

    code = "coordination_stale_lease_reference"


def silence(lease: Lease, evidence: Evidence, tick: Tick) -> timedelta:
    """Return how long ago the holder's last sign of life is."""
    renewed = elapsed(lease.renewed, tick)
    return renewed if evidence.seen is None else min(renewed, elapsed(evidence.seen, tick))


def term_of(lease: Lease, term: timedelta) -> timedelta:
    """Return how long the holder may be silent; `term` where it has set nothing."""
    return term if lease.term_seconds is None else timedelta(seconds=lease.term_seconds)


def is_held(lease: Lease, evidence: Evidence, tick: Tick, term: timedelta) -> bool:
    """Whether nobody else may have the thing now (L1, L2); `term` is that of who asks."""
    if not lease.is_active:
        return False
    runs = evidence.alive is True and not evidence.ended
    return runs or silence(lease, evidence, tick) < term_of(lease, term)


def opened(
    kind: LeaseKind,
    about: str,
    by: Session,
    *,
    number: int,
    before: Lease | None,
    now: datetime,
    tick: Tick,
    intent: str | None = None,
    term: timedelta | None = None,
) -> Lease:
    """Return a new lease of `by`; `before` is the thing's newest one, ended or not (L6)."""
    return Lease(
        number=number,
        kind=kind,
        about=about,
        agent_key=by.agent_key,
        session_id=by.session_id,
        instance_id=by.instance_id,
        actor_label=by.actor_label,
        epoch=before.epoch + 1 if before else 1,
        renewed=tick,
        created_at=now,
        updated_at=now,
        last_heartbeat_at=now,
        branch_ref=by.repo_branch,
        output_intent=intent,
        term_seconds=None if term is None else term.total_seconds(),
    )


@attrs.frozen
class Claimed:
    """What a claim brings: a lease, and the earlier one that it ended, if there was one."""

    lease: Lease
    expired: Lease | None = None


def claim(
    current: Lease | None,
    by: Session,
    *,
    kind: LeaseKind,
    about: str,
    number: int,
    evidence: Evidence,
    now: datetime,
    tick: Tick,
    term: timedelta,
    intent: str | None = None,
) -> Claimed:
    """Decide who has the thing once `by` has claimed it (L4, L5, L7).

    `current` is the newest lease of the thing, ended or not, and `evidence` is of its holder.

    Raises:
        LeaseHeld: somebody else holds it.
    """
    if current is not None and current.is_active and current.session_id == by.session_id:
        return Claimed(renewed(current, now=now, tick=tick, term=term))
    if current is not None and is_held(current, evidence, tick, term):
        raise held(current)
    lease = opened(
        kind, about, by, number=number, before=current, now=now, tick=tick, intent=intent, term=term
    )
    if current is None or not current.is_active:
        return Claimed(lease)
    return Claimed(lease, ended(current, LeaseStatus.EXPIRED, now=now, reason="gave no sign"))


def renewed(lease: Lease, *, now: datetime, tick: Tick, term: timedelta) -> Lease:
    """Return `lease` after a sign of its holder's, whose term is `term`."""
    seconds = term.total_seconds()
    return attrs.evolve(lease, renewed=tick, last_heartbeat_at=now, term_seconds=seconds)


def ended(lease: Lease, status: LeaseStatus, *, now: datetime, reason: str | None = None) -> Lease:
    """Return `lease` after it ended so."""
    return attrs.evolve(lease, status=status, updated_at=now, revoked_reason=reason)


def let_go(lease: Lease, by: Session | None, *, now: datetime, reason: str | None) -> Lease:
    """Return `lease` after `by` ended it, who need not be its holder (L9)."""
    if by is not None and by.session_id == lease.session_id:
        return ended(lease, LeaseStatus.RELEASED, now=now, reason=reason)
    who = by.actor_label if by else "the room's owner"
    return ended(lease, LeaseStatus.REVOKED, now=now, reason=reason or f"ended by {who}")


def check_may_end(lease: Lease, by: Session | None, *, is_held: bool) -> None:
    """Let the worker `by`, or a person where it is None, end `lease` by right (L15).

    Raises:
        LeaseHeld: it is another's, and held.
    """
    if by is None or by.session_id == lease.session_id or not is_held:
        return
    others = {
        LeaseKind.WORK: ", or for the approval to have it: register_task_lease_action_intent"
        f"(task_id={lease.about!r}, action='handoff', target_agent_key={by.agent_key!r})",
    }
    raise LeaseHeld(
        f"{lease.about} is not yours: {who_holds(lease)}.",
        remedy=f"Ask @agent:{lease.agent_key} in the room to let it go"
        f"{others.get(lease.kind, '')}.",
    )


def handed(lease: Lease, to: Session, *, number: int, now: datetime, tick: Tick) -> Lease:
    """Return the lease that `to` has after `lease` was handed over (L6, L13)."""
    new = opened(lease.kind, lease.about, to, number=number, before=lease, now=now, tick=tick)
    return attrs.evolve(
        new, branch_ref=lease.branch_ref, pr_url=lease.pr_url, output_intent=lease.output_intent
    )


def check(
    lease: Lease | None,
    by: Session,
    *,
    kind: LeaseKind,
    about: str,
    lease_id: str | None = None,
    epoch: int | None = None,
    under: LeaseKind | None = None,
) -> None:
    """Let `by` write under `lease`, the active one of the thing; compare what it shows (L8).

    `epoch` is of the kind `under`, where that is said: of what `by` takes itself to have.

    Raises:
        LeaseMissing: there is none.
        LeaseFenceStale, StaleLeaseReference: it is not the one that is shown.
        LeaseHeld: it is another's.
    """
    if lease is None or not lease.is_active:
        raise missing(kind, about)
    is_of_kind = under in (None, kind)
    check_epoch(lease, epoch if is_of_kind else None)
    check_reference(lease, lease_id)
    if lease.session_id != by.session_id:
        raise held(lease)
    if not is_of_kind:
        raise stale(lease, epoch, under)


def check_reference(lease: Lease, lease_id: str | None) -> None:
    """Refuse a call that names another lease than `lease`.

    Raises:
        StaleLeaseReference: it does.
    """
    if lease_id is not None and lease_id != lease.lease_id:
        raise StaleLeaseReference(
            f"lease_id: {lease_id[:80]!a} is not the active {lease.kind.value} lease of "
            f"{lease.about}: {who_holds(lease)}.",
            remedy=f"Pass {lease.lease_id}, or leave lease_id out.",
        )


def check_epoch(lease: Lease, epoch: int | None) -> None:
    """Refuse a call that was made under another epoch than that of `lease`.

    Raises:
        LeaseFenceStale: it was.
    """
    if epoch is not None and epoch != lease.epoch:
        raise stale(lease, epoch)


def stale(lease: Lease, epoch: int | None, under: LeaseKind | None = None) -> LeaseFenceStale:
    """Return the refusal of who was under another lease than `lease`, or an earlier epoch of it."""
    return LeaseFenceStale(
        f"The {(under or lease.kind).value} lease of {lease.about} had epoch {epoch}, and has "
        f"moved on: {who_holds(lease)}.",
        remedy=f"Write nothing more for {lease.about} unless get_board shows that it is yours.",
    )


def over(kind: LeaseKind, about: str, epoch: int | None) -> LeaseFenceStale:
    """Return the refusal of who was under a lease that ended, where nobody has had one since."""
    return LeaseFenceStale(
        f"The {kind.value} lease of {about} had epoch {epoch}, and has ended; nobody has it now.",
        remedy=f"Look at it with get_board(task_id={about!r}), then call again if it still fits.",
    )


def held(lease: Lease) -> LeaseHeld:
    """Return the refusal of who wants what `lease` holds."""
    return LeaseHeld(
        f"{lease.about} is not yours: {who_holds(lease)}.",
        remedy=f"Take another from get_board, or ask @agent:{lease.agent_key} in the room to "
        "release it or hand it over.",
    )


def who_holds(lease: Lease) -> str:
    """Return in words who holds the thing, and under which epoch."""
    does = {LeaseKind.WORK: "works on", LeaseKind.REVIEW: "reviews", LeaseKind.PATHS: "has"}
    return f"{lease.actor_label} {does[lease.kind]} it ({lease.lease_id}, epoch {lease.epoch})"


def missing(kind: LeaseKind, about: str) -> LeaseMissing:
    """Return the refusal of who needs a lease where there is none."""
    call = "claim_task_review" if kind is LeaseKind.REVIEW else "claim_task"
    return LeaseMissing(
        f"There is no active {kind.value} lease of {about}.",
        remedy=f"Call {call}(task_id={about!r}) first.",
    )


def passes(
    lease: Lease,
    holder: Session,
    to: Session,
    *,
    is_own: bool,
    has_exited: bool,
    holder_is_elsewhere: bool,
) -> bool:
    """Whether `lease` passes to `to`, who has just arrived (L10, L11, L12).

    `holder` is the session that the lease is bound to, and `is_own` says whether that is of the
    same owner, `has_exited` whether its process is known to be gone, and `holder_is_elsewhere`
    whether its agent has another session that has not ended.
    """
    if holder.ended_at is None or not is_own:
        return False
    is_same_agent = lease.agent_key == to.agent_key
    if is_same_agent and lease.instance_id == to.instance_id:
        return True
    if not has_exited:
        return False
    return is_same_agent or (
        lease.kind is LeaseKind.WORK
        and holder.worker_id is None
        and name_key(holder.display_name) == name_key(to.display_name)
        and not holder_is_elsewhere
    )


def passed(lease: Lease, to: Session, *, now: datetime, tick: Tick) -> Lease:
    """Return `lease` after it passed to `to` (L6)."""
    return attrs.evolve(
        lease,
        agent_key=to.agent_key,
        session_id=to.session_id,
        instance_id=to.instance_id,
        actor_label=to.actor_label,
        epoch=lease.epoch + 1,
        renewed=tick,
        updated_at=now,
        last_heartbeat_at=now,
    )


def relabelled(lease: Lease, by: Session, *, now: datetime) -> Lease:
    """Return `lease` under the label that its holder has now (L14)."""
    return attrs.evolve(lease, actor_label=by.actor_label, updated_at=now)
