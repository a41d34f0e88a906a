"""What is searched for in a hosted room, and what is found there. This interface is our own."""

from collections.abc import Mapping
from typing import Any

import attrs

from letagents.domain import search
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.search import HITS_DEFAULT, Found, Hit, Query
from letagents.domain.wake_arguments import moment
from letagents.wire import moments
from letagents.wire.http.reading import Fields

Plain = dict[str, Any]
Given = Mapping[str, str | int | None]

ASKED = ("words", "author", "thread", "since", "until", "before")


def plain_query(query: Query) -> Given:
    """Return what is asked for, as parameters of a path."""
    return {
        "words": query.text,
        "author": query.name,
        "thread": str(query.thread) if query.thread else None,
        "since": query.since.isoformat() if query.since else None,
        "until": query.until.isoformat() if query.until else None,
        "before": str(query.below) if query.below else None,
        "limit": query.limit,
    }


def query(given: Mapping[str, str | None], limit: str | None) -> Query:
    """Return what is asked for: `before` is the last hit of the page before.

    Raises: as `search.asked`, and Malformed.
    """
    thread, since, until, before = (given.get(name) for name in ASKED[2:])
    asked = search.asked(
        given.get("words"),
        author=given.get("author"),
        thread=MessageId.parse(thread, "thread") if thread else None,
        since=moment(since, "since") if since else None,
        until=moment(until, "until") if until else None,
        limit=_whole(limit),
    )
    below = MessageId.parse(before, "before") if before else None
    return attrs.evolve(asked, below=below)


def _whole(limit: str | None) -> int:
    if not limit:
        return HITS_DEFAULT
    return int(limit) if limit.isascii() and limit.isdecimal() and len(limit) < 10 else 0


def plain(found: Found, room_id: RoomId) -> Plain:
    """Return the form of a page of hits."""
    hits = [_plain_hit(one) for one in found.hits]
    return {"room_id": str(room_id), "hits": hits, "has_more": found.more}


def _plain_hit(hit: Hit) -> Plain:
    return {
        "id": str(hit.id),
        "sender": hit.sender,
        "timestamp": moments.to_text(hit.said_at),
        "thread_root_id": str(hit.thread_root),
        "snippet": hit.snippet,
    }


def found(document: object) -> Found:
    """Return the hits that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    return Found(tuple(map(_hit, fields.parts("hits"))), more=fields.flag("has_more"))


def _hit(fields: Fields) -> Hit:
    return Hit(
        id=fields.parsed("id", MessageId.parse),
        sender=fields.text("sender"),
        said_at=fields.moment("timestamp"),
        thread_root=fields.parsed("thread_root_id", MessageId.parse),
        snippet=fields.text("snippet"),
    )
