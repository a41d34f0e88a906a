"""Files that go with messages: uploaded, and had again. (Source: hosted-api 3.4.)"""

from urllib.parse import quote

from starlette.responses import Response

from letagents.domain import attachments
from letagents.domain.attachments import Fetched, FileTooLarge, TooManyUploads, UnknownAttachment
from letagents.domain.errors import Malformed, NotAvailable
from letagents.domain.ids import MessageId
from letagents.entrypoints.server.answers import Refused, answer, told
from letagents.entrypoints.server.calls import Call
from letagents.ports.attachments import Attachments
from letagents.wire.http import attachments as wire
from letagents.wire.http.problems import Form, Forms

_UPLOADING: Forms = {FileTooLarge: Form(413), TooManyUploads: Form(429)}


def _kept(call: Call) -> Attachments:
    if call.hosting.attachments is None:
        raise NotAvailable(
            "The rooms of this server keep no files.", remedy="Say where the file can be had."
        )
    return call.hosting.attachments


async def upload(call: Call) -> Response:
    """Let a file wait for a message of the caller."""
    fence = await call.speaking()
    with told(_UPLOADING):
        made = await _kept(call).upload(call.room_id, wire.file(await call.fields()), fence)
    return answer(wire.plain_upload(made, call.room_id), 201)


async def content(call: Call) -> Response:
    """Return a file of a message, for a program."""
    found, message_id, place = await _found(call)
    return answer(wire.plain_fetched(found, call.room_id, message_id, place))


async def download(call: Call) -> Response:
    """Return a file of a message as it is. No browser shows it as a page of this server."""
    found, _, _ = await _found(call)
    return Response(
        found.content,
        media_type="application/octet-stream",
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(found.attachment.name)}",
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, no-store",
        },
    )


async def _found(call: Call) -> tuple[Fetched, MessageId, int]:
    viewer = await call.looking()
    try:
        message_id = MessageId.parse(call.named("message_id"))
        place = attachments.place_of(call.named("attachment_id"))
        found = await _kept(call).fetch(call.room_id, message_id, place, viewer)
    except (Malformed, UnknownAttachment):
        raise Refused(404, "the message has no such attachment") from None
    return found, message_id, place


_ONE = "/rooms/{room_id:path}/messages/{message_id}/attachments/{attachment_id}"

WITH_FILES = frozenset({upload})
"""What may be asked with a larger body than all else."""
ROUTES = (
    ("POST", "/rooms/{room_id:path}/attachments", upload),
    ("GET", f"{_ONE}/content", content),
    ("GET", _ONE, download),
)
