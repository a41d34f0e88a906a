"""Files that go with a message: uploaded first, and attached as the message is said.

R45  A file has at most 4 MiB and is not empty; its name is one line of at most 255 characters, and
     no path.
R46  What was uploaded waits an hour for a message of its uploader in that room; of one uploader at
     most 20 wait.
R47  A message has at most 10 files. Each goes with one message, in the transaction that says it: a
     draft that names one which is not there says nothing.
R48  A draft with files may say nothing else; one of kind auto has none.
R49  What waited for too long is let go, and takes no place any more.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

import attrs

from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.messages import MOST_FILES, Attachment

LARGEST = 4 * 1024 * 1024
"""Bytes of a file."""
NAME_LIMIT = 255
WAITS = timedelta(hours=1)
MOST_WAITING = 20
UNTYPED = "application/octet-stream"

_NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f/\\\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,62}/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}")
_ID = re.compile(r"att_([1-9][0-9]?)")


class FileTooLarge(LetAgentsError):
    """A file holds too many bytes. Nothing was kept."""

    code = "attachment_too_large"


class TooManyUploads(LetAgentsError):
    """As many files wait for messages as one may have. Nothing was kept."""

    code = "too_many_uploads"


class UnknownUpload(LetAgentsError):
    """A draft names a file that does not wait for it. Nothing was said."""

    code = "attachment_upload_not_found"


class UnknownAttachment(LetAgentsError):
    """A message has no such file."""

    code = "unknown_attachment"


@attrs.frozen(kw_only=True)
class File:
    """A file that is to be uploaded."""

    name: str
    content: bytes = attrs.field(repr=False)
    content_type: str = UNTYPED


@attrs.frozen(kw_only=True)
class Upload:
    """A file that waits for a message of `by`, or goes with one."""

    upload_id: str
    number: int
    name: str
    content_type: str
    size: int
    by: str
    uploaded_at: datetime
    is_waiting: bool = True

    @property
    def expires_at(self) -> datetime:
        """Until when it waits."""
        return self.uploaded_at + WAITS

    @property
    def attachment(self) -> Attachment:
        """What a message tells of it."""
        return Attachment(self.upload_id, self.name, self.content_type, self.size)


@attrs.frozen
class Attached:
    """The files of a message, in their order."""

    number: int
    files: tuple[Attachment, ...]


@attrs.frozen
class Fetched:
    """A file of a message, and what it holds."""

    attachment: Attachment
    content: bytes = attrs.field(repr=False)


@attrs.frozen
class Content:
    """What a file holds, in base 64; nothing, once it has been let go."""

    upload_id: str
    base64: str


def file(name: object, content: bytes, content_type: object = None) -> File:
    """Return the file that somebody wants to upload.

    Raises:
        Malformed: it has no name, or is empty (R45).
        FileTooLarge: it is too large.
    """
    plain = name.strip() if isinstance(name, str) else ""
    if not _NAME.fullmatch(plain) or len(plain) > NAME_LIMIT or plain in (".", ".."):
        raise Malformed(
            "filename: this is no name of a file.",
            remedy=f"Pass one line of at most {NAME_LIMIT} characters without slashes.",
        )
    if not content:
        raise Malformed("content: the file is empty.", remedy="Attach a file with something in it.")
    if len(content) > LARGEST:
        raise FileTooLarge(
            f"{plain}: {len(content):,} bytes are too many.",
            remedy=f"Attach at most {LARGEST:,} bytes; put more where others can fetch it, and say "
            "where.",
        )
    told = content_type.strip().lower() if isinstance(content_type, str) else ""
    is_known = _TYPE.fullmatch(told) is not None
    return File(name=plain, content=content, content_type=told if is_known else UNTYPED)


def check_room_for_more(waiting: Sequence[Upload]) -> None:
    """Let one more file wait beside those of the same uploader (R46).

    Raises:
        TooManyUploads: there are too many.
    """
    if len(waiting) >= MOST_WAITING:
        raise TooManyUploads(
            f"{len(waiting)} files wait for messages of yours already.",
            remedy="Say the messages that they are for, or wait an hour.",
        )


def is_over(one: Upload, now: datetime) -> bool:
    """Whether a file has waited for too long (R49)."""
    return one.is_waiting and now >= one.expires_at


def taken(upload_id: str, found: Upload | None, *, by: str, now: datetime) -> Upload:
    """Return a file as it is once a message has it.

    Raises:
        UnknownUpload: it does not wait for a message of `by` (R46, R47).
    """
    if found is None or found.by != by or not found.is_waiting or is_over(found, now):
        raise UnknownUpload(
            "attachments: attachment upload not found or expired.",
            remedy="Upload the file again in this room, and name what that returns.",
        )
    return attrs.evolve(found, is_waiting=False)


def place_of(attachment_id: str) -> int:
    """Return which of a message's files is meant.

    Raises:
        UnknownAttachment: none can be.
    """
    found = _ID.fullmatch(attachment_id)
    if found is None or int(found[1]) > MOST_FILES:
        raise missing(attachment_id)
    return int(found[1])


def missing(attachment_id: str) -> UnknownAttachment:
    """Return the error for a file that a message has not."""
    known = attachment_id if _ID.fullmatch(attachment_id) else "this"
    return UnknownAttachment(
        f"attachment_id: the message has no file {known}.",
        remedy="Read the message: it lists its files.",
    )
