"""The receipts of a message as a hosted room gives them out, and back: a form of our own.

(Source for the names: hosted-api 7.4.)
"""

from typing import Any

from letagents.domain.activation import Reason
from letagents.domain.errors import Malformed
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.receipts import SAID, Receipt, State
from letagents.wire import moments
from letagents.wire.http.reading import Fields

Plain = dict[str, Any]


def plain_info(room_id: RoomId, message_id: MessageId, found: tuple[Receipt, ...]) -> Plain:
    """Return the form of what became of a message."""
    shown = [plain(one) for one in found]
    return {"room_id": str(room_id), "message_id": str(message_id), "receipts": shown}


def plain(one: Receipt) -> Plain:
    """Return the form of a receipt."""
    return {
        "message_id": str(one.message_id),
        "agent_session_id": str(one.session_id),
        "agent_key": one.agent_key,
        "actor_label": one.actor_label,
        "activation_reason": one.reason.value,
        "receipt_state": one.state.value,
        "created_at": moments.to_text(one.created_at),
        "updated_at": moments.to_text(one.updated_at),
    }


def info(document: object) -> tuple[Receipt, ...]:
    """Return the receipts that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    return tuple(_receipt(Fields(one)) for one in Fields(document).list("receipts"))


def declared(document: object) -> Receipt:
    """Return the receipt of whoever said how far they are. Raises Unreadable."""
    return _receipt(Fields(Fields(document).document.get("receipt")))


def state(fields: Fields) -> State:
    """Return how far somebody says that they are with a message. Raises Malformed."""
    word = fields.text_or_none("receipt_state")
    found = next((one for one in SAID if one.value == word), None)
    if found is None:
        known = ", ".join(one.value for one in SAID)
        raise Malformed(f"receipt_state must be one of: {known}.", remedy="Pass one of them.")
    return found


def _receipt(fields: Fields) -> Receipt:
    return Receipt(
        message_id=fields.parsed("message_id", MessageId.parse),
        agent_key=fields.text("agent_key"),
        session_id=fields.parsed("agent_session_id", SessionId),
        actor_label=fields.text("actor_label"),
        reason=fields.parsed("activation_reason", Reason),
        state=fields.parsed("receipt_state", State),
        created_at=fields.moment("created_at"),
        updated_at=fields.moment("updated_at"),
    )
