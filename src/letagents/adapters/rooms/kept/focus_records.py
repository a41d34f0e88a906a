"""What a room keeps of the focus rooms beside it."""

from letagents.adapters.rooms.book import Kind
from letagents.domain.focus_rooms import Focus
from letagents.domain.locators import FOCUS_ROOM

FOCUS_ROOMS = Kind(
    name=FOCUS_ROOM,
    of=Focus,
    key=lambda focus: focus.key,
    number=lambda focus: focus.number,
    is_open=lambda focus: focus.is_active,
    about=lambda focus: focus.task_id,
    also=lambda focus: str(focus.room_id),
)
