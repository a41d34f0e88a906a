"""What a call of a supervised agent may name: its own room and session, and no others.

(Source: mcp-tools 16, supervisor 5.5.)

J170  A supervised agent goes into no room by itself, and calls for none but its own.
J171  Its calls name its own session or none; who is made manager of a board may be another.
"""

from collections.abc import Mapping
from typing import Any

from letagents.domain import rooms
from letagents.domain.errors import NotAvailable

ENTERING = ("create_room", "create_project", "join_room", "join_code", "join_project")
"""Tools by which others go into rooms."""
_OF_OTHERS = ("assign_board_manager",)
_ITS_OWN = "worker_bearer"
"""What an agent may call its session, whichever it is."""
_SHOWN = 200


def check_stays(tool: str, arguments: Mapping[str, object], room_id: str) -> None:
    """Let a call pass that stays in its agent's room (J170).

    Raises:
        NotAvailable: it does not.
    """
    if tool in ENTERING:
        raise NotAvailable(
            "Room joins and creation are disabled during a daemon-supervised bounded turn.",
            remedy="Stay in your room; your user moves you with `letagents agents move`.",
        )
    asked = arguments.get("room_id")
    if isinstance(asked, str) and asked.strip() and str(rooms.canonical(asked)) != room_id:
        raise NotAvailable(
            f"Daemon-supervised worker session is registered for {room_id}, not "
            f"{asked[:_SHOWN]}. Its calls are authorized for {room_id}, not {asked[:_SHOWN]}.",
            remedy="Leave room_id out.",
        )


def as_itself(tool: str, given: Mapping[str, Any], session_id: str) -> dict[str, Any]:
    """Return the arguments of a call whose agent speaks with that session (J171).

    Raises:
        NotAvailable: it names another.
    """
    asked = given.get("agent_session_id")
    if asked is None or tool in _OF_OTHERS:
        return dict(given)
    if asked not in (session_id, _ITS_OWN):
        raise NotAvailable(
            f"Daemon-supervised worker session is {session_id}, not {str(asked)[:_SHOWN]}.",
            remedy="Leave agent_session_id out.",
        )
    return {name: value for name, value in given.items() if name != "agent_session_id"}
