"""The server of hosted rooms, through its HTTP interface. (Source: hosted-api 3.1, 3.2.)"""

from typing import Any

import attrs

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.domain.ids import RoomId
from letagents.domain.local_state import Account
from letagents.domain.sign_in import Begun, Polled
from letagents.wire.http import sign_in as wire
from letagents.wire.http.reading import Fields

HEALTH_WITHIN = 1.5
"""Seconds. (Source: mcp-tools 8.4.)"""


@attrs.define(eq=False)
class HostedServer:
    """One server, used by one account."""

    _calls: Calls

    async def whoami(self) -> Account:
        """Return the account of the token that is shown."""
        return await self._calls.get("/agents/me", wire.whoami)

    async def begin_sign_in(self, room_id: RoomId | None, start: str | None = None) -> Begun:
        """Begin to sign somebody in, at `start` if the server named that and it is its own."""
        own = self._calls.own_path(start) if start is not None else None
        path = own or f"/auth/device/start{wire.query(room_id)}"
        return await self._calls.send("POST", path, {}, wire.begun)

    async def poll_sign_in(self, request_id: str) -> Polled:
        """Return how a sign-in stands that was begun."""
        status, document = await self._calls.ask(wire.poll_path(request_id))
        return wire.polled(status, document)

    async def health(self) -> tuple[int | None, str | None]:
        """Return the status with which the server answers, or else why it does not."""
        return await self._calls.status("/api/health", HEALTH_WITHIN)

    async def register_agent(self, name: str, display_name: str, owner_label: str) -> None:
        """Let the account have an agent of that name."""
        asked: dict[str, Any] = {
            "name": name,
            "display_name": display_name,
            "owner_label": owner_label,
        }
        await self._calls.send("POST", "/agents", asked, lambda answer: Fields(answer).text("name"))
