"""What the application needs of the artifacts of rooms, and of what happened in their repositories.

K44  What was published is kept, and found by any store opened on the same place.
K45  Artifacts come newest first, all or those of one task, and a cursor finds all.
K51  A room of one machine is told by no forge: it has no events, and says so.
"""

from collections.abc import Collection
from typing import Protocol

import attrs

from letagents.domain.artifacts import Shared
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.room_events import RepositoryEvent, Wanted
from letagents.domain.tasks import Artifact

LIMIT = 100
MOST = 250


@attrs.frozen
class SharedArtifacts:
    """Some artifacts; `more` says that others come after the last of them."""

    artifacts: tuple[Shared, ...]
    more: bool = False


@attrs.frozen
class Events:
    """Some events of a repository. `note` says why there are none where none can be."""

    events: tuple[RepositoryEvent, ...] = ()
    more: bool = False
    note: str | None = None


class Artifacts(Protocol):
    """The artifacts of rooms."""

    async def artifacts(
        self,
        room_id: RoomId,
        *,
        task_id: str | None = None,
        after: str | None = None,
        limit: int = LIMIT,
        viewer: Fence | None = None,
    ) -> SharedArtifacts:
        """Return artifacts, from behind `after`, which is `artifacts.cursor` of one.

        Raises:
            Malformed: it is no place of one.
        """
        ...

    async def publish(
        self,
        room_id: RoomId,
        artifact: Artifact,
        task_ids: Collection[str] = (),
        fence: Fence | None = None,
    ) -> Shared:
        """Return the artifact as the room keeps it now.

        Raises:
            UnknownTask: it is linked to a task that is not there.
            Malformed: it would be linked to too many tasks.
        """
        ...

    async def events(self, room_id: RoomId, wanted: Wanted, viewer: Fence | None = None) -> Events:
        """Return what happened in the room's repository, the newest first."""
        ...
