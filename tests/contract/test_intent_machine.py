"""A state machine plays those who ask, decide and use: the orders that nobody wrote a test for."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import ClassVar

import attrs
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from tests.contract.test_room_machines import NUMBERS, SIDES, RoomMachine
from tests.postgres_server import emptied

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.evidence import UnknownProcesses
from letagents.adapters.rooms.kept import doing
from letagents.adapters.rooms.kept import intents as kept_intents
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.governance import KeptGovernance
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain import governance
from letagents.domain.approvals import APPROVAL_TERM, PENDING_TERM, IntentStatus
from letagents.domain.denials import IntentNotFound, NotTheManager
from letagents.domain.errors import LetAgentsError
from letagents.domain.governance import SILENCE, ManagerMode
from letagents.domain.intents import (
    Action,
    Approval,
    ApprovalToken,
    change_payload,
    create_payload,
)
from letagents.domain.sessions import Connection
from letagents.domain.tasks import InvalidTransition, Patch, Proposal, Status
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import ROOM, arrival, secret
from letagents.testing.determinism import CountingIds, ManualClock

TASKS = st.sampled_from(["task_1", "task_2"])
MODES = st.sampled_from(list(ManagerMode))
OWNER = 0
SPANS = st.sampled_from(
    [timedelta(minutes=1), timedelta(minutes=11), APPROVAL_TERM, timedelta(hours=23)]
)
PATIENCE = timedelta(minutes=10)
NEVER_FREE = timedelta(days=365)
"""The term of leases: what becomes of them is another machine's."""

S = IntentStatus


@attrs.define
class Wish:
    """What the model knows of an intent."""

    number: int
    by: int
    asked_at: datetime
    task_id: str | None
    revision: int = 0
    """Which change of the task it was approved for."""
    found: Status | None = None
    """Where the task stood when it was asked for."""
    status: IntentStatus = S.PENDING
    approved_at: datetime | None = None
    token: ApprovalToken | None = None
    uses: int = 0

    @property
    def intent_id(self) -> str:
        return f"intent_{self.number}"

    def by_now(self, now: datetime) -> IntentStatus:
        """Return its status once it has run out, if it has."""
        since = self.approved_at if self.status is S.APPROVED else self.asked_at
        term = APPROVAL_TERM if self.status is S.APPROVED else PENDING_TERM
        is_over = since is not None and now >= since + term
        return S.EXPIRED if is_over and self.status in (S.PENDING, S.APPROVED) else self.status


@attrs.define
class Job:
    """What the model knows of a task."""

    status: Status = Status.ACCEPTED
    on_it: int | None = None
    revision: int = 0

    def moved(self, status: Status, on_it: int | None = None) -> None:
        self.status, self.on_it = status, on_it
        self.revision += 1


class IntentMachine(RoomMachine):
    """Whatever the order, an approval lets through what was asked, once, for who asked."""

    in_memory: ClassVar[bool]

    wishes = Bundle("wishes")

    def __init__(self) -> None:
        self.clock = ManualClock()
        super().__init__()
        self.boards = [KeptBoard(rooms, NEVER_FREE) for rooms in self.kept]
        self.governing = [KeptGovernance(rooms) for rooms in self.kept]
        self.workers: dict[int, Connection] = {}
        self.here: set[int] = set()
        self.tokens = 0
        self.mode = ManagerMode.MANAGER_OPTIONAL
        self.manager: int | None = None
        self.assigned_at = self.clock.now()
        self.jobs = {"task_1": Job(), "task_2": Job()}
        self.known: dict[str, Wish] = {}

    def transports_on_one_place(self) -> list[RoomTransport]:
        self.kept: list[MemoryRooms] | list[LocalRooms]
        if self.in_memory:
            self.kept = [MemoryRooms(CountingIds(), self.clock, UnknownProcesses())] * 2
        else:
            place = self.place()
            self.kept = [
                LocalRooms(place, CountingIds(first=one * 1_000_000), self.clock, NoNudges())
                for one in (1, 2)
            ]
            self.opened += self.kept
        return list(self.kept)

    @initialize()
    def people_and_tasks(self) -> None:
        for worker in (1, 2, 3):
            self.arrive(worker)
        for title in ("Mend the clock", "Oil the gate"):
            self.run(self.boards[0].propose(ROOM, Proposal(title=title)))

    # --- who is there ---------------------------------------------------------------------------

    def arrive(self, worker: int) -> None:
        self.tokens += 1
        coming = arrival(worker, self.tokens, after=self.workers.get(worker))
        self.workers[worker] = self.run(self.transports[0].connect(ROOM, coming))
        self.here.add(worker)

    @rule(worker=NUMBERS)
    def come_back(self, worker: int) -> None:
        self.arrive(worker)

    @rule(worker=NUMBERS)
    def leave(self, worker: int) -> None:
        if worker in self.here:
            self.run(self.transports[0].disconnect(ROOM, self.workers[worker].fence))
            self.here.discard(worker)

    @rule(worker=st.integers(0, 3), side=SIDES)
    def choose_a_manager(self, worker: int, side: int) -> None:
        if worker == OWNER:
            self.run(self.governing[side].release_manager(ROOM))
            self.manager = None
        elif worker in self.here:
            self.see_who_manages()
            session_id = self.workers[worker].session.session_id
            self.run(self.governing[side].assign_manager(ROOM, session_id))
            self.manager, self.assigned_at = worker, self.clock.now()

    @rule(mode=MODES, side=SIDES)
    def set_the_mode(self, mode: ManagerMode, side: int) -> None:
        self.settle()
        self.run(self.governing[side].set_mode(ROOM, mode))
        for wish in self.known.values():
            if mode is not self.mode and wish.status in (S.PENDING, S.APPROVED):
                wish.status = S.SUPERSEDED
        self.mode = mode
        self.see_who_manages()

    # --- asking and deciding --------------------------------------------------------------------

    @rule(target=wishes, worker=NUMBERS, task_id=TASKS, side=SIDES)
    def ask_to_claim(self, worker: int, task_id: str, side: int) -> Wish:
        session = self.workers[worker].session
        payload = change_payload(
            task_id,
            status="assigned",
            assignee=session.actor_label,
            assignee_agent_key=session.agent_key,
        )
        return self.ask(worker, Action.TASK_CLAIM, payload, task_id, side)

    @rule(target=wishes, worker=NUMBERS, number=NUMBERS, side=SIDES)
    def ask_to_create(self, worker: int, number: int, side: int) -> Wish:
        return self.ask(worker, Action.TASK_CREATE, create_payload(f"New {number}"), None, side)

    def ask(
        self, worker: int, action: Action, payload: object, task_id: str | None, side: int
    ) -> Wish:
        if worker not in self.here:
            return multiple()  # type: ignore[return-value]  # this is how Hypothesis adds nothing
        self.settle()
        fence, governing = self.workers[worker].fence, self.governing[side]
        if task_id is not None and self.jobs[task_id].status is Status.CANCELLED:
            with pytest.raises(InvalidTransition):
                self.run(governing.propose(ROOM, action, payload, fence=fence))  # type: ignore[arg-type]  # made above
            return multiple()  # type: ignore[return-value]  # this is how Hypothesis adds nothing
        proposed = self.run(governing.propose(ROOM, action, payload, fence=fence))  # type: ignore[arg-type]  # made above
        intent = proposed.intent
        found = self.known.get(intent.intent_id)
        if found is not None:
            assert found.status in (S.PENDING, S.APPROVED)
            assert (found.by, found.task_id) == (worker, task_id)
            return multiple()  # type: ignore[return-value]  # this is how Hypothesis adds nothing
        wish = Wish(intent.number, worker, self.clock.now(), task_id)
        if task_id is not None:
            wish.revision, wish.found = self.jobs[task_id].revision, self.jobs[task_id].status
        self.known[wish.intent_id] = wish
        return wish

    @rule(wish=wishes, who=st.integers(0, 3), approving=st.booleans(), side=SIDES)
    def decide(self, wish: Wish, who: int, approving: bool, side: int) -> None:
        if who not in {OWNER, *self.here}:
            return
        self.settle()
        governing, fence = self.governing[side], None
        if who != OWNER:
            fence = self.workers[who].fence
        deciding = governing.approve if approving else governing.deny
        is_theirs = who == OWNER or (who == self.manager and who in self.here)
        done = (S.APPROVED, S.USED) if approving else (S.DENIED,)
        try:
            decided = self.run(deciding(ROOM, wish.intent_id, fence=fence))
        except NotTheManager:
            assert not is_theirs
        except IntentNotFound:
            assert is_theirs
            assert wish.status not in (S.PENDING, *done)
        else:
            assert is_theirs
            assert wish.status in (S.PENDING, *done)
            if wish.status is S.PENDING:
                wish.token, wish.approved_at = decided.token, self.clock.now()
                wish.status = decided.intent.status
                wish.revision = self.jobs[wish.task_id].revision if wish.task_id else 0
                wish.uses += wish.status is S.USED
            else:
                assert decided.token is None

    # --- using ----------------------------------------------------------------------------------

    @rule(
        wish=wishes,
        worker=NUMBERS,
        how=st.sampled_from(["id", "token", "both", "wrong", "nothing"]),
        task_id=TASKS,
        side=SIDES,
    )
    def claim(self, wish: Wish, worker: int, how: str, task_id: str, side: int) -> None:
        if worker not in self.here:
            return
        self.settle()
        job = self.jobs[task_id]
        had_it = job.on_it == worker
        shown = self.shown(wish, how)
        try:
            self.run(
                self.boards[side].change(
                    ROOM,
                    task_id,
                    Patch(status=Status.ASSIGNED),
                    self.workers[worker].fence,
                    approval=shown,
                )
            )
        except LetAgentsError:
            assert not had_it
            assert not self.may_claim(wish, worker, shown, task_id)
        else:
            if had_it:
                return
            assert self.may_claim(wish, worker, shown, task_id)
            job.moved(Status.ASSIGNED, worker)
            if shown is not None:
                wish.status, wish.uses = S.USED, wish.uses + 1

    def shown(self, wish: Wish, how: str) -> Approval | None:
        token = wish.token if how != "wrong" else ApprovalToken(secret(99).value)
        if how == "nothing" or (how == "token" and token is None):
            return None
        return Approval(wish.intent_id if how != "token" else None, token if how != "id" else None)

    def may_claim(self, wish: Wish, worker: int, shown: Approval | None, task_id: str) -> bool:
        job = self.jobs[task_id]
        is_managed = self.manager in self.here and (worker == self.manager or not self.is_silent())
        if job.status is not Status.ACCEPTED:
            return False
        if shown is None:
            is_optional = self.mode is ManagerMode.MANAGER_OPTIONAL
            return self.mode is ManagerMode.OFF or (is_optional and not is_managed)
        return (
            self.mode is not ManagerMode.OFF
            and (wish.status, wish.by, wish.task_id) == (S.APPROVED, worker, task_id)
            and shown.token in (None, wish.token)
            and wish.revision == job.revision
        )

    @rule(task_id=TASKS, side=SIDES)
    def cancel_or_open_the_task(self, task_id: str, side: int) -> None:
        self.settle()
        job = self.jobs[task_id]
        to = Status.ACCEPTED if job.status is Status.CANCELLED else Status.CANCELLED
        self.run(self.boards[side].change(ROOM, task_id, Patch(status=to)))
        job.moved(to)
        self.settle()

    # --- time -----------------------------------------------------------------------------------

    @rule(span=SPANS, side=SIDES)
    def let_time_go_by(self, span: timedelta, side: int) -> None:
        self.clock.pass_by(span)
        self.run(doing.done(self.kept[side], ROOM))
        self.settle()
        self.see_who_manages()
        self.see_what_created_itself()

    def is_silent(self) -> bool:
        """Whether the manager gave no sign for so long that it counts as dead."""

        def silence(book: Book) -> timedelta:
            manager = kept_intents.manager(book)
            assert manager is not None
            known = kept_intents.evidence(book, manager)
            return governance.silence(manager, known, self.clock.tick())

        return bool(self.run(self.kept[0].look(ROOM, silence, None)) >= SILENCE)

    def see_who_manages(self) -> None:
        found = self.run(self.governing[0].governed(ROOM)).manager
        keys = {one.session.session_id: number for number, one in self.workers.items()}
        now_is = keys[found.session_id] if found else None
        if now_is != self.manager and now_is is not None:
            assert self.manager is not None
            is_silent = self.clock.now() >= self.assigned_at + SILENCE
            assert self.manager not in self.here or is_silent
            assert now_is in self.here
            self.manager, self.assigned_at = now_is, self.clock.now()

    def see_what_created_itself(self) -> None:
        for intent in self.run(self.governing[0].intents(ROOM)).intents:
            wish = self.known[intent.intent_id]
            if intent.auto_approved and wish.status is S.PENDING:
                assert wish.task_id is None
                assert self.mode is ManagerMode.MANAGER_OPTIONAL
                assert self.clock.now() >= wish.asked_at + PATIENCE
                wish.status, wish.uses = S.USED, wish.uses + 1

    def settle(self) -> None:
        """Let the model's intents run out, and be overtaken by their tasks."""
        now = self.clock.now()
        for wish in self.known.values():
            wish.status = wish.by_now(now)
            job = self.jobs[wish.task_id] if wish.task_id else None
            if job is None or wish.revision == job.revision:
                continue
            gone = job.status not in (Status.ACCEPTED, wish.found)
            if wish.status is S.APPROVED or (wish.status is S.PENDING and gone):
                wish.status = S.SUPERSEDED

    # --- what always holds ----------------------------------------------------------------------

    @invariant()
    def what_is_listed_is_what_happened(self) -> None:
        self.settle()
        for intent in self.run(self.governing[1].intents(ROOM)).intents:
            wish = self.known[intent.intent_id]
            assert intent.status is wish.status, (intent, wish)
            assert wish.uses <= 1
            assert (wish.uses == 1) is (wish.status is S.USED)


class IntentsInMemory(IntentMachine):
    in_memory = True


class IntentsOnThisMachine(IntentMachine):
    in_memory = False


class IntentsInPostgres(IntentsOnThisMachine):
    def place(self) -> Path | str:
        return emptied()


@pytest.mark.rule("P13", "P14", "P15", "P16", "P17", "P18", "P31")
@pytest.mark.parametrize(
    ("machine", "examples"),
    [(IntentsInMemory, 25), (IntentsOnThisMachine, 15), (IntentsInPostgres, 8)],
)
def test_an_approval_is_used_once_whatever_the_order(
    machine: type[IntentMachine], examples: int
) -> None:
    options = settings(max_examples=examples, stateful_step_count=30, deadline=None)
    run_state_machine_as_test(machine, settings=options)
