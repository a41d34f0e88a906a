"""Reading local rooms: pages and for whom each message is, all from one state of the database."""

from collections.abc import Sequence

from sqlalchemy import bindparam, select, union

from letagents.adapters.rooms import hearing, local_rows, local_seats
from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.sql.database import Row, Unit
from letagents.adapters.sql.tables import MESSAGES, SESSIONS, THINGS
from letagents.domain import messages
from letagents.domain.fencing import Fence
from letagents.domain.follow_ups import Holder
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.messages import After, Before, Message, Page, Window
from letagents.domain.roster import Listener, Roster
from letagents.domain.sessions import SessionKind

_AFTER = (
    local_rows.MESSAGES_WITH_QUOTES.where(MESSAGES.c.number > bindparam("number"))
    .order_by(MESSAGES.c.number)
    .limit(bindparam("limit"))
)
_BEFORE = (
    local_rows.MESSAGES_WITH_QUOTES.where(MESSAGES.c.number < bindparam("number"))
    .order_by(MESSAGES.c.number.desc())
    .limit(bindparam("limit"))
)

_LIVE = (
    select(
        SESSIONS.c.agent_key,
        SESSIONS.c.session_id,
        SESSIONS.c.actor_label,
        SESSIONS.c.display_name,
        SESSIONS.c.instance_id,
    )
    .where(
        SESSIONS.c.room_id == bindparam("room_id"),
        SESSIONS.c.kind == SessionKind.WORKER.value,
        SESSIONS.c.ended_at.is_(None),
    )
    .order_by(SESSIONS.c.created_at, SESSIONS.c.session_id)
)

_SEEN = MESSAGES.alias("seen")
_SAID = MESSAGES.alias("said")
_MINE_IN_SIGHT = (
    select(_SEEN.c.thread_root)
    .join_from(_SEEN, _SAID, _SAID.c.room_id == _SEEN.c.room_id)
    .where(
        _SEEN.c.room_id == bindparam("room_id"),
        _SEEN.c.number.between(bindparam("first"), bindparam("last")),
        _SEEN.c.thread_root.is_not(None),
        _SAID.c.agent_key == bindparam("agent_key"),
    )
)
_MY_THREADS = union(
    _MINE_IN_SIGHT.where(_SAID.c.thread_root == _SEEN.c.thread_root),
    _MINE_IN_SIGHT.where(_SAID.c.number == _SEEN.c.thread_root),
)
"""The roots of the threads, among those of a page, in which an agent said something or began."""

_WORK = (
    select(THINGS.c.value)
    .where(
        THINGS.c.room_id == bindparam("room_id"),
        THINGS.c.kind == "work_lease",
        THINGS.c.is_open,
    )
    .order_by(THINGS.c.number)
    .limit(hearing.OWNERS)
)


def read(store: LocalStore, room_id: RoomId, window: Window, viewer: Fence | None) -> Page:
    """Return the messages in `window`, oldest first, with whether each is for `viewer`."""

    def read(unit: Unit) -> Page:
        last, changes, seat = local_seats.entered(unit, room_id, viewer)
        page = _page(unit, room_id, window, last)
        if seat is None or not page.messages or seat.session.kind is not SessionKind.WORKER:
            return page
        roster = store.rosters.of(room_id, changes, lambda: _roster(unit, room_id))
        heard = _labelled(unit, room_id, page.messages, hearing.listener(seat.session), roster)
        return Page(heard, page.more)

    return store.read(read)


def message(store: LocalStore, room_id: RoomId, message_id: MessageId) -> Message | None:
    """Return one message, or None if the room has no such."""

    def read(unit: Unit) -> Message | None:
        last_number(unit, room_id)
        return local_rows.message_numbered(unit, room_id, message_id.number)

    return store.read(read)


def last_number(unit: Unit, room_id: RoomId) -> int:
    """Return the number of the room's newest message, 0 if it has none.

    Raises:
        UnknownRoom: it is not there.
    """
    return local_seats.entered(unit, room_id, None).last_number


def _page(unit: Unit, room_id: RoomId, window: Window, last: int) -> Page:
    limit = messages.bounded(window.limit)
    if isinstance(window, After):
        if window.id is not None:
            messages.check_reached(window.id, last)
        number = window.id.number if window.id else 0
        rows = unit.rows(_AFTER, room_id=str(room_id), number=number, limit=limit + 1)
        return Page(_messages(room_id, rows[:limit]), more=len(rows) > limit)
    number = window.id.number if isinstance(window, Before) else last + 1
    rows = unit.rows(_BEFORE, room_id=str(room_id), number=number, limit=limit + 1)
    return Page(_messages(room_id, rows[limit - 1 :: -1]), more=len(rows) > limit)


def _messages(room_id: RoomId, rows: Sequence[Row]) -> tuple[Message, ...]:
    return tuple(local_rows.message(room_id, row) for row in rows)


def _labelled(
    unit: Unit, room_id: RoomId, page: Sequence[Message], viewer: Listener, roster: Roster
) -> tuple[Message, ...]:
    first, last = page[0].id.number, page[-1].id.number
    threads = frozenset[int]()
    if any(one.is_thread_reply for one in page):
        facts = {"first": first, "last": last, "agent_key": viewer.agent_key}
        threads = frozenset(
            root for (root,) in unit.rows(_MY_THREADS, room_id=str(room_id), **facts)
        )
    before: Sequence[Message] = ()
    if hearing.wants_history(page, roster):
        looked_back = Before(page[0].id, hearing.LOOKED_BACK)
        before = _page(unit, room_id, looked_back, last).messages
    owners: Sequence[Holder] = ()
    if hearing.wants_owners([*before, *page]):
        owners = _owners(unit, room_id)
    return hearing.labelled(
        page, viewer, roster, participants=threads, before=before, owners=owners
    )


def _owners(unit: Unit, room_id: RoomId) -> list[Holder]:
    rows = unit.rows(_WORK, room_id=str(room_id))
    if not rows:
        return []
    from letagents.domain.leases import Lease  # few rooms that are read have a board
    from letagents.wire import kept

    return [kept.read(value, Lease).holder for (value,) in rows]


def _roster(unit: Unit, room_id: RoomId) -> Roster:
    return Roster.of(
        Listener(key, SessionId(session_id), label, name, SessionKind.WORKER, instance_id)
        for key, session_id, label, name, instance_id in unit.rows(_LIVE, room_id=str(room_id))
    )
