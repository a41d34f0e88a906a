"""Messages as a supervised agent is shown them in its prompt: JSON on one line."""

from collections.abc import Sequence

from letagents.application.agents.household import Initial
from letagents.domain.inbox import INITIAL
from letagents.domain.messages import Message
from letagents.wire import readable
from letagents.wire.supervisor import canonical

_AT_THE_BEGINNING = {"decision": "activate", "reason": "initial_message", "addressed": True}


def initial(entry_id: str, text: str) -> Initial:
    """Return what an agent is told at its beginning."""
    message = {"id": f"{INITIAL}{entry_id}", "text": text}
    return Initial(canonical(message), canonical({"for_current_agent": _AT_THE_BEGINNING}))


class WordsForAgents:
    """Writes messages as `read_messages` shows them."""

    def message(self, said: Message) -> str:
        """Return a message."""
        return canonical(readable.message(said))

    def messages(self, said: Sequence[Message]) -> str:
        """Return several."""
        return canonical(readable.page(said))

    def activation(self, said: Message) -> str:
        """Return why a message is for the agent."""
        return canonical(readable.message(said).get("activation"))

    def moved(self, room_id: str) -> str:
        """Return the result of a move to a room."""
        told = canonical({"moved": True, "room_id": room_id})
        return canonical({"content": [{"type": "text", "text": told}]})
