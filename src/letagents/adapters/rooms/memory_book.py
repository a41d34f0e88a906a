"""The book of a room in this process's memory: what is put down is kept all at once at the end."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

import attrs

from letagents.adapters.rooms import hearing, slips
from letagents.adapters.rooms.book import (
    EVERYTHING,
    SYSTEM,
    ByName,
    Kind,
    Lookup,
    Named,
    Where,
)
from letagents.adapters.rooms.kept.focus_records import FOCUS_ROOMS
from letagents.adapters.rooms.memory_slips import MemorySlips
from letagents.domain.focus_rooms import Focus
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.messages import Message
from letagents.domain.names import name_key
from letagents.domain.receipts import Receipt, State
from letagents.domain.rooms import Room
from letagents.domain.roster import Roster
from letagents.domain.sessions import Seat, Session, SessionKind
from letagents.domain.threads import Summary, Tally, Voice
from letagents.domain.ticks import Tick
from letagents.ports.ids import Ids
from letagents.ports.processes import Processes

V = TypeVar("V")

Things = dict[str, dict[str, Any]]
"""What a room keeps, by kind and name."""
Say = Callable[[str, str, str, str | None, SessionId | None], Message]


@attrs.define(eq=False)
class MemoryBook:
    """One room within one change of it. `_say` is done at once: nothing refuses after saying.

    `_seat` keeps a seat.
    """

    room_id: RoomId
    caller: Session | None
    origin: RoomId | None
    parent: RoomId | None
    is_admin: bool
    now: datetime
    tick: Tick
    ids: Ids
    grace: timedelta
    _things: Things
    _seats: Mapping[SessionId, Seat]
    _seat: Callable[[Seat], None]
    _slips: MemorySlips
    _processes: Processes
    _numbered: Callable[[int], Message | None]
    _say: Say
    _rename: Callable[[str], Room]
    _beside: Callable[[str | None], list[Room]]
    _put_beside: Callable[[Callable[[int], Focus], str], Room]
    _put: Things = attrs.field(factory=dict)

    def get(self, kind: Kind[V], key: str) -> V | None:
        """Return the thing of that name."""
        found: V | None = self._all(kind).get(key)
        return found

    def find(self, kind: Kind[V], where: Where = EVERYTHING) -> list[V]:
        """Return the things that fit."""
        return self._fitting(kind, where)[: where.limit]

    def bring(
        self,
        *_asked: Lookup,
        named: Sequence[ByName] = (),
        numbered: Sequence[Kind[Any]] = (),
    ) -> None:
        """Do nothing: all is here."""

    def count(self, kind: Kind[V], where: Where = EVERYTHING) -> int:
        """Return how many things fit."""
        return len(self._fitting(kind, where))

    def next_number(self, kind: Kind[V]) -> int:
        """Return one more than the highest number."""
        return max(map(kind.number, self._all(kind).values()), default=0) + 1

    def put(self, kind: Kind[V], value: V) -> None:
        """Keep `value` when the change is done."""
        self._put.setdefault(kind.name, {})[kind.key(value)] = value

    def keep(self) -> None:
        """Keep what was put down."""
        for kind, things in self._put.items():
            self._things.setdefault(kind, {}).update(things)

    def session(self, session_id: SessionId) -> Session | None:
        """Return a session of the room."""
        seat = self._seats.get(session_id)
        return None if seat is None else seat.session

    def sessions(self) -> list[Session]:
        """Return the sessions that have not ended."""
        live = [seat.session for seat in self._seats.values() if seat.is_live]
        return sorted(live, key=lambda one: (one.created_at, str(one.session_id)))

    def workers_before(self, session_id: SessionId | None, limit: int) -> list[Session]:
        """Return workers' sessions before that one, the youngest first."""
        start = self.session(session_id) if session_id else None
        found = sorted((seat.session for seat in self._workers()), key=_age, reverse=True)
        return [one for one in found if start is None or _age(one) < _age(start)][:limit]

    def seat(self, session_id: SessionId) -> Seat | None:
        """Return the seat of a session."""
        return self._seats.get(session_id)

    def seats_of(self, agent_key: str, instance_id: str) -> list[Seat]:
        """Return the seats of a worker's process."""
        return [
            seat
            for seat in self._workers()
            if (seat.session.agent_key, seat.session.instance_id) == (agent_key, instance_id)
        ]

    def names(self) -> list[Named]:
        """Return what all workers of the room are called."""
        return [
            Named(one.session_id, one.agent_key, name_key(one.display_name), one.ended_at is None)
            for one in (seat.session for seat in self._workers())
        ]

    def take(self, seat: Seat) -> None:
        """Keep a seat at once: nothing refuses after that."""
        self._seat(seat)

    def _workers(self) -> list[Seat]:
        return [one for one in self._seats.values() if one.session.kind is SessionKind.WORKER]

    def is_alive(self, process: str | None) -> bool | None:
        """Whether that process is there."""
        return None if process is None else self._processes.is_alive(process)

    def last_seen(self, process: str | None) -> Tick | None:
        """Return when that process was there last."""
        return None if process is None else self._processes.last_seen(process)

    def saw(self, session_id: SessionId) -> None:
        """Note that the process of a session is there now."""
        seat = self._seats[session_id]
        session = attrs.evolve(seat.session, seen=self.tick)
        self._seat(attrs.evolve(seat, session=session))

    def beside(self, key: str | None = None) -> list[Room]:
        """Return the focus rooms beside this one, or the one of that key."""
        return self._beside(key)

    def put_beside(self, make: Callable[[int], Focus], display_name: str) -> Room:
        """Make a room beside this one, at once: nothing refuses after that."""
        room = self._put_beside(make, display_name)
        assert room.focus is not None  # noqa: S101  # it was made one
        self.put(FOCUS_ROOMS, room.focus)
        return room

    def message(self, number: int) -> Message | None:
        """Return the message of that number."""
        return self._numbered(number)

    def threads(self, limit: int) -> list[Tally]:
        """Return the threads with the newest replies."""
        found: dict[int, Tally] = {}
        for one in self._said():
            if one.is_thread_reply:
                root = one.thread_root.number
                replies = found[root].replies if root in found else 0
                found[root] = Tally(root, replies + 1, one.id.number)
        return sorted(found.values(), key=lambda one: one.latest, reverse=True)[:limit]

    def voices(self, root: int, read_to: int) -> list[Voice]:
        """Return who spoke in a thread."""
        found: dict[tuple[str, str | None], Voice] = {}
        for one in self._said():
            if one.thread_root.number == root:
                before = found.get((one.sender, one.source))
                is_unread = one.is_thread_reply and one.id.number > read_to
                found[one.sender, one.source] = Voice(
                    sender=one.sender,
                    source=one.source,
                    messages=(before.messages if before else 0) + 1,
                    latest=one.id.number,
                    unread=(before.unread if before else 0) + is_unread,
                )
        return sorted(found.values(), key=lambda one: one.latest, reverse=True)

    def _said(self) -> Iterator[Message]:
        numbered = (self._numbered(number) for number in itertools.count(1))
        for one in itertools.takewhile(lambda message: message is not None, numbered):
            assert one is not None  # noqa: S101  # taken while it is not
            yield one

    def threads_around(self, first: int, last: int, read_to: ByName) -> list[Summary]:
        """Return the threads of the messages between those numbers."""
        kind, prefix = read_to
        between = [one for one in self._said() if first <= one.id.number <= last]
        found = []
        for root in sorted({one.thread_root for one in between}, key=lambda one: one.number):
            thread = self.get(kind, f"{prefix}{root.number}")
            up_to = kind.number(thread) if thread is not None else 0
            voices = self.voices(root.number, up_to)
            replies, latest = sum(one.messages for one in voices) - 1, voices[0].latest
            if replies:
                newest = self.message(latest)
                found.append(
                    Summary(root=root, replies=replies, latest=newest, voices=voices, read_to=up_to)
                )
        return found

    def rename(self, display_name: str) -> Room:
        """Call the room so at once."""
        return self._rename(display_name)

    def receipts(self, number: int) -> list[Receipt]:
        """Return the receipts of the message of that number."""
        return self._slips.of_message(number)

    def receipts_changed(self, after: int, limit: int) -> list[tuple[int, int]]:
        """Return the messages whose receipts changed after that change."""
        return self._slips.changed_after(after, limit)

    def last_receipt_change(self) -> int:
        """Return the number of the last change of a receipt."""
        return self._slips.last_change()

    def show_receipts(self, session: Session, first: int, last: int) -> bool:
        """Note that a session was shown the messages of those numbers; say whether it is news."""
        who, roster = hearing.listener(session), Roster.of(map(hearing.listener, self.sessions()))
        return slips.shown_among(self._slips, who, roster, first, last, self.now)

    def declare_receipt(self, session: Session, message_id: MessageId, state: State) -> Receipt:
        """Note how far a session says that it is with a message."""
        who, roster = hearing.listener(session), Roster.of(map(hearing.listener, self.sessions()))
        return slips.declared(self._slips, who, roster, message_id, state, self.now)

    def tell_receipts(self, session_id: SessionId, *, is_blocked: bool) -> None:
        """Let the receipts of a session know whether it can go on."""
        slips.told(self._slips, session_id, is_blocked=is_blocked, now=self.now)

    def say(
        self,
        text: str,
        *,
        key: str,
        source: str = SYSTEM,
        prompt_kind: str | None = None,
        session_id: SessionId | None = None,
    ) -> MessageId:
        """Let the room itself say `text`, once for each key."""
        return self._say(text, key, source, prompt_kind, session_id).id

    def _all(self, kind: Kind[V]) -> dict[str, V]:
        return {**self._things.get(kind.name, {}), **self._put.get(kind.name, {})}

    def _fitting(self, kind: Kind[V], where: Where) -> list[V]:
        fitting = [one for one in self._all(kind).values() if _fits(kind, one, where)]
        return sorted(fitting, key=lambda one: _place(kind, one), reverse=where.newest_first)


def _age(session: Session) -> tuple[datetime, str]:
    return session.created_at, str(session.session_id)


def _place(kind: Kind[V], value: V) -> tuple[int, int, str]:
    key = kind.key(value)
    return kind.number(value), len(key), key


def _fits(kind: Kind[V], value: V, where: Where) -> bool:
    facts = ("state", "is_open", "about", "by", "also")
    asked = {name: getattr(where, name) for name in facts}
    number = kind.number(value)
    return (
        (where.after is None or number > where.after)
        and (where.before is None or number < where.before)
        and all(
            getattr(kind, name)(value) == wanted
            for name, wanted in asked.items()
            if wanted is not None
        )
    )
