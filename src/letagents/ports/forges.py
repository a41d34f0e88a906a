"""What the application asks of the services that keep repositories.

G14  No credential goes to them, and no question lasts longer than ten seconds.
G15  What cannot be reached, or does not answer in time, has the answer None.
"""

from typing import Protocol

from letagents.domain.forges import Answer, Question


class Forges(Protocol):
    """The services behind `question.provider`."""

    async def ask(self, question: Question) -> Answer | None:
        """Return what the provider answers, or None if there is no answer to be had."""
        ...
