"""Posting in local rooms: many posts in one transaction, each judged by itself.

What a post depends on is brought in the transaction that also writes it: by one statement the last
number, the standing of its author and what its key made before; by another what it refers to, if it
does. A post that is refused has written nothing, so it spoils none that share its transaction.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

import attrs
from sqlalchemy import and_, bindparam, select

from letagents.adapters.rooms import local_audience, local_receipts, local_rows, slips
from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.rooms.rosters import Rosters
from letagents.adapters.rooms.writer import Outcome, Post
from letagents.adapters.sql.database import Row, Unit
from letagents.adapters.sql.tables import MESSAGES, ROOMS, SESSIONS, moment, written
from letagents.domain import fencing, messages, rooms
from letagents.domain.errors import LetAgentsError, OutcomeUnknown, RoomsUnavailable
from letagents.domain.fencing import Standing
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.messages import Attachment, Made, Message, Place, Position, Quote
from letagents.domain.sessions import SessionKind
from letagents.ports.clock import Clock

_MADE = MESSAGES.alias("made")

_FACTS = (
    select(
        ROOMS.c.last_number,
        ROOMS.c.roster_changes,
        local_receipts.WAITS,
        SESSIONS.c.generation,
        SESSIONS.c.token_digest,
        SESSIONS.c.ended_at,
        SESSIONS.c.instance_id,
        SESSIONS.c.kind,
        SESSIONS.c.agent_key,
        SESSIONS.c.actor_label,
        _MADE.c.number,
        _MADE.c.text,
        _MADE.c.reply_to,
        _MADE.c.thread_root,
    )
    .select_from(ROOMS)
    .outerjoin(
        SESSIONS,
        and_(
            SESSIONS.c.room_id == ROOMS.c.room_id,
            SESSIONS.c.session_id == bindparam("session_id"),
        ),
    )
    .outerjoin(
        _MADE,
        and_(
            _MADE.c.room_id == ROOMS.c.room_id,
            _MADE.c.agent_key == SESSIONS.c.agent_key,
            _MADE.c.client_key == bindparam("client_key"),
        ),
    )
    .where(ROOMS.c.room_id == bindparam("room_id"))
)
_REFERRED_TO = select(
    MESSAGES.c.thread_root, local_rows.ONLY_PROMPTS, *local_rows.quote_columns(MESSAGES)
).where(MESSAGES.c.room_id == bindparam("room_id"), MESSAGES.c.number == bindparam("number"))
_INSERT = MESSAGES.insert()
_COUNT = (
    ROOMS.update()
    .where(ROOMS.c.room_id == bindparam("at_room"))
    .values(last_number=bindparam("number"), active_at=bindparam("now"))
)

_SOURCES = {kind.value: kind.source for kind in SessionKind}


class _Facts(NamedTuple):
    """A row of _FACTS."""

    last_number: int
    roster_changes: int
    waits: bool
    generation: int | None
    token_digest: str
    ended_at: int | None
    instance_id: str | None
    kind: str
    agent_key: str
    actor_label: str
    made_number: int | None
    made_text: str
    made_reply_to: int | None
    made_root: int | None

    def standing(self, session_id: SessionId) -> Standing | None:
        if self.generation is None:
            return None
        ended_at = None if self.ended_at is None else moment(self.ended_at)
        return Standing(session_id, self.generation, self.token_digest, ended_at)

    @property
    def made(self) -> Made | None:
        if self.made_number is None:
            return None
        where = Place(self.made_reply_to, self.made_root)
        return Made(self.made_number, self.made_text, where)


def post_all(store: LocalStore, posts: Sequence[Post], clock: Clock) -> list[Outcome]:
    """Do all `posts` in one transaction, in their order; return what became of each.

    If the transaction breaks, each is done again alone: a key makes that harmless. Where it is not
    known whether the first attempt was kept, and the place cannot be used after it, it stays
    unknown.
    """
    begun: list[Unit] = []

    def say_all(unit: Unit) -> list[Outcome]:
        begun.append(unit)
        now, known = clock.now(), _Known.of(unit, posts)
        outcomes = [_outcome(unit, store.rosters, post, known, now) for post in posts]
        known.count(now)
        return outcomes

    try:
        return store.write(say_all, *(post.room_id.value for post in posts))
    except Exception as error:  # noqa: BLE001  # whatever it is, it is the answer to each caller
        if not begun or len(posts) == 1:
            return [error] * len(posts)
        return _each_alone(store, posts, clock, error)


def _each_alone(
    store: LocalStore, posts: Sequence[Post], clock: Clock, error: Exception
) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for post in posts:
        [outcome] = post_all(store, [post], clock)
        if isinstance(error, OutcomeUnknown) and isinstance(outcome, RoomsUnavailable):
            break  # that this attempt changed nothing says nothing of the one before
        outcomes.append(outcome)
    return [*outcomes, *[error] * (len(posts) - len(outcomes))]


def _outcome(unit: Unit, rosters: Rosters, post: Post, known: "_Known", now: datetime) -> Outcome:
    try:
        return _say(unit, rosters, post, known, now)
    except LetAgentsError as refused:
        return refused


@attrs.define
class _Known:
    """What the posts of one transaction depend on: brought at once, then asked for in their order.

    What a post changes of it for those that come after is counted on here, or asked for again.
    """

    _unit: Unit
    _rows: Iterator[Row | None]
    _keys: set[tuple[str, str]] = attrs.field(factory=set)
    _last: dict[str, int] = attrs.field(factory=dict)

    @classmethod
    def of(cls, unit: Unit, posts: Sequence[Post]) -> "_Known":
        return cls(unit, iter(unit.row_of_each(_FACTS, [_asked(post) for post in posts])))

    def facts(self, post: Post) -> _Facts:
        """Return the facts of the next post."""
        room_id = post.room_id.value
        row, key = next(self._rows), (room_id, post.draft.key.value)
        if key in self._keys:
            row = self._unit.row(_FACTS, **_asked(post))
        self._keys.add(key)
        if row is None:
            raise rooms.missing(post.room_id)
        facts, last = _Facts._make(row), self._last.get(room_id)
        return facts if last is None else facts._replace(last_number=last)

    def said(self, message: Message) -> None:
        """Count on from a message that was written."""
        self._last[message.room_id.value] = message.id.number

    def count(self, now: datetime) -> None:
        """Let each room know its last number, and that something was said in it."""
        for room_id, number in self._last.items():
            facts = {"at_room": room_id, "number": number, "now": written(now)}
            self._unit.change(_COUNT, facts)


def _asked(post: Post) -> dict[str, object]:
    return {
        "room_id": post.room_id.value,
        "session_id": post.fence.session_id.value,
        "client_key": post.draft.key.value,
    }


def _say(unit: Unit, rosters: Rosters, post: Post, known: _Known, now: datetime) -> Message:
    room_id, draft, fence = post.room_id, post.draft, post.fence
    facts = known.facts(post)
    standing, worker = facts.standing(fence.session_id), facts.instance_id
    fencing.admit(fence, standing, worker=worker, room_id=room_id)
    quoted_at, quote, thread_at = None, None, None
    if draft.reply_to is not None:
        quoted_at, quote = _referred_to(unit, room_id, draft.reply_to)
    if draft.thread is not None:
        thread_at, _ = _referred_to(unit, room_id, draft.thread)
    where = messages.place(draft, quoted_at, thread_at)
    repeated = messages.repeated(draft, where, facts.made)
    before = local_rows.message_numbered(unit, room_id, repeated) if repeated else None
    said = before or _written(unit, post, facts, where, quote, now)
    room = local_audience.Hearers(unit, room_id, rosters, facts.roster_changes)
    if before is not None:
        return room.noticed(said)
    known.said(said)
    refers_to = [one for one in (where.reply_to, where.root) if one is not None]
    if facts.waits or refers_to:
        box = local_receipts.Slips(unit, room_id)
        slips.said(box, fence.session_id, facts.agent_key, refers_to, now)
    return room.addressed(said)


def _referred_to(
    unit: Unit, room_id: RoomId, message_id: MessageId
) -> tuple[Position | None, Quote | None]:
    """Return where the message is, and how it is quoted, if it is there."""
    row = unit.row(_REFERRED_TO, room_id=room_id.value, number=message_id.number)
    if row is None:
        return None, None
    return Position(message_id.number, row[0], bool(row[1])), local_rows.quote(row[2:])


def _written(
    unit: Unit, post: Post, facts: _Facts, where: Place, quoted: Quote | None, now: datetime
) -> Message:
    number = messages.next_number(facts.last_number)
    source, room_id, said_at = _SOURCES[facts.kind], post.room_id.value, written(now)
    files = _taken(unit, post, facts.agent_key, number, now) if post.draft.attachments else ()
    unit.soon(
        _INSERT,
        {
            "room_id": room_id,
            "number": number,
            "session_id": post.fence.session_id.value,
            "agent_key": facts.agent_key,
            "sender": facts.actor_label,
            "text": post.draft.text,
            "source": source,
            "prompt_kind": post.draft.prompt_kind,
            "said_at": said_at,
            "reply_to": where.reply_to,
            "thread_root": where.root,
            "client_key": post.draft.key.value,
        },
        (room_id, number),
    )
    message_id = MessageId(number)
    return Message(
        room_id=post.room_id,
        id=message_id,
        sender=facts.actor_label,
        agent_key=facts.agent_key if source == local_rows.AGENT else None,
        session_id=post.fence.session_id,
        text=post.draft.text,
        source=source,
        said_at=now,
        thread_root=MessageId(where.root) if where.root else message_id,
        reply_to=quoted,
        prompt_kind=post.draft.prompt_kind,
        attachments=files,
    )


def _taken(unit: Unit, post: Post, by: str, number: int, now: datetime) -> tuple[Attachment, ...]:
    from letagents.adapters.rooms import local_attachments  # only few posts have files

    named, room_id = post.draft.attachments, post.room_id
    return local_attachments.taken(unit, room_id, named, by=by, number=number, now=now)
