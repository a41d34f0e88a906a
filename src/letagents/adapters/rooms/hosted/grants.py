"""Calls with a host grant, and the rooms of an agent that was let in by one.

(Source: supervisor 6.8.)
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import attrs
import httpx
import orjson

from letagents.adapters.rooms.hosted import bounded
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.domain.held_grants import Grant, GrantCallFailed, Renewed
from letagents.domain.ids import Credential, RoomId, Token
from letagents.domain.rooms import Room
from letagents.domain.sessions import Arrival, Connection, Session
from letagents.ports.grant_servers import Minted
from letagents.wire.http import sessions as wire
from letagents.wire.http.places import part
from letagents.wire.http.reading import Fields, Unreadable

T = TypeVar("T")

_GENERATION = "x-letagents-supervisor-generation"
_USUAL = 20.0
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@attrs.define(eq=False)
class HttpGrantServer:
    """A server over HTTP."""

    _client: httpx.AsyncClient

    async def mint(
        self, grant: Grant, asked: "dict[str, str]", token: Token, within: float
    ) -> Minted:
        """Open a session of an agent, or take it up again."""
        body = {"generation": grant.generation, **asked, wire.PROPOSED: token.value}
        return await self._post(grant, "worker-sessions", body, _minted, within, token)

    async def renew(self, grant: Grant, lasts: timedelta) -> Renewed:
        """Let a grant last on."""
        body = {
            "generation": grant.generation,
            "host_id": grant.host_id,
            "installation_id": grant.installation_id,
            "ttl_ms": lasts // timedelta(milliseconds=1),
        }
        return await self._post(grant, "renew", body, _renewed)

    async def end(self, grant: Grant, session: Session) -> None:
        """End a session that was opened for a grant."""
        path = f"worker-sessions/{part(str(session.session_id))}/end"
        body = {"generation": grant.generation, "room_id": str(session.room_id)}
        await self._post(grant, path, body, lambda _fields: None)

    async def _post(
        self,
        grant: Grant,
        path: str,
        body: dict[str, Any],
        read: Callable[[Fields], T],
        within: float = _USUAL,
        token: Token | None = None,
    ) -> T:
        request = self._client.build_request(
            "POST",
            f"/supervisor-host-grants/{part(grant.grant_id)}/{path}",
            content=orjson.dumps(body),
            headers={
                "Authorization": f"Bearer {grant.secret.value}",
                "Content-Type": "application/json",
                _GENERATION: str(grant.generation),
            },
            timeout=httpx.Timeout(within),
        )
        try:
            answer = await bounded.answered(self._client, request, within)
        except httpx.TimeoutException:
            raise GrantCallFailed(None, f"timed out after {round(within * 1000)}ms") from None
        except httpx.HTTPError as error:
            raise GrantCallFailed(None, f"no answer: {type(error).__name__}") from None
        secrets = [grant.secret.value, *([token.value] if token is not None else [])]
        if not answer.is_success:
            raise GrantCallFailed(answer.status_code, _said(answer, secrets))
        try:
            return read(Fields(answer.document()))
        except Unreadable as error:
            raise GrantCallFailed(None, f"the answer cannot be read: {error}") from None


def _said(answer: bounded.Answer, secrets: list[str]) -> str:
    document = answer.document_or_none(secrets)
    told = document.get("error") if isinstance(document, dict) else None
    return f"HTTP {answer.status_code}" + (f" {told[:300]}" if isinstance(told, str) else "")


def _minted(fields: Fields) -> Minted:
    bearer = fields.parsed("worker_bearer", Credential)
    ends = fields.moment_or_none("worker_bearer_expires_at")
    return Minted(wire.session(fields.document), bearer, ends)


def _renewed(fields: Fields) -> Renewed:
    return Renewed(
        fields.text("grant_id"),
        fields.parsed("supervisor_grant", Credential),
        fields.integer("current_generation"),
        fields.moment("expires_at"),
    )


@attrs.define(eq=False)
class GrantedRooms(HostedRooms):
    """The rooms of one agent, which shows its bearer there and nothing else."""

    opened: Callable[[], Awaitable[Connection]] = attrs.field(kw_only=True)
    """Returns the agent's session, opened if it is not."""

    async def join(self, room_id: RoomId, *, create: bool = True) -> Room:
        """Let the agent be in its room; its bearer cannot ask what else the room is."""
        await self.opened()
        return Room(room_id, str(room_id), _LONG_AGO, is_local=False)

    async def connect(self, room_id: RoomId, arrival: Arrival) -> Connection:
        """Return the agent's session."""
        return await self.opened()
