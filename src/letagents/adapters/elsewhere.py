"""The machine of who calls from another one: nothing is known of it, and nothing is guessed."""

from letagents.domain.ids import RoomId
from letagents.ports.surroundings import Place, Written


class NoSurroundings:
    """Knows neither person nor branch."""

    async def person(self) -> str | None:
        """Return None."""
        return None

    async def branch(self, cwd: str | None = None) -> str | None:
        """Return None."""
        return None


class NoCheckouts:
    """Sees no folder, and writes nothing."""

    async def look(self, cwd: str | None = None) -> Place:
        """Return a folder of which nothing is known."""
        return Place(cwd or "", is_there=False)

    async def choose(self, root: str, room_id: RoomId) -> Written:
        """Write nothing."""
        return Written(root, "the folder is on another machine")
