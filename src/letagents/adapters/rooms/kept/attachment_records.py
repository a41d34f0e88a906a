"""What a room keeps of files, and how it is found again."""

from letagents.adapters.rooms.book import Kind
from letagents.domain.attachments import Attached, Content, Upload

UPLOADS = Kind(
    name="upload",
    of=Upload,
    key=lambda one: one.upload_id,
    number=lambda one: one.number,
    is_open=lambda one: one.is_waiting,
    by=lambda one: one.by or None,
)
CONTENTS = Kind(
    name="upload_content",
    of=Content,
    key=lambda one: one.upload_id,
    number=lambda _one: 1,
    is_open=lambda _one: False,
)
ATTACHED = Kind(
    name="attached",
    of=Attached,
    key=lambda one: str(one.number),
    number=lambda one: one.number,
    is_open=lambda _one: False,
)
