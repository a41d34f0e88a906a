"""What a worker's bearer opens: these routes, in its own room, and nothing else.

(Source: hosted-api 2.2.)
"""

from letagents.domain.accounts import Principal
from letagents.entrypoints.server.answers import Refused
from letagents.entrypoints.server.calls import Call, bearer
from letagents.wire.http import worker_bearers

_ROOM = "/rooms/{room_id:path}"
_READ = (
    "messages",
    "messages/poll",
    "messages/stream",
    "messages/search",
    "messages/{message_id}",
    "messages/threads",
    "messages/{message_id}/thread",
    "messages/{message_id}/info",
    "messages/{message_id}/attachments/{attachment_id}",
    "messages/{message_id}/attachments/{attachment_id}/content",
    "artifacts",
    "presence",
    "participants",
    "activity-history",
    "reasoning",
    "reasoning-sessions",
    "reasoning-sessions/{reasoning_id}",
    "tasks",
    "tasks/{task_id}",
    "tasks/github-status",
    "board-governance",
    "board-settings",
    "board-intents",
    "path-claims",
    "memory",
    "attention",
    "agent-guidelines",
    "agent-reply-order",
    "events",
    "wake-rules",
)
_WRITE = (
    "POST messages",
    "PUT messages/{message_id}/agent-receipts/self",
    "PUT agents/self/observation",
    "POST artifacts",
    "POST attachments",
    "POST presence",
    "PUT agents/self/observation",
    "POST reasoning-sessions",
    "POST reasoning-sessions/{reasoning_id}/updates",
    "PATCH reasoning-sessions/{reasoning_id}",
    "POST agent-sessions/{session_id}/disconnect",
    "POST agent-sessions/{session_id}/native-activity",
    "POST agent-sessions/{session_id}/failures",
    "POST tasks",
    "PATCH tasks/{task_id}",
    "POST tasks/{task_id}/lease-action",
    "POST tasks/{task_id}/review-lease-action",
    "POST tasks/{task_id}/review-verdict",
    "POST path-claims",
    "DELETE path-claims",
    "POST memory",
    "POST attention",
    "POST wake-rules",
)
OPEN = frozenset(
    {f"GET {_ROOM}/{path}" for path in _READ}
    | {f"{method} {_ROOM}/{path}" for method, path in (one.split(" ", 1) for one in _WRITE)}
)


async def principal(call: Call, route: str) -> Principal | None:
    """Return who shows a worker's bearer; None where none is shown that is good.

    Raises:
        Refused: the bearer does not open that.
    """
    if not call.hosting.takes_bearers:
        return None
    found = worker_bearers.read(bearer(call.request))
    if found is None:
        return None
    room_id, fence = found
    known = await call.hosting.sessions.worker(room_id, fence)
    if known is None:
        return None
    if route not in OPEN:
        raise Refused(403, "Worker bearers cannot perform owner or admin actions.")
    if call.called != room_id:
        raise Refused(403, "Worker bearer is scoped to a different room.")
    return known
