"""What becomes of what a room knows: added once, revised and archived by people, answered.

K22  The same id with the same content by the same author is the record that is there; with other
     content, or by somebody else, it is refused.
K24  An agent adds; only a human being revises, archives, restores and answers.
K25  Who revises says which version; versions count up from 1, and none of them ever changes.
K26  A request is answered once; what is archived is not answered or revised until it is restored.
"""

from datetime import datetime

import attrs

from letagents.domain.authors import Author, human
from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.ids import SessionId, quoted
from letagents.domain.knowledge import (
    ANSWER_BYTES,
    BODY_LIMIT,
    Entry,
    Section,
    check_bytes,
    weight,
)
from letagents.domain.names import handle_form
from letagents.domain.sessions import Session
from letagents.domain.texts import checked


class Conflict(LetAgentsError):
    """The record is not what the caller takes it for. Nothing was stored."""

    code = "conflict"


class UnknownRecord(LetAgentsError):
    """The room has no record of that id in that section."""

    code = "unknown_record"


class AlreadyAnswered(LetAgentsError):
    """A human being answered the request before."""

    code = "already_answered"


class Archived(LetAgentsError):
    """The record is archived."""

    code = "archived"


@attrs.frozen
class Response:
    """What a human being answered."""

    body: str
    actor: Author
    at: datetime


@attrs.frozen(kw_only=True)
class Record:
    """One fact or request, in one of its versions."""

    record_id: str
    number: int
    section: Section
    entry: Entry
    author: Author
    updated_by: Author
    created_at: datetime
    updated_at: datetime
    version: int = 1
    archived: bool = False
    response: Response | None = None
    session_id: SessionId | None = None
    """The session that asked."""

    @property
    def is_open(self) -> bool:
        """Whether it comes before the others: it is not archived, and still waits if it can."""
        return not self.archived and self.response is None


# --- in a list ----------------------------------------------------------------------------------

_PARTS = {"open": True, "over": False}


def cursor(record: Record) -> str:
    """Return the place of a record in a list, which it keeps whatever becomes of the record."""
    return f"{'open' if record.is_open else 'over'}.{record.record_id}"


def place(text: str) -> tuple[bool, str]:
    """Return whether the place is among those that are open, and whose place it is.

    Raises:
        Malformed: it is not what `cursor` made.
    """
    part, _, record_id = text.partition(".")
    if part not in _PARTS or not record_id:
        raise Malformed(
            f"cursor: {quoted(text)} is not the place of a record.",
            remedy="Pass the next_cursor of an earlier result as it is, or leave it out.",
        )
    return _PARTS[part], record_id


# --- adding -------------------------------------------------------------------------------------


def added(
    section: Section, record_id: str, said: Entry, *, number: int, by: Session | None, now: datetime
) -> Record:
    """Return the new record."""
    author = Author.of(by)
    return Record(
        record_id=record_id,
        number=number,
        section=section,
        entry=said,
        author=author,
        updated_by=author,
        created_at=now,
        updated_at=now,
        session_id=None if by is None else by.session_id,
    )


def check_repeated(first: Record, section: Section, said: Entry, *, by: Session | None) -> None:
    """Allow adding again what `first`, the oldest version under that id, says (K22).

    Raises:
        Conflict: it is somebody else's, or says something else.
    """
    is_same = (first.section, first.entry) == (section, said)
    if is_same and first.author.id == Author.of(by).id:
        return
    whose = "with other content" if first.author.id == Author.of(by).id else "by somebody else"
    raise Conflict(
        f"client_id: {first.record_id} was used before, {whose}.",
        remedy="Use a new client_id for a new record; a human being can revise the old one.",
    )


# --- what human beings do -----------------------------------------------------------------------


def revised(
    record: Record, said: Entry, *, version: int, by: Session | None, now: datetime
) -> Record:
    """Return the next version of `record`. Raises: as `_next`, and Archived."""
    if record.archived:
        raise _is_archived(record)
    return attrs.evolve(_next(record, version, by, now, "revise a record"), entry=said)


def archived(
    record: Record, value: bool, *, version: int, by: Session | None, now: datetime
) -> Record:
    """Return the next version of `record`, archived or restored; the same if it is so already."""
    does = "archive a record" if value else "restore a record"
    after = _next(record, version, by, now, does)
    return record if record.archived == value else attrs.evolve(after, archived=value)


def _next(record: Record, version: int, by: Session | None, now: datetime, does: str) -> Record:
    """Return the next version, so far like the one before.

    Raises:
        HumansOnly: no human being acts.
        Conflict: `version` is not the newest.
    """
    author = human(by, does)
    if version != record.version:
        raise Conflict(
            f"expected_version: {record.record_id} has version {record.version}, not {version}.",
            remedy="Look at it as it is now, and try again with its version.",
        )
    return attrs.evolve(record, version=record.version + 1, updated_by=author, updated_at=now)


def answered(record: Record, text: object, *, by: Session | None, now: datetime) -> Record:
    """Return the request with its answer.

    Raises:
        HumansOnly: no human being acts.
        Malformed: the answer is blank or too long.
        AlreadyAnswered, Archived: it does not wait for an answer.
    """
    author = human(by, "answer a request")
    body = checked(text, "answer", BODY_LIMIT)
    check_bytes("answer", weight(body), ANSWER_BYTES)
    if record.response is not None:
        raise AlreadyAnswered(
            f"{record.record_id} was answered before, by {record.response.actor.label}.",
            remedy="Say in the room what is to be added.",
        )
    if record.archived:
        raise _is_archived(record)
    return attrs.evolve(
        record,
        version=record.version + 1,
        response=Response(body, author, now),
        updated_by=author,
        updated_at=now,
    )


def words_of_answer(record: Record) -> str:
    """Return what the room says when a request was answered. (Source: mcp-tools 9.2.)"""
    assert record.response is not None  # noqa: S101  # it is said because there is one
    handle = handle_form(record.author.id).removeprefix("agent:")
    said = f"Human response ({record.record_id}):\n\n{record.response.body}"
    return said if record.author.is_human else f"@agent:{handle}\n\n{said}"


def words_of_request(record: Record) -> str:
    """Return what the room says when something is asked of human beings."""
    said = record.entry
    asked = f"{record.author.label} asks for human input ({said.category}): {said.title}"
    return f"[request] {asked} [{record.record_id}]"


def _is_archived(record: Record) -> Archived:
    return Archived(
        f"{record.record_id} is archived.",
        remedy="A human being can restore it: `letagents memory ROOM --restore ID`.",
    )
