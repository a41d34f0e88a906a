"""Leases let go, handed over, and passed on to who comes back; reviews and what comes of them."""

from collections.abc import Collection, Iterator

from letagents.adapters.rooms.book import Book, Where
from letagents.adapters.rooms.kept import absences as kept_absences
from letagents.adapters.rooms.kept import board_records, links, path_records
from letagents.adapters.rooms.kept import intents as kept_intents
from letagents.adapters.rooms.kept.board_records import LEASES, VERDICTS
from letagents.adapters.rooms.kept.board_sheet import Sheet
from letagents.domain import intents, leases, moves, targets, tasks, verdicts
from letagents.domain.board import Handoff, LeaseMoved, Release, ReviewAssign, ReviewClaim, Target
from letagents.domain.events import Decision, EventType
from letagents.domain.intents import Action, Approval, Payload
from letagents.domain.leases import Lease, LeaseKind, LeaseStatus
from letagents.domain.names import primary_label
from letagents.domain.sessions import Session
from letagents.domain.tasks import AdminRequired, Assignee, Task
from letagents.domain.verdicts import Record, ReviewLeaseRequired, Verdict


def lease_action(
    sheet: Sheet, task_id: str, action: Release | Handoff, approval: Approval | None
) -> LeaseMoved:
    """Let the work lease of a task go, or hand it over."""
    task, worker = sheet.task(task_id), sheet.worker()
    if worker is None and _puts_back(sheet, task, action):
        return _put_back(sheet, task, action.reason)
    lease = _referred(sheet, LeaseKind.WORK, task, action)
    is_holder = worker is not None and worker.session_id == lease.session_id
    if isinstance(action, Handoff):
        return _handed(sheet, task, lease, action, approval, is_holder=is_holder)
    if is_holder or approval in (None, Approval()):
        _check_may_end(sheet, lease, worker, "lets another's lease go")
    else:
        _spend(sheet, task, action, approval, always=True)
    after = tasks.given_back(task, now=sheet.book.now)
    over = sheet.let_go(lease, action.reason)
    sheet.note(after, EventType.RELEASED, before=task.status, lease=over, reason=action.reason)
    if after is not task:
        lost = sheet.end_leases(after, f"the task is {after.status.value}")
        left = () if is_holder else (lease.agent_key,)
        sheet.put_task(task, after, concerns=(*left, *(one.agent_key for one in lost)))
    return LeaseMoved(view=sheet.view(after), ended=over)


def _puts_back(sheet: Sheet, task: Task, action: Release | Handoff) -> bool:
    """Whether a person lets go for those who were put on a task and never began."""
    is_bare = isinstance(action, Release) and action.lease_id is None and action.epoch is None
    return is_bare and task.status in tasks.WORKING and sheet.active(LeaseKind.WORK, task) is None


def _put_back(sheet: Sheet, task: Task, reason: str | None) -> LeaseMoved:
    after = tasks.given_back(task, now=sheet.book.now)
    lost = sheet.end_leases(after, f"the task is {after.status.value}")
    sheet.note(after, EventType.RELEASED, before=task.status, reason=reason)
    sheet.put_task(task, after, concerns=(task.assignee_key, *(one.agent_key for one in lost)))
    return LeaseMoved(view=sheet.view(after))


def _referred(sheet: Sheet, kind: LeaseKind, task: Task, action: Release | Handoff) -> Lease:
    """Return the active lease that a call means. Raises as `leases.check`, but for LeaseHeld."""
    lease = sheet.active(kind, task)
    if lease is None:
        raise leases.missing(kind, task.task_id)
    leases.check_reference(lease, action.lease_id)
    leases.check_epoch(lease, action.epoch)
    return lease


def _check_may_end(sheet: Sheet, lease: Lease, worker: Session | None, what: str) -> None:
    is_holder = worker is not None and worker.session_id == lease.session_id
    if not is_holder and not sheet.book.is_admin:
        raise AdminRequired(
            f"Only the holder or an admin of the room {what}.",
            remedy="Ask the holder, or the person in charge.",
        )
    leases.check_may_end(lease, worker, is_held=sheet.is_held(lease))


def _handed(
    sheet: Sheet,
    task: Task,
    lease: Lease,
    action: Handoff,
    approval: Approval | None,
    *,
    is_holder: bool,
) -> LeaseMoved:
    book = sheet.book
    moves.check_under_way(task)
    sheet.check_locks(task)
    to = _target(book, action.target)
    by_right = is_holder or (book.is_admin and not sheet.is_held(lease))
    _spend(sheet, task, action, approval, always=not by_right)
    over = sheet.let_go(lease, action.reason, is_handed_on=True)
    number = book.next_number(LEASES[lease.kind])
    new = leases.handed(lease, to, number=number, now=book.now, tick=book.tick)
    sheet.put_lease(new)
    path_records.task_lease_moved(book, task.task_id, new)
    kept_absences.watch(book, to.session_id)
    sheet.end_own_review(task, to.agent_key)
    after = tasks.given_to(task, to, now=book.now)
    sheet.note(after, EventType.HANDED_OVER, before=task.status, lease=new, reason=action.reason,
               detail=f"to {to.actor_label}")  # fmt: skip
    lost = None if is_holder else lease.agent_key
    sheet.put_task(task, after, concerns=(to.agent_key, lost))
    return LeaseMoved(view=sheet.view(after), ended=over, lease=new)


def _spend(
    sheet: Sheet, task: Task, action: Release | Handoff, approval: Approval | None, *, always: bool
) -> None:
    target = action.target if isinstance(action, Handoff) else None

    def asked() -> Payload:
        return intents.lease_payload(
            task.task_id,
            "release" if target is None else "handoff",
            lease_id=action.lease_id,
            target_actor_key=target.agent_key if target else None,
            target_agent_session_id=target.session_id if target else None,
        )

    standing = board_records.standing(task)
    kept_intents.spend(
        sheet.book, Action.TASK_OVERRIDE, asked, approval, task=standing, always=always
    )


def _target(book: Book, target: Target) -> Session:
    return targets.resolved(target, book.sessions(), lambda one: links.is_alive(book, one))


# --- reviews --------------------------------------------------------------------------------------


def review_action(
    sheet: Sheet, task_id: str, action: ReviewClaim | ReviewAssign | Release
) -> LeaseMoved:
    """Take the review of a task, give it to another, or let it go."""
    if isinstance(action, ReviewClaim):
        return _claimed(sheet, task_id, sheet.sole_worker(), action.reason)
    if isinstance(action, Release):
        return _released(sheet, sheet.task(task_id), action)
    if not sheet.book.is_admin:
        raise AdminRequired(
            "Only an admin of the room assigns a review.", remedy="Call claim_task_review."
        )
    task = sheet.task(task_id)
    moves.check_reviewable(task)
    return _assigned(sheet, task, _target(sheet.book, action.target), action.reason)


def _assigned(sheet: Sheet, task: Task, to: Session, reason: str | None) -> LeaseMoved:
    """Give the review to a worker, and tell it."""
    before = sheet.active(LeaseKind.REVIEW, task)
    moved = _claimed(sheet, task.task_id, to, reason)
    if moved.lease is not None and (before is None or before.lease_id != moved.lease.lease_id):
        by, whom = primary_label(sheet.actor), primary_label(to.actor_label)
        key = f"board:{moved.lease.lease_id}:assigned"
        told = f"review given to {whom} by {by}"
        sheet.say(task, told, key=key, concerns=(to.agent_key,))
    return moved


def _claimed(sheet: Sheet, task_id: str, by: Session, reason: str | None) -> LeaseMoved:
    task = sheet.task(task_id)
    work = sheet.active(LeaseKind.WORK, task)
    moves.check_review(task, by, work.agent_key if work else None)
    before = sheet.active(LeaseKind.REVIEW, task)
    lease = sheet.claim(LeaseKind.REVIEW, task, by)
    if before is None or before.lease_id != lease.lease_id:
        given = None if by == sheet.book.caller else f"to {by.actor_label}"
        sheet.note(task, EventType.REVIEW_CLAIMED, lease=lease, reason=reason, detail=given)
    return LeaseMoved(view=sheet.view(task), lease=lease)


def _released(sheet: Sheet, task: Task, action: Release) -> LeaseMoved:
    lease = _referred(sheet, LeaseKind.REVIEW, task, action)
    _check_may_end(sheet, lease, sheet.worker(), "lets another's review go")
    over = sheet.let_go(lease, action.reason)
    sheet.note(task, EventType.REVIEW_RELEASED, lease=over, reason=action.reason)
    if over.status is LeaseStatus.REVOKED:
        told = (
            f"review let go for {primary_label(over.actor_label)} by {primary_label(sheet.actor)}"
        )
        key = f"board:{over.lease_id}:revoked"
        sheet.say(task, told, key=key, concerns=(over.agent_key,))
    return LeaseMoved(view=sheet.view(task), ended=over)


def verdict(sheet: Sheet, task_id: str, said: Verdict, epoch: int | None = None) -> Record:
    """Keep what the reviewer of a task says of it."""
    by, task = sheet.sole_worker(), sheet.task(task_id)
    if (made := _said_before(sheet.book, task, by, said)) is not None:
        return verdicts.repeated(made, said)
    moves.check_reviewable(task)
    lease = sheet.active(LeaseKind.REVIEW, task)
    if lease is not None:
        leases.check_epoch(lease, epoch)
    if lease is None or lease.session_id != by.session_id:
        raise _no_reviewer(sheet, task, lease)
    return _noted(sheet, task, by, said, lease)


def _no_reviewer(sheet: Sheet, task: Task, lease: Lease | None) -> ReviewLeaseRequired:
    happened = f"You do not hold the review of {task.task_id}"
    if lease is not None and sheet.is_held(lease):
        happened += f": {leases.who_holds(lease)}"
        remedy = f"Tell @agent:{lease.agent_key} with send_message what you have found."
    else:
        remedy = f"Call claim_task_review(task_id={task.task_id!r}) first."
    return ReviewLeaseRequired(f"{happened}.", remedy=remedy)


def _said_before(book: Book, task: Task, by: Session, said: Verdict) -> Record | None:
    found = book.find(VERDICTS, Where(about=task.task_id, also=said.key))
    return next((one for one in found if one.by_key == by.agent_key), None)


def _noted(sheet: Sheet, task: Task, by: Session, said: Verdict, lease: Lease) -> Record:
    record = Record(
        number=sheet.book.next_number(VERDICTS),
        task_id=task.task_id,
        verdict=said,
        by=by.actor_label,
        by_key=by.agent_key,
        lease_id=lease.lease_id,
        epoch=lease.epoch,
        at=sheet.book.now,
    )
    sheet.renew(lease)
    sheet.book.put(VERDICTS, record)
    what = f"{said.kind.value} of {said.head_sha[:12]}"
    sheet.note(task, EventType.REVIEW_DECIDED, lease=lease, reason=said.body or None, detail=what)
    key = f"board:{record.record_id}"
    sheet.say(task, f"review: {what} by {by.display_name}", key=key, concerns=(task.assignee_key,))
    return record


# --- coming back ----------------------------------------------------------------------------------


def resumed(book: Book, session: Session) -> list[Lease]:
    """Return the leases that are a session's own, under the label that it has now."""
    where = Where(is_open=True, by=str(session.session_id))
    own = [lease for kind in LEASES.values() for lease in book.find(kind, where)]
    return [_labelled(book, lease, session) for lease in own]


def _labelled(book: Book, lease: Lease, session: Session) -> Lease:
    if lease.actor_label == session.actor_label:
        return lease
    new = leases.relabelled(lease, session, now=book.now)
    book.put(LEASES[lease.kind], new)
    task = board_records.task(book, lease.about)
    if lease.kind is LeaseKind.WORK and task.assignee_key == session.agent_key:
        patch = tasks.Patch(assignee=Assignee.of(session))
        book.put(board_records.TASKS, tasks.changed(task, patch, now=book.now))
    return new


def adopted(sheet: Sheet, session: Session) -> list[Lease]:
    """Pass to a session that has just arrived what earlier ones of it left (L10 to L12)."""
    book = sheet.book
    left = [lease for lease in _all(book) if _has_left(book, lease)]
    # Most holders have not left; and to read who else is there takes longer than all the rest.
    there = {one.agent_key for one in book.sessions()} if left else set()
    passing = [one for one in left if _passes(book, one, session, there)]
    return [_passed(sheet, lease, session) for lease in passing]


def _all(book: Book) -> Iterator[Lease]:
    for kind in LEASES.values():
        yield from book.find(kind, Where(is_open=True))


def _has_left(book: Book, lease: Lease) -> bool:
    holder = book.session(lease.session_id)
    return holder is not None and holder.ended_at is not None


def _passes(book: Book, lease: Lease, session: Session, there: Collection[str]) -> bool:
    holder = book.session(lease.session_id)
    assert holder is not None  # noqa: S101  # it has left
    return leases.passes(
        lease,
        holder,
        session,
        has_exited=links.has_exited(book, holder, session),
        is_own=links.have_one_owner(book, holder, session),
        holder_is_elsewhere=lease.agent_key in there,
    )


def _passed(sheet: Sheet, lease: Lease, session: Session) -> Lease:
    new = leases.passed(lease, session, now=sheet.book.now, tick=sheet.book.tick)
    sheet.put_lease(new)
    task = sheet.task(lease.about)
    if lease.kind is LeaseKind.WORK:
        path_records.task_lease_moved(sheet.book, task.task_id, new)
    if lease.kind is LeaseKind.WORK and task.assignee_key == lease.agent_key:
        task = tasks.changed(task, tasks.Patch(assignee=Assignee.of(session)), now=sheet.book.now)
        sheet.book.put(board_records.TASKS, task)
    detail = f"from {lease.actor_label}"
    sheet.note(task, EventType.ADOPTED, lease=new, decision=Decision.RECORD, detail=detail)
    return new
