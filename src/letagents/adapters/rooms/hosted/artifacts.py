"""Artifacts of rooms on a server, through its HTTP interface. (Source: hosted-api 3.12.)"""

from collections.abc import Collection

import attrs

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.lacking import there
from letagents.domain.artifacts import Shared
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.room_events import Wanted
from letagents.domain.tasks import Artifact
from letagents.ports.artifacts import LIMIT, Events, SharedArtifacts
from letagents.wire.http import artifacts as wire
from letagents.wire.http import credentials, rooms
from letagents.wire.http.reading import Fields


@attrs.frozen
class HostedArtifacts:
    """The artifacts of rooms on one server, used by one account."""

    _calls: Calls

    async def artifacts(
        self,
        room_id: RoomId,
        *,
        task_id: str | None = None,
        after: str | None = None,
        limit: int = LIMIT,
        viewer: Fence | None = None,
    ) -> SharedArtifacts:
        """Return artifacts, the newest first."""
        asked = self._calls.get(
            f"{rooms.path(room_id)}/artifacts",
            lambda answer: SharedArtifacts(*wire.page(answer)),
            query={"task_id": task_id, "after": after, "limit": max(1, limit)},
            headers=credentials.in_headers(viewer),
        )
        return await there("artifacts", asked)

    async def publish(
        self,
        room_id: RoomId,
        artifact: Artifact,
        task_ids: Collection[str] = (),
        fence: Fence | None = None,
    ) -> Shared:
        """Return the artifact as the room keeps it now."""
        asked = wire.plain_publication(artifact, task_ids)
        sent = self._calls.send(
            "POST",
            f"{rooms.path(room_id)}/artifacts",
            asked | credentials.in_body_of_anybody(fence),
            lambda answer: wire.shared(Fields(answer).document.get("artifact")),
        )
        return await there("artifacts", sent)

    async def events(self, room_id: RoomId, wanted: Wanted, viewer: Fence | None = None) -> Events:
        """Return what happened in the room's repository, the newest first."""
        asked = self._calls.get(
            f"{rooms.path(room_id)}/events",
            lambda answer: Events(*wire.events(answer)),
            query=wire.plain_wanted(wanted),
            headers=credentials.in_headers(viewer),
        )
        return await there("events of a repository", asked)
