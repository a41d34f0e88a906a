"""Signing this machine in at the server of its rooms. (Source: mcp-tools 8.4.)

What was begun is kept in the state, so that another process can go on with it. The id under which
the token can be fetched stays there: nobody is shown it.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

import attrs
import structlog

from letagents.domain.ids import RoomId
from letagents.domain.local_state import Account, LocalState
from letagents.domain.sign_in import Authorized, Begun, Over, UnknownSignIn, Waiting
from letagents.ports.clock import Clock
from letagents.ports.server import Server
from letagents.ports.state import StateStore

log = structlog.get_logger()

AUTH, PENDING = "auth", "pending_device_auth"

Record = Mapping[str, object]


@attrs.frozen
class SignedIn:
    """Somebody is signed in now."""

    account: Account
    expires_at: str | None
    suggested_room: str | None


@attrs.define
class SigningIn:
    """Signs this machine in at one server."""

    state: StateStore
    clock: Clock
    url: str
    server: Server

    async def pending(self) -> Record | None:
        """Return the sign-in that was begun, if it can still come to anything."""
        return _pending((await self.state.read()).extra.get(PENDING), self.clock.now())

    async def begin(self, room_id: RoomId | None, *, anew: bool) -> tuple[Record, bool]:
        """Return a sign-in that was begun, and whether it was begun before this call.

        Raises:
            RoomsUnavailable, OutcomeUnknown: the server begins none.
        """
        before = await self.pending()
        if before is not None and not anew:
            return before, True
        return await self._begun(room_id), False

    async def begin_for(self, room_id: RoomId, start: str | None) -> Record:
        """Return a sign-in for that room: one begun before, or begun now where the server says.

        Raises: as `begin`.
        """
        before = await self.pending()
        if before is not None and before.get("suggested_room_id") == str(room_id):
            return before
        return await self._begun(room_id, start)

    async def _begun(self, room_id: RoomId | None, start: str | None = None) -> Record:
        made = await self.server.begin_sign_in(room_id, start)
        record = self._record(made, room_id)
        await self._put(**{PENDING: record})
        return record

    def _record(self, made: Begun, room_id: RoomId | None) -> dict[str, object]:
        now = self.clock.now()
        record: dict[str, object] = {
            "request_id": made.request_id,
            "user_code": made.user_code,
            "verification_uri": made.verification_uri,
            "interval_seconds": made.interval // timedelta(seconds=1),
            "expires_at": _text(now + made.expires_in),
            "started_at": _text(now),
            "api_url": self.url,
        }
        return record | ({"suggested_room_id": str(room_id)} if room_id is not None else {})

    async def poll(self, request_id: str | None) -> Waiting | Over | SignedIn:
        """Go on with a sign-in.

        Raises:
            UnknownSignIn: none was begun here, or the server knows it no more.
            RoomsUnavailable: the server does not say how it stands.
        """
        pending = await self.pending() or {}
        asked = request_id or pending.get("request_id")
        if not isinstance(asked, str):
            raise UnknownSignIn("No sign-in was begun.", remedy="Call start_device_auth().")
        try:
            stands = await self.server.poll_sign_in(asked)
        except UnknownSignIn:
            await self._put(**{PENDING: None})
            raise
        if isinstance(stands, Waiting):
            await self._wait_on(pending, stands)
            return stands
        if isinstance(stands, Over):
            await self._put(**{PENDING: None, AUTH: None})
            return stands
        return await self._signed_in(stands, pending)

    async def _wait_on(self, pending: Record, stands: Waiting) -> None:
        if not pending:
            return
        changed = {**pending, "interval_seconds": stands.interval // timedelta(seconds=1)}
        if stands.expires_in is not None:
            changed["expires_at"] = _text(self.clock.now() + stands.expires_in)
        await self._put(**{PENDING: changed})

    async def _signed_in(self, made: Authorized, pending: Record) -> SignedIn:
        who = made.account
        auth: dict[str, object] = {
            "token": made.token,
            "account": {
                **({"id": who.id} if who.id is not None else {}),
                "login": who.login,
                "display_name": who.display_name,
                "avatar_url": made.avatar_url,
            },
            "stored_at": _text(self.clock.now()),
            "source": "device_flow",
            "api_url": self.url,
        }
        if made.expires_at is not None:
            auth["expires_at"] = made.expires_at
        await self._put(**{PENDING: None, AUTH: auth})
        log.info("account.signed_in")
        room = pending.get("suggested_room_id")
        return SignedIn(who, made.expires_at, room if isinstance(room, str) else None)

    async def _put(self, **changes: Record | None) -> None:
        def put(state: LocalState) -> tuple[LocalState, None]:
            extra = {**state.extra, **changes}
            kept = {name: value for name, value in extra.items() if value is not None}
            return attrs.evolve(state, extra=kept), None

        await self.state.transact(put)


def _pending(kept: object, now: datetime) -> Record | None:
    if not isinstance(kept, Mapping):
        return None
    try:
        ends = datetime.fromisoformat(str(kept.get("expires_at")))
    except ValueError:
        return kept
    return kept if ends.tzinfo is None or ends > now else None


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
