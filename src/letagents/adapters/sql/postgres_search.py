"""The index by which words are found in PostgreSQL: made with the tables, filled by who searches.

It holds each message's words as the domain reads them, in the form of a `tsvector` that no parser
of the server has touched; author, thread and room are words too, begun with a sign that no text's
word holds. A `tsvector` knows the places of words only up to a point; so a long text is marked,
found by its words alone, and read once more: what is found is what the domain would find.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from sqlalchemy import text

from letagents.adapters.sql import search_index
from letagents.adapters.sql.database import Row, Unit
from letagents.adapters.sql.tables import written
from letagents.domain.ids import RoomId
from letagents.domain.search import Query, Term
from letagents.domain.words import readable

_PLACES = 16_000
"""So many places of words a `tsvector` can tell apart."""
_TIMES = 250
"""So many places it keeps of one word."""
_LONG = f"{search_index.MARK}long"
_ALWAYS = (-(1 << 62), 1 << 62)

_TABLES = (
    """CREATE TABLE search_rooms (
        room_id text COLLATE "C" PRIMARY KEY, indexed integer NOT NULL
    )""",
    """CREATE TABLE search_words (
        room_id text COLLATE "C" NOT NULL, number integer NOT NULL,
        said_at bigint NOT NULL, words tsvector NOT NULL,
        PRIMARY KEY (room_id, number)
    )""",
    "CREATE INDEX search_by_word ON search_words USING gin (words)",
    "CREATE INDEX search_by_time ON search_words (room_id, said_at)",
)
_NAMES = ("search_words", "search_rooms")

_INDEXED = text("SELECT indexed FROM search_rooms WHERE room_id = :room_id")
_ADD = text(
    "INSERT INTO search_words VALUES (:room_id, :number, :said_at, CAST(:words AS tsvector)) "
    "ON CONFLICT DO NOTHING"
)
_REACH = text(
    "INSERT INTO search_rooms VALUES (:room_id, :number) "
    "ON CONFLICT (room_id) DO UPDATE SET indexed = excluded.indexed"
)
_FIND = text(
    "SELECT m.number, m.sender, m.text, m.said_at, m.thread_root "
    "FROM search_words AS w JOIN messages AS m ON m.room_id = w.room_id AND m.number = w.number "
    "WHERE w.room_id = :room_id AND w.number < :below AND w.words @@ CAST(:terms AS tsquery) "
    "AND w.said_at >= :since AND w.said_at < :until ORDER BY w.number DESC LIMIT :limit"
)
_FIND_BY_TIME = text(
    "SELECT m.number, m.sender, m.text, m.said_at, m.thread_root "
    "FROM search_words AS w JOIN messages AS m ON m.room_id = w.room_id AND m.number = w.number "
    "WHERE w.room_id = :room_id AND w.number < :below "
    "AND w.said_at >= :since AND w.said_at < :until ORDER BY w.number DESC LIMIT :limit"
)


# --- making it ------------------------------------------------------------------------------------


def check_available(_unit: Unit) -> None:
    """Allow a search: every PostgreSQL can."""


def make_search(unit: Unit) -> None:
    """Make the index; it is filled by `add_more`."""
    for statement in _TABLES:
        unit.say(statement)


def forget_search(unit: Unit) -> None:
    """Empty the index: the next search fills it anew."""
    unit.say(f"TRUNCATE {', '.join(_NAMES)}")


# --- filling it -----------------------------------------------------------------------------------


def indexed(unit: Unit, room_id: RoomId) -> int:
    """Return the number up to which the room's messages are in the index."""
    row = unit.row(_INDEXED, room_id=room_id.value)
    return row[0] if row else 0


def add_more(unit: Unit, room_id: RoomId) -> int:
    """Put some more of the room's messages into the index; return the number of the last."""
    before = indexed(unit, room_id)
    last = before
    for number, sender, said, said_at, root in search_index.new(unit, room_id, before):
        marks = (
            search_index.author_of(sender),
            search_index.thread(root or number),
            search_index.room_of(room_id),
        )
        facts = {"room_id": room_id.value, "number": number, "said_at": said_at}
        unit.change(_ADD, {**facts, "words": _vector(readable(said).split(), marks)})
        last = number
    unit.change(_REACH, {"room_id": room_id.value, "number": last})
    return last


def _vector(words: Iterable[str], marks: Iterable[str]) -> str:
    """Return a `tsvector` as it is written."""
    places: dict[str, list[int]] = {}
    count = 0
    for count, word in enumerate(words, 1):
        places.setdefault(word, []).append(min(count, _PLACES))
    is_long = count > _PLACES or any(len(one) > _TIMES for one in places.values())
    told = [f"{_quoted(word)}:{','.join(map(str, at[:_TIMES]))}" for word, at in places.items()]
    return " ".join([*told, *map(_quoted, marks), *([_quoted(_LONG)] if is_long else [])])


# --- asking it ------------------------------------------------------------------------------------


def find(unit: Unit, room_id: RoomId, query: Query, root: int | None) -> list[Row]:
    """Return number, sender, text, moment and thread of what fits, and one more than is asked for.

    `root` is that of the thread which the query names.
    """
    since, until = _moments(query.since, query.until)
    below = min(query.below.number if query.below else _ALWAYS[1], indexed(unit, room_id) + 1)
    facts = {"room_id": room_id.value, "since": since, "until": until, "limit": query.limit + 1}
    terms = _terms(query, root)
    if not terms:
        return unit.rows(_FIND_BY_TIME, below=below, **facts)
    facts["terms"] = " & ".join([*terms, _quoted(search_index.room_of(room_id))])
    found: list[Row] = []
    while len(found) <= query.limit:
        rows = unit.rows(_FIND, below=below, **facts)
        found += _fitting(rows, query)
        if len(rows) <= query.limit:
            break
        below = rows[-1][0]
    return found[: query.limit + 1]


def _moments(since: datetime | None, until: datetime | None) -> tuple[int, int]:
    return written(since) if since else _ALWAYS[0], written(until) if until else _ALWAYS[1]


def _fitting(rows: Iterable[Row], query: Query) -> Iterator[Row]:
    """Give the rows in which what is to stand in a row does so; the server knows it of most."""
    phrases = [term for term in query.terms if len(term.words) > 1]
    for row in rows:
        if not phrases or _has_all(readable(row[2]), phrases):
            yield row


def _has_all(said: str, phrases: Iterable[Term]) -> bool:
    return all(phrase.place(said) >= 0 for phrase in phrases)


def _terms(query: Query, root: int | None) -> list[str]:
    """Return the query in the language of `tsquery`; between quotes nothing has a meaning there."""
    asked = [_term(term) for term in query.terms]
    if query.author is not None:
        asked.append(_quoted(search_index.author(query.author)))
    if root is not None:
        asked.append(_quoted(search_index.thread(root)))
    return asked


def _term(term: Term) -> str:
    words = [_quoted(word) for word in term.words]
    if term.is_open:
        words[-1] += ":*"
    if len(words) == 1:
        return words[0]
    return f"(({' <-> '.join(words)}) | ({' & '.join([_quoted(_LONG), *words])}))"


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"
