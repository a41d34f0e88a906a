"""What a server of rooms has no routes for."""

from collections.abc import Awaitable
from typing import TypeVar

from letagents.adapters.rooms.hosted.projects import Absent
from letagents.domain.errors import NotAvailable

T = TypeVar("T")


async def there(what: str, asked: Awaitable[T]) -> T:
    """Return what was asked for. Raises NotAvailable where the server has nothing of the kind."""
    try:
        return await asked
    except Absent as error:
        raise NotAvailable(
            f"The server of these rooms has no such thing as {what}.",
            remedy="Say it in the room: send_message.",
        ) from error
