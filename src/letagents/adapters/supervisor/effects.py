"""Effects as a supervisor's answers tell of them; what makes no sense is believed to be nothing.

(Source: supervisor 3.4, 4.7.)
"""

import re
from collections.abc import Mapping

from letagents.adapters.supervisor.calls import Negotiated, refused
from letagents.adapters.supervisor.coordinates import Coordinates
from letagents.domain.effects import UNKNOWN
from letagents.domain.supervised import (
    Answered,
    AnswerWithTurn,
    Call,
    DoIt,
    MayBeDone,
    MoveAfterTurn,
    Told,
)

_LOOK = "Look whether it was done before you ask for it again."
_ROOM = re.compile(r"[^\x00-\x1f\x7f]{1,1024}")


def place(at: Coordinates, negotiated: Negotiated) -> dict[str, object]:
    """Return of which agent, attempt, process and supervisor a call is, as it is sent."""
    turn = {"provider_turn_id": at.turn_id} if at.turn_id is not None else {}
    return {
        "entry_id": at.entry_id,
        "work_attempt_id": at.work_attempt_id,
        "execution_generation_id": at.execution_id,
        "daemon_generation": negotiated.generation,
        **turn,
    }


def params(at: Coordinates, negotiated: Negotiated, call: Call) -> dict[str, object]:
    """Return a call as it is sent."""
    return {
        **place(at, negotiated),
        "mcp_request_id": call.request_id,
        "tool_name": call.tool,
        "input": dict(call.arguments),
    }


def answered(result: object) -> Answered:
    """Return what a supervisor did.

    Raises:
        SupervisorRefused: that is not what it says.
    """
    told, room_id = _checked(result, _LOOK)
    if told.get("state") == "uncertain":
        raise refused(_text(told, "error") or UNKNOWN, _LOOK)
    if told.get("state") != "completed":
        raise refused("The supervised effect journal returned an unsupported state.", _LOOK)
    return Answered(room_id, told.get("result"))


def told(result: object) -> Told:
    """Return what a supervisor says of a call that it does not do.

    Raises:
        SupervisorRefused: it says nothing that can be believed.
    """
    said, room_id = _checked(result)
    state, effect_id = said.get("state"), _text(said, "effect_id")
    if state == "completed":
        return Answered(room_id, said.get("result"))
    if not effect_id:
        raise refused("The supervised effect journal did not return an effect id.")
    if state == "uncertain":
        return MayBeDone(room_id, effect_id, _text(said, "error") or UNKNOWN)
    if state != "prepared":
        raise refused("The supervised effect journal returned an unsupported state.")
    return _prepared(said, room_id, effect_id)


def _prepared(said: Mapping[str, object], room_id: str, effect_id: str) -> Told:
    action = said.get("action")
    message, destination = _text(said, "source_message_id"), _text(said, "destination_room")
    if action == "execute":
        return DoIt(room_id, effect_id)
    if action == "use_final_answer" and message:
        return AnswerWithTurn(room_id, effect_id, message)
    if action == "room_move_prepared" and destination:
        return MoveAfterTurn(room_id, effect_id, destination)
    raise refused("The supervised effect journal returned an unsupported action.")


def _checked(result: object, remedy: str | None = None) -> tuple[Mapping[str, object], str]:
    said = result if isinstance(result, Mapping) else {}
    room_id = _text(said, "room_id")
    if not _ROOM.fullmatch(room_id):
        raise refused("The supervised daemon did not return valid exact room authority.", remedy)
    return said, room_id


def _text(said: Mapping[str, object], name: str) -> str:
    value = said.get(name)
    return value.strip() if isinstance(value, str) else ""
