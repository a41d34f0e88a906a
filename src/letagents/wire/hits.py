"""What a search found, in the form that agents and programs read."""

from typing import Any

from letagents.domain.search import Hit
from letagents.wire import moments

Plain = dict[str, Any]


def hit(found: Hit) -> Plain:
    """Return a hit; the root of its thread is named only where it is another message."""
    plain: Plain = {
        "id": str(found.id),
        "sender": found.sender,
        "timestamp": moments.to_text(found.said_at),
        "snippet": found.snippet,
    }
    if found.thread_root != found.id:
        plain["thread_root_id"] = str(found.thread_root)
    return plain
