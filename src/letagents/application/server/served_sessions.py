"""Who calls a server, and whose the sessions are that are shown there.

The rooms themselves compare what a session shows (F1, F2). Here it is told whose the session is.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext

import attrs

from letagents.application.server.entrances import Entrances
from letagents.application.server.recollections import Recollection
from letagents.domain import accounts, host_grants
from letagents.domain.accounts import (
    NOBODY,
    Account,
    Agent,
    Principal,
    WorkerSessionRequired,
    person_key,
)
from letagents.domain.deliveries import Transport
from letagents.domain.errors import ConnectionLost, NotConnected, UnknownRoom
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, SessionId, Token
from letagents.domain.messages import Latest
from letagents.domain.sessions import Arrival, Session, SessionKind
from letagents.domain.tasks import WorkerRequired
from letagents.ports.accounts import Accounts
from letagents.ports.deliveries import Deliveries
from letagents.ports.ids import Ids
from letagents.ports.rooms import RoomTransport

SessionOf = Callable[[RoomId, SessionId], Awaitable[Session | None]]
"""Finds a session of a room, ended or not."""

SERVED = "server"
"""Of which process a person's session is whose program has none of its own."""


@attrs.frozen
class ServedSessions:
    """The callers of a server. `session_of` finds what they show."""

    rooms: RoomTransport
    session_of: SessionOf
    accounts: Accounts
    ids: Ids
    entrances: Entrances
    deliveries: Deliveries | None = None
    _owners: Recollection[tuple[str, str], tuple[str, SessionKind]] = attrs.field(
        factory=Recollection
    )
    _persons: Recollection[tuple[str, str], Token] = attrs.field(factory=Recollection)

    # --- who calls --------------------------------------------------------------------------------

    async def principal(self, token: str | None, cookie: str | None = None) -> Principal:
        """Return who shows `token`, or a `cookie`; nobody, if what is shown is unknown."""
        if cookie is None:
            return await self._of(token)
        kept = await self._of(cookie)
        if token is None:
            return kept
        return accounts.one_of(await self._of(token), kept, is_same=token == cookie)

    async def _of(self, token: str | None) -> Principal:
        return NOBODY if token is None else await self.accounts.of_token(accounts.digest(token))

    async def worker(self, room_id: RoomId, fence: Fence) -> Principal | None:
        """Return who shows the session of a worker; None where it is none that lives there.

        Its secret is compared by the room, as with everything that is looked at.
        """
        session = await self.session_of(room_id, fence.session_id)
        if session is None or session.kind is not SessionKind.WORKER:
            return None
        try:
            await self.rooms.read(room_id, Latest(1), fence)
        except (ConnectionLost, UnknownRoom):
            return None
        if not await self._is_granted(session):
            return None
        agent = await self.accounts.agent(session.agent_key)
        if agent is None:
            return None
        owner = Account(
            account_id=agent.owner_id, login=agent.owner_login, display_name=agent.owner_label
        )
        return Principal(owner, worker=fence)

    async def _is_granted(self, session: Session) -> bool:
        """Whether the grant by which a session was opened, if one was, is still good (J121)."""
        grant_id = host_grants.grant_of(session)
        if grant_id is None:
            return True
        return await self.accounts.grant(host_grants.digest_of(grant_id) or "") is not None

    async def agent(self, account: Account, key: str) -> Agent:
        """Return the agent of that key, which has to be the account's.

        Raises:
            NotYourAgent: it is not.
        """
        return accounts.check_owns(account, await self.accounts.agent(key))

    # --- whose session it is ----------------------------------------------------------------------

    async def acting(self, principal: Principal, room_id: RoomId, fence: Fence | None) -> Fence:
        """Return the fence of who acts in a room, once it is known to be the caller's own.

        Raises:
            NotSignedIn, UnknownRoom, NotConnected: it is not.
            WorkerSessionRequired: none was shown.
        """
        if fence is None:
            await self.entrances.check_entered(principal, room_id)
            raise WorkerSessionRequired(
                "Registered worker session is required for agent write actions.",
                remedy="Call register_agent_session first.",
            )
        await self._check_own(principal, room_id, fence)
        return fence

    async def check_speaks(self, room_id: RoomId, fence: Fence) -> None:
        """See that whoever acts may speak. (Source: hosted-api 2.3.)

        Raises:
            WorkerRequired: it only watches.
        """
        _, kind = await self._whose(room_id, fence.session_id)
        if kind is SessionKind.CONTROLLER:
            raise WorkerRequired(
                "A session that only watches says nothing.",
                remedy="Call register_agent_session without session_kind.",
            )

    async def person(self, principal: Principal, room_id: RoomId) -> Fence:
        """Return the fence of an account's person in a room, who comes in for what it does there.

        Raises:
            NotSignedIn: there is no account.
            UnknownRoom: it has not entered the room.
        """
        account = accounts.signed_in(principal)
        await self.entrances.check_entered(principal, room_id)
        at = (account.account_id, room_id.value)
        token = self._persons.of(at) or self._persons.keep(at, self.ids.token())
        arrival = arriving(account, token, instance_id=SERVED)
        return (await self.rooms.connect(room_id, arrival)).fence

    async def looking(
        self, principal: Principal, room_id: RoomId, fence: Fence | None
    ) -> Fence | None:
        """Return the fence of who looks into a room, or None for an account without a session.

        Raises:
            NotSignedIn, UnknownRoom, NotConnected: who calls may not look, or not through that
                session.
        """
        if fence is None:
            await self.entrances.check_entered(principal, room_id)
        else:
            await self._check_own(principal, room_id, fence)
        return fence

    def delivering(
        self, room_id: RoomId, viewer: Fence | None, transport: Transport = Transport.LONG_POLL
    ) -> AbstractAsyncContextManager[None]:
        """Let a room know that a viewer waits to be told of messages. Raises as Deliveries.open."""
        if viewer is None or self.deliveries is None:
            return nullcontext()
        return self.deliveries.open(room_id, viewer, transport)

    async def _check_own(self, principal: Principal, room_id: RoomId, fence: Fence) -> None:
        account = accounts.signed_in(principal)
        key, kind = await self._whose(room_id, fence.session_id)
        own = (
            key == person_key(account)
            if kind is SessionKind.PERSON
            else await self._has(account, key)
        )
        if not own:
            raise unknown(room_id, fence.session_id)

    async def _has(self, account: Account, key: str) -> bool:
        agent = await self.accounts.agent(key)
        return agent is not None and agent.owner_id == account.account_id

    async def _whose(self, room_id: RoomId, session_id: SessionId) -> tuple[str, SessionKind]:
        at = (room_id.value, session_id.value)
        if (known := self._owners.of(at)) is not None:
            return known
        session = await self.session_of(room_id, session_id)
        if session is None:
            raise unknown(room_id, session_id)
        return self._owners.keep(at, (session.agent_key, session.kind))


def unknown(room_id: RoomId, session_id: SessionId) -> NotConnected:
    """Return the error for a session that is not there, or not the caller's: both sound alike."""
    return NotConnected(None, room_id, "the room has no such session", session_id)


def arriving(account: Account, token: Token, *, instance_id: str) -> Arrival:
    """Return how the human being of an account comes into a room."""
    return Arrival(
        token=token,
        agent_key=person_key(account),
        instance_id=instance_id,
        display_name=account.label,
        owner_label=account.label,
        ide_label="Person",
        runtime="person",
        kind=SessionKind.PERSON,
    )
