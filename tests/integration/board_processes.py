"""What other processes do on a board, in the tests of what only processes can show.

A history is what ten of them did: each notes what it was answered, and the room keeps the events.
"""

import asyncio
import functools
import json
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO, Any

import anyio
import attrs

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms import ledger
from letagents.adapters.rooms.kept import board as kept_board
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.system import SystemClock, SystemIds
from letagents.domain import leases
from letagents.domain.board import Query, Release
from letagents.domain.errors import LetAgentsError
from letagents.domain.events import Event, EventType
from letagents.domain.leases import LeaseFenceStale, LeaseHeld, LeaseKind, LeaseMissing
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Patch, Proposal, Status
from letagents.testing.contracts.room_callers import ROOM, arrival

LOADED = (kept_board, ledger)
"""What processes that are forked from one which has loaded this need not load again."""

_FORKS = "forkserver" in multiprocessing.get_all_start_methods()
_CONTEXT = multiprocessing.get_context("forkserver" if _FORKS else "spawn")
if _FORKS:
    _CONTEXT.set_forkserver_preload([__name__])

CLAIM = Patch(status=Status.ASSIGNED)
WORKERS = 10
TASKS = 3
TERM = timedelta(milliseconds=400)
PAUSE = 2.5 * TERM.total_seconds()
OPERATIONS = 2_000
PATIENCE = 240
"""Seconds until a wait is given up; nothing here depends on how busy the machine is."""


def rooms_at(place: Path, term: timedelta = TERM) -> LocalRooms:
    """Return rooms as a process has them that can ask of no other whether it is there."""
    return LocalRooms(place, SystemIds(), SystemClock(), NoNudges(), term=term)


async def with_tasks(place: Path, count: int) -> None:
    """Make the room, with so many tasks that can be claimed."""
    rooms = rooms_at(place)
    await rooms.join(ROOM)
    for number in range(1, count + 1):
        await KeptBoard(rooms, TERM).propose(ROOM, Proposal(title=f"task number {number}"))
    await rooms.aclose()


async def connected(rooms: LocalRooms, number: int) -> Connection:
    """Return the connection of a worker whose earlier processes are gone, if it had any."""
    ours = attrs.evolve(arrival(number, 1), token=SystemIds().token(), insists=True)
    return await rooms.connect(ROOM, ours)


def process(target: Callable[..., None], *arguments: object) -> BaseProcess:
    """Start a process that does `target`."""
    made: BaseProcess = _CONTEXT.Process(  # type: ignore[attr-defined]  # every context has it
        target=_politely, args=(target, *arguments), daemon=True
    )
    made.start()
    return made


def _politely(target: Callable[..., None], *arguments: object) -> None:
    """Do `target` behind all others: a hundred of these would starve whoever is tested beside."""
    if sys.platform != "win32":
        os.nice(10)
    target(*arguments)


def barrier_for(count: int) -> Any:
    """Return what lets so many processes go on once all are there."""
    return _CONTEXT.Barrier(count)


def queue() -> Any:
    """Return what takes what processes tell."""
    return _CONTEXT.SimpleQueue()


def now() -> float:
    """Return the seconds of the machine's steady clock, which all processes read alike."""
    return SystemClock().tick().seconds


@attrs.define
class Dice:
    """Dice of which each throw follows from the one before."""

    _last: int

    def below(self, count: int) -> int:
        """Return a number from 0 up to, but without, `count`."""
        self._last = (self._last * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
        return (self._last >> 33) % count


# --- all at once ----------------------------------------------------------------------------------


def claim_when_told(place: Path, number: int, barrier: Any, told: Any) -> None:
    """Connect, wait for the others, claim the first task, and tell what came of it."""

    async def claim() -> None:
        rooms = rooms_at(place)
        ours = await connected(rooms, number)
        barrier.wait(PATIENCE)
        try:
            board = KeptBoard(rooms, timedelta(minutes=15))
            await board.change(ROOM, "task_1", CLAIM, ours.fence)
            told.put((number, True, ours.session.actor_label))
        except LeaseHeld as refused:
            told.put((number, False, refused.happened))
        await rooms.aclose()

    asyncio.run(claim())


# --- a history ------------------------------------------------------------------------------------


@attrs.define
class Hand:
    """One worker of a history: what it holds as far as it knows, and what it once held."""

    number: int
    board: KeptBoard
    ours: Connection
    dice: Dice
    notes: IO[str]
    held: dict[str, int] = attrs.field(factory=dict)
    once: dict[str, int] = attrs.field(factory=dict)
    written: int = 0

    async def do_something(self) -> None:
        """Claim, renew, write, write under an epoch that may be over, or let go."""
        task_id = f"task_{1 + self.dice.below(TASKS)}"
        if task_id not in self.held:
            stale = self.once.get(task_id)
            late = stale is not None and self.dice.below(10) < 2
            await (self._write(task_id, stale) if late else self._claim(task_id))
            return
        chance = self.dice.below(10)
        if chance < 2:
            await self._claim(task_id)
        elif chance < 8:
            await self._write(task_id, self.held[task_id])
        else:
            await self._release(task_id)

    async def _claim(self, task_id: str) -> None:
        try:
            view = await self.board.change(ROOM, task_id, CLAIM, self.ours.fence)
        except LeaseHeld:
            self.held.pop(task_id, None)
            self._note("claim", task_id, None, refused=True)
            return
        [lease] = [one.lease for one in view.leases if one.lease.kind is LeaseKind.WORK]
        self.held[task_id] = self.once[task_id] = lease.epoch
        self._note("claim", task_id, lease.epoch)

    async def _write(self, task_id: str, epoch: int | None) -> None:
        self.written += 1
        mark = f"https://x/{self.number}/{epoch}/{os.getpid()}.{self.written}"
        try:
            patch = Patch(pr_url=mark)
            await self.board.change(ROOM, task_id, patch, self.ours.fence, epoch=epoch)
        except (LeaseHeld, LeaseFenceStale, LeaseMissing):
            self.held.pop(task_id, None)
            self._note("write", task_id, epoch, refused=True)
            return
        self._note("write", task_id, epoch, mark=mark)

    async def _release(self, task_id: str) -> None:
        epoch = self.held.pop(task_id)
        try:
            action = Release(epoch=epoch)
            await self.board.lease_action(ROOM, task_id, action, self.ours.fence)
        except LetAgentsError:
            self._note("release", task_id, epoch, refused=True)
            return
        self._note("release", task_id, epoch)

    def _note(
        self, what: str, task_id: str, epoch: int | None, *, mark: str = "", refused: bool = False
    ) -> None:
        said = {
            "by": self.number,
            "what": what,
            "task": task_id,
            "epoch": epoch,
            "mark": mark,
            "refused": refused,
        }
        self.notes.write(f"{json.dumps(said)}\n")
        self.notes.flush()


def play(place: Path, number: int, seed: int, is_fenced: bool) -> None:
    """Act on the board until it is enough, as the whole of a process."""
    if not is_fenced:
        leases.check = lambda *_, **__: None

    async def act() -> None:
        rooms = rooms_at(place)
        ours = await connected(rooms, number)
        with _notes_of(place, number).open("a") as notes:
            hand = Hand(number, KeptBoard(rooms, TERM), ours, Dice(seed), notes)
            until = now() + PATIENCE  # whoever started it may be gone
            while not _enough(place).exists() and now() < until:
                await hand.do_something()
        await rooms.aclose()

    asyncio.run(act())


def _notes_of(place: Path, number: int) -> Path:
    return place.with_name(f"notes-{number}")


@attrs.frozen
class Histories:
    """What was answered, and what the room keeps of it."""

    answered: list[Mapping[str, Any]]
    events: list[Event]


def _enough(place: Path) -> Path:
    return place.with_name("enough")


def record(
    place: Path, seed: int, operations: int = OPERATIONS, *, is_fenced: bool = True
) -> Histories:
    """Let ten processes act on a new board, while some are paused and some killed."""
    asyncio.run(with_tasks(place, TASKS))
    lives = iter(range(seed * 1_000, (seed + 1) * 1_000))
    acting = {
        number: process(play, place, number, next(lives), is_fenced)
        for number in range(1, WORKERS + 1)
    }
    again = functools.partial(_again, place, lives, is_fenced)
    try:
        asyncio.run(_disturbed(place, acting, Dice(seed), again, operations))
        for one in acting.values():
            one.join(PATIENCE)
    finally:
        for one in acting.values():
            one.kill()
    return Histories(list(_answered(place)), asyncio.run(_events(place)))


Again = Callable[[int], BaseProcess]


def _again(place: Path, lives: Iterator[int], is_fenced: bool, number: int) -> BaseProcess:
    return process(play, place, number, next(lives), is_fenced)


async def _disturbed(
    place: Path, acting: dict[int, BaseProcess], dice: Dice, again: Again, operations: int
) -> None:
    """Pause two at a time for longer than a term, and kill one now and then, which comes back."""
    until = now() + PATIENCE
    while sum(1 for _ in _answered(place)) < operations and now() < until:
        paused = {1 + dice.below(WORKERS) for _ in range(2)}
        for number in paused:
            _signal(acting[number].pid, signal.SIGSTOP)
        await anyio.sleep(PAUSE)
        for number in paused:
            _signal(acting[number].pid, signal.SIGCONT)
        killed = 1 + dice.below(WORKERS)
        acting[killed].kill()
        acting[killed].join(PATIENCE)
        acting[killed] = again(killed)
        await anyio.sleep(PAUSE / 4)
    _enough(place).touch()


def _signal(pid: int | None, what: signal.Signals) -> None:
    assert pid is not None
    try:
        os.kill(pid, what)
    except ProcessLookupError:
        return  # it has come to its end


def _answered(place: Path) -> Iterator[Mapping[str, Any]]:
    for number in range(1, WORKERS + 1):
        path = _notes_of(place, number)
        if not path.exists():
            continue
        for line in path.read_text().splitlines():
            if line.endswith("}"):  # else its writer was killed over it
                yield json.loads(line)


async def _events(place: Path) -> list[Event]:
    rooms = rooms_at(place)
    board = KeptBoard(rooms, TERM)
    found: list[Event] = []
    for view in (await board.tasks(ROOM, Query())).tasks:
        after = 0
        while True:
            history = await board.history(ROOM, view.task.task_id, after=after)
            found += history.events
            if not history.more:
                break
            after = found[-1].number
    await rooms.aclose()
    return sorted(found, key=lambda event: event.number)


# --- the model ------------------------------------------------------------------------------------


@attrs.define
class Model:
    """One task as it has to have been: who holds it under which epoch, all that ever was."""

    epoch: int = 0
    holder: int | None = None
    holders: dict[int, int] = attrs.field(factory=dict)


def faults(history: Histories) -> list[str]:
    """Return what in a history cannot be."""
    tasks = {f"task_{number}": Model() for number in range(1, TASKS + 1)}
    found = [fault for event in history.events for fault in _step(tasks[event.task_id], event)]
    kept = {event.detail for event in history.events}
    for note in history.answered:
        if note["refused"]:
            continue
        if note["what"] == "write" and note["mark"] not in kept:
            found.append(f"lost, though it was answered: {note}")
        if note["what"] == "claim" and tasks[note["task"]].holders.get(note["epoch"]) != note["by"]:
            found.append(f"two hold one epoch: {note}")
    return found


def _step(task: Model, event: Event) -> Iterator[str]:
    if event.type is EventType.CLAIMED:
        assert event.epoch is not None
        if event.epoch <= task.epoch:
            yield f"an epoch that did not grow: {event}"
        task.epoch, task.holder = event.epoch, _number(event.actor_key)
        task.holders[event.epoch] = task.holder
    elif event.type in (EventType.RELEASED, EventType.EXPIRED):
        if event.epoch != task.epoch:
            yield f"an end of what had ended: {event}"
        task.holder = None
    elif event.type is EventType.ATTACHED:
        by, epoch = str(event.detail).split("/")[3:5]
        if (int(by), int(epoch)) != (task.holder, task.epoch):
            yield f"a write under an old epoch, {task.epoch} of {task.holder} being held: {event}"


def _number(agent_key: str | None) -> int:
    return int(str(agent_key).rsplit("-", 1)[1], 16)
