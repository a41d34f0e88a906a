"""The claimed paths of rooms on a server, through routes that only our own server has."""

from collections.abc import Awaitable
from typing import Any, TypeVar

import attrs

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.projects import Absent
from letagents.domain.errors import NotAvailable
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.path_claims import Granted, PathClaim, Query, Wanted
from letagents.ports.path_claims import PathClaimPage
from letagents.wire.http import credentials, rooms
from letagents.wire.http import path_claims as wire
from letagents.wire.http.reading import Fields

T = TypeVar("T")


@attrs.frozen
class HostedPaths:
    """The claimed paths of rooms on one server, used by one account."""

    _calls: Calls

    async def claim(self, room_id: RoomId, wanted: Wanted, fence: Fence | None = None) -> Granted:
        """Claim paths for a task that the caller holds."""
        asked = wire.plain_wanted(wanted) | credentials.in_body(fence)
        return await _there(self._calls.send("POST", _path(room_id), asked, _granted))

    async def release(
        self,
        room_id: RoomId,
        task_id: str,
        *,
        claim_id: str | None = None,
        epoch: int | None = None,
        fence: Fence | None = None,
    ) -> tuple[PathClaim, ...]:
        """Let one claim of a task go, or all that the caller has for it; return those."""
        asked = wire.plain_release(task_id, claim_id, epoch) | credentials.in_body(fence)
        return await _there(
            self._calls.send(
                "DELETE",
                _path(room_id),
                asked,
                lambda told: tuple(map(wire.claim, Fields(told).list("claims"))),
            )
        )

    async def claims(
        self, room_id: RoomId, query: Query, viewer: Fence | None = None
    ) -> PathClaimPage:
        """Return a page of the claims that have not ended."""
        return await _there(
            self._calls.get(
                _path(room_id),
                _page,
                query=wire.plain_query(query),
                headers=credentials.in_headers(viewer),
            )
        )


def _path(room_id: RoomId) -> str:
    return f"{rooms.path(room_id)}/path-claims"


def _granted(document: Any) -> Granted:
    fields = Fields(document)
    return Granted(claim=wire.claim(fields.document.get("claim")), is_new=fields.flag("is_new"))


def _page(document: Any) -> PathClaimPage:
    fields = Fields(document)
    return PathClaimPage(
        tuple(map(wire.view, fields.list("claims"))),
        more=fields.flag("has_more"),
        last=fields.integer_or_none("last") or 0,
    )


async def _there(asked: Awaitable[T]) -> T:
    try:
        return await asked
    except Absent as error:
        raise NotAvailable(
            "On the server of these rooms no paths can be claimed.",
            remedy="Say in the room what you work on: send_message.",
        ) from error
