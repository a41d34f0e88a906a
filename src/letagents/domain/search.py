"""What is searched for in a room, which messages fit, and what is shown of each.

V3  A message fits if all of a query is in it: each word whole, what is quoted or joined in a row.
V4  A star after three letters or more stands for any ending, and after fewer it is refused; no
    other sign has a meaning.
V6  A query has at most 400 characters, 16 words or phrases and 50 hits a page; without words, an
    author, a thread or a time it asks for all there is.
V7  Hits come newest first; the next page goes on below the last, and nothing new comes between.
V8  A cursor goes with the query that it came from, and with no other.
V9  A snippet is one line of at most 240 characters, and shows the first thing that was asked for.
V10  An author is a name, however it is written (N1); a whole label is taken by its name.
V11  A thread is named by any of its messages, and its root belongs to it.
V12  A time begins with its first moment and ends before its last.
"""

import hashlib
import re
from collections.abc import Iterable
from datetime import datetime

import attrs

from letagents.domain.errors import Malformed, UnknownMessage
from letagents.domain.ids import MessageId, quoted
from letagents.domain.messages import Message
from letagents.domain.names import name_key, primary_label
from letagents.domain.words import readable, reads_by_sign, start_of_word, words

TEXT_LIMIT = 400
AUTHOR_LIMIT = 512
TERMS_LIMIT = 16
WORDS_LIMIT = 64
PREFIX_LENGTH = 3
HITS_DEFAULT = 20
HITS_LIMIT = 50
SNIPPET_LENGTH = 240
CURSOR_LENGTH = 40

_LEAD = 60
"""So many characters of a snippet stand before what was asked for, where there are as many."""

# --- what is asked for ----------------------------------------------------------------------------


def author_key(name: str) -> str:
    """Return what is equal for two authors exactly when a search takes them for one."""
    return name_key(primary_label(name).removeprefix("@"))


_PARTS = re.compile(r'"([^"]*)"?|([^\s"]+)')
_CURSOR = re.compile(r"([1-9][0-9]{0,9})\.([0-9a-f]{12})")
_QUOTES = {ord(sign): '"' for sign in "\u201c\u201d\u201e"}


@attrs.frozen
class Term:
    """Words that are to stand in a row; of the last, any ending may be left open."""

    words: tuple[str, ...]
    is_open: bool = False

    def place(self, text: str) -> int:
        """Return where it begins in a text that `readable` made, or -1 if it is not there."""
        wanted = f" {' '.join(self.words)}{'' if self.is_open else ' '}"
        return f" {text} ".find(wanted)


@attrs.frozen
class Query:
    """What is asked for; build it with `asked`. `below` is where the page before ended.

    `text` and `name` are the words and the author as the caller wrote them, for whoever has to ask
    another place; they do not say more than the terms and the author do.
    """

    terms: tuple[Term, ...] = ()
    author: str | None = None
    thread: MessageId | None = None
    since: datetime | None = None
    until: datetime | None = None
    limit: int = HITS_DEFAULT
    below: MessageId | None = None
    text: str | None = attrs.field(default=None, eq=False)
    name: str | None = attrs.field(default=None, eq=False)

    @property
    def digest(self) -> str:
        """A short name for what is asked for, whichever page of it."""
        terms = [(*term.words, term.is_open) for term in self.terms]
        where = (str(one) for one in (self.thread, self.since, self.until))
        facts = repr((terms, self.author, *where))
        return hashlib.sha256(facts.encode()).hexdigest()[:12]

    def cursor(self, last: MessageId) -> str:
        """Return what to pass for the hits after that one."""
        return f"{last.number}.{self.digest}"


def asked(
    text: str | None = None,
    *,
    author: str | None = None,
    thread: MessageId | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int = HITS_DEFAULT,
    cursor: str | None = None,
) -> Query:
    """Return the query that a caller means.

    Raises:
        Malformed: it asks for too much or for what cannot be, or the cursor is of another query.
    """
    query = Query(
        _terms(text) if text is not None else (),
        None if author is None else _author(author),
        thread,
        since,
        until,
        _limit(limit),
        text=text,
        name=author,
    )
    if since is not None and until is not None and since >= until:
        raise Malformed("until: it is not after since.", remedy="Pass an until after since.")
    return query if cursor is None else attrs.evolve(query, below=_below(cursor, query))


def _terms(text: str) -> tuple[Term, ...]:
    if len(text) > TEXT_LIMIT:
        raise _too_much(f"{len(text)} characters are too many", f"{TEXT_LIMIT} characters")
    found = _PARTS.findall(text.translate(_QUOTES))
    terms = [_term(phrase or word, is_word=bool(word)) for phrase, word in found]
    terms = list(dict.fromkeys(term for term in terms if term.words))
    if not terms:
        raise Malformed(
            f"words: there is no word in {quoted(text)}.",
            remedy="Pass words of letters or digits, or leave it out and pass an author, a thread "
            "or a time.",
        )
    if len(terms) > TERMS_LIMIT:
        raise _too_much(f"{len(terms)} words are too many", f"{TERMS_LIMIT} words or phrases")
    if (count := sum(len(term.words) for term in terms)) > WORDS_LIMIT:
        raise _too_much(f"{count} words in phrases are too many", f"{WORDS_LIMIT} in all")
    return tuple(terms)


def _term(text: str, *, is_word: bool) -> Term:
    inside = tuple(words(text))
    if not is_word or not inside or not text.endswith("*") or reads_by_sign(inside[-1]):
        return Term(inside)
    if len(inside[-1]) < PREFIX_LENGTH:
        raise Malformed(
            f"words: {quoted(text)} has too few letters before its star.",
            remedy=f"Put at least {PREFIX_LENGTH} letters before the star, or leave it out.",
        )
    return Term(inside, is_open=True)


def _too_much(what: str, most: str) -> Malformed:
    return Malformed(f"words: {what}.", remedy=f"Search for less: at most {most}.")


def _author(name: str) -> str:
    key = author_key(name) if len(name) <= AUTHOR_LIMIT else ""
    if not key:
        raise Malformed(
            f"author: {quoted(name)} cannot be a name.",
            remedy="Pass the name of somebody in the room, such as Ada.",
        )
    return key


def _limit(limit: int) -> int:
    if not 1 <= limit <= HITS_LIMIT:
        raise Malformed(
            f"limit: {quoted(limit)} is not from 1 to {HITS_LIMIT}.",
            remedy=f"Pass a limit of 1 to {HITS_LIMIT}, and the cursor for more.",
        )
    return limit


def _below(cursor: str, query: Query) -> MessageId:
    parts = _CURSOR.fullmatch(cursor)
    if parts is None or parts[2] != query.digest or int(parts[1]) > MessageId.LARGEST:
        raise Malformed(
            f"cursor: {quoted(cursor)} does not go with this search.",
            remedy="Pass the next_cursor of a result together with what was searched for then, "
            "or leave it out.",
        )
    return MessageId(int(parts[1]))


def no_thread(thread: MessageId) -> UnknownMessage:
    """Return the error for a thread that is named by a message which is not there."""
    return UnknownMessage(
        f"thread_parent_id: {thread} does not exist in this room.",
        remedy="Call read_messages to see the ids of the room's messages.",
    )


# --- what is found --------------------------------------------------------------------------------


@attrs.frozen
class Hit:
    """A message that fits, as far as a search shows it."""

    id: MessageId
    sender: str
    said_at: datetime
    thread_root: MessageId
    snippet: str


@attrs.frozen
class Found:
    """A page of hits, newest first; `more` says that others are below."""

    hits: tuple[Hit, ...]
    more: bool = False


def among(messages: Iterable[Message], query: Query, root: MessageId | None = None) -> Found:
    """Return what fits among `messages`, which come newest first; `root` is that of the thread."""
    hits: list[Hit] = []
    for message in messages:
        if not _fits(message, query, root):
            continue
        if len(hits) == query.limit:
            return Found(tuple(hits), more=True)
        snippet = snippet_of(message.text, query)
        where = (message.id, message.sender, message.said_at, message.thread_root)
        hits.append(Hit(*where, snippet))
    return Found(tuple(hits))


def _fits(message: Message, query: Query, root: MessageId | None) -> bool:
    return (
        (query.below is None or message.id < query.below)
        and (query.thread is None or message.thread_root == root)
        and (query.since is None or message.said_at >= query.since)
        and (query.until is None or message.said_at < query.until)
        and (query.author is None or author_key(message.sender) == query.author)
        and _holds(message.text, query.terms)
    )


def _holds(text: str, terms: tuple[Term, ...]) -> bool:
    read = readable(text) if terms else ""
    return all(term.place(read) >= 0 for term in terms)


def snippet_of(text: str, query: Query) -> str:
    """Return what a hit shows of its text."""
    at = _first(text, query.terms)
    start = max(0, at - _LEAD)
    blank = text.find(" ", start, at) if start else -1
    start = blank + 1 if blank >= 0 else start
    # Blanks in a row are shown as one, so a little more is looked at than will be shown.
    line = " ".join(text[start : start + 2 * SNIPPET_LENGTH].split())
    whole = f"\u2026{line}" if start else line
    if start + 2 * SNIPPET_LENGTH >= len(text) and len(whole) <= SNIPPET_LENGTH:
        return whole
    return f"{whole[: SNIPPET_LENGTH - 1].rstrip()}\u2026"


def _first(text: str, terms: tuple[Term, ...]) -> int:
    """Return where the first of `terms` begins in `text`."""
    if not terms:
        return 0
    read = readable(text)
    return start_of_word(text, read.count(" ", 0, max(0, terms[0].place(read))))
