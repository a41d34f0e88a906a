"""Tasks put on the board, and moved there: the checks in the order that hosted rooms have."""

from collections.abc import Iterable

import attrs

from letagents.adapters.rooms.book import Where
from letagents.adapters.rooms.kept import board_records, links
from letagents.adapters.rooms.kept import intents as kept_intents
from letagents.adapters.rooms.kept.board_records import TASKS, WORK_LEASES
from letagents.adapters.rooms.kept.board_sheet import Sheet
from letagents.domain import approvals, intents, leases, moves, tasks
from letagents.domain.board import Admitted
from letagents.domain.errors import KeyReused, Malformed, UnknownMessage
from letagents.domain.events import Decision, EventType
from letagents.domain.intents import Action, Approval, Payload
from letagents.domain.leases import Lease, LeaseKind
from letagents.domain.moves import Need
from letagents.domain.sessions import Session
from letagents.domain.tasks import Assignee, DuplicateWork, Patch, Proposal, Status, Task
from letagents.domain.ticks import elapsed

_EVENTS = {
    Status.ASSIGNED: EventType.CLAIMED,
    Status.IN_REVIEW: EventType.COMPLETED,
    Status.MERGED: EventType.CLOSED,
    Status.DONE: EventType.CLOSED,
    Status.CANCELLED: EventType.CLOSED,
    Status.ACCEPTED: EventType.OVERRIDDEN,
    None: EventType.ATTACHED,
}


def propose(sheet: Sheet, proposal: Proposal, approval: Approval | None) -> Admitted:
    """Put a task on the board, as who acts."""
    worker = sheet.worker()
    if (made := _made_before(sheet, proposal)) is not None:
        return Admitted(view=sheet.view(made), is_new=False)
    check_admission(sheet, proposal)
    kept_intents.spend(sheet.book, Action.TASK_CREATE, lambda: _payload(proposal), approval)
    key = worker.agent_key if worker else None
    task = put(sheet, proposal, created_by=sheet.actor, created_by_key=key, accept=worker is None)
    return Admitted(view=sheet.view(task), is_new=True)


def _payload(proposal: Proposal) -> Payload:
    source = str(proposal.source_message) if proposal.source_message else None
    return intents.create_payload(proposal.title, proposal.description, source)


def check_admission(sheet: Sheet, proposal: Proposal) -> None:
    """Refuse what may not be put on the board now.

    Raises:
        Locked, UnknownMessage, DuplicateWork: it may not.
    """
    sheet.check_locks()
    book, source = sheet.book, proposal.source_message
    if source is not None:
        if book.message(source.number) is None:
            raise UnknownMessage(
                f"source_message_id: this room has no message {source}.",
                remedy="Pass an id as read_messages shows it, or leave it out.",
            )
        if found := book.find(TASKS, Where(is_open=True, about=str(source), limit=1)):
            raise tasks.duplicate(found[0], proposal.title)
    if busy := book.find(WORK_LEASES, Where(is_open=True, state=proposal.title, limit=1)):
        raise _busy(sheet, busy[0], proposal.title)


def _busy(sheet: Sheet, lease: Lease, title: str) -> DuplicateWork:
    if sheet.is_held(lease):
        return tasks.duplicate(f"{lease.about}, where {leases.who_holds(lease)}", title)
    return tasks.duplicate(
        f"{lease.about}, whose holder {lease.actor_label} is not there any more",
        title,
        remedy=f"Take it: claim_task(task_id={lease.about!r}).",
    )


def put(
    sheet: Sheet,
    proposal: Proposal,
    *,
    created_by: str,
    created_by_key: str | None,
    accept: bool = False,
    decision: Decision = Decision.ALLOW,
) -> Task:
    """Put an admitted proposal on the board, accepted at once or not."""
    book = sheet.book
    task = Task(
        number=book.next_number(TASKS),
        title=proposal.title,
        description=proposal.description,
        created_by=created_by,
        created_by_key=created_by_key,
        source_message=proposal.source_message,
        client_task_id=proposal.client_task_id,
        status=Status.ACCEPTED if accept else Status.PROPOSED,
        created_at=book.now,
        updated_at=book.now,
    )
    sheet.note(task, EventType.ADMITTED, decision=decision, detail=created_by)
    sheet.put_task(None, task)
    return task


def _made_before(sheet: Sheet, proposal: Proposal) -> Task | None:
    """Return the task that the proposal made before, if this is a repetition."""
    key = proposal.client_task_id
    found = sheet.book.find(TASKS, Where(also=key, limit=1)) if key else []
    if not found:
        return _same_source(sheet, proposal)
    if not _is_of(found[0], proposal):
        raise KeyReused(
            f"client_task_id: {found[0].task_id} has it, which says something else.",
            remedy="Use a new client_task_id for another task.",
        )
    return found[0]


def _same_source(sheet: Sheet, proposal: Proposal) -> Task | None:
    if proposal.source_message is None:
        return None
    caller, source = sheet.book.caller, str(proposal.source_message)
    key = caller.agent_key if caller else None
    for task in sheet.book.find(TASKS, Where(is_open=True, about=source)):
        if task.created_by_key == key and _is_of(task, proposal):
            return task
    return None


def _is_of(task: Task, proposal: Proposal) -> bool:
    return (task.title, task.description) == (proposal.title, proposal.description)


@attrs.frozen
class Shown:
    """The lease that a change is made under, as far as the caller says."""

    epoch: int | None = None
    kind: LeaseKind | None = None


def change(
    sheet: Sheet,
    task_id: str,
    patch: Patch,
    *,
    approval: Approval | None = None,
    shown: Shown | None = None,
) -> Task:
    """Change a task, as who acts."""
    shown = shown or Shown()
    if patch.is_empty:
        raise Malformed("status: nothing is to change.", remedy="Pass what is to become of it.")
    task = sheet.task(task_id, to_claim=patch.status is Status.ASSIGNED)
    worker = sheet.worker()
    has_approval = approval not in (None, Approval())
    moves.check_change(task, patch, worker, is_admin=sheet.book.is_admin, has_approval=has_approval)
    work, review = sheet.active(LeaseKind.WORK, task), sheet.active(LeaseKind.REVIEW, task)
    moves.check_merge(task, patch, _key(review), _key(work))
    if worker is None:
        return _changed_by_a_person(sheet, task, patch)
    if moves.need(task, patch) is Need.CLAIM:
        return _claimed(sheet, task, patch, worker, approval, shown)
    lease = _admitted(sheet, task, patch, worker, shown)
    if patch.status not in (None, *tasks.WORKING) and not has_approval:
        _check_may_close(sheet, task, worker)
    _spend(sheet, task, patch, worker, approval)
    if patch.status is not None:
        tasks.check_move(task, patch.status)
    if lease is not None:
        sheet.renew(lease)
    return _kept(sheet, task, _with_key(tasks.changed(task, patch, now=sheet.book.now), worker),
                 patch, lease)  # fmt: skip


def _check_may_close(sheet: Sheet, task: Task, worker: Session) -> None:
    """Refuse to end what others are at. Raises LeaseHeld."""
    work = sheet.active(LeaseKind.WORK, task)
    if work is not None and work.session_id == worker.session_id:
        return
    in_review = task.status is Status.IN_REVIEW
    lease = sheet.active(LeaseKind.REVIEW, task) if in_review else work
    if lease is not None:
        leases.check_may_end(lease, worker, is_held=sheet.is_held(lease))


def _key(lease: Lease | None) -> str | None:
    return lease.agent_key if lease else None


def _with_key(task: Task, worker: Session) -> Task:
    """Note the key of a worker that was only known by its label."""
    if task.assignee is None or task.assignee.agent_key or not task.is_on(worker):
        return task
    return attrs.evolve(task, assignee=Assignee.of(worker))


def _admitted(
    sheet: Sheet, task: Task, patch: Patch, worker: Session, shown: Shown
) -> Lease | None:
    """Return the lease under which the worker changes the task; None if it needs none."""
    what = moves.need(task, patch)
    if what is Need.NOTHING:
        return None if shown.epoch is None else _shown(sheet, task, worker, shown)
    sheet.check_locks(task)
    kind = LeaseKind.REVIEW if what is Need.REVIEW else LeaseKind.WORK
    lease = sheet.active(kind, task)
    if lease is None and what is Need.WORK and task.is_on(worker) and shown.epoch is None:
        return sheet.claim(kind, task, worker)  # it was put on the task by somebody
    _check(task, lease, worker, kind, shown)
    return lease


def _shown(sheet: Sheet, task: Task, worker: Session, shown: Shown) -> Lease:
    """Return the lease that a change is made under which needs none."""
    kind = shown.kind or LeaseKind.WORK
    lease = sheet.active(kind, task)
    if lease is None:
        raise leases.over(kind, task.task_id, shown.epoch)
    _check(task, lease, worker, kind, shown)
    return lease


def check_works_on(sheet: Sheet, task: Task) -> None:
    """Let an agent do for a task what its work lease is needed for, and renew that.

    Raises:
        Locked, LeaseMissing, LeaseHeld: it may not.
    """
    if (worker := sheet.worker()) is None:
        return
    sheet.check_locks(task)
    lease = sheet.active(LeaseKind.WORK, task)
    if lease is None and task.is_on(worker):
        sheet.claim(LeaseKind.WORK, task, worker)
        return
    _check(task, lease, worker, LeaseKind.WORK, Shown())
    if lease is not None:
        sheet.renew(lease)


def _check(task: Task, lease: Lease | None, worker: Session, kind: LeaseKind, shown: Shown) -> None:
    epoch, under = shown.epoch, shown.kind
    leases.check(lease, worker, kind=kind, about=task.task_id, epoch=epoch, under=under)


def _spend(
    sheet: Sheet, task: Task, patch: Patch, worker: Session, approval: Approval | None
) -> None:
    action = intents.action_of(patch.status.value if patch.status else None)
    if action is Action.TASK_UPDATE and approval is None:
        return
    claims = patch.status is Status.ASSIGNED

    def asked() -> Payload:
        return intents.change_payload(
            task.task_id,
            status=patch.status.value if patch.status else None,
            assignee=worker.actor_label if claims else None,
            assignee_agent_key=worker.agent_key if claims else None,
            pr_url=patch.pr_url or None,
        )

    standing: approvals.Standing = board_records.standing(task)
    always = patch.status in moves.FOR_ADMINS and not sheet.book.is_admin
    kept_intents.spend(sheet.book, action, asked, approval, task=standing, always=always)


def _claimed(
    sheet: Sheet,
    task: Task,
    patch: Patch,
    worker: Session,
    approval: Approval | None,
    shown: Shown,
) -> Task:
    sheet.check_locks(task)
    before = sheet.active(LeaseKind.WORK, task)
    lease = sheet.claim(LeaseKind.WORK, task, worker)
    if before is not None and before.session_id == worker.session_id:
        rest = attrs.evolve(patch, status=None, assignee=None)
        if rest.is_empty:
            return task
        _check(task, before, worker, before.kind, shown)
        return _kept(sheet, task, tasks.changed(task, rest, now=sheet.book.now), rest, lease)
    # Whoever had a lease that has just lapsed is known not to be there.
    is_there = before is None and _is_anothers(task, worker) and _is_there(sheet, task)
    moves.check_claim(task, worker, assignee_is_there=is_there)
    _spend(sheet, task, patch, worker, approval)
    given = tasks.changed(
        task, attrs.evolve(patch, assignee=Assignee.of(worker)), now=sheet.book.now
    )
    sheet.end_own_review(task, worker.agent_key)
    return _kept(sheet, task, given, patch, lease, concerns=(_key(before),))


def _is_anothers(task: Task, worker: Session) -> bool:
    return task.assignee is not None and not task.is_on(worker)


def _is_there(sheet: Sheet, task: Task) -> bool:
    """Whether the agent that is on a task is there; where nobody knows, its last sign tells."""
    return any(
        one.agent_key == task.assignee_key and _gives_signs(sheet, one)
        for one in sheet.book.sessions()
    )


def _gives_signs(sheet: Sheet, session: Session) -> bool:
    alive = links.is_alive(sheet.book, session)
    if alive is not None:
        return alive
    sign = links.last_sign(sheet.book, session)
    return sign is not None and elapsed(sign, sheet.book.tick) < sheet.term


def _changed_by_a_person(sheet: Sheet, task: Task, patch: Patch) -> Task:
    if patch.status is not None:
        tasks.check_move(task, patch.status)
    after = tasks.changed(task, patch, now=sheet.book.now)
    work = sheet.active(LeaseKind.WORK, task)
    is_moved_away = work is not None and after.assignee_key != work.agent_key
    if work is not None and is_moved_away and after.status in tasks.WORKING:
        sheet.let_go(work, "given to another")
    given = after.assignee if after.assignee != task.assignee else None
    key = given.agent_key if given else None
    if key is not None:
        sheet.end_own_review(task, key)
    detail = f"to {given.label}" if given else None
    concerns = (_key(work), task.assignee_key, key)
    return _kept(sheet, task, after, patch, None, concerns=concerns, detail=detail)


def _kept(
    sheet: Sheet,
    before: Task,
    after: Task,
    patch: Patch,
    lease: Lease | None,
    *,
    concerns: Iterable[str | None] = (),
    detail: str | None = None,
) -> Task:
    """Keep what became of a task, and end the leases of one on which nobody is any more."""
    if after.status not in tasks.WORKING:
        ended = sheet.end_leases(after, f"the task is {after.status.value}")
        actor = sheet.book.caller.agent_key if sheet.book.caller else None
        lost = [one.agent_key for one in ended if one.agent_key != actor]
        concerns = (*concerns, *lost)
    if moves.is_review_decision(before, patch):
        concerns = (after.assignee_key,)
    kind = _EVENTS.get(patch.status, EventType.UPDATED)
    sheet.note(
        after, kind, before=before.status, lease=lease, detail=detail or patch.pr_url or None
    )
    sheet.put_task(before, after, concerns=concerns)
    return after
