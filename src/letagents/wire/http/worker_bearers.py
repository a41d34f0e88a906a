"""How a worker's bearer is spelled: the room, the session and its secret in one.

(Source: hosted-api 2.2.) To everybody but the server it is one text. It lasts as long as the hold
whose secret it has.
"""

from letagents.domain.errors import Malformed
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.ids import RoomId, SessionId, Token

_MARK = "lasb_"


def spelled(fence: Fence, room_id: RoomId) -> str:
    """Return the bearer of whoever `fence` is in a room."""
    parts = (str(fence.session_id), fence.token.value, str(room_id))
    return _MARK + "\n".join(parts).encode().hex()


def read(text: str | None) -> tuple[RoomId, Fence] | None:
    """Return of which room a bearer is, and as whom; None for what is none."""
    if text is None or not text.startswith(_MARK):
        return None
    try:
        session_id, token, room_id = bytes.fromhex(text[len(_MARK) :]).decode().split("\n")
        return RoomId(room_id), Fence(SessionId(session_id), UNNUMBERED, Token(token))
    except (ValueError, Malformed):
        return None
