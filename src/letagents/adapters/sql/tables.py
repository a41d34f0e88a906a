"""The tables in which rooms are kept, and how a moment is written in them.

A moment is a whole number of microseconds since 1970 in UTC: it sorts, and every database has it.
In SQLite rooms and sessions lie under their own names, so that a post finds both in one step each;
messages, which are wider and many, lie in the order of their coming.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    and_,
    literal_column,
    text,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

METADATA = MetaData()
TEXT = Text().with_variant(Text(collation="C"), "postgresql")
"""Compared and sorted by its characters' numbers, whatever language a server is set to."""


def partial_index(
    name: str,
    *columns: Column[Any],
    where: ColumnElement[bool] | None = None,
    unique: bool = False,
) -> None:
    """Make an index of those rows alone of which `where` holds."""
    Index(name, *columns, unique=unique, sqlite_where=where, info={"where": where})


def prepare_for_postgresql() -> None:
    """Let PostgreSQL's indexes be partial, too; else nothing here loads its part of SQLAlchemy."""
    for table in METADATA.tables.values():
        for index in table.indexes:
            index.dialect_kwargs["postgresql_where"] = index.info.get("where")


ROOMS = Table(
    "rooms",
    METADATA,
    Column("room_id", TEXT, primary_key=True),
    Column("display_name", TEXT, nullable=False),
    Column("code", TEXT),
    Column("created_at", BigInteger, nullable=False),
    Column("active_at", BigInteger, nullable=False),
    Column("last_number", Integer, nullable=False),
    Column("roster_changes", Integer, nullable=False, server_default=text("0")),
    Column("parent_room_id", TEXT),
    Column("focus_key", TEXT),
    Column("focus_number", BigInteger),
    sqlite_with_rowid=False,
)
"""`roster_changes` grows in each transaction that changes who is in a room, or is called how. The
last three are those of focus rooms, of which all else is kept in their parents."""
partial_index(
    "rooms_beside",
    ROOMS.c.parent_room_id,
    ROOMS.c.focus_number,
    where=ROOMS.c.parent_room_id.is_not(None),
)
partial_index(
    "rooms_by_focus_number",
    ROOMS.c.focus_number,
    where=ROOMS.c.focus_number.is_not(None),
    unique=True,
)

SESSIONS = Table(
    "sessions",
    METADATA,
    Column("room_id", TEXT, ForeignKey("rooms.room_id"), primary_key=True),
    Column("session_id", TEXT, primary_key=True),
    Column("kind", TEXT, nullable=False),
    Column("agent_key", TEXT, nullable=False),
    Column("instance_id", TEXT, nullable=False),
    Column("display_name", TEXT, nullable=False),
    Column("name_key", TEXT, nullable=False),
    Column("base_name", TEXT, nullable=False),
    Column("owner_label", TEXT, nullable=False),
    Column("ide_label", TEXT, nullable=False),
    Column("runtime", TEXT, nullable=False),
    Column("actor_label", TEXT, nullable=False),
    Column("repo_branch", TEXT),
    Column("host_id", TEXT),
    Column("host_kind", TEXT),
    Column("host_label", TEXT),
    Column("liveness_capability", TEXT),
    Column("tool_bridge_id", TEXT),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("last_seen_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Column("generation", Integer, nullable=False),
    Column("token_digest", TEXT, nullable=False),
    Column("process", TEXT),
    Column("seen_boot", TEXT),
    Column("seen_seconds", Float),
    sqlite_with_rowid=False,
)

_LIVE = SESSIONS.c.ended_at.is_(None)
partial_index(
    "sessions_live",
    SESSIONS.c.room_id,
    SESSIONS.c.agent_key,
    where=_LIVE,
)
Index("sessions_by_secret", SESSIONS.c.room_id, SESSIONS.c.token_digest)

MESSAGES = Table(
    "messages",
    METADATA,
    Column("room_id", TEXT, ForeignKey("rooms.room_id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("session_id", TEXT),
    Column("agent_key", TEXT),
    Column("sender", TEXT, nullable=False),
    Column("text", TEXT, nullable=False),
    Column("source", TEXT),
    Column("prompt_kind", TEXT),
    Column("said_at", BigInteger, nullable=False),
    Column("reply_to", Integer),
    Column("thread_root", Integer),
    Column("client_key", TEXT),
    ForeignKeyConstraint(["room_id", "reply_to"], ["messages.room_id", "messages.number"]),
    ForeignKeyConstraint(["room_id", "thread_root"], ["messages.room_id", "messages.number"]),
)

_KEYED = MESSAGES.c.client_key.is_not(None)
partial_index(
    "messages_by_key",
    MESSAGES.c.room_id,
    MESSAGES.c.agent_key,
    MESSAGES.c.client_key,
    where=_KEYED,
    unique=True,
)
_IN_THREAD = MESSAGES.c.thread_root.is_not(None)
partial_index(
    "messages_in_threads",
    MESSAGES.c.room_id,
    MESSAGES.c.thread_root,
    MESSAGES.c.agent_key,
    where=_IN_THREAD,
)

RECEIPTS = Table(
    "receipts",
    METADATA,
    Column("room_id", TEXT, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("agent_key", TEXT, primary_key=True),
    Column("session_id", TEXT, nullable=False),
    Column("actor_label", TEXT, nullable=False),
    Column("reason", TEXT, nullable=False),
    Column("state", TEXT, nullable=False),
    Column("changed", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
"""For whom each message is. `changed` counts the changes of a room's receipts; 0 is none yet."""

UNSETTLED = RECEIPTS.c.state != literal_column("'acknowledged'")
"""Said in full wherever it is asked for: else the index of those rows would not serve."""
partial_index(
    "receipts_unsettled",
    RECEIPTS.c.room_id,
    RECEIPTS.c.session_id,
    RECEIPTS.c.state,
    RECEIPTS.c.created_at,
    where=UNSETTLED,
)
HAS_CHANGED = RECEIPTS.c.changed > literal_column("0")
partial_index("receipts_changed", RECEIPTS.c.room_id, RECEIPTS.c.changed, where=HAS_CHANGED)

THINGS = Table(
    "things",
    METADATA,
    Column("room_id", TEXT, ForeignKey("rooms.room_id"), primary_key=True),
    Column("kind", TEXT, primary_key=True),
    Column("key", TEXT, primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("state", TEXT),
    Column("is_open", Boolean, nullable=False),
    Column("about", TEXT),
    Column("by", TEXT),
    Column("also", TEXT),
    Column("value", TEXT, nullable=False),
)
"""Whatever rooms keep besides sessions and messages, with the facts by which it is found."""

for _fact in ("number", "state", "about", "by", "also"):
    partial_index(
        f"things_by_{_fact}",
        THINGS.c.room_id,
        THINGS.c.kind,
        THINGS.c[_fact],
        *([] if _fact == "number" else [THINGS.c.number]),
        where=None if _fact == "number" else THINGS.c[_fact].is_not(None),
    )
partial_index(
    "things_open",
    THINGS.c.room_id,
    THINGS.c.kind,
    THINGS.c.number,
    where=THINGS.c.is_open,
)
_WORKED_ON = and_(THINGS.c.kind == "work_lease", THINGS.c.is_open)
partial_index(
    "things_one_work_lease",
    THINGS.c.room_id,
    THINGS.c.about,
    where=_WORKED_ON,
    unique=True,
)


def written(moment: datetime) -> int:
    """Return `moment` as the tables hold it."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(micros: int) -> datetime:
    """Return the moment that the tables hold as `micros`."""
    return _EPOCH + timedelta(microseconds=micros)
