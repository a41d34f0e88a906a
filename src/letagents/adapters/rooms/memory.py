"""Rooms in this process's memory: for tests, and for those who embed us and keep nothing."""

import asyncio
import contextlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

import attrs

from letagents.adapters.rooms import hearing, resuming, slips
from letagents.adapters.rooms.bells import Bells
from letagents.adapters.rooms.book import (
    SPEAKER,
    Admins,
    Book,
    Kind,
    as_in,
    everybody,
)
from letagents.adapters.rooms.evidence import ToldProcesses
from letagents.adapters.rooms.kept import arriving, dues
from letagents.adapters.rooms.kept import attachments as kept_attachments
from letagents.adapters.rooms.kept.attachment_records import UPLOADS
from letagents.adapters.rooms.kept.board_records import WORK_LEASES
from letagents.adapters.rooms.kept.focus_records import FOCUS_ROOMS
from letagents.adapters.rooms.memory_book import MemoryBook, Things
from letagents.adapters.rooms.memory_slips import MemorySlips
from letagents.adapters.rooms.patience import Pause, patiently
from letagents.adapters.system import SystemClock, SystemIds
from letagents.domain import (
    fencing,
    focus_rooms,
    locators,
    messages,
    recipients,
    rooms,
    search,
    sessions,
)
from letagents.domain.absences import GRACE
from letagents.domain.fencing import Fence
from letagents.domain.focus_rooms import Focus
from letagents.domain.follow_ups import Holder
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.messages import (
    After,
    Before,
    Draft,
    Latest,
    Made,
    Message,
    Page,
    Place,
    Position,
    Quote,
    Window,
)
from letagents.domain.names import name_key
from letagents.domain.receipts import Receipt, State
from letagents.domain.rooms import Room
from letagents.domain.roster import Listener, Roster
from letagents.domain.search import Found, Query
from letagents.domain.sessions import Arrival, Connection, Seat, Session, SessionKind
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids
from letagents.ports.processes import Processes
from letagents.ports.vitals import Vitals

T = TypeVar("T")


@attrs.define
class _Kept:
    """One room with everything in it."""

    room: Room
    active_at: datetime
    seats: dict[SessionId, Seat] = attrs.field(factory=dict)
    said: list[Message] = attrs.field(factory=list)
    made: dict[tuple[str, str], Made] = attrs.field(factory=dict)
    things: Things = attrs.field(factory=dict)
    slips: MemorySlips = attrs.field(factory=MemorySlips)

    def renamed(self, display_name: str) -> "_Kept":
        """Call the room so."""
        self.room = attrs.evolve(self.room, display_name=display_name)
        return self

    def seat(self, seat: Seat) -> None:
        """Keep a seat; what waited for who has left passes on."""
        session = seat.session
        before = self.seats.get(session.session_id)
        self.seats[session.session_id] = seat
        if before is not None and before.is_live and session.ended_at is not None:
            heir = next((one.session_id for one in self._live() if _is_other(one, session)), None)
            slips.left(self.slips, session.session_id, heir, session.ended_at)

    def _live(self) -> list[Session]:
        """Return the sessions that have not ended, oldest first."""
        return sorted(
            (one.session for one in self.seats.values() if one.is_live),
            key=lambda one: (one.created_at, str(one.session_id)),
        )

    def roster(self) -> Roster:
        """Return who is in the room."""
        return Roster.of(map(hearing.listener, self._live()))

    def admitted(self, fence: Fence) -> Seat:
        seat = self.seats.get(fence.session_id)
        worker = seat.session.instance_id if seat else None
        standing = seat.standing if seat else None
        fencing.admit(fence, standing, worker=worker, room_id=self.room.room_id)
        return self.seats[fence.session_id]

    def names_of_others(self, agent_key: str) -> frozenset[str]:
        everybody = (one.session for one in self.seats.values())
        return frozenset(
            name_key(one.display_name)
            for one in everybody
            if one.kind is SessionKind.WORKER and one.agent_key != agent_key
        )

    def end_others(self, session: Session, now: datetime) -> None:
        for session_id, seat in list(self.seats.items()):
            other = seat.session
            is_same_agent = other.agent_key == session.agent_key and other.kind is session.kind
            if is_same_agent and session_id != session.session_id:
                self.seat(sessions.ended(seat, now=now))

    def numbered(self, number: int) -> Message | None:
        return self.said[number - 1] if 1 <= number <= len(self.said) else None

    def position(self, message_id: MessageId | None) -> Position | None:
        message = message_id and self.numbered(message_id.number)
        if not message:
            return None
        root = message.thread_root.number if message.is_thread_reply else None
        return Position(message.id.number, root, message.only_prompts)

    def said_by(self, author: Session, draft: Draft, where: Place, *, now: datetime) -> Message:
        message_id = MessageId(messages.next_number(len(self.said)))
        return Message(
            room_id=self.room.room_id,
            id=message_id,
            sender=author.actor_label,
            agent_key=None if author.kind is SessionKind.PERSON else author.agent_key,
            session_id=author.session_id,
            text=draft.text,
            source=author.kind.source,
            said_at=now,
            thread_root=MessageId(where.root) if where.root else message_id,
            reply_to=self._quote(where.reply_to),
            prompt_kind=draft.prompt_kind,
        )

    def with_files(self, said: Message, named: Sequence[str], by: str) -> Message:
        """Return a message with the files that it takes."""

        def put(kind: Kind[Any], value: object) -> None:
            self.things.setdefault(kind.name, {})[kind.key(value)] = value

        get = self.things.get(UPLOADS.name, {}).get
        number, now = said.id.number, said.said_at
        files = kept_attachments.take(named, get, put, by=by, number=number, now=now)
        return attrs.evolve(said, attachments=files)

    def said_by_the_room(self, message: Message, key: str, *, now: datetime) -> Message:
        place = Place(None, None)
        self.said.append(message)
        self.made[SPEAKER, key] = Made(message.id.number, message.text, place)
        self.active_at = now
        words = hearing.spoken(message)
        self.slips.add(message.id, recipients.recipients(words, self.roster()), now)
        return message

    def address(self, said: Message) -> Message:
        """Keep a receipt for each whom a new message wakes; return it as its author is told."""
        words, roster = hearing.spoken(said), self.roster()
        before = self.said[max(0, said.id.number - 1 - hearing.LOOKED_BACK) : said.id.number - 1]
        found = hearing.woken(
            said,
            words,
            roster,
            speakers=self._speakers(said) if said.is_thread_reply else (),
            before=before,
            owners=self._owners() if hearing.wants_owners([*before, said]) else (),
        )
        self.slips.add(said.id, found, said.said_at)
        return hearing.noticed(said, words, roster)

    def _speakers(self, said: Message) -> frozenset[str]:
        thread = (one for one in self.said if one.thread_root == said.thread_root)
        return frozenset(one.agent_key for one in thread if one.agent_key is not None)

    def _quote(self, number: int | None) -> Quote | None:
        quoted = self.numbered(number or 0)
        if quoted is None:
            return None
        return Quote(
            id=quoted.id,
            sender=quoted.sender,
            text=quoted.text,
            source=quoted.source,
            said_at=quoted.said_at,
            agent_key=quoted.agent_key,
            session_id=quoted.session_id,
        )

    def page(self, window: Window) -> Page:
        said = self.said if window.prompts else [one for one in self.said if not one.only_prompts]
        limit, last = messages.bounded(window.limit), len(said)
        match window:
            case After(None):
                start, end = 0, limit
            case After(MessageId(number) as cursor):
                messages.check_reached(cursor, len(self.said))
                start = bisect_right(said, number, key=_number)
                end = start + limit
            case Before(MessageId(number)):
                end = bisect_left(said, number, key=_number)
                start = max(0, end - limit)
            case Latest():
                start, end = max(0, last - limit), last
        more = end < last if isinstance(window, After) else start > 0
        return Page(tuple(said[start:end]), more=more)

    def in_sight(self, page: Sequence[Message], viewer: Listener) -> dict[int, Receipt | None]:
        if not page:
            return {}
        return self.slips.in_sight(page[0].id.number, page[-1].id.number, viewer.agent_key)

    def labelled(self, page: Sequence[Message], viewer: Listener) -> tuple[Message, ...]:
        roster = self.roster()
        first = page[0].id.number - 1 if page else 0
        before = self.said[max(0, first - hearing.LOOKED_BACK) : first]
        return hearing.labelled(
            page,
            viewer,
            roster,
            participants=self._threads_with(viewer.agent_key),
            before=before,
            owners=self._owners() if hearing.wants_owners([*before, *page]) else (),
            receipts=self.in_sight(page, viewer),
        )

    def _owners(self) -> list[Holder]:
        found = self.things.get(WORK_LEASES.name, {}).values()
        held = sorted(filter(WORK_LEASES.is_open, found), key=WORK_LEASES.number)
        return [lease.holder for lease in held[: hearing.OWNERS]]

    def _threads_with(self, agent_key: str) -> frozenset[int]:
        return frozenset(one.thread_root.number for one in self.said if one.agent_key == agent_key)


def _number(said: Message) -> int:
    return said.id.number


def _is_other(one: Session, session: Session) -> bool:
    is_worker = one.kind is SessionKind.WORKER
    return is_worker and one.agent_key == session.agent_key and one != session


@attrs.define
class MemoryRooms:
    """Rooms that are gone with the process. Nothing awaits between a check and its effect."""

    _ids: Ids = attrs.field(factory=SystemIds)
    _clock: Clock = attrs.field(factory=SystemClock)
    _processes: Processes = attrs.field(factory=ToldProcesses)
    _admins: Admins = everybody
    _grace: timedelta = GRACE
    _pause: Pause = asyncio.sleep
    _kept: dict[RoomId, _Kept] = attrs.field(factory=dict)
    _bells: Bells = attrs.field(factory=Bells)
    _told: Bells = attrs.field(factory=Bells)

    async def create(self) -> Room:
        """Make a room that is entered by a new invite code."""
        room_id = RoomId(self._ids.invite_code())
        while room_id in self._kept:
            room_id = RoomId(self._ids.invite_code())
        return self._make(room_id, code=str(room_id))

    async def join(self, room_id: RoomId, *, create: bool = True) -> Room:
        """Return the room, making it if it is not there and may be made."""
        found = self._found(room_id)
        if found is None and create:
            rooms.check_may_be_made(room_id)
            return self._make(room_id)
        if found is None:
            raise rooms.missing(room_id)
        return found

    def _found(self, room_id: RoomId) -> Room | None:
        """Return the room of that id, or the focus room that a locator names."""
        if (kept := self._kept.get(room_id)) is not None:
            return self._as_it_is(kept)
        where = locators.located(room_id)
        found = self._beside(where.parent, where.key) if where is not None else []
        return found[0] if found else None

    def _beside(self, parent: RoomId, key: str | None) -> list[Room]:
        found = [self._as_it_is(one) for one in self._kept.values() if one.room.access_id == parent]
        named = [one for one in found if one.focus and key in (None, one.focus.key)]
        newest = sorted(named, key=lambda one: one.focus.number if one.focus else 0, reverse=True)
        return newest[: focus_rooms.LISTED + 1]

    def _as_it_is(self, kept: _Kept) -> Room:
        """Return a room, a focus room as it stands in the one beside which it is."""
        focus = kept.room.focus
        if focus is None:
            return kept.room
        beside = self._kept[focus.parent].things.get(FOCUS_ROOMS.name, {})
        return attrs.evolve(kept.room, focus=beside.get(focus.key, focus))

    def _put_beside(self, make: Callable[[int], Focus], display_name: str) -> Room:
        made = [one.room.focus.number for one in self._kept.values() if one.room.focus]
        number = max(made, default=0) + 1
        while RoomId(f"focus_{number}") in self._kept:
            number += 1
        focus, now = make(number), self._clock.now()
        room = Room(focus.room_id, display_name, now, focus=focus)
        self._kept[room.room_id] = _Kept(room, active_at=now)
        return room

    async def known(self) -> tuple[Room, ...]:
        """Return the rooms, the latest active first."""
        latest = sorted(self._kept.values(), key=lambda one: one.active_at, reverse=True)
        return tuple(self._as_it_is(one) for one in latest[: rooms.KNOWN_LIMIT])

    async def connect(self, room_id: RoomId, arrival: Arrival) -> Connection:
        """Open a session or take it over."""
        if arriving.comes_so(arrival):
            return await patiently(
                lambda may_wait: self._admitted(room_id, arrival, may_wait), self._pause
            )
        kept, now = self._at(room_id), self._clock.now()
        session_id = self._session_id(kept, arrival)
        before = kept.seats.get(session_id)
        seat = sessions.arrive(
            arrival,
            before,
            room_id=room_id,
            session_id=session_id,
            taken=kept.names_of_others(arrival.agent_key),
            now=now,
            process=self._process(arrival.kind),
            tick=self._clock.tick(),
        )
        kept.seat(seat)
        if seat is not before and arrival.ends_earlier_sessions:
            kept.end_others(seat.session, now)
        self._bells.ring(room_id)
        connection = seat.connection(arrival.token)
        if not sessions.may_resume(arrival, before):
            return connection
        return self._with_resumed(room_id, connection)

    async def _admitted(self, room_id: RoomId, arrival: Arrival, may_wait: bool) -> Connection:
        """Let somebody in who comes through a server."""
        book = self._book(room_id, None)
        arrived = arriving.arrive(book, arrival, may_wait=may_wait)
        book.keep()
        self._bells.ring(room_id)
        made = arrived.connection
        return self._with_resumed(room_id, made) if arrived.may_resume else made

    def _with_resumed(self, room_id: RoomId, made: Connection) -> Connection:
        book = self._book(room_id, made.fence)
        left = resuming.resumed(book, made.session)
        book.keep()
        return attrs.evolve(made, resumed=left)

    async def disconnect(self, room_id: RoomId, fence: Fence) -> Session:
        """End the session."""
        kept = self._at(room_id)
        seat = sessions.ended(kept.admitted(fence), now=self._clock.now(), tick=self._clock.tick())
        kept.seat(seat)
        self._bells.ring(room_id)
        return seat.session

    async def post(self, room_id: RoomId, draft: Draft, fence: Fence) -> Message:
        """Say `draft` in the room."""
        kept = self._at(room_id)
        author = kept.admitted(fence).session
        where = messages.place(draft, kept.position(draft.reply_to), kept.position(draft.thread))
        key = (author.agent_key, str(draft.key))
        if (before := messages.repeated(draft, where, kept.made.get(key))) is not None:
            said = kept.said[before - 1]
            return hearing.noticed(said, hearing.spoken(said), kept.roster())
        said = kept.said_by(author, draft, where, now=self._clock.now())
        if draft.attachments:
            said = kept.with_files(said, draft.attachments, author.agent_key)
        kept.said.append(said)
        kept.made[key] = Made(said.id.number, draft.text, where)
        kept.active_at = said.said_at
        refers_to = [one for one in (where.reply_to, where.root) if one is not None]
        slips.said(kept.slips, fence.session_id, author.agent_key, refers_to, said.said_at)
        told = kept.address(said)
        self._sign(kept, fence)
        self._bells.ring(room_id)
        return told

    async def read(self, room_id: RoomId, window: Window, viewer: Fence | None = None) -> Page:
        """Return the messages in `window`, oldest first."""
        page = self._page(room_id, window, viewer)
        self._sign(self._at(room_id), viewer)
        self._shown(room_id, page, viewer)
        return page

    def _shown(self, room_id: RoomId, page: Page, viewer: Fence | None) -> None:
        """Take note of what a viewer was shown."""
        kept = self._at(room_id)
        if viewer is None or (seat := kept.seats.get(viewer.session_id)) is None:
            return
        listener = hearing.listener(seat.session)
        news = hearing.news_to(page.messages, kept.in_sight(page.messages, listener))
        if news and slips.shown(kept.slips, listener, kept.roster(), news, self._clock.now()):
            self._told.ring(room_id)

    def _page(self, room_id: RoomId, window: Window, viewer: Fence | None) -> Page:
        kept = self._at(room_id)
        listener = hearing.listener(kept.admitted(viewer).session) if viewer else None
        page = kept.page(window)
        if listener is None or not listener.is_worker:
            return page
        return attrs.evolve(page, messages=kept.labelled(page.messages, listener))

    async def wait(
        self, room_id: RoomId, window: After, *, timeout: timedelta, viewer: Fence | None = None
    ) -> Page:
        """Return as `read` does, as soon as the window holds a message."""
        self._sign(self._at(room_id), viewer)
        page = await self.watch(
            room_id,
            lambda: self.peek(room_id, window, viewer),
            lambda page: bool(page.messages),
            timeout=timeout,
        )
        self._shown(room_id, page, viewer)
        return page

    async def watch(
        self,
        room_id: RoomId,
        look: Callable[[], Awaitable[T]],
        is_enough: Callable[[T], bool],
        *,
        timeout: timedelta,
        viewer: Fence | None = None,  # here all look again, whoever it was
        of_receipts: bool = False,
    ) -> T:
        """Return what `look` finds, as soon as that is enough, or at the end of `timeout`."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + timeout.total_seconds()
        with (
            self._bells.hung(room_id) as bell,
            self._told.hung(room_id, bell) if of_receipts else contextlib.nullcontext(),
        ):
            while True:
                found = await look()
                left = ends - loop.time()
                if is_enough(found) or left <= 0:
                    return found
                due = await self._due_in(room_id)
                await bell.rest(left if due is None else min(left, due.total_seconds()))

    async def peek(self, room_id: RoomId, window: Window, viewer: Fence | None = None) -> Page:
        """Return as `read` does; it is no sign of the viewer's life."""
        return self._page(room_id, window, viewer)

    async def _due_in(self, room_id: RoomId) -> timedelta | None:
        """Let the room do what is due by now; return how long until more is, if any is."""
        left = await dues.left(self, room_id)
        if left is None or left > timedelta(0):
            return left
        from letagents.adapters.rooms.kept import doing  # few who wait need all the verbs

        return await doing.done(self, room_id)

    async def vitals(self) -> Vitals:
        """Return how the rooms are."""
        leases = (one.things.get(WORK_LEASES.name, {}) for one in self._kept.values())
        slips_of_all = (one for kept in self._kept.values() for one in kept.slips.all())
        unsettled = [one for one in slips_of_all if one.state is not State.ACKNOWLEDGED]
        now = self._clock.now()
        waits = [now - one.created_at for one in unsettled if one.state is State.QUEUED]
        return Vitals(
            waiters=self._bells.many,
            live_sessions=sum(
                seat.is_live for one in self._kept.values() for seat in one.seats.values()
            ),
            open_work_leases=sum(sum(map(WORK_LEASES.is_open, one.values())) for one in leases),
            unsettled=Counter(one.state for one in unsettled),
            oldest_queued=max(waits, default=timedelta(0)),
        )

    async def message(self, room_id: RoomId, message_id: MessageId) -> Message | None:
        """Return one message, or None."""
        return self._at(room_id).numbered(message_id.number)

    async def search(self, room_id: RoomId, query: Query, viewer: Fence | None = None) -> Found:
        """Return the newest hits."""
        kept = self._at(room_id)
        if viewer is not None:
            kept.admitted(viewer)
        thread = query.thread and kept.numbered(query.thread.number)
        if query.thread is not None and thread is None:
            raise search.no_thread(query.thread)
        return search.among(reversed(kept.said), query, thread.thread_root if thread else None)

    async def change(
        self, room_id: RoomId, work: Callable[[Book], T], fence: Fence | None = None
    ) -> T:
        """Return what `work` returns once what it put down is kept; waiters look again."""
        book = self._book(room_id, fence)
        done = work(book)
        book.keep()
        self._sign(self._at(room_id), fence)
        self._bells.ring(room_id)
        return done

    async def note(
        self, room_id: RoomId, work: Callable[[Book], T], fence: Fence | None = None
    ) -> T:
        """Do as `change`, for what nobody waits for and what is no sign of anybody."""
        book = self._book(room_id, fence)
        done = work(book)
        book.keep()
        return done

    def listen_for(self, room_id: RoomId, fence: Fence) -> None:
        """Do nothing: every call is written down."""

    async def look(
        self, room_id: RoomId, work: Callable[[Book], T], viewer: Fence | None = None
    ) -> T:
        """Return what `work` finds in the room."""
        found = work(self._book(room_id, viewer))
        self._sign(self._at(room_id), viewer)
        return found

    def _book(self, room_id: RoomId, fence: Fence | None) -> MemoryBook:
        kept = self._at(room_id)
        caller = kept.admitted(fence).session if fence else None
        parent = kept.room.focus.parent if kept.room.focus else None
        now, tick = self._clock.now(), self._clock.tick()

        def say(
            text: str, key: str, source: str, prompt_kind: str | None, by: SessionId | None
        ) -> Message:
            if (before := kept.made.get((SPEAKER, key))) is not None:
                return kept.said[before.number - 1]
            message_id = MessageId(messages.next_number(len(kept.said)))
            said = Message(
                room_id=room_id,
                id=message_id,
                sender=SPEAKER,
                agent_key=None,
                session_id=by,
                text=text,
                source=source,
                said_at=now,
                thread_root=message_id,
                prompt_kind=prompt_kind,
            )
            return kept.said_by_the_room(said, key, now=now)

        return MemoryBook(
            room_id,
            caller,
            fence.origin if fence else None,
            parent,
            self._admins(as_in(caller, parent)),
            now,
            tick,
            self._ids,
            self._grace,
            kept.things,
            kept.seats,
            kept.seat,
            kept.slips,
            self._processes,
            kept.numbered,
            say,
            lambda name: self._as_it_is(kept.renamed(name)),
            lambda key: self._beside(room_id, key),
            self._put_beside,
        )

    def _sign(self, kept: _Kept, fence: Fence | None) -> None:
        """Let a call count as a sign of its session's life."""
        seat = kept.seats.get(fence.session_id) if fence else None
        if fence is None or seat is None or fencing.refusal(fence, seat.standing) is not None:
            return
        process = self._process(seat.session.kind)
        kept.seat(
            sessions.heard(seat, now=self._clock.now(), tick=self._clock.tick(), process=process)
        )

    def _process(self, kind: SessionKind) -> str | None:
        return self._processes.own if kind is SessionKind.WORKER else None

    def _make(self, room_id: RoomId, *, code: str | None = None) -> Room:
        now = self._clock.now()
        room = Room(room_id, str(room_id), created_at=now, code=code)
        self._kept[room_id] = _Kept(room, active_at=now)
        return room

    def _at(self, room_id: RoomId) -> _Kept:
        kept = self._kept.get(room_id)
        if kept is None:
            raise rooms.missing(room_id)
        return kept

    def _session_id(self, kept: _Kept, arrival: Arrival) -> SessionId:
        if arrival.worker_id is not None:
            return sessions.lasting_session_id(arrival.worker_id, kept.room.room_id)
        secret = fencing.digest(arrival.token)
        seated = (one.standing for one in kept.seats.values())
        known = next((one.session_id for one in seated if one.token_digest == secret), None)
        return known or SessionId(f"local_{self._ids.uuid()}")
