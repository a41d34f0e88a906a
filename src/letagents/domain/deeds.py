"""What is changed of agents from outside, written down in the transaction that changes it.

J159  A deed tells when, of which agent and what was changed, under which supervisor, and which
      process asked for it.
J160  It is short, and holds no message, charter, correction or secret.
J161  Of all agents together the newest `KEPT` deeds are kept, also those of agents that are gone.
"""

import enum
from datetime import datetime

import attrs

KEPT = 1000
LONGEST = 300
"""Characters of a deed's detail, and of what is known of who asked."""


class Act(enum.Enum):
    """What was changed."""

    ADDED = "added"
    WANTED = "wanted"
    RENAMED = "renamed"
    REMOVED = "removed"
    GRANTED = "granted"
    GRANT_GIVEN_UP = "grant_given_up"
    RETRIED = "message_retried"
    SKIPPED = "message_skipped"
    SETTLED = "effect_settled"
    TURN_STOPPED = "turn_stopped"
    STOP_SETTLED = "stop_settled"
    MOVED = "moved"
    MOVE_TAKEN_BACK = "move_taken_back"


@attrs.frozen
class Deed:
    """One change."""

    at: datetime
    entry_id: str
    act: Act
    generation: int
    detail: str = ""
    by: str = ""
    """Which process asked, as far as it is known."""


@attrs.frozen
class Doer:
    """Who changes something now, at the supervisor of that generation."""

    at: datetime
    generation: int
    by: str = ""

    def did(self, entry_id: str, act: Act, detail: str = "") -> Deed:
        """Return what is written down of a change."""
        return Deed(self.at, entry_id, act, self.generation, detail[:LONGEST], self.by[:LONGEST])
