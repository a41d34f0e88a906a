"""A state machine plays those who hold tasks: they work, die, leave, return and hand over."""

import asyncio
import tempfile
from collections.abc import Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import attrs
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.postgres_server import emptied

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.board import Handoff, Release, ReviewClaim, Target, TaskView
from letagents.domain.leases import LeaseFenceStale, LeaseHeld, LeaseKind, LeaseMissing
from letagents.domain.moves import WorksOnIt
from letagents.domain.sessions import Connection
from letagents.domain.targets import TargetSessionUnreachable, UnknownTarget
from letagents.domain.tasks import REVIEWABLE, Patch, Proposal, Status
from letagents.domain.ticks import Tick
from letagents.domain.verdicts import ReviewLeaseRequired, Verdict, VerdictKind
from letagents.testing.contracts.room_callers import ROOM, arrival, secret
from letagents.testing.contracts.task_holders import SHA
from letagents.testing.determinism import CountingIds, ManualClock

T = TypeVar("T")

TERM = timedelta(seconds=100)
CLAIM = Patch(status=Status.ASSIGNED)
WORKERS = st.sampled_from([1, 2, 3])
TASKS = st.sampled_from(["task_1", "task_2"])
BACK = st.integers(0, 2)
"""How many epochs ago a call was begun."""


@attrs.define
class Machines:
    """Processes that are there, are gone, or are where nobody can tell."""

    own: str | None = None
    known: dict[str, bool | None] = attrs.field(factory=dict)

    def is_alive(self, process: str) -> bool | None:
        return self.known.get(process)

    def last_seen(self, _process: str) -> Tick | None:
        return None


@attrs.define
class Worker:
    """One who holds tasks, as the model has it. `sign` is the second of its last sign."""

    connection: Connection
    process: str
    is_in_room: bool = True
    sign: float = 0.0


@attrs.define
class Hold:
    """Who has a task, as the model has it: nobody, if `by` is None."""

    epoch: int = 0
    by: int | None = None
    renewed: float = 0.0


class LeaseMachine(RuleBasedStateMachine):
    """Whatever happens, a task has one holder, epochs grow, and only the present one writes."""

    in_memory: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory(prefix="machine-")
        self.clock, self.machines = ManualClock(), Machines()
        self.rooms = self.rooms_made()
        self.board = KeptBoard(self.rooms, TERM)
        self.time = 0.0
        self.lives = 0
        self.boots = 1
        self.workers: dict[int, Worker] = {}
        self.holds = {"task_1": Hold(), "task_2": Hold()}
        self.seen = {task_id: Hold() for task_id in self.holds}
        self.verdicts = 0
        self.run(self.rooms.join(ROOM))
        for task_id in self.holds:
            self.run(self.board.propose(ROOM, Proposal(title=task_id)))
        for number in (1, 2, 3):
            self.arrives(number, known=True)
        # From here much can come of it in few steps.
        self.claims(1, "task_1")
        self.all_signs_are_written_down()
        self.completes("task_1", 0)
        self.all_signs_are_written_down()
        self.reviews(2, "task_1")

    def place(self) -> Path | str:
        return Path(self.folder.name) / "rooms.db"

    def rooms_made(self) -> MemoryRooms | LocalRooms:
        if self.in_memory:
            return MemoryRooms(CountingIds(), self.clock, self.machines)
        place = self.place()
        # With no term of its own it writes every sign down.
        return LocalRooms(
            place, CountingIds(), self.clock, NoNudges(), self.machines, term=timedelta(0)
        )

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        return self.loop.run(call)

    def teardown(self) -> None:
        if isinstance(self.rooms, LocalRooms):
            self.rooms.close()
        self.loop.close()
        self.folder.cleanup()

    # --- what the model says ---

    def arrives(self, number: int, *, known: bool) -> None:
        self.lives += 1
        process = f"process {self.lives}"
        self.machines.own = process
        self.machines.known[process] = True if known else None
        coming = attrs.evolve(
            arrival(number, number), token=secret(1_000 + self.lives), insists=True
        )
        connection = self.run(self.rooms.connect(ROOM, coming))
        self.workers[number] = Worker(connection, process, sign=self.time)

    def all_signs_are_written_down(self) -> None:
        """Let no sign of a process be written down as another's, in whose name the next call is."""
        self.run(self.rooms.change(ROOM, lambda _book: None))

    def acting(self, number: int) -> Worker:
        """Let the next call be of that worker's process; one that is answered is a sign of it."""
        worker = self.workers[number]
        self.machines.own = worker.process
        return worker

    def is_held(self, hold: Hold) -> bool:
        if hold.by is None:
            return False
        worker = self.workers[hold.by]
        if worker.is_in_room and self.machines.known[worker.process] is True:
            return True
        return self.time - max(worker.sign, hold.renewed) < TERM.total_seconds()

    def can_act(self, number: int) -> bool:
        worker = self.workers[number]
        return worker.is_in_room and self.machines.known[worker.process] is not False

    def works(self, number: int, task_id: str, hold: Hold) -> None:
        """Let a worker hold a task, which it does not review then."""
        self.holds[task_id] = hold
        if self.seen[task_id].by == number:
            self.seen[task_id].by = None

    def status(self, task_id: str) -> Status:
        return self.run(self.board.task(ROOM, task_id)).task.status

    # --- what happens ---

    @rule(number=WORKERS, task_id=TASKS)
    def claims(self, number: int, task_id: str) -> None:
        if not self.can_act(number):
            return
        hold, worker = self.holds[task_id], self.acting(number)
        refused = hold.by not in (None, number) and self.is_held(hold)
        try:
            view = self.run(self.board.change(ROOM, task_id, CLAIM, worker.connection.fence))
        except LeaseHeld:
            assert refused
            return
        assert not refused
        epoch = hold.epoch if hold.by == number else hold.epoch + 1
        work = [one.lease for one in view.leases if one.lease.kind is LeaseKind.WORK]
        assert [lease.epoch for lease in work] == [epoch]
        self.works(number, task_id, Hold(epoch, number, self.time))
        worker.sign = self.time

    @rule(number=WORKERS, task_id=TASKS, back=BACK)
    def writes(self, number: int, task_id: str, back: int) -> None:
        if not self.can_act(number):
            return
        hold, worker = self.holds[task_id], self.acting(number)
        shown = max(hold.epoch - back, 0)
        patch = Patch(pr_url=f"https://x/{self.time}")
        writing = self.board.change(ROOM, task_id, patch, worker.connection.fence, epoch=shown)
        try:
            self.run(writing)
        except (LeaseHeld, LeaseFenceStale, LeaseMissing):
            assert hold.by != number or shown != hold.epoch
        else:
            assert (hold.by, hold.epoch) == (number, shown)
            hold.renewed = worker.sign = self.time

    @rule(number=WORKERS, task_id=TASKS, back=BACK)
    def lets_go(self, number: int, task_id: str, back: int) -> None:
        hold = self.holds[task_id]
        if hold.by != number or not self.can_act(number):
            return
        worker = self.acting(number)
        action = Release(epoch=hold.epoch - back)
        try:
            self.run(self.board.lease_action(ROOM, task_id, action, worker.connection.fence))
        except LeaseFenceStale:
            assert back
        else:
            assert not back
            hold.by = self.seen[task_id].by = None
            worker.sign = self.time

    @rule(number=WORKERS, to=WORKERS, task_id=TASKS, back=BACK)
    def hands_over(self, number: int, to: int, task_id: str, back: int) -> None:
        hold, target = self.holds[task_id], self.workers[to]
        if hold.by != number or to == number or not self.can_act(number):
            return
        key = target.connection.session.agent_key
        action = Handoff(target=Target(agent_key=key), epoch=hold.epoch - back)
        worker = self.acting(number)
        try:
            self.run(self.board.lease_action(ROOM, task_id, action, worker.connection.fence))
        except LeaseFenceStale:
            assert back
        except (TargetSessionUnreachable, UnknownTarget):
            assert not self.can_act(to)
        else:
            assert self.can_act(to)
            assert not back
            self.works(to, task_id, Hold(hold.epoch + 1, to, self.time))
            worker.sign = self.time

    @rule(task_id=TASKS, back=BACK)
    def completes(self, task_id: str, back: int) -> None:
        hold = self.holds[task_id]
        if hold.by is None or not self.can_act(hold.by):
            return
        worker = self.acting(hold.by)
        patch, epoch = Patch(status=Status.IN_REVIEW), hold.epoch - back
        if self.status(task_id) is Status.IN_REVIEW:
            patch = Patch(status=Status.IN_PROGRESS)
        try:
            fence = worker.connection.fence
            self.run(self.board.change(ROOM, task_id, patch, fence, epoch=epoch))
        except LeaseFenceStale:
            assert back
        else:
            assert not back
            hold.renewed = worker.sign = self.time

    @rule(number=WORKERS, task_id=TASKS)
    def reviews(self, number: int, task_id: str) -> None:
        if not self.can_act(number) or self.status(task_id) not in REVIEWABLE:
            return
        review, worker = self.seen[task_id], self.acting(number)
        refused = review.by not in (None, number) and self.is_held(review)
        asked = self.board.review_action(ROOM, task_id, ReviewClaim(), worker.connection.fence)
        try:
            moved = self.run(asked)
        except WorksOnIt:
            assert self.holds[task_id].by == number
        except LeaseHeld:
            assert refused
        else:
            assert not refused
            epoch = review.epoch if review.by == number else review.epoch + 1
            assert moved.lease is not None
            assert moved.lease.epoch == epoch
            self.seen[task_id] = Hold(epoch, number, self.time)
            worker.sign = self.time

    @rule(number=WORKERS, task_id=TASKS, back=BACK)
    def says_what_comes_of_it(self, number: int, task_id: str, back: int) -> None:
        if not self.can_act(number) or self.status(task_id) not in REVIEWABLE:
            return
        review, worker = self.seen[task_id], self.acting(number)
        self.verdicts += 1
        said = Verdict(kind=VerdictKind.COMMENT, head_sha=SHA, key=f"key {self.verdicts}")
        fence, epoch = worker.connection.fence, review.epoch - back
        try:
            self.run(self.board.verdict(ROOM, task_id, said, fence, epoch=epoch))
        except (LeaseFenceStale, ReviewLeaseRequired):
            assert review.by != number or back
        else:
            assert review.by == number
            assert not back
            review.renewed = worker.sign = self.time

    @rule(number=WORKERS, task_id=TASKS, back=BACK, as_worker=st.booleans())
    def sends_back(self, number: int, task_id: str, back: int, as_worker: bool) -> None:
        if not self.can_act(number) or self.status(task_id) is not Status.IN_REVIEW:
            return
        review, worker = self.seen[task_id], self.acting(number)
        under = LeaseKind.WORK if as_worker else LeaseKind.REVIEW
        patch, epoch = Patch(status=Status.BLOCKED), review.epoch - back
        fence = worker.connection.fence
        writing = self.board.change(ROOM, task_id, patch, fence, epoch=epoch, under=under)
        try:
            self.run(writing)
        except (LeaseFenceStale, LeaseHeld, LeaseMissing):
            assert review.by != number or back or as_worker
        else:
            assert review.by == number
            assert not back
            assert not as_worker
            review.renewed = worker.sign = self.time

    @rule(task_id=TASKS, back=BACK)
    def lets_the_review_go(self, task_id: str, back: int) -> None:
        review = self.seen[task_id]
        if review.by is None or not self.can_act(review.by):
            return
        worker = self.acting(review.by)
        action = Release(epoch=review.epoch - back)
        try:
            self.run(self.board.review_action(ROOM, task_id, action, worker.connection.fence))
        except LeaseFenceStale:
            assert back
        else:
            assert not back
            review.by, worker.sign = None, self.time

    @rule(number=WORKERS)
    def dies(self, number: int) -> None:
        self.machines.known[self.workers[number].process] = False

    @rule(number=WORKERS)
    def leaves(self, number: int) -> None:
        worker = self.workers[number]
        if self.can_act(number):  # to leave is no sign that one stays
            self.run(self.rooms.disconnect(ROOM, worker.connection.fence))
            worker.is_in_room = False

    @rule(number=WORKERS, known=st.booleans())
    def comes_back(self, number: int, known: bool) -> None:
        self.arrives(number, known=known)

    @rule(seconds=st.sampled_from([1, 49, 50, 99, 100, 101, 300]))
    def time_passes(self, seconds: int) -> None:
        self.clock.pass_by(timedelta(seconds=seconds))
        self.time += seconds

    @rule(hours=st.sampled_from([-30, -1, 1, 30]))
    def somebody_sets_the_clock(self, hours: int) -> None:
        self.clock.set_to(self.clock.now() + timedelta(hours=hours))

    @precondition(lambda self: self.boots < 3)
    @rule()
    def the_machine_starts_again(self) -> None:
        self.boots += 1
        self.clock.boot_again(f"boot-{self.boots}")
        for process in self.machines.known:
            self.machines.known[process] = False
        for worker in self.workers.values():
            worker.sign = self.time
        for hold in (*self.holds.values(), *self.seen.values()):
            hold.renewed = self.time

    @invariant()
    def the_board_is_as_the_model_says(self) -> None:
        self.all_signs_are_written_down()
        for task_id in self.holds:
            view = self.run(self.board.task(ROOM, task_id))
            self.is_as_seen(view, LeaseKind.WORK, self.holds[task_id])
            self.is_as_seen(view, LeaseKind.REVIEW, self.seen[task_id])

    def is_as_seen(self, view: TaskView, kind: LeaseKind, hold: Hold) -> None:
        found = [
            (one.lease.epoch, one.lease.session_id, one.is_held)
            for one in view.leases
            if one.lease.kind is kind
        ]
        if hold.by is None:
            assert found == []
        else:
            session = self.workers[hold.by].connection.session
            assert found == [(hold.epoch, session.session_id, self.is_held(hold))]


class InSqlite(LeaseMachine):
    in_memory = False


class InPostgres(InSqlite):
    def place(self) -> Path | str:
        return emptied()


@pytest.mark.rule("L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "B1")
@pytest.mark.parametrize(
    ("machine", "examples"), [(LeaseMachine, 100), (InSqlite, 20), (InPostgres, 10)]
)
def test_no_order_of_events_gives_a_task_two_holders(
    machine: type[LeaseMachine], examples: int
) -> None:
    options = settings(max_examples=examples, stateful_step_count=30, deadline=None)

    run_state_machine_as_test(machine, settings=options)
