"""What a chat can know of how this machine is set up, and of who is signed in on it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from letagents.application.chat import Chat
from letagents.domain import workers
from letagents.domain.errors import SignInFirst
from letagents.domain.ids import RoomId, WorkerId
from letagents.domain.local_state import LocalState, RoomSession, account
from letagents.ports.clock import Clock
from letagents.ports.state import StateStore

if TYPE_CHECKING:
    from letagents.application.directory import Directory
    from letagents.application.signing_in import SigningIn

SIGN_IN = ("auth", "pending_device_auth")
"""Where the state keeps a sign-in, and one that was begun."""

_SHOWN_OF_PENDING = (
    "user_code", "verification_uri", "interval_seconds", "expires_at", "started_at",
    "suggested_room_id",
)  # fmt: skip
"""Not the request's id: whoever has it can fetch the token."""


@attrs.frozen
class Installation:
    """What is set for all chats of this process, as far as they may know it."""

    state_path: str | None = None
    api_url: str | None = None
    has_owner_token: bool = False
    rooms_are_apart: bool = False


@attrs.frozen
class Known:
    """Who is signed in, whether a sign-in was begun, and the room of last time."""

    signed_in: bool
    pending: Mapping[str, object] | None
    saved_room: RoomSession | None


@attrs.define
class Onboarding:
    """Looks after this machine's sign-in."""

    state: StateStore
    clock: Clock
    chat: Chat
    installation: Installation
    directory: "Directory | None" = None
    """Who this machine is at the server of its rooms; None where they are here."""

    @property
    def signing(self) -> "SigningIn | None":
        """What signs this machine in at the server of its rooms, if they are on one."""
        if self.directory is None:
            return None
        from letagents.application.signing_in import SigningIn

        shown = self.directory.credentials
        return SigningIn(shown.state, shown.clock, shown.url, self.directory.server)

    async def begin_for(self, room_id: RoomId, asked: SignInFirst) -> "Mapping[str, object]":
        """Begin to sign somebody in for a room that asks for it; return what may be shown of it.

        Raises:
            SignInFirst: it helps nobody, since the token of the environment would be shown still.
            RoomsUnavailable, OutcomeUnknown: the server begins none.
        """
        if self.signing is None or self.installation.has_owner_token:
            raise asked
        return shown_of(await self.signing.begin_for(room_id, asked.start))

    async def vouch(self, worker_id: WorkerId) -> None:
        """See that this machine knows the worker.

        Raises:
            UnknownWorker, ForeignWorker: it does not, or under another account.
        """
        workers.find(await self.state.read(), worker_id, scope=await self.chat.scope())

    async def known(self) -> Known:
        """Return what this machine remembers, without any secret."""
        state = await self.state.read()
        pending = state.extra.get("pending_device_auth")
        shown = shown_of(pending) if isinstance(pending, Mapping) else None
        signed_in = account(state, now=self.clock.now()) is not None
        return Known(signed_in, shown, state.current_room)

    async def clear(self) -> None:
        """Forget who is signed in, and a sign-in that was begun.

        Raises: as StateStore.
        """
        await self.state.transact(_signed_out)


def shown_of(pending: Mapping[str, object]) -> dict[str, object]:
    """Return what may be shown of a sign-in that was begun."""
    values = {name: pending.get(name) for name in _SHOWN_OF_PENDING}
    return {name: one for name, one in values.items() if isinstance(one, str | int)}


def _signed_out(state: LocalState) -> tuple[LocalState, None]:
    if not any(name in state.extra for name in SIGN_IN):
        return state, None
    kept = {name: value for name, value in state.extra.items() if name not in SIGN_IN}
    return attrs.evolve(state, extra=kept), None
