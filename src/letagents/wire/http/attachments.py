"""The files of messages as a hosted room has them, and back. (Source: hosted-api 3.4, 4.3.)

How a file is uploaded the source does not say: here its content comes and goes in base 64, and a
browser gets it as it is.
"""

import binascii
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from letagents.domain import attachments
from letagents.domain.attachments import Fetched, File, Upload
from letagents.domain.errors import Malformed
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.messages import Attachment
from letagents.wire import moments
from letagents.wire.http.reading import Fields, Unreadable

Plain = dict[str, Any]


def plain_file(file: File) -> Plain:
    """Return the body with which a file is uploaded."""
    return {
        "filename": file.name,
        "content_type": file.content_type,
        "content_base64": b64encode(file.content).decode(),
    }


def file(fields: Fields) -> File:
    """Return the file that a body uploads. Raises as `domain.attachments.file`."""
    return attachments.file(
        fields.text_or_none("filename") or fields.text_or_none("file_name"),
        _bytes(fields.text_or_none("content_base64") or ""),
        fields.text_or_none("content_type") or fields.text_or_none("mime_type"),
    )


def _bytes(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Malformed(
            "content_base64: this is not base 64.", remedy="Pass the file's bytes in base 64."
        ) from None


def plain_upload(made: Upload, room_id: RoomId) -> Plain:
    """Return the form of a file that waits."""
    return {
        "room_id": str(room_id),
        "upload_id": made.upload_id,
        **_facts(made.attachment),
        "expires_at": moments.to_text(made.expires_at),
    }


def upload(document: object, file: File) -> Upload:
    """Return the file that waits, as an answer spells it.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    return Upload(
        upload_id=fields.text("upload_id"),
        number=0,
        name=fields.text_or_none("filename") or file.name,
        content_type=fields.text_or_none("content_type") or file.content_type,
        size=len(file.content),
        by="",
        uploaded_at=fields.moment("expires_at") - attachments.WAITS,
    )


def plain(files: Sequence[Attachment], room_id: RoomId, message_id: MessageId) -> list[Plain]:
    """Return the forms of a message's files."""
    of_message = f"/rooms/{quote(str(room_id), safe='')}/messages/{message_id}/attachments"
    return [
        {"id": f"att_{place}", **_facts(one), "download_url": f"{of_message}/att_{place}"}
        for place, one in enumerate(files, start=1)
    ]


def _facts(one: Attachment) -> Plain:
    return {
        "filename": one.name,
        "file_name": one.name,
        "content_type": one.content_type,
        "mime_type": one.content_type,
        "byte_size": one.size,
        "size_bytes": one.size,
    }


def read(fields: Fields) -> tuple[Attachment, ...]:
    """Return the files of the message that `fields` spell. Raises Unreadable."""
    return tuple(map(_attachment, fields.parts("attachments")))


def _attachment(told: Fields) -> Attachment:
    size = told.integer_or_none("size_bytes")
    return Attachment(
        upload_id=told.text_or_none("id") or "",
        name=told.text_or_none("file_name") or told.text_or_none("filename") or "",
        content_type=told.text_or_none("mime_type")
        or told.text_or_none("content_type")
        or attachments.UNTYPED,
        size=size if size is not None else told.integer_or_none("byte_size") or 0,
    )


def plain_fetched(found: Fetched, room_id: RoomId, message_id: MessageId, place: int) -> Plain:
    """Return the form of a file with what it holds."""
    return {
        "room_id": str(room_id),
        "message_id": str(message_id),
        "attachment": {"id": f"att_{place}", **_facts(found.attachment)},
        "content_base64": b64encode(found.content).decode(),
    }


def fetched(document: object) -> Fetched:
    """Return the file that an answer spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    told = fields.part("attachment")
    if told is None:
        raise Unreadable("attachment is left out")
    try:
        return Fetched(_attachment(told), b64decode(fields.text("content_base64"), validate=True))
    except binascii.Error:
        raise Unreadable("content_base64 is not base 64") from None


def named(fields: Fields) -> tuple[str, ...]:
    """Return which uploads a message is to have. Raises Malformed, Unreadable."""
    given = fields.document.get("attachments")
    if given is None:
        return ()
    found = [one.get("upload_id") if isinstance(one, dict) else one for one in _listed(given)]
    if not all(isinstance(one, str) for one in found):
        raise Malformed(
            "attachments: one of them names no upload_id.",
            remedy="Pass a list of objects with the upload_id that each upload returned.",
        )
    return tuple(dict.fromkeys(map(str, found)))


def _listed(given: object) -> Sequence[object]:
    if not isinstance(given, list):
        raise Malformed("attachments must be a list.", remedy="Pass attachments as a list.")
    return given
