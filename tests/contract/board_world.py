"""A room with one task and two workers, as it stands, and as it is told apart from others.

Two worlds are the same as far as the same can be done in them: who is there, how the task stands,
who holds it, what is asked for and approved, who manages, what is locked, what is due.
"""

import copy
import enum
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import attrs

from letagents.adapters.rooms.book import Book, Where
from letagents.adapters.rooms.kept import board_records, decisions, intents, managers
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.dues import DUES
from letagents.adapters.rooms.kept.governance import KeptGovernance
from letagents.adapters.rooms.kept.intents import INTENTS
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain import governance, ticks
from letagents.domain.approvals import Intent, IntentStatus
from letagents.domain.governance import Manager, ManagerMode
from letagents.domain.ids import SessionId
from letagents.domain.leases import Lease, LeaseKind
from letagents.domain.sessions import Connection
from letagents.domain.tasks import CLOSED, Status, Task
from letagents.domain.ticks import Tick
from letagents.testing.contracts.room_callers import ROOM, arrival, passing_chat, secret
from letagents.testing.determinism import CountingIds, ManualClock

TERM = timedelta(minutes=15)
TASK = "task_1"
WORKERS = (1, 2)
OWNER = 0


class Presence(enum.Enum):
    """Whether a worker can do anything."""

    HERE = "here"
    DEAD = "dead"
    LEFT = "left"


@attrs.define
class Machine:
    """Says of processes whether they are there; of none, where nobody can tell."""

    can_tell: bool
    own: str | None = None
    dead: set[str] = attrs.field(factory=set)

    def is_alive(self, process: str) -> bool | None:
        """Say it."""
        return process not in self.dead if self.can_tell else None

    def last_seen(self, _process: str) -> Tick | None:
        """Say that it is not known."""
        return None


@attrs.frozen
class Held:
    """A lease: whose it is, and whether nobody else can have it."""

    by: int
    is_held: bool


@attrs.frozen
class Asked:
    """An open intent: who asks for what, and whether it is approved."""

    by: int
    what: str
    is_approved: bool


@attrs.frozen(kw_only=True)
class State:
    """How a world stands, as far as it matters to what can be done next."""

    status: Status
    assignee: int | None
    work: Held | None
    review: Held | None
    presence: tuple[Presence, ...]
    """Of each worker."""
    has_signs: tuple[bool, ...]
    is_locked: bool
    mode: ManagerMode
    manager: int | None
    is_manager_dead: bool
    asked: tuple[Asked, ...]
    due: frozenset[str]

    @property
    def is_closed(self) -> bool:
        """Whether the task is over."""
        return self.status in CLOSED

    @property
    def is_claimable(self) -> bool:
        """Whether it is for whoever claims it."""
        return self.status is Status.ACCEPTED

    def is_had_by(self, number: int) -> bool:
        """Whether that worker has it, and can go on."""
        mine = self.work is not None and self.work == Held(number, is_held=True)
        return mine and self.assignee == number and not self.is_locked

    def are_here(self) -> list[int]:
        """Return which workers can do something."""
        return [one for one in WORKERS if self.is_here(one)]

    def is_here(self, number: int) -> bool:
        """Whether that worker can do something."""
        return self.presence[number - 1] is Presence.HERE


@attrs.define
class World:
    """A room in this process's memory, with what plays around it."""

    clock: ManualClock
    machine: Machine
    rooms: MemoryRooms
    connections: dict[int, Connection] = attrs.field(factory=dict)
    presence: dict[int, Presence] = attrs.field(factory=dict)
    lives: int = 0
    passing: int | None = None
    """The worker that has no lasting handle, if one has none."""

    @property
    def board(self) -> KeptBoard:
        """The board of its rooms."""
        return KeptBoard(self.rooms, TERM)

    @property
    def governing(self) -> KeptGovernance:
        """What governs it."""
        return KeptGovernance(self.rooms)

    def key(self, number: int) -> str:
        """Return the agent key of a worker."""
        return self.connections[number].session.agent_key

    async def arrive(self, number: int) -> None:
        """Let a worker come, as a process of its own."""
        self.lives += 1
        self.machine.own = f"{number}.{self.lives}"
        coming = arrival(number, 1) if number != self.passing else passing_chat(1)
        coming = attrs.evolve(coming, token=secret(self.lives), insists=True)
        self.connections[number] = await self.rooms.connect(ROOM, coming)
        self.presence[number] = Presence.HERE

    def speaks(self, number: int) -> None:
        """Let what is called next come from the process of that worker."""
        session = self.connections[number].session if number in self.connections else None
        self.machine.own = session.process if session else "the owner's"

    async def open_intents(self) -> list[Intent]:
        """Return what is asked for, and may still come to something."""
        return await self.rooms.look(ROOM, _open_intents)

    async def state(self) -> State:
        """Return how it stands."""
        return await self.rooms.look(ROOM, self._state)

    def _state(self, book: Book) -> State:
        task = board_records.task(book, TASK)
        manager = intents.manager(book)
        return State(
            status=task.status,
            assignee=self._assignee(task),
            work=self._held(book, board_records.active(book, LeaseKind.WORK, TASK)),
            review=self._held(book, board_records.active(book, LeaseKind.REVIEW, TASK)),
            presence=tuple(self.presence[one] for one in WORKERS),
            has_signs=() if self.machine.can_tell else self._signs(book),
            is_locked=bool(board_records.locks(book)),
            mode=intents.settings(book).manager_mode,
            manager=self._number(manager.session_id) if manager else None,
            is_manager_dead=manager is not None and _is_dead(book, manager),
            asked=tuple(sorted(map(self._asked, _open_intents(book)), key=str)),
            due=frozenset(_due(book)),
        )

    def _assignee(self, task: Task) -> int | None:
        keys = {self.key(one): one for one in WORKERS}
        return keys.get(task.assignee_key or "", OWNER) if task.assignee else None

    def _number(self, session_id: SessionId) -> int:
        """Return whose session it is; one that is over and never comes back is its own negative."""
        for number, one in self.connections.items():
            if one.session.session_id == session_id:
                return number
        return -(self.passing or 0)

    def _held(self, book: Book, lease: Lease | None) -> Held | None:
        if lease is None:
            return None
        return Held(self._number(lease.session_id), board_records.is_held(book, lease, TERM))

    def _signs(self, book: Book) -> tuple[bool, ...]:
        found = (book.session(self.connections[one].session.session_id) for one in WORKERS)
        seen = (one.seen if one else None for one in found)
        return tuple(
            one is not None and ticks.elapsed(one, book.tick) < governance.SILENCE for one in seen
        )

    def _asked(self, intent: Intent) -> Asked:
        keys = {self.key(one): one for one in WORKERS}
        by = keys[intent.proposer.agent_key] if intent.proposer else OWNER
        return Asked(by, asked_for(intent), intent.status is IntentStatus.APPROVED)


_OPEN = Where(is_open=True)
_OF_GOVERNING = (intents.ESCALATION_DUE, managers.WATCH_DUE)


def _due(book: Book) -> Iterator[str]:
    """Return what is due; what only tells people something makes no difference."""
    for one in book.find(DUES, _OPEN):
        if one.what in _OF_GOVERNING and one.at <= book.now:
            yield one.what


def _is_dead(book: Book, manager: Manager) -> bool:
    return governance.is_dead(manager, intents.evidence(book, manager), book.tick)


def _open_intents(book: Book) -> list[Intent]:
    found = [decisions.as_it_stands(book, one) for one in book.find(INTENTS, _OPEN)]
    return [one for one in found if one.status.is_open]


def asked_for(intent: Intent) -> str:
    """Return in a word what an intent asks for."""
    given = intent.payload
    return str(given.get("status") or f"{given['action']} {given['target_actor_key']}")


async def begun(*, can_tell: bool = True, passing: int | None = None) -> World:
    """Return a world with two workers, and no task yet."""
    clock, machine = ManualClock(), Machine(can_tell)
    rooms = MemoryRooms(CountingIds(), clock, machine)
    world = World(clock, machine, rooms, passing=passing)
    await rooms.join(ROOM)
    for number in WORKERS:
        await world.arrive(number)
    return world


def twin(world: World) -> World:
    """Return the same once more; what becomes of one leaves the other as it is."""
    made = _twin(world, {})
    assert isinstance(made, World)
    return made


def _twin(thing: Any, made: dict[int, Any]) -> Any:
    """Copy what changes, and share what does not: frozen values, functions, texts and numbers."""
    if type(thing).__hash__ is not None:
        return thing
    if id(thing) not in made:
        made[id(thing)] = new = copy.copy(thing)
        for key, one in _changing_parts(thing):
            (setattr if attrs.has(type(thing)) else type(thing).__setitem__)(
                new, key, _twin(one, made)
            )
    return made[id(thing)]


def _changing_parts(thing: Any) -> list[tuple[Any, Any]]:
    """Return the parts of something that can change themselves, each by its name or place."""
    if isinstance(thing, dict):
        parts = list(thing.items())
    elif isinstance(thing, list):
        parts = list(enumerate(thing))
    elif attrs.has(type(thing)):
        fields = attrs.fields(type(thing))
        parts = [(field.name, getattr(thing, field.name)) for field in fields]
    else:
        parts = []
    return [(key, one) for key, one in parts if type(one).__hash__ is None]
