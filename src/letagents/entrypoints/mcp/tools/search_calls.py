"""What the tool does that finds what was said."""

from datetime import datetime

from letagents.domain import search
from letagents.domain.errors import Malformed
from letagents.domain.ids import quoted
from letagents.domain.search import Query
from letagents.entrypoints.mcp.tool import Arguments
from letagents.entrypoints.mcp.tools.arguments import claim, message_of, naming, text_of
from letagents.entrypoints.mcp.visit import Visit
from letagents.wire import hits, moments
from letagents.wire.bounds import bounded

Result = dict[str, object]


async def search_messages(visit: Visit, arguments: Arguments) -> Result:
    query = _query(arguments)
    room_id, viewer = await visit.client.callers.viewing(
        claim(arguments), visit.client.places.current_id
    )
    with naming("room_id"):
        found = await visit.client.searching.search(room_id, query, viewer)
    shown = bounded([hits.hit(one) for one in found.hits])
    result: Result = {"room_id": str(room_id), "hits": shown.items}
    if found.more or shown.omitted:
        result["next_cursor"] = query.cursor(found.hits[len(shown.items) - 1].id)
    return result


def _query(arguments: Arguments) -> Query:
    limit = arguments.get("limit")
    return search.asked(
        text_of(arguments, "words"),
        author=text_of(arguments, "author"),
        thread=message_of(arguments.get("thread_parent_id"), "thread_parent_id"),
        since=moment_of(arguments.get("since"), "since"),
        until=moment_of(arguments.get("until"), "until"),
        limit=limit if isinstance(limit, int) else search.HITS_DEFAULT,
        cursor=text_of(arguments, "cursor"),
    )


def moment_of(value: object, field: str) -> datetime | None:
    """Return the moment that a call names."""
    if value is None:
        return None
    moment = moments.from_text(str(value).strip())
    if moment is None:
        raise Malformed(
            f"{field}: {quoted(value)} is not a time.",
            remedy=f"Pass {field} as an ISO time, such as 2030-01-31 or 2030-01-31T12:00:00Z.",
        )
    return moment
