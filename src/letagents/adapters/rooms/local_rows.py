"""Rows of the database to values and back."""

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import ColumnElement, FromClause, and_, bindparam, literal_column, select

from letagents.adapters.sql.database import Unit
from letagents.adapters.sql.tables import MESSAGES, ROOMS, SESSIONS, THINGS, moment, written
from letagents.domain.fencing import Standing
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.locators import FOCUS_ROOM
from letagents.domain.messages import AUTO, Attachment, Message, Quote
from letagents.domain.names import name_key
from letagents.domain.rooms import Room
from letagents.domain.sessions import Host, Seat, Session, SessionKind
from letagents.domain.ticks import Tick
from letagents.wire import kept

if TYPE_CHECKING:
    from letagents.domain.focus_rooms import Focus

AGENT = SessionKind.WORKER.source


_FOCUS = THINGS.alias("focus")
ROOM = (
    ROOMS.c.room_id,
    ROOMS.c.display_name,
    ROOMS.c.code,
    ROOMS.c.created_at,
    _FOCUS.c.value,
)
OF_ROOMS = ROOMS.outerjoin(
    _FOCUS,
    and_(
        _FOCUS.c.room_id == ROOMS.c.parent_room_id,
        _FOCUS.c.kind == FOCUS_ROOM,
        _FOCUS.c.key == ROOMS.c.focus_key,
    ),
)
"""What ROOM is of: rooms, with what those keep beside which some of them are."""
SEAT = tuple(column for column in SESSIONS.c if column.name not in ("room_id", "name_key"))


def room(row: tuple[Any, ...]) -> Room:
    """Return the room in a row of ROOM."""
    room_id, display_name, code, created_at, focus = row
    return Room(
        RoomId(room_id),
        display_name,
        moment(created_at),
        code,
        focus=None if focus is None else _focus(focus),
    )


def _focus(written: str) -> "Focus":
    from letagents.domain.focus_rooms import Focus  # most rooms are none

    return kept.read(written, Focus)


class _SeatRow(NamedTuple):
    """A row of SEAT."""

    session_id: str
    kind: str
    agent_key: str
    instance_id: str
    display_name: str
    base_name: str
    owner_label: str
    ide_label: str
    runtime: str
    actor_label: str
    repo_branch: str | None
    host_id: str | None
    host_kind: str | None
    host_label: str | None
    liveness_capability: str | None
    tool_bridge_id: str | None
    created_at: int
    updated_at: int
    last_seen_at: int
    ended_at: int | None
    generation: int
    token_digest: str
    process: str | None
    seen_boot: str | None
    seen_seconds: float | None

    def seat(self, room_id: RoomId) -> Seat:
        """Return the seat in this row."""
        session_id = SessionId(self.session_id)
        ended_at = None if self.ended_at is None else moment(self.ended_at)
        session = Session(
            session_id=session_id,
            room_id=room_id,
            kind=SessionKind(self.kind),
            agent_key=self.agent_key,
            instance_id=self.instance_id,
            display_name=self.display_name,
            base_name=self.base_name,
            owner_label=self.owner_label,
            ide_label=self.ide_label,
            runtime=self.runtime,
            actor_label=self.actor_label,
            created_at=moment(self.created_at),
            updated_at=moment(self.updated_at),
            last_seen_at=moment(self.last_seen_at),
            repo_branch=self.repo_branch,
            ended_at=ended_at,
            host=Host(
                host_id=self.host_id,
                kind=self.host_kind,
                label=self.host_label,
                liveness_capability=self.liveness_capability,
                tool_bridge_id=self.tool_bridge_id,
            ),
            process=self.process,
            seen=None if self.seen_boot is None else Tick(self.seen_boot, self.seen_seconds or 0.0),
        )
        return Seat(session, Standing(session_id, self.generation, self.token_digest, ended_at))


@functools.lru_cache(maxsize=256)
def seat(room_id: RoomId, row: tuple[Any, ...]) -> Seat:
    """Return the seat in a row of SEAT; the same is read over and over."""
    return _SeatRow._make(row).seat(room_id)


def seat_facts(seat: Seat) -> dict[str, object]:
    """Return `seat` as the table of sessions holds it."""
    session, host = seat.session, seat.session.host
    return {
        "room_id": str(session.room_id),
        "session_id": str(session.session_id),
        "kind": session.kind.value,
        "agent_key": session.agent_key,
        "instance_id": session.instance_id,
        "display_name": session.display_name,
        "name_key": name_key(session.display_name),
        "base_name": session.base_name,
        "owner_label": session.owner_label,
        "ide_label": session.ide_label,
        "runtime": session.runtime,
        "actor_label": session.actor_label,
        "repo_branch": session.repo_branch,
        "host_id": host.host_id,
        "host_kind": host.kind,
        "host_label": host.label,
        "liveness_capability": host.liveness_capability,
        "tool_bridge_id": host.tool_bridge_id,
        "created_at": written(session.created_at),
        "updated_at": written(session.updated_at),
        "last_seen_at": written(session.last_seen_at),
        "ended_at": None if session.ended_at is None else written(session.ended_at),
        "generation": seat.standing.generation,
        "token_digest": seat.standing.token_digest,
        "process": session.process,
        "seen_boot": session.seen and session.seen.boot,
        "seen_seconds": session.seen and session.seen.seconds,
    }


def quote_columns(quoted: FromClause) -> tuple[ColumnElement[Any], ...]:
    """Return what a quotation shows of a message; `quoted` is the table under some name."""
    names = ("number", "sender", "text", "source", "said_at", "agent_key", "session_id")
    return tuple(quoted.c[name] for name in names)


def quote(row: tuple[Any, ...]) -> Quote | None:
    """Return the quotation in a row of `quote_columns`, or None if nothing is quoted."""
    number, sender, text, source, said_at, agent_key, session_id = row
    if number is None:
        return None
    return Quote(
        id=MessageId(number),
        sender=sender,
        text=text,
        source=source,
        said_at=moment(said_at),
        agent_key=agent_key if source == AGENT else None,
        session_id=None if session_id is None else SessionId(session_id),
    )


_ATTACHED = THINGS.alias("attached")
"""The files of a message are kept apart: few have any, and a message without is said for less."""
ONLY_PROMPTS = and_(
    MESSAGES.c.prompt_kind.is_not(None),
    MESSAGES.c.prompt_kind == literal_column(f"'{AUTO}'"),
    MESSAGES.c.text == literal_column("''"),
)
MESSAGE = (
    MESSAGES.c.number,
    MESSAGES.c.session_id,
    MESSAGES.c.agent_key,
    MESSAGES.c.sender,
    MESSAGES.c.text,
    MESSAGES.c.source,
    MESSAGES.c.prompt_kind,
    MESSAGES.c.said_at,
    MESSAGES.c.thread_root,
    _ATTACHED.c.value,
)


def message(room_id: RoomId, row: tuple[Any, ...]) -> Message:
    """Return the message in a row of MESSAGE and `quote_columns`."""
    number, session_id, agent_key, sender, text, source, prompt_kind, said_at, root = row[:9]
    files = row[9]
    message_id = MessageId(number)
    return Message(
        room_id=room_id,
        id=message_id,
        sender=sender,
        agent_key=agent_key if source == AGENT else None,
        session_id=None if session_id is None else SessionId(session_id),
        text=text,
        source=source,
        said_at=moment(said_at),
        thread_root=message_id if root is None else MessageId(root),
        reply_to=quote(row[10:]),
        prompt_kind=prompt_kind,
        attachments=() if files is None else _files(files),
    )


def _files(attached: str) -> tuple[Attachment, ...]:
    from letagents.domain.attachments import Attached  # only few messages have files

    return kept.read(attached, Attached).files


_QUOTED = MESSAGES.alias("quoted")
MESSAGES_WITH_QUOTES = (
    select(*MESSAGE, *quote_columns(_QUOTED))
    .select_from(MESSAGES)
    .outerjoin(
        _ATTACHED,
        and_(
            _ATTACHED.c.room_id == MESSAGES.c.room_id,
            _ATTACHED.c.kind == literal_column("'attached'"),
            _ATTACHED.c.number == MESSAGES.c.number,
        ),
    )
    .outerjoin(
        _QUOTED,
        and_(_QUOTED.c.room_id == MESSAGES.c.room_id, _QUOTED.c.number == MESSAGES.c.reply_to),
    )
    .where(MESSAGES.c.room_id == bindparam("room_id"))
)
_NUMBERED = MESSAGES_WITH_QUOTES.where(MESSAGES.c.number == bindparam("number"))


def message_numbered(unit: Unit, room_id: RoomId, number: int) -> Message | None:
    """Return the message of that number, or None if the room has no such."""
    row = unit.row(_NUMBERED, room_id=str(room_id), number=number)
    return None if row is None else message(room_id, row)
