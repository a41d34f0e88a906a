"""The machine of those who hold tasks, who claim paths for them too."""

from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from tests.contract.test_lease_machine import BACK, TASKS, TERM, WORKERS, LeaseMachine
from tests.postgres_server import emptied

from letagents.adapters.rooms.kept.paths import KeptPaths
from letagents.domain.leases import LeaseFenceStale, LeaseHeld, LeaseMissing
from letagents.domain.path_claims import Mode, PathsHeld, Query
from letagents.domain.path_patterns import Pattern
from letagents.testing.contracts.path_claims import wanted
from letagents.testing.contracts.room_callers import ROOM

PATTERNS = st.sampled_from(["src", "src/a.py", "src/*.py", "docs", "**/a.py"])

Wish = tuple[str, Mode]


class PathMachine(LeaseMachine):
    """Whatever happens, claims are where their tasks are, and no two held ones meet."""

    def __init__(self) -> None:
        super().__init__()
        self.paths = KeptPaths(self.rooms, TERM)
        self.claimed: dict[str, set[Wish]] = {task_id: set() for task_id in self.holds}
        self.epochs = dict.fromkeys(self.holds, 0)

    def in_the_way(self, number: int, wish: Wish) -> list[tuple[str, Wish]]:
        """Return the claims of others that `wish` meets."""
        return [
            (task_id, theirs)
            for task_id, hold in self.holds.items()
            for theirs in self.claimed[task_id]
            if hold.by != number
            and not wish[1] is theirs[1] is Mode.SHARED
            and Pattern(wish[0]).overlaps(Pattern(theirs[0]))
        ]

    @rule(number=WORKERS, task_id=TASKS, pattern=PATTERNS, shared=st.booleans(), back=BACK)
    def claims_paths(
        self, number: int, task_id: str, pattern: str, shared: bool, back: int
    ) -> None:
        if not self.can_act(number):
            return
        hold, worker = self.holds[task_id], self.acting(number)
        wish = (pattern, Mode.SHARED if shared else Mode.EXCLUSIVE)
        met = self.in_the_way(number, wish)
        asked = wanted(task_id, pattern, shared=shared, epoch=hold.epoch - back)
        try:
            self.run(self.paths.claim(ROOM, asked, worker.connection.fence))
        except (LeaseHeld, LeaseMissing):
            assert hold.by != number
        except LeaseFenceStale:
            assert back
        except PathsHeld:
            assert any(self.is_held(self.holds[one]) for one, _ in met)
        else:
            assert hold.by == number
            assert not back
            if wish not in self.claimed[task_id]:
                assert not any(self.is_held(self.holds[one]) for one, _ in met)
                for other, theirs in met:
                    self.claimed[other].discard(theirs)
            self.claimed[task_id].add(wish)
            worker.sign = self.time

    @rule(number=WORKERS, task_id=TASKS, back=BACK)
    def releases_paths(self, number: int, task_id: str, back: int) -> None:
        if not self.can_act(number):
            return
        hold, worker = self.holds[task_id], self.acting(number)
        epoch, fence = hold.epoch - back, worker.connection.fence
        try:
            released = self.run(self.paths.release(ROOM, task_id, epoch=epoch, fence=fence))
        except LeaseFenceStale:
            assert hold.by is not None
            assert back
            return
        is_own = hold.by == number
        assert hold.by is None or not back
        assert len(released) == (len(self.claimed[task_id]) if is_own else 0)
        if is_own:
            self.claimed[task_id].clear()
        worker.sign = self.time

    @rule(number=WORKERS, to=WORKERS, task_id=TASKS, back=BACK)
    def hands_over(self, number: int, to: int, task_id: str, back: int) -> None:
        before = self.holds[task_id]
        super().hands_over(number, to, task_id, back)
        if self.holds[task_id] is not before:
            self.epochs[task_id] = self.holds[task_id].epoch

    @invariant()
    def claims_are_as_the_model_says(self) -> None:
        self.all_signs_are_written_down()
        expected = set()
        for task_id, hold in self.holds.items():
            if hold.by is None or self.epochs[task_id] != hold.epoch:
                self.claimed[task_id].clear()
            self.epochs[task_id] = hold.epoch
            for pattern, mode in self.claimed[task_id]:
                assert hold.by is not None
                session = self.workers[hold.by].connection.session
                facts = (task_id, session.session_id, hold.epoch, self.is_held(hold))
                expected.add((*facts, (pattern,), mode))
        page = self.run(self.paths.claims(ROOM, Query()))
        found = [
            (
                *(one.claim.task_id, one.claim.lease.session_id, one.claim.lease.epoch),
                *(one.is_held, one.claim.patterns, one.claim.mode),
            )
            for one in page.claims
        ]
        assert set(found) == expected
        assert len(found) == len(expected)


class InSqlite(PathMachine):
    in_memory = False


class InPostgres(InSqlite):
    def place(self) -> Path | str:
        return emptied()


@pytest.mark.rule("K84", "K85", "K86", "K87", "K90")
@pytest.mark.parametrize(
    ("machine", "examples"), [(PathMachine, 60), (InSqlite, 5), (InPostgres, 5)]
)
def test_in_whatever_order_things_happen_claims_are_where_their_tasks_are(
    machine: type[RuleBasedStateMachine], examples: int
) -> None:
    options = settings(max_examples=examples, stateful_step_count=40, deadline=None)
    run_state_machine_as_test(machine, settings=options)
