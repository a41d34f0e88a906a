"""The index by which words are found in a SQLite database: made, filled and asked with FTS5.

It is filled when somebody searches, not when somebody speaks: docs/decisions/0011 says why.

The index holds each message's words as the domain reads them, so that SQLite has only to part them
at spaces; the author and the thread are words too, begun with a sign that no text's word holds.
A row has the number of its message, after that of its room: so the messages of a room lie together,
and the newest comes first without sorting. What a stretch of messages has as its earliest and
latest moment is kept beside them, so that a search in an early time need not begin with the newest.
"""

import functools
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from datetime import datetime

import attrs
from sqlalchemy import bindparam, select, text

from letagents.adapters.sql.database import Row, Unit
from letagents.adapters.sql.sqlite_library import SqliteLibrary
from letagents.adapters.sql.tables import MESSAGES, written
from letagents.domain.errors import NotAvailable
from letagents.domain.ids import RoomId
from letagents.domain.search import Query, Term, author_key
from letagents.domain.words import readable

MODULE = "fts5"
BATCH = 200
"""So many messages are indexed in one transaction at most."""
ENOUGH = 100_000
"""So many characters are enough for one transaction: posts wait meanwhile."""
SPAN = 512
"""So many messages have their earliest and latest moment kept together."""

_ROOM_SHIFT = 31
MARK = "\ue000"
"""The sign with which words begin that are none of a text."""
_ALWAYS = (-(1 << 62), 1 << 62)

_TABLES = (
    """CREATE TABLE IF NOT EXISTS search_rooms (
        place INTEGER PRIMARY KEY, room_id TEXT NOT NULL UNIQUE, indexed INTEGER NOT NULL
    )""",
    """CREATE TABLE IF NOT EXISTS search_spans (
        place INTEGER NOT NULL, span INTEGER NOT NULL,
        earliest BIGINT NOT NULL, latest BIGINT NOT NULL,
        PRIMARY KEY (place, span)
    ) WITHOUT ROWID""",
    """CREATE VIRTUAL TABLE IF NOT EXISTS search_words USING {module} (
        words, content='', columnsize=0, tokenize='ascii'
    )""",
)
_NAMES = ("search_words", "search_spans", "search_rooms")

_HAS_MODULE = text("SELECT 1 FROM pragma_module_list WHERE name = :module")
_VERSION = text("SELECT sqlite_version()")
_IS_MADE = text("SELECT 1 FROM sqlite_master WHERE name = 'search_words'")
_ROOM = text("SELECT place, indexed FROM search_rooms WHERE room_id = :room_id")
_ADD_ROOM = text("INSERT INTO search_rooms (room_id, indexed) VALUES (:room_id, 0)")
_NEW = (
    select(
        MESSAGES.c.number,
        MESSAGES.c.sender,
        MESSAGES.c.text,
        MESSAGES.c.said_at,
        MESSAGES.c.thread_root,
    )
    .where(MESSAGES.c.room_id == bindparam("room_id"), MESSAGES.c.number > bindparam("number"))
    .order_by(MESSAGES.c.number)
    .limit(bindparam("limit"))
)
_ADD = text("INSERT INTO search_words (rowid, words) VALUES (:row, :words)")
_ADD_SPAN = text(
    "INSERT INTO search_spans VALUES (:place, :span, :earliest, :latest) "
    "ON CONFLICT (place, span) DO UPDATE SET "
    "earliest = min(earliest, excluded.earliest), latest = max(latest, excluded.latest)"
)
_REACH = text("UPDATE search_rooms SET indexed = :number WHERE place = :place")
_SPANS = text(
    "SELECT min(span), max(span) FROM search_spans "
    "WHERE place = :place AND latest >= :since AND earliest < :until"
)
_FIND = text(
    "SELECT m.number, m.sender, m.text, m.said_at, m.thread_root "
    "FROM search_words AS w "
    "CROSS JOIN messages AS m ON m.room_id = :room_id AND m.number = w.rowid - :first "
    "WHERE w.search_words MATCH :terms AND w.rowid > :first + :low AND w.rowid < :first + :high "
    "AND m.said_at >= :since AND m.said_at < :until "
    "ORDER BY w.rowid DESC LIMIT :limit"
)
_FIND_BY_TIME = text(
    "SELECT number, sender, text, said_at, thread_root FROM messages "
    "WHERE room_id = :room_id AND number > :low AND number < :high "
    "AND said_at >= :since AND said_at < :until ORDER BY number DESC LIMIT :limit"
)


@attrs.frozen
class _Room:
    """Where a room is in the index, and up to which number its messages are."""

    place: int
    indexed: int

    @property
    def first(self) -> int:
        """What the index adds to the numbers of the room."""
        return self.place << _ROOM_SHIFT


# --- making it ------------------------------------------------------------------------------------


def check_available(unit: Unit) -> None:
    """Allow a search with this SQLite.

    Raises:
        NotAvailable: it was built without the full text search.
    """
    if unit.row(_HAS_MODULE, module=MODULE) is not None:
        return
    [version] = unit.row(_VERSION) or ("",)
    raise NotAvailable(
        f"Nothing can be searched: SQLite {version} was built without {MODULE.upper()}.",
        remedy="Call read_messages to read the newest messages. Whoever looks after this machine "
        "can run `letagents doctor`.",
    )


def is_lacking(library: SqliteLibrary) -> bool:
    """Whether that SQLite was built without the full text search."""
    with closing(library.module.connect(":memory:")) as connection:
        found = connection.execute(str(_HAS_MODULE), {"module": MODULE}).fetchone()
    return found is None


def make_search(unit: Unit) -> None:
    """Make the index where there is none; it is filled by `add_more`."""
    for statement in _TABLES:
        unit.cursor.execute(statement.format(module=MODULE))


def forget_search(unit: Unit) -> None:
    """Remove the index: the next search makes and fills it anew."""
    for name in _NAMES:
        unit.cursor.execute(f"DROP TABLE IF EXISTS {name}")


# --- filling it -----------------------------------------------------------------------------------


def indexed(unit: Unit, room_id: RoomId) -> int:
    """Return the number up to which the room's messages are in the index."""
    room = _room(unit, room_id)
    return room.indexed if room else 0


def add_more(unit: Unit, room_id: RoomId) -> int:
    """Put some more of the room's messages into the index; return the number of the last."""
    make_search(unit)
    room = _room(unit, room_id) or _added(unit, room_id)
    taken = new(unit, room_id, room.indexed)
    for number, sender, said, _, root in taken:
        words = f"{readable(said)} {author_of(sender)} {thread(root or number)}"
        unit.change(_ADD, {"row": room.first + number, "words": words})
    for span, (earliest, latest) in _spans(taken).items():
        moments = {"earliest": earliest, "latest": latest}
        unit.change(_ADD_SPAN, {"place": room.place, "span": span, **moments})
    last: int = taken[-1][0] if taken else room.indexed
    unit.change(_REACH, {"place": room.place, "number": last})
    return last


def _room(unit: Unit, room_id: RoomId) -> _Room | None:
    if unit.row(_IS_MADE) is None:
        return None
    row = unit.row(_ROOM, room_id=room_id.value)
    return None if row is None else _Room(*row)


def _added(unit: Unit, room_id: RoomId) -> _Room:
    unit.change(_ADD_ROOM, {"room_id": room_id.value})
    return _Room(unit.cursor.lastrowid, 0)


def new(unit: Unit, room_id: RoomId, reached: int) -> list[Row]:
    """Return the messages after that number which are to be added in one transaction."""
    return list(_enough(unit.rows(_NEW, room_id=room_id.value, number=reached, limit=BATCH)))


def _enough(rows: Iterable[Row]) -> Iterator[Row]:
    """Give rows until their texts are enough for one transaction, and one at least."""
    size = 0
    for row in rows:
        yield row
        size += len(row[2])
        if size >= ENOUGH:
            return


def _spans(rows: Iterable[Row]) -> Mapping[int, tuple[int, int]]:
    found: dict[int, tuple[int, int]] = {}
    for number, _, _, said_at, _ in rows:
        earliest, latest = found.get(number // SPAN, (said_at, said_at))
        found[number // SPAN] = min(earliest, said_at), max(latest, said_at)
    return found


@functools.lru_cache(maxsize=1_000)
def author_of(sender: str) -> str:
    """Return the word for whoever speaks under that label."""
    return author(author_key(sender))


def author(key: str) -> str:
    """Return the word for the author whose key that is."""
    return f"{MARK}a{_digest(key)}"


def room_of(room_id: RoomId) -> str:
    """Return the word for a room, where an index holds several together."""
    return f"{MARK}r{_digest(room_id.value)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def thread(root: int) -> str:
    """Return the word for the thread of that root."""
    return f"{MARK}t{root}"


# --- asking it ------------------------------------------------------------------------------------


def find(unit: Unit, room_id: RoomId, query: Query, root: int | None) -> list[Row]:
    """Return number, sender, text, moment and thread of what fits, and one more than is asked for.

    `root` is that of the thread which the query names.
    """
    room = _room(unit, room_id)
    if room is None:
        return []
    since, until = _moments(query.since, query.until)
    low, high = _numbers(unit, room, query, since, until)
    facts = {"low": low, "high": high, "since": since, "until": until, "limit": query.limit + 1}
    terms = _terms(query, root)
    if not terms:
        return unit.rows(_FIND_BY_TIME, room_id=room_id.value, **facts)
    facts["first"] = room.first
    return unit.rows(_FIND, room_id=room_id.value, terms=terms, **facts)


def _moments(since: datetime | None, until: datetime | None) -> tuple[int, int]:
    return written(since) if since else _ALWAYS[0], written(until) if until else _ALWAYS[1]


def _numbers(unit: Unit, room: _Room, query: Query, since: int, until: int) -> tuple[int, int]:
    """Return between which numbers, neither included, all that fits must be."""
    low, high = 0, query.below.number if query.below else room.indexed + 1
    if query.since or query.until:
        row = unit.row(_SPANS, place=room.place, since=since, until=until)
        first, last = row or (None, None)
        if first is None or last is None:
            return 0, 0
        low, high = first * SPAN - 1, min(high, (last + 1) * SPAN)
    return low, high


def _terms(query: Query, root: int | None) -> str:
    """Return the query in FTS5's language; between quotes nothing has a meaning there."""
    asked = [_quoted(term) for term in query.terms]
    if query.author is not None:
        asked.append(f'"{author(query.author)}"')
    if root is not None:
        asked.append(f'"{thread(root)}"')
    return " AND ".join(asked)


def _quoted(term: Term) -> str:
    return f'"{" ".join(term.words)}"{" *" if term.is_open else ""}'
