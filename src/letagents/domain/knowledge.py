"""What a room knows: facts that last, and what agents ask of human beings.

K21  What is kept has an id of 8 to 80 letters, digits, `_` and `-`, which whoever adds it chooses.
K22  The same id with the same content by the same author is the record that is there; with other
     content, or by somebody else, it is refused.
K23  A source is a message that the room shows, or an http or https address without credentials.
K24  An agent adds; only a human being revises, archives, restores and answers.
K25  Who revises says which version; versions count up from 1, and none of them ever changes.
K26  A request is answered once; what is archived is not answered or revised until it is restored.
K27  Each field is of its form and within its bounds, and a whole record fits into one result.
K28  A category is one of those of its section: facts and requests have their own.
"""

import enum
import re
from collections.abc import Mapping
from datetime import datetime

import attrs

from letagents.domain.errors import LetAgentsError, Malformed, UnknownMessage
from letagents.domain.ids import MessageId, SessionId, quoted
from letagents.domain.messages import Message
from letagents.domain.names import collapse, handle_form
from letagents.domain.sessions import Session, SessionKind
from letagents.domain.texts import checked, optional

TITLE_LIMIT = 160
BODY_LIMIT = 8_000
RECOMMENDATION_LIMIT = 2_000
UNBLOCKS_LIMIT = 1_000
URL_LIMIT = 2_048
ENTRY_BYTES = 26_000
"""Bytes of an entry's texts together, as JSON, so that a result can hold it whole."""
ANSWER_BYTES = 9_000

_ID = re.compile(r"[A-Za-z0-9_-]{8,80}")
_PLAIN = r"[^\x00-\x20\x7f-\x9f\ud800-\udfff]"
_URL = re.compile(rf"https?://((?:(?![/?#\\]){_PLAIN})+)(?:[/?#]{_PLAIN}*)?", re.IGNORECASE)
_ESCAPED = re.compile(r'["\\\n\r\t]')


class Conflict(LetAgentsError):
    """The record is not what the caller takes it for. Nothing was stored."""

    code = "conflict"


class UnknownRecord(LetAgentsError):
    """The room has no record of that id in that section."""

    code = "unknown_record"


class HumansOnly(LetAgentsError):
    """Only a human being can do it."""

    code = "humans_only"


class AlreadyAnswered(LetAgentsError):
    """A human being answered the request before."""

    code = "already_answered"


class Archived(LetAgentsError):
    """The record is archived."""

    code = "archived"


class Section(enum.Enum):
    """What a record is: a fact that lasts, or a request that waits for a human being."""

    MEMORY = "memory"
    ATTENTION = "attention"


CATEGORIES: Mapping[Section, tuple[str, ...]] = {
    Section.MEMORY: ("goal", "decision", "constraint", "term", "reference"),
    Section.ATTENTION: ("question", "decision", "approval", "review"),
}


@attrs.frozen
class Author:
    """Who did something to a record."""

    id: str
    label: str
    kind: str

    @classmethod
    def of(cls, session: Session | None) -> "Author":
        """Return the one that `session` is; where no session acts, the room's owner does."""
        if session is None:
            return cls("owner", "Owner", "human")
        kind = "human" if session.kind is SessionKind.PERSON else "agent"
        return cls(session.agent_key, session.actor_label, kind)

    @property
    def is_human(self) -> bool:
        """Whether it is a human being."""
        return self.kind == "human"


@attrs.frozen(kw_only=True)
class Entry:
    """What a record says."""

    category: str
    title: str
    body: str
    recommendation: str | None = None
    unblocks: str | None = None
    source_url: str | None = None
    source_message: MessageId | None = None


def entry(
    section: Section,
    *,
    category: object,
    title: object,
    body: object,
    recommendation: object = None,
    unblocks: object = None,
    source_url: object = None,
    source_message_id: object = None,
) -> Entry:
    """Return what a caller's words say, for a record of that section.

    Raises:
        Malformed: one of them is not of its form, or they are too large together.
    """
    made = Entry(
        category=_category(section, category),
        title=collapse(checked(title, "title", TITLE_LIMIT)),
        body=checked(body, "body", BODY_LIMIT),
        recommendation=optional(recommendation, "recommendation", RECOMMENDATION_LIMIT),
        unblocks=optional(unblocks, "unblocks", UNBLOCKS_LIMIT),
        source_url=_url(source_url),
        source_message=_message(source_message_id),
    )
    texts = (made.title, made.body, made.recommendation, made.unblocks, made.source_url)
    _check_bytes("body", sum(map(_weight, texts)), ENTRY_BYTES)
    return made


def checked_id(value: object, field: str = "client_id") -> str:
    """Return the id of a record that `value` spells, or raise Malformed."""
    text = value.strip() if isinstance(value, str) else ""
    if not _ID.fullmatch(text):
        raise Malformed(
            f"{field}: {quoted(value)} is not the id of a record.",
            remedy=f"Pass {field} as 8 to 80 letters, digits, _ or -.",
        )
    return text


def _category(section: Section, value: object) -> str:
    known = CATEGORIES[section]
    if not isinstance(value, str) or value not in known:
        raise Malformed(
            f"category: {quoted(value)} is not a category of {section.value}.",
            remedy=f"Pass one of: {', '.join(known)}.",
        )
    return value


def _url(value: object) -> str | None:
    text = optional(value, "source_url", URL_LIMIT)
    found = None if text is None else _URL.fullmatch(text)
    if text is not None and (found is None or "@" in found[1]):
        # Not quoted: a password may stand in it.
        raise Malformed(
            "source_url: this is not an http or https address without a user and password.",
            remedy="Pass an address such as https://example.com/page, or leave it out.",
        )
    return text


def _message(value: object) -> MessageId | None:
    if value is None or isinstance(value, MessageId):
        return value
    return MessageId.parse(value.strip() if isinstance(value, str) else value, "source_message_id")


def _weight(text: str | None) -> int:
    """Return the bytes of a text inside JSON."""
    return len(text.encode()) + len(_ESCAPED.findall(text)) if text else 0


def _check_bytes(field: str, weight: int, most: int) -> None:
    if weight > most:
        raise Malformed(
            f"{field}: with the texts beside it, {weight:,} bytes are too many.",
            remedy=f"Pass at most {most:,} bytes in all; put the rest in a file and name it.",
        )


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


def check_source(source: MessageId, message: Message | None) -> None:
    """Allow naming a message as source, if the room shows it.

    Raises:
        UnknownMessage: it does not.
    """
    is_hidden = message is not None and message.prompt_kind == "auto" and not message.text.strip()
    if message is None or is_hidden:
        raise UnknownMessage(
            f"source_message_id: {source} is not a message of this room.",
            remedy="Call read_messages to see the ids of the room's messages.",
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
    author = _human(by, does)
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
    author = _human(by, "answer a request")
    body = checked(text, "answer", BODY_LIMIT)
    _check_bytes("answer", _weight(body), ANSWER_BYTES)
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


def _human(by: Session | None, does: str) -> Author:
    author = Author.of(by)
    if not author.is_human:
        raise HumansOnly(
            f"Only a human being can {does}.",
            remedy="Ask your user, or call request_human_input.",
        )
    return author


def _is_archived(record: Record) -> Archived:
    return Archived(
        f"{record.record_id} is archived.",
        remedy="A human being can restore it: `letagents memory ROOM --restore ID`.",
    )
