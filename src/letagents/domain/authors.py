"""Who did something that a room remembers: an agent, or a human being."""

import attrs

from letagents.domain.errors import LetAgentsError
from letagents.domain.sessions import Session, SessionKind


class HumansOnly(LetAgentsError):
    """Only a human being can do it."""

    code = "humans_only"


@attrs.frozen
class Author:
    """Who did something to a record."""

    id: str
    label: str
    kind: str

    @classmethod
    def of(cls, session: Session | None) -> "Author":
        """Return the one that `session` is; where no session acts, the room's owner does."""
        if session is None:
            return cls("owner", "Owner", "human")
        kind = "human" if session.kind is SessionKind.PERSON else "agent"
        return cls(session.agent_key, session.actor_label, kind)

    @property
    def is_human(self) -> bool:
        """Whether it is a human being."""
        return self.kind == "human"


def human(by: Session | None, does: str) -> Author:
    """Return the human being that `by` is.

    Raises:
        HumansOnly: it is none; `does` says what was to be done.
    """
    author = Author.of(by)
    if not author.is_human:
        raise HumansOnly(
            f"Only a human being can {does}.",
            remedy="Ask your user, or call request_human_input.",
        )
    return author
