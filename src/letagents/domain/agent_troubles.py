"""What a person reads of an agent whose work was refused.

J158  What is shown to a person of an agent's trouble tells what to do at a shell, and names no
      tool, which only agents can call.
"""

import re

from letagents.domain.errors import LetAgentsError
from letagents.domain.surfaces import BY_NAME

_TOOL = re.compile(rf"\b({'|'.join(BY_NAME)})\b")
_NAME = re.compile(r"\bAGENT\b")

_REMEDIES = {
    "room_full": "`letagents agents move AGENT ROOM` moves it to another room.",
    "unknown_room": "Ask who looks after that server how the room is called; "
    "`letagents agents move AGENT ROOM` moves the agent to another.",
}
_SIGN_IN = (
    "Set LETAGENTS_TOKEN to a token of that server where the supervisor is started, have an agent "
    "of this machine sign you in, or run `letagents agents grant AGENT --file FILE`."
)
_BY_CODE = _REMEDIES | dict.fromkeys(
    ("not_signed_in", "auth_required", "not_your_agent", "worker_session_required"), _SIGN_IN
)
_OTHERWISE = "`letagents agents logs AGENT` shows what it did."


def names_a_tool(text: str) -> bool:
    """Whether a text names something that only an agent can call."""
    return _TOOL.search(text) is not None


def shown(error: LetAgentsError, entry_id: str) -> str:
    """Return what a person reads of an error that an agent's work met."""
    remedy = error.remedy
    if names_a_tool(remedy):
        remedy = _NAME.sub(entry_id, _BY_CODE.get(error.code, _OTHERWISE))
    return f"{error.happened} {remedy}"
