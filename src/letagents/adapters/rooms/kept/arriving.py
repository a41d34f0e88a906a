"""Who comes into a room through a server, in the transaction in which it does."""

import functools
from datetime import timedelta

import attrs

from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.kept import links
from letagents.adapters.rooms.patience import NameComesFree
from letagents.domain import arrivals, codenames, fencing, presence, sessions
from letagents.domain.arrivals import Place
from letagents.domain.errors import NameTaken
from letagents.domain.ids import SessionId
from letagents.domain.names import name_key
from letagents.domain.presence import Facts, Holder
from letagents.domain.sessions import Arrival, Connection, Seat, SessionKind
from letagents.domain.ticks import elapsed

_key_name = functools.lru_cache(maxsize=10_000)(arrivals.key_name)
"""At each arrival it is asked of all who ever were in the room."""


@attrs.frozen
class Arrived:
    """Who came, whether it may find tasks, and whose sessions ended by it."""

    connection: Connection
    may_resume: bool


@attrs.frozen
class _Name:
    """A name, those who bear it until now and are live, and the name that it stands for."""

    text: str
    ended: tuple[Seat, ...] = ()
    base: str | None = None


def comes_so(arrival: Arrival) -> bool:
    """Whether an arrival is judged here: that of a worker through a server."""
    return arrival.account is not None and arrival.kind is SessionKind.WORKER


def arrive(book: Book, arrival: Arrival, *, may_wait: bool) -> Arrived:
    """Open a session or take it over.

    Raises:
        RegistrationConflict: the session is held by somebody whom `arrival` does not follow.
        NameTaken: no name is left.
        NameComesFree: it does soon, and `may_wait` is set.
    """
    place = _place(book, arrival)
    may_resume = sessions.may_resume(arrival, place.seat)
    if place.is_confirmed and place.seat is not None:
        return Arrived(place.seat.connection(arrival.token), may_resume)
    name = _Naming(book, arrival, place).named(may_wait=may_wait)
    session_id = place.seat.session.session_id if place.seat else _session_id(book, arrival)
    seat = sessions.seated(
        arrival,
        place.seat,
        room_id=book.room_id,
        session_id=session_id,
        name=name.text,
        base_name=name.base or name.text,
        now=book.now,
        tick=book.tick,
    )
    over = [*place.ended, *name.ended]
    for one in over:
        book.take(sessions.displaced(one, now=book.now))
    book.take(seat)
    links.arrived(book, seat.session, arrival)
    connection = seat.connection(arrival.token)
    displaced = tuple(one.session.session_id for one in over)
    return Arrived(attrs.evolve(connection, displaced=displaced), may_resume)


def _session_id(book: Book, arrival: Arrival) -> SessionId:
    if arrival.worker_id is not None:
        return sessions.lasting_session_id(arrival.worker_id, book.room_id)
    return SessionId(f"session_{book.ids.uuid()}")


def _place(book: Book, arrival: Arrival) -> Place:
    if arrival.worker_id is not None:
        session_id = sessions.lasting_session_id(arrival.worker_id, book.room_id)
        link = links.of(book, session_id)
        account = link.account if link else None
        return arrivals.place_of_worker(arrival, book.seat(session_id), account)
    seats = [seat for seat in book.seats_of(arrival.agent_key, arrival.instance_id) if seat.is_live]
    confirmed = next((one for one in seats if _is_of(arrival, one)), None)
    silent = [_silent(book, one) for one in seats]
    return arrivals.place_of_process(arrival, seats, confirmed, silent)


def _is_of(arrival: Arrival, seat: Seat) -> bool:
    return fencing.proves(arrival.token, seat.standing)


def _silent(book: Book, seat: Seat) -> timedelta:
    seen = seat.session.seen
    return book.now - seat.session.last_seen_at if seen is None else elapsed(seen, book.tick)


@attrs.frozen
class _Bearer:
    """Another who bears a name. By its key it does so for good."""

    seat: Seat
    is_by_key: bool
    holder: Holder


@attrs.frozen
class _Naming:
    """Finds the name under which an arrival comes to its place."""

    _book: Book
    _arrival: Arrival
    _place: Place

    def named(self, *, may_wait: bool) -> _Name:
        """Return the name, with those who lose it. Raises NameTaken and NameComesFree."""
        seat, wished = self._place.seat, self._wished()
        lasts = seat is not None and self._arrival.worker_id is not None
        base = seat.session.base_name if seat is not None and lasts else wished
        return attrs.evolve(self._found(seat, wished, may_wait=may_wait), base=base)

    def _found(self, seat: Seat | None, wished: str, *, may_wait: bool) -> _Name:
        found = self._had(wished, may_end=True) if seat is None else self._again(seat, wished)
        if found is not None:
            return found
        lost = wished if seat is None else seat.session.display_name
        if may_wait and not arrivals.is_generic(lost, self._arrival.ide_label):
            self._wait_for(lost)
        return _Name(self._other_name(lost))

    def _again(self, seat: Seat, wished: str) -> _Name | None:
        current, first = seat.session.display_name, seat.session.base_name
        reach = first if self._arrival.worker_id is not None else wished
        if name_key(reach) != name_key(current):
            found = self._had(reach, may_end=name_key(reach) == name_key(first))
            if found is not None:
                return found
        return self._had(current, may_end=name_key(current) == name_key(first))

    def _wished(self) -> str:
        """Return the name that is asked for, or the one that a name of programs stands for."""
        arrival = self._arrival
        asked = arrivals.base_of(arrival.display_name, arrival.base_name)
        is_generic = arrivals.is_generic(asked, arrival.ide_label)
        earlier = self._earlier_name()
        if earlier is not None and (is_generic or name_key(earlier) == name_key(asked)):
            return earlier
        return codenames.codename(arrival.agent_key).display_name if is_generic else asked

    def _earlier_name(self) -> str | None:
        """Return the name under which the same process, without a lasting handle, ended."""
        arrival = self._arrival
        if arrival.worker_id is not None:
            return None
        seats = self._book.seats_of(arrival.agent_key, arrival.instance_id)
        over = [seat.session for seat in seats if not seat.is_live]
        latest = max(over, key=lambda one: one.updated_at, default=None)
        return latest.display_name if latest else None

    def _had(self, name: str, *, may_end: bool) -> _Name | None:
        """Return the name if it can be had, from live ones too if `may_end` is set."""
        bearers = self._bearers(name)
        live = tuple(one.seat for one in bearers if one.seat.is_live)
        if (live and not may_end) or not all(map(self._loses, bearers)):
            return None
        return _Name(name, live)

    def _loses(self, bearer: _Bearer) -> bool:
        host = self._arrival.process_host
        return not bearer.is_by_key and presence.may_lose_its_name(bearer.holder, host)

    def _wait_for(self, name: str) -> None:
        bearers = self._bearers(name)
        if any(one.is_by_key for one in bearers):
            return
        holders = [one.holder for one in bearers if one.seat.is_live or not self._loses(one)]
        left = presence.comes_free_in(holders, self._arrival.process_host)
        if left is not None:
            raise NameComesFree(left)

    def _bearers(self, name: str) -> list[_Bearer]:
        key = name_key(name)
        found = []
        for one in self._book.names():
            is_by_key = _key_name(one.agent_key) == key
            if (one.name_key != key and not is_by_key) or self._is_own(one.session_id):
                continue
            seat = self._book.seat(one.session_id)
            if seat is not None and self._counts(seat):
                found.append(self._bearer(seat, is_by_key=is_by_key))
        return found

    def _is_own(self, session_id: SessionId) -> bool:
        gone = (self._place.seat, *self._place.ended)
        return any(one is not None and one.session.session_id == session_id for one in gone)

    def _counts(self, seat: Seat) -> bool:
        """Whether who bears a name keeps it from this one, as long as it is not gone."""
        if seat.session.agent_key == self._arrival.agent_key:
            return seat.is_live
        mine = self._place.seat
        is_younger = mine is not None and arrivals.outranks(mine.session, seat.session)
        return not (is_younger and mine is not None and mine.is_live and seat.is_live)

    def _bearer(self, seat: Seat, *, is_by_key: bool) -> _Bearer:
        session = seat.session
        link = links.of(self._book, session.session_id)
        facts = links.facts(self._book, session, link) if link else Facts()
        is_own = link is not None and link.account == self._arrival.account
        is_another = session.agent_key != self._arrival.agent_key
        holder = Holder(facts, is_own, arrivals.is_supervised(session))
        return _Bearer(seat, is_by_key and is_another, holder)

    def _other_name(self, lost: str) -> str:
        names = self._book.names()
        others = [one for one in names if not self._is_own(one.session_id)]
        keys = {one.name_key for one in others if one.agent_key != self._arrival.agent_key}
        live = {one.name_key for one in others if one.is_live}
        ends = {_key_name(one.agent_key) for one in others}
        other = codenames.replacement_name(self._arrival.agent_key, keys | live | ends)
        if other is None:
            raise NameTaken(
                f"The name {lost} is taken and no codename is left in this room.",
                remedy="Call create_room() and work there.",
            )
        return other
