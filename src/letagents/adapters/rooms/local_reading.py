"""Reading local rooms: pages and for whom each message is, all from one state of the database."""

from collections.abc import Collection, Mapping, Sequence

import attrs
from sqlalchemy import bindparam, not_, select, union

from letagents.adapters.rooms import hearing, local_receipts, local_rows, local_seats, slips
from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.sql.database import Row, Unit
from letagents.adapters.sql.tables import MESSAGES, SESSIONS, THINGS
from letagents.domain import messages
from letagents.domain.fencing import Fence
from letagents.domain.follow_ups import Holder
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.messages import After, Before, Message, Page, Window
from letagents.domain.receipts import Receipt
from letagents.domain.roster import Listener, Roster
from letagents.domain.sessions import SessionKind
from letagents.ports.clock import Clock

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

_SHOWN_AFTER = _AFTER.where(not_(local_rows.ONLY_PROMPTS))
_SHOWN_BEFORE = _BEFORE.where(not_(local_rows.ONLY_PROMPTS))

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


@attrs.frozen
class Seen:
    """What somebody finds in a room; `news` are numbers of messages that were waiting for them."""

    page: Page
    news: tuple[int, ...] = ()


def read(store: LocalStore, room_id: RoomId, window: Window, viewer: Fence | None) -> Seen:
    """Return the messages in `window`, oldest first, with whether each is for `viewer`."""

    def read(unit: Unit) -> Seen:
        last, changes, _, seat = local_seats.entered(unit, room_id, viewer)
        page = page_in(unit, room_id, window, last)
        if seat is None or not page.messages or seat.session.kind is not SessionKind.WORKER:
            return Seen(page)
        roster = store.rosters.of(room_id, changes, lambda: roster_of(unit, room_id))
        first, last = page.messages[0].id.number, page.messages[-1].id.number
        box = local_receipts.Slips(unit, room_id)
        receipts = box.in_sight(first, last, seat.session.agent_key)
        viewing = hearing.listener(seat.session)
        heard = _labelled(unit, room_id, page.messages, viewing, roster, receipts)
        return Seen(Page(heard, page.more), hearing.news_to(heard, receipts))

    return store.read(read)


def shown(
    store: LocalStore, room_id: RoomId, viewer: Fence, numbers: Collection[int], clock: Clock
) -> bool:
    """Take note that a viewer was shown the messages of those numbers; return whether it is news.

    Raises:
        ConnectionLost: `viewer` does not admit any more.
    """

    def shown(unit: Unit) -> bool:
        _, changes, _, seat = local_seats.entered(unit, room_id, viewer)
        assert seat is not None  # noqa: S101  # nobody is admitted to no seat
        roster = store.rosters.of(room_id, changes, lambda: roster_of(unit, room_id))
        box = local_receipts.Slips(unit, room_id)
        return slips.shown(box, hearing.listener(seat.session), roster, numbers, clock.now())

    return store.write(shown, room_id.value)


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


def page_in(unit: Unit, room_id: RoomId, window: Window, last: int) -> Page:
    """Return the messages in `window` of a room whose last number is `last`."""
    limit = messages.bounded(window.limit)
    if isinstance(window, After):
        if window.id is not None:
            messages.check_reached(window.id, last)
        number = window.id.number if window.id else 0
        after = _AFTER if window.prompts else _SHOWN_AFTER
        rows = unit.rows(after, room_id=str(room_id), number=number, limit=limit + 1)
        return Page(_messages(room_id, rows[:limit]), more=len(rows) > limit)
    number = window.id.number if isinstance(window, Before) else last + 1
    before = _BEFORE if window.prompts else _SHOWN_BEFORE
    rows = unit.rows(before, room_id=str(room_id), number=number, limit=limit + 1)
    return Page(_messages(room_id, rows[limit - 1 :: -1]), more=len(rows) > limit)


def _messages(room_id: RoomId, rows: Sequence[Row]) -> tuple[Message, ...]:
    return tuple(local_rows.message(room_id, row) for row in rows)


def _labelled(
    unit: Unit,
    room_id: RoomId,
    page: Sequence[Message],
    viewer: Listener,
    roster: Roster,
    receipts: Mapping[int, Receipt | None],
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
        before = page_in(unit, room_id, looked_back, last).messages
    owners: Sequence[Holder] = ()
    if hearing.wants_owners([*before, *page]):
        owners = owners_in(unit, room_id)
    return hearing.labelled(
        page,
        viewer,
        roster,
        participants=threads,
        before=before,
        owners=owners,
        receipts=receipts,
    )


def owners_in(unit: Unit, room_id: RoomId) -> list[Holder]:
    """Return who holds the work leases of a room."""
    rows = unit.rows(_WORK, room_id=str(room_id))
    if not rows:
        return []
    from letagents.domain.leases import Lease  # few rooms that are read have a board
    from letagents.wire import kept

    return [kept.read(value, Lease).holder for (value,) in rows]


def roster_of(unit: Unit, room_id: RoomId) -> Roster:
    """Return who is in a room."""
    return Roster.of(
        Listener(key, SessionId(session_id), label, name, SessionKind.WORKER, instance_id)
        for key, session_id, label, name, instance_id in unit.rows(_LIVE, room_id=str(room_id))
    )
