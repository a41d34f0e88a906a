"""The threads of a room in the database: which there are, and who spoke in one."""

import functools
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    bindparam,
    case,
    cast,
    func,
    literal_column,
    or_,
    select,
    union_all,
)

from letagents.adapters.rooms import local_rows
from letagents.adapters.rooms.book import ByName
from letagents.adapters.sql.database import Row, Unit
from letagents.adapters.sql.tables import MESSAGES, TEXT, THINGS
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.messages import Message
from letagents.domain.threads import Summary, Tally, Voice

_IN_ROOM = MESSAGES.c.room_id == bindparam("room_id")
_IN_A_THREAD = MESSAGES.c.thread_root.is_not(None)
_LATEST = func.max(MESSAGES.c.number)

_IS_UNREAD = and_(_IN_A_THREAD, MESSAGES.c.number > bindparam("read_to"))
_VOICES = (
    select(
        MESSAGES.c.sender,
        MESSAGES.c.source,
        func.count(),
        _LATEST,
        func.sum(case((_IS_UNREAD, literal_column("1")), else_=literal_column("0"))),
    )
    .where(
        _IN_ROOM,
        or_(MESSAGES.c.thread_root == bindparam("root"), MESSAGES.c.number == bindparam("root")),
    )
    .group_by(MESSAGES.c.sender, MESSAGES.c.source)
    .order_by(_LATEST.desc())
)


@functools.cache
def _threads(limit: int) -> Select[Any]:
    return (
        select(MESSAGES.c.thread_root, func.count(), _LATEST)
        .where(_IN_ROOM, _IN_A_THREAD)
        .group_by(MESSAGES.c.thread_root)
        .order_by(_LATEST.desc())
        .suffix_with(f"LIMIT {limit}")
    )


_SEEN, _SAID = MESSAGES.alias("seen"), MESSAGES.alias("said")
_ROOTS = (
    select(_SAID.c.thread_root.label("root"))
    .distinct()
    .where(
        _SAID.c.room_id == bindparam("room_id"),
        _SAID.c.thread_root.in_(
            select(func.coalesce(_SEEN.c.thread_root, _SEEN.c.number)).where(
                _SEEN.c.room_id == bindparam("room_id"),
                _SEEN.c.number.between(bindparam("first"), bindparam("last")),
            )
        ),
    )
    .cte("roots")
)
"""The roots of the threads of the messages between two numbers."""


def _said_in_them(at: ColumnElement[int], is_reply: int) -> Select[Any]:
    shown = (MESSAGES.c.sender, MESSAGES.c.source, MESSAGES.c.number)
    return (
        select(_ROOTS.c.root, *shown, literal_column(str(is_reply)).label("is_reply"))
        .join_from(_ROOTS, MESSAGES, at == _ROOTS.c.root)
        .where(_IN_ROOM)
    )


_IN_THEM = union_all(
    _said_in_them(MESSAGES.c.thread_root, 1), _said_in_them(MESSAGES.c.number, 0)
).subquery("said_there")
_READ_TO = func.coalesce(THINGS.c.number, literal_column("0"))
_LAST = func.max(_IN_THEM.c.number)
_AROUND = (
    select(
        _IN_THEM.c.root,
        _READ_TO,
        _IN_THEM.c.sender,
        _IN_THEM.c.source,
        func.count(),
        _LAST,
        func.sum(
            case((_IN_THEM.c.number > _READ_TO, _IN_THEM.c.is_reply), else_=literal_column("0"))
        ),
    )
    .select_from(_IN_THEM)
    .outerjoin(
        THINGS,
        and_(
            THINGS.c.room_id == bindparam("room_id"),
            THINGS.c.kind == bindparam("kind"),
            THINGS.c.key == bindparam("prefix").op("||")(cast(_IN_THEM.c.root, TEXT)),
        ),
    )
    .group_by(_IN_THEM.c.root, THINGS.c.number, _IN_THEM.c.sender, _IN_THEM.c.source)
    .order_by(_IN_THEM.c.root, _LAST.desc())
)
_NEWEST = local_rows.MESSAGES_WITH_QUOTES.where(
    MESSAGES.c.number.in_(
        select(func.max(_SAID.c.number))
        .where(
            _SAID.c.room_id == bindparam("room_id"), _SAID.c.thread_root.in_(select(_ROOTS.c.root))
        )
        .group_by(_SAID.c.thread_root)
    )
)


def around(unit: Unit, room_id: RoomId, first: int, last: int, read_to: ByName) -> list[Summary]:
    """Return the threads of the messages between those numbers."""
    kind, prefix = read_to
    where = {"room_id": room_id.value, "first": first, "last": last}
    rows = unit.rows(_AROUND, **where, kind=kind.name, prefix=prefix)
    if not rows:
        return []
    found = (local_rows.message(room_id, row) for row in unit.rows(_NEWEST, **where))
    newest = {one.thread_root.number: one for one in found}
    return [
        _summary(root, read, newest.get(root), list(of_it))
        for (root, read), of_it in groupby(rows, key=itemgetter(0, 1))
    ]


def _summary(root: int, read_to: int, latest: Message | None, rows: Sequence[Row]) -> Summary:
    voices = [
        Voice(sender=sender, source=source, messages=count, latest=number, unread=int(unread))
        for _, _, sender, source, count, number, unread in rows
    ]
    return Summary(
        root=MessageId(root),
        replies=sum(one.messages for one in voices) - 1,
        latest=latest,
        voices=voices,
        read_to=read_to,
    )


def threads(unit: Unit, room_id: RoomId, limit: int) -> list[Tally]:
    """Return the threads with the newest replies, those first."""
    rows = unit.rows(_threads(limit), room_id=room_id.value)
    return [Tally(root, replies, latest) for root, replies, latest in rows]


def voices(unit: Unit, room_id: RoomId, root: int, read_to: int) -> list[Voice]:
    """Return who spoke in a thread, the last first, and how many replies come after `read_to`."""
    rows = unit.rows(_VOICES, room_id=room_id.value, root=root, read_to=read_to)
    return [
        Voice(sender=sender, source=source, messages=count, latest=latest, unread=int(unread))
        for sender, source, count, latest, unread in rows
    ]
