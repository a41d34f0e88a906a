"""What the application asks about the place it runs in.

Q1  Every answer comes within five seconds, and a question that cannot be answered has the answer
    None.
"""

from typing import Protocol


class Surroundings(Protocol):
    """The checkout, the person and the machine around this process."""

    async def person(self) -> str | None:
        """Return the name of the person who works here: git's, else the system user's."""
        ...

    async def branch(self, cwd: str | None = None) -> str | None:
        """Return the branch checked out in `cwd`, or None outside a checkout."""
        ...
