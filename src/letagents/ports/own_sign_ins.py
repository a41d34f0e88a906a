"""What this machine remembers of the servers that it runs itself.

Q27  What is kept here can be read by its owner alone, and one entry is kept for each server.
"""

from typing import Protocol

from letagents.domain.serving import OwnSignIn


class OwnSignIns(Protocol):
    """This machine's sign-ins at its own servers."""

    async def all(self) -> tuple[OwnSignIn, ...]:
        """Return what is kept; nothing where nothing is, or where it cannot be read."""
        ...

    async def keep(self, sign_in: OwnSignIn) -> None:
        """Keep `sign_in`, in place of an earlier one for the same server or database.

        Raises:
            StateUnavailable: it cannot be kept.
        """
        ...
