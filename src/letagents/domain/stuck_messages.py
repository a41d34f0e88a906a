"""What a person may do about a message that an agent is stuck with.

(Source: supervisor 3.7.)

J110  A person's word is taken under the generation of this supervisor, and about the room, attempt,
      process and session that the agent has now: who has looked at an older state looks again.
"""

from letagents.domain import bindings, generations
from letagents.domain.bindings import Binding, Claim
from letagents.domain.inbox import InboxRefused

_REMEDY = "Look again: `letagents agents status AGENT`."


def check(claim: Claim, generation: int, binding: Binding | None, *, own: int) -> None:
    """Let a person's word pass.

    Raises:
        InboxRefused: it is about what is so no longer.
    """
    if not generations.is_current(generation, own):
        raise InboxRefused(
            "The supervisor generation changed; refresh before retrying.", remedy=_REMEDY
        )
    if binding is None or not bindings.is_of_process(binding, claim):
        raise InboxRefused(
            "The room delivery binding is stale; refresh before retrying.", remedy=_REMEDY
        )


def none_such(message_id: str) -> InboxRefused:
    """Return what is said to who names a message that the agent was not to answer."""
    return InboxRefused(f"The agent has no message {message_id} to answer.", remedy=_REMEDY)
