"""What became of a message with those whom it is for. (Source: hosted-api 5.12.)"""

from starlette.responses import Response

from letagents.domain.errors import Malformed, NotAvailable, UnknownMessage
from letagents.domain.ids import MessageId
from letagents.domain.receipts import NoReceipt
from letagents.entrypoints.server.answers import Refused, answer, told
from letagents.entrypoints.server.calls import Call
from letagents.ports.receipts import Receipts
from letagents.wire.http import receipts as wire
from letagents.wire.http.problems import Form, Forms

_MISSING = "message does not exist in this room"
_NO_SUCH: Forms = {UnknownMessage: Form(404, text=_MISSING), NoReceipt: Form(404)}


async def info(call: Call) -> Response:
    """Show whom a message woke, and how far that has come."""
    viewer = await call.looking()
    message_id = _named(call)
    with told(_NO_SUCH):
        found = await _receipts(call).of(call.room_id, message_id, viewer)
    return answer(wire.plain_info(call.room_id, message_id, found))


async def declare(call: Call) -> Response:
    """Note how far a worker says that it is with a message that it has."""
    fence, state = await call.speaking(), wire.state(await call.fields())
    message_id = _named(call)
    with told(_NO_SUCH):
        now = await _receipts(call).declare(call.room_id, message_id, state, fence)
    shown = {"room_id": str(call.room_id), "message_id": str(message_id)}
    return answer(shown | {"receipt": wire.plain(now)})


def _receipts(call: Call) -> Receipts:
    if call.hosting.receipts is None:
        raise NotAvailable(
            "The rooms of this server keep no receipts.", remedy="Ask in the room: send_message."
        )
    return call.hosting.receipts


def _named(call: Call) -> MessageId:
    try:
        return MessageId.parse(call.named("message_id"))
    except Malformed:
        raise Refused(404, _MISSING) from None


_MESSAGE = "/rooms/{room_id:path}/messages/{message_id}"

ROUTES = (
    ("GET", f"{_MESSAGE}/info", info),
    ("PUT", f"{_MESSAGE}/agent-receipts/self", declare),
)
