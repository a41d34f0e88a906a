"""Nobody: the supervisor of a process that is not supervised."""

from letagents.domain.errors import NotAvailable
from letagents.domain.supervised import (
    NOT_SUPERVISED,
    Answered,
    Borrowed,
    Bound,
    Call,
    OwnSession,
    Told,
)


class NoSupervisor:
    """Binds nothing, lends nothing, and journals nothing."""

    async def bind(self, session: OwnSession, *, is_known: bool = False) -> Bound:
        """Say that nobody supervises."""
        return Bound(is_supervised=False)

    async def borrow(self, session: OwnSession) -> Borrowed:
        """Say that nobody lends."""
        return NOT_SUPERVISED

    async def checkpoint(self, session: OwnSession, cursor: str) -> None:
        """Do nothing: nobody asks for it."""

    async def execute(self, call: Call) -> Answered | None:
        """Raises: NotAvailable."""
        raise _nobody()

    async def prepare(self, call: Call) -> Told:
        """Raises: NotAvailable."""
        raise _nobody()

    async def complete(
        self, effect_id: str, *, result: object = None, error: str | None = None
    ) -> None:
        """Raises: NotAvailable."""
        raise _nobody()


def _nobody() -> NotAvailable:
    return NotAvailable(
        "The exact supervised daemon coordinates are unavailable.",
        remedy="Have the supervisor start this process: it gives it its coordinates.",
    )
