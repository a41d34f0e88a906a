"""What became of a message with those whom it is for. (Source: hosted-api 5.12.)"""

from starlette.responses import Response

from letagents.domain.errors import Malformed, NotAvailable, UnknownMessage
from letagents.domain.ids import MessageId
from letagents.entrypoints.server.answers import Refused, answer
from letagents.entrypoints.server.calls import Call
from letagents.wire.http import receipts as wire


async def info(call: Call) -> Response:
    """Show whom a message woke, and how far that has come."""
    viewer = await call.looking()
    if call.hosting.receipts is None:
        raise NotAvailable(
            "The rooms of this server keep no receipts.", remedy="Ask in the room: send_message."
        )
    try:
        message_id = MessageId.parse(call.named("message_id"))
        found = await call.hosting.receipts.of(call.room_id, message_id, viewer)
    except (Malformed, UnknownMessage):
        raise Refused(404, "message does not exist in this room") from None
    return answer(wire.plain_info(call.room_id, message_id, found))


ROUTES = (("GET", "/rooms/{room_id:path}/messages/{message_id}/info", info),)
