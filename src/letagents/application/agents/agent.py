"""One agent as it is in its room now, and the words in which it is told what is said there."""

from collections.abc import Sequence
from typing import Protocol

import attrs

from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.messages import Message
from letagents.ports.providers import Conversation


class Words(Protocol):
    """Writes messages as agents read them, as JSON on one line."""

    def message(self, said: Message) -> str:
        """Return a message."""
        ...

    def messages(self, said: Sequence[Message]) -> str:
        """Return several."""
        ...

    def activation(self, said: Message) -> str:
        """Return why a message is for the agent."""
        ...

    def moved(self, room_id: str) -> str:
        """Return the result of a move to a room."""
        ...


@attrs.frozen
class Agent:
    """The agent as it is now: who it is in its room, and the conversation that it has."""

    entry_id: str
    room_id: RoomId
    charter: str
    work_attempt_id: str
    execution_id: str
    fence: Fence
    conversation: Conversation
    answers_by_tool: bool = False
