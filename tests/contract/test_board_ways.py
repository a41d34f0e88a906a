"""A task always has a way forward: every state that any order of calls reaches is walked from."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta

import attrs
import pytest

from letagents.adapters.rooms.evidence import ToldProcesses
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.board import Handoff, Release, ReviewClaim, Target, TaskView
from letagents.domain.errors import LetAgentsError
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Assignee, Patch, Proposal, Status
from letagents.domain.verdicts import Verdict, VerdictKind
from letagents.testing.contracts.room_callers import ROOM, arrival, secret
from letagents.testing.determinism import CountingIds, ManualClock

TERM = timedelta(minutes=15)
TASK = "task_1"
VERDICT = Verdict(kind=VerdictKind.COMMENT, head_sha="a" * 40, key="k")


@attrs.define
class World:
    """A board with one task, two workers, and whether the first of them is dead."""

    rooms: MemoryRooms
    board: KeptBoard
    clock: ManualClock
    processes: ToldProcesses
    workers: list[Connection]
    is_dead: bool = False
    lives: int = 0

    async def state(self) -> "State":
        view = await self.board.task(ROOM, TASK)
        return State(view.task.status, self._who(view), self._holds(view), self.is_dead)

    def _who(self, view: TaskView) -> str | None:
        names = {one.session.agent_key: f"worker {n}" for n, one in enumerate(self.workers, 1)}
        key = view.task.assignee_key
        return names.get(key) if key else None

    def _holds(self, view: TaskView) -> tuple[tuple[str, str, bool], ...]:
        return tuple(
            (one.lease.kind.value, one.lease.agent_key, one.is_held) for one in view.leases
        )


@attrs.frozen
class State:
    """How the task stands, who is on it, who holds what, and whether the first worker is dead."""

    status: Status
    assignee: str | None
    held: tuple[tuple[str, str, bool], ...]
    is_dead: bool

    @property
    def is_goal(self) -> bool:
        return self.status in (Status.ACCEPTED, Status.DONE, Status.CANCELLED)


Act = Callable[[World], Awaitable[object]]


def _patched(number: int, patch: Patch) -> Act:
    return lambda world: world.board.change(ROOM, TASK, patch, world.workers[number].fence)


def _handed(number: int) -> Act:
    def hand(world: World) -> Awaitable[object]:
        to = Target(agent_key=world.workers[1 - number].session.agent_key)
        action = Handoff(target=to)
        return world.board.lease_action(ROOM, TASK, action, world.workers[number].fence)

    return hand


async def _dies(world: World) -> None:
    world.processes.gone.add(f"life {world.lives}")
    world.is_dead = True
    world.clock.pass_by(TERM)


async def _comes_back(world: World) -> None:
    world.lives += 1
    world.processes.own = f"life {world.lives}"
    coming = attrs.evolve(arrival(1, 1), token=secret(world.lives + 100), insists=True)
    world.workers[0] = await world.rooms.connect(ROOM, coming)
    world.is_dead = False


async def _given_by_a_person(world: World) -> None:
    to = Assignee.of(world.workers[0].session)
    await world.board.change(ROOM, TASK, Patch(status=Status.ASSIGNED, assignee=to))


async def _put_back_by_a_person(world: World) -> None:
    await world.board.lease_action(ROOM, TASK, Release())


def _calls_of(number: int) -> dict[str, Act]:
    """Return every call that a worker can make of the task."""
    who = f"worker {number + 1}"

    def review(world: World) -> Awaitable[object]:
        return world.board.review_action(ROOM, TASK, ReviewClaim(), world.workers[number].fence)

    def end_review(world: World) -> Awaitable[object]:
        return world.board.review_action(ROOM, TASK, Release(), world.workers[number].fence)

    def release(world: World) -> Awaitable[object]:
        return world.board.lease_action(ROOM, TASK, Release(), world.workers[number].fence)

    def decide(world: World) -> Awaitable[object]:
        return world.board.verdict(ROOM, TASK, VERDICT, world.workers[number].fence)

    moves = {
        f"{who} sets {status.value}": _patched(number, Patch(status=status)) for status in Status
    }
    return moves | {
        f"{who} attaches": _patched(number, Patch(pr_url="https://x/1")),
        f"{who} reviews": review,
        f"{who} ends the review": end_review,
        f"{who} releases": release,
        f"{who} hands over": _handed(number),
        f"{who} decides": decide,
    }


OF_WORKERS = _calls_of(0) | _calls_of(1)
"""What workers do who are there: of the first, while it is dead, none is possible."""
ACTS: Mapping[str, Act] = {
    **OF_WORKERS,
    "worker 1 dies": _dies,
    "worker 1 comes back": _comes_back,
    "a person gives it to worker 1": _given_by_a_person,
    "a person puts it back": _put_back_by_a_person,
}


def _is_possible(state: State, act: str) -> bool:
    """Whether somebody can do that at all: the dead do nothing but come back."""
    if state.is_dead:
        return act == "worker 1 comes back" or not act.startswith("worker 1")
    return act != "worker 1 comes back"


async def _world() -> World:
    clock, processes = ManualClock(), ToldProcesses("life 0")
    rooms = MemoryRooms(CountingIds(), clock, processes)
    await rooms.join(ROOM)
    first = await rooms.connect(ROOM, arrival(1, 1))
    processes.own = "the second"
    second = await rooms.connect(ROOM, arrival(2, 2))
    board = KeptBoard(rooms, TERM)
    await board.propose(ROOM, Proposal(title="mend the roof"), first.fence)
    return World(rooms, board, clock, processes, [first, second])


async def _done(world: World, act: str) -> None:
    """Do it from the process of who does it; it may be refused."""
    ours = "the second" if act.startswith("worker 2") else f"life {world.lives}"
    world.processes.own = ours
    try:
        await ACTS[act](world)
    except LetAgentsError:
        return


async def _after(path: tuple[str, ...]) -> State:
    world = await _world()
    for act in path:
        await _done(world, act)
    return await world.state()


async def _explored() -> dict[State, dict[str, State]]:
    """Return where each act leads from each state that can be reached."""
    found: dict[State, dict[str, State]] = {}
    waiting: list[tuple[State, tuple[str, ...]]] = [(await _after(()), ())]
    while waiting:
        state, path = waiting.pop(0)
        if state in found:
            continue
        found[state] = {}
        for act in ACTS:
            if _is_possible(state, act):
                after = await _after((*path, act))
                found[state][act] = after
                waiting.append((after, (*path, act)))
    return found


@pytest.mark.rule("B7", "T1", "T7", "T8")
def test_from_wherever_a_task_stands_those_who_are_there_get_it_closed_or_claimable() -> None:
    ways = asyncio.run(_explored())
    good = {state for state in ways if state.is_goal}
    while True:
        more = {
            state
            for state, acts in ways.items()
            if state not in good and any(acts.get(act) in good for act in OF_WORKERS)
        }
        if not more:
            break
        good |= more

    assert {state.status for state in ways} == set(Status)
    assert len(ways) > 40
    assert set(ways) == good
    claimed = "worker 2 sets assigned"
    stuck = [
        state
        for state, acts in ways.items()
        if state.status is Status.ACCEPTED and acts[claimed].assignee != "worker 2"
    ]
    assert stuck == []
    left = [
        state
        for state, acts in ways.items()
        if state.is_dead
        and state.assignee == "worker 1"
        and state.status not in (Status.MERGED, Status.DONE, Status.CANCELLED)
        and acts[claimed].assignee != "worker 2"
    ]
    assert left == [], "what a dead worker left can be claimed"
