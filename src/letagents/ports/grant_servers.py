"""What a supervisor asks of a server with a host grant."""

from datetime import datetime, timedelta
from typing import Protocol

import attrs

from letagents.domain.held_grants import Grant, Renewed
from letagents.domain.ids import Credential, Token
from letagents.domain.sessions import Session


@attrs.frozen
class Minted:
    """A session that a server opened for a grant, and what shows it there."""

    session: Session
    bearer: Credential
    expires_at: datetime | None = None


class GrantServer(Protocol):
    """One server. No text of its errors holds a secret that was shown to it."""

    async def mint(
        self, grant: Grant, asked: "dict[str, str]", token: Token, within: float
    ) -> Minted:
        """Open a session of an agent, or take it up again, within so many seconds.

        Raises:
            GrantCallFailed: there is no such answer.
        """
        ...

    async def renew(self, grant: Grant, lasts: timedelta) -> Renewed:
        """Let a grant last on.

        Raises:
            GrantCallFailed: there is no such answer.
        """
        ...

    async def end(self, grant: Grant, session: Session) -> None:
        """End a session that was opened for a grant.

        Raises:
            GrantCallFailed: it is not known to be ended.
        """
        ...
