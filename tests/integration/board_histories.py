"""What ten processes did on one board: each notes what it was answered, the room keeps the events.

The processes are of two homes, as where a container shares the rooms' file and nothing else. Those
of one home know of each other which is there, as all processes of a machine do; of the other home
they know nothing, so that a holder who is paused there loses what it has once its term is over.
"""

import asyncio
import enum
import functools
import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import datetime
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO, Any

import anyio
import attrs
from tests.integration.board_processes import (
    CLAIM,
    PATIENCE,
    TERM,
    Dice,
    connected,
    now,
    persisting,
    process,
    rooms_at,
    with_tasks,
)

from letagents.adapters.processes.locks import ProcessLocks
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.system import SystemClock, SystemIds
from letagents.domain import leases
from letagents.domain.board import Query, Release, TaskView
from letagents.domain.events import Event
from letagents.domain.leases import LeaseFenceStale, LeaseHeld, LeaseKind, LeaseMissing
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Patch
from letagents.testing.contracts.room_callers import ROOM

WORKERS = 10
OF_THE_FIRST_HOME = 7
TASKS = 6
PAUSE = 2.5 * TERM.total_seconds()
OPERATIONS = 2_000
"""So many took effect: claims, renewals, releases and writes that were answered with success."""
KILLS = 5
"""So many processes are killed at least, and come back."""


class Build(enum.Enum):
    """What is played with: the real thing, or what lacks a part of it."""

    WHOLE = "whole"
    UNFENCED = "unfenced"
    WITHOUT_EPOCHS = "without epochs"
    BLIND = "blind"

    def begin(self) -> None:
        """Take the part out, in this process."""
        if self is Build.UNFENCED:
            leases.check = lambda *_, **__: None
        if self in (Build.UNFENCED, Build.WITHOUT_EPOCHS):
            leases.check_epoch = lambda *_: None
        if self is Build.BLIND:
            ProcessLocks.is_alive = lambda *_: None  # type: ignore[method-assign]


@attrs.frozen
class History:
    """What was answered, what the room keeps of it, and when who was killed."""

    answered: list[Mapping[str, Any]]
    events: list[Event]
    killed: list[tuple[int, datetime]]

    @property
    def effective(self) -> list[Mapping[str, Any]]:
        """What took effect, and was answered so."""
        return [note for note in self.answered if _took_effect(note)]

    def done(self, what: str) -> int:
        """Return how many of that kind took effect."""
        return sum(note["what"] == what for note in self.effective)

    def refused(self, what: str) -> int:
        """Return how many of that kind were refused."""
        return sum(note["what"] == what and note["refused"] for note in self.answered)


def _took_effect(note: Mapping[str, Any]) -> bool:
    return not note["refused"] and note["what"] not in ("come", "leave")


def home_of(number: int) -> str:
    """Return where the process of that worker runs."""
    return "home" if number <= OF_THE_FIRST_HOME else "elsewhere"


@attrs.define
class Hand:
    """One worker of a history: what it holds as far as it knows, and what it held before."""

    number: int
    board: KeptBoard
    ours: Connection
    dice: Dice
    notes: IO[str]
    held: dict[str, int] = attrs.field(factory=dict)
    before: dict[str, int] = attrs.field(factory=dict)
    written: int = 0

    async def do_something(self) -> None:
        """Claim, renew, write or let go; now and then under an epoch that is over."""
        task_id = self._some_task()
        chance = self.dice.below(20)
        if task_id in self.before and chance < 3:
            await self._be_late(task_id, self.before[task_id], writes=chance > 0)
        elif task_id not in self.held or chance < 7:
            await self._claim(task_id)
        elif chance < 16:
            await self._write(task_id, self.held[task_id])
        else:
            await self._release(task_id, self.held[task_id])

    def _some_task(self) -> str:
        """Return a task, mostly one that we hold: else most of what happens is being refused."""
        if self.held and self.dice.below(4):
            return sorted(self.held)[self.dice.below(len(self.held))]
        return f"task_{1 + self.dice.below(TASKS)}"

    async def _be_late(self, task_id: str, epoch: int, *, writes: bool) -> None:
        """Do what was meant for an epoch that is over, as a call does that was long on its way."""
        await (self._write(task_id, epoch) if writes else self._release(task_id, epoch))

    async def _claim(self, task_id: str) -> None:
        try:
            view = await self._changed(task_id, CLAIM)
        except LeaseHeld:
            self._lost(task_id)
            self._note("claim", task_id, None, refused=True)
            return
        [lease] = [one.lease for one in view.leases if one.lease.kind is LeaseKind.WORK]
        renewed = self.held.get(task_id) == lease.epoch
        if not renewed:
            self._lost(task_id)
        self.held[task_id] = lease.epoch
        self._note("renewal" if renewed else "claim", task_id, lease.epoch)

    async def _write(self, task_id: str, epoch: int) -> None:
        self.written += 1
        mark = f"https://x/{self.number}/{epoch}/{os.getpid()}.{self.written}"
        try:
            await self._changed(task_id, Patch(pr_url=mark), epoch)
        except (LeaseHeld, LeaseFenceStale, LeaseMissing):
            self._lost(task_id, epoch)
            self._note("write", task_id, epoch, refused=True)
            return
        self._note("write", task_id, epoch, mark=mark)

    async def _release(self, task_id: str, epoch: int) -> None:
        try:
            action, fence = Release(epoch=epoch), self.ours.fence
            await persisting(lambda: self.board.lease_action(ROOM, task_id, action, fence))
        except (LeaseHeld, LeaseFenceStale, LeaseMissing):
            self._lost(task_id, epoch)
            self._note("release", task_id, epoch, refused=True)
            return
        self._lost(task_id, epoch)
        self._note("release", task_id, epoch)

    async def _changed(self, task_id: str, patch: Patch, epoch: int | None = None) -> TaskView:
        fence = self.ours.fence
        return await persisting(lambda: self.board.change(ROOM, task_id, patch, fence, epoch=epoch))

    def _lost(self, task_id: str, epoch: int | None = None) -> None:
        """Take it that we hold the task no more, if it is that epoch under which we did."""
        if task_id in self.held and epoch in (None, self.held[task_id]):
            self.before[task_id] = self.held.pop(task_id)

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
        _write_down(self.notes, said)


def _write_down(notes: IO[str], said: Mapping[str, object]) -> None:
    notes.write(f"{json.dumps(said)}\n")
    notes.flush()


def play(place: Path, number: int, seed: int, build: Build) -> None:
    """Act on the board until it is enough, as the whole of a process."""
    build.begin()

    async def act(processes: ProcessLocks) -> None:
        rooms = rooms_at(place, processes)
        ours = await connected(rooms, number)
        with _notes_of(place, number).open("a") as notes:
            _note_presence(notes, number, "come")
            hand = Hand(number, KeptBoard(rooms, TERM), ours, Dice(seed), notes)
            until = now() + PATIENCE  # whoever started it may be gone
            while not _enough(place).exists() and now() < until:
                await hand.do_something()
            _note_presence(notes, number, "leave")
        await rooms.aclose()

    with closing(ProcessLocks(place.parent / home_of(number), SystemIds())) as processes:
        asyncio.run(act(processes))


def _note_presence(notes: IO[str], number: int, what: str) -> None:
    at = _wall_time().isoformat()
    _write_down(notes, {"by": number, "what": what, "at": at, "refused": False})


def _wall_time() -> datetime:
    return SystemClock().now()


def _notes_of(place: Path, number: int) -> Path:
    return place.with_name(f"notes-{number}")


def _enough(place: Path) -> Path:
    return place.with_name("enough")


def record(
    place: Path, seed: int, operations: int = OPERATIONS, *, build: Build = Build.WHOLE
) -> History:
    """Let ten processes act on a new board, while some are paused and some killed."""
    asyncio.run(with_tasks(place, TASKS))
    lives = iter(range(seed * 1_000, (seed + 1) * 1_000))
    acting = {
        number: process(play, place, number, next(lives), build) for number in range(1, WORKERS + 1)
    }
    again = functools.partial(_again, place, lives, build)
    try:
        killed = asyncio.run(_disturbed(place, acting, Dice(seed), again, operations))
        for one in acting.values():
            one.join(PATIENCE)
    finally:
        for one in acting.values():
            one.kill()
    return History(list(_answered(place)), asyncio.run(_events(place)), killed)


Again = Callable[[int], BaseProcess]


def _again(place: Path, lives: Iterator[int], build: Build, number: int) -> BaseProcess:
    return process(play, place, number, next(lives), build)


async def _disturbed(
    place: Path, acting: dict[int, BaseProcess], dice: Dice, again: Again, operations: int
) -> list[tuple[int, datetime]]:
    """Pause two at a time for longer than a term, and kill one now and then.

    Whom it kills comes back after a while, which may be longer than a term. Return whom and when.
    """
    until, killed = now() + PATIENCE, list[tuple[int, datetime]]()
    while now() < until and (len(killed) < KILLS or _effective(place) < operations):
        paused = {1 + dice.below(WORKERS) for _ in range(2)}
        for number in paused:
            _signal(acting[number].pid, signal.SIGSTOP)
        await anyio.sleep(PAUSE)
        for number in paused:
            _signal(acting[number].pid, signal.SIGCONT)
        number = 1 + dice.below(WORKERS)
        killed.append((number, _wall_time()))
        acting[number].kill()
        acting[number].join(PATIENCE)
        await anyio.sleep(PAUSE * dice.below(2))
        acting[number] = again(number)
    _enough(place).touch()
    return killed


def _effective(place: Path) -> int:
    return sum(map(_took_effect, _answered(place)))


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
