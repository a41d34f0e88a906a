"""What a room server does for those who call it: who they are, and whose sessions they may use.

The rooms themselves compare what a session shows (F1, F2). Here it is told whose the session is.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta

import anyio
import attrs

from letagents.application.device_sign_in import DeviceSignIns
from letagents.application.limits import Joins, Proof
from letagents.application.memory import Stores
from letagents.application.serving import Doorkeeper
from letagents.domain import accounts
from letagents.domain.accounts import (
    NOBODY,
    Account,
    Agent,
    Principal,
    Role,
    WorkerSessionRequired,
    person_key,
)
from letagents.domain.errors import NotConnected
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, SessionId, Token
from letagents.domain.rooms import Room
from letagents.domain.sessions import Arrival, Session, SessionKind
from letagents.ports.accounts import Accounts
from letagents.ports.attendance import Roll
from letagents.ports.board import Board
from letagents.ports.clock import Clock
from letagents.ports.feeds import Feed
from letagents.ports.governance import Governance
from letagents.ports.ids import Ids
from letagents.ports.path_claims import PathClaims
from letagents.ports.people import People
from letagents.ports.receipts import Receipts
from letagents.ports.room_names import RoomNames
from letagents.ports.rooms import RoomTransport
from letagents.ports.threads import ThreadsOf
from letagents.ports.vitals import Watched
from letagents.ports.whereabouts import Roster

SessionOf = Callable[[RoomId, SessionId], Awaitable[Session | None]]
"""Finds a session of a room, ended or not."""

REMEMBERED = 10_000
"""Of so many sessions it is remembered whose they are, which never changes."""


SERVED = "server"
"""Of which process a person's session is whose program has none of its own."""


@attrs.frozen
class Pace:
    """How often a stream shows that it is there, and when it is over by itself."""

    heartbeat: timedelta = timedelta(seconds=15)
    drain: timedelta = timedelta(seconds=10)
    """Who has taken nothing for so long is dropped."""
    longest: timedelta = timedelta(hours=1)
    """Then a reader comes back with its cursor; so none is forgotten for ever."""


@attrs.frozen
class Boards:
    """What keeps the boards of the rooms that a server serves."""

    board: Board
    governance: Governance
    paths: PathClaims


@attrs.frozen
class Hosting:
    """All that a room server serves from."""

    rooms: RoomTransport
    session_of: SessionOf
    accounts: Accounts
    clock: Clock
    ids: Ids
    longest_wait: timedelta
    base_url: str = "http://localhost:3001"
    addresses: tuple[str, ...] = ()
    """Where it listens, beside the address by which it is known."""
    boards: Boards | None = None
    memory: Stores | None = None
    stopping: anyio.Event = attrs.field(factory=anyio.Event)
    """Set once the server is to end: whoever waits gets an answer then."""
    feed: Feed | None = None
    roster: Roster | None = None
    receipts: Receipts | None = None
    threads: ThreadsOf | None = None
    names: RoomNames | None = None
    watched: Watched | None = None
    answered: Counter[tuple[str, int]] = attrs.field(factory=Counter)
    """How many requests of each route were answered with each status."""
    pace: Pace = Pace()
    roll: Roll | None = None
    """The process connections that are open here; None where none are kept."""
    people: People | None = None
    """Where people may sign in with a device."""
    logins: frozenset[str] | None = frozenset()
    """Whose logins there admit them here; everybody's where it is None."""
    _owners: dict[tuple[str, str], tuple[str, SessionKind]] = attrs.field(factory=dict)
    _persons: dict[tuple[str, str], Token] = attrs.field(factory=dict)
    _joins: Joins = attrs.field(init=False)
    keeper: Doorkeeper = attrs.field(init=False)
    proven: Proof = attrs.field(init=False)
    """Sees that something can be written now."""

    @_joins.default
    def _none_yet(self) -> Joins:
        return Joins(self.clock)

    devices: DeviceSignIns = attrs.field(init=False)

    @devices.default
    def _none_begun(self) -> DeviceSignIns:
        return DeviceSignIns(self.keeper, self.clock, self.ids, self.people, self.logins)

    @proven.default
    def _by_writing(self) -> Proof:
        return Proof(self.clock, self.accounts.prove)

    @keeper.default
    def _at_the_door(self) -> Doorkeeper:
        return Doorkeeper(self.accounts, self.ids)

    async def principal(self, token: str | None, cookie: str | None = None) -> Principal:
        """Return who shows `token`, or a `cookie`; nobody, if what is shown is unknown."""
        kept = await self._of(cookie)
        if token is None:
            return kept
        return accounts.one_of(await self._of(token), kept, is_same=token == cookie)

    async def _of(self, token: str | None) -> Principal:
        return NOBODY if token is None else await self.accounts.of_token(accounts.digest(token))

    async def create(self, account: Account) -> Room:
        """Make a room with an invite code, of which the account is admin."""
        room = await self.rooms.create()
        await self.accounts.enter(account, room.room_id)
        return room

    async def enter(
        self, account: Account, room_id: RoomId, *, address: str, create: bool
    ) -> tuple[Room, Role]:
        """Return the room, and what the account is in it; made if it is not there and may be.

        Who was there before enters as often as they like.

        Raises:
            JoinedTooOften: too many others were entered lately, from that address.
            UnknownRoom: as RoomTransport.join.
        """
        role = await self.accounts.role(account, room_id)
        if role is None:
            self._joins.count(account.account_id, address)
        room = await self.rooms.join(room_id, create=create)
        return room, role or await self.accounts.enter(account, room.room_id)

    async def known(self, account: Account) -> list[Room]:
        """Return the rooms that the account has entered, the latest active first."""
        own = await self.accounts.entered(account)
        return [room for room in await self.rooms.known() if room.room_id in own]

    async def agent(self, account: Account, key: str) -> Agent:
        """Return the agent of that key, which has to be the account's.

        Raises:
            NotYourAgent: it is not.
        """
        return accounts.check_owns(account, await self.accounts.agent(key))

    async def acting(self, principal: Principal, room_id: RoomId, fence: Fence | None) -> Fence:
        """Return the fence of who acts in a room, once it is known to be the caller's own.

        Raises:
            NotSignedIn, NotConnected: it is not.
            WorkerSessionRequired: none was shown.
        """
        if fence is None:
            raise WorkerSessionRequired(
                "Registered worker session is required for agent write actions.",
                remedy="Call register_agent_session first.",
            )
        await self._check_own(principal, room_id, fence)
        return fence

    async def person(self, principal: Principal, room_id: RoomId) -> Fence:
        """Return the fence of an account's person in a room, who comes in for what it does there.

        Raises:
            NotSignedIn: there is no account.
            UnknownRoom: as RoomTransport.connect.
        """
        account = accounts.signed_in(principal)
        at = (account.account_id, room_id.value)
        if at not in self._persons and len(self._persons) >= REMEMBERED:
            self._persons.clear()
        token = self._persons.setdefault(at, self.ids.token())
        arrival = arriving(account, token, instance_id=SERVED)
        return (await self.rooms.connect(room_id, arrival)).fence

    async def looking(
        self, principal: Principal, room_id: RoomId, fence: Fence | None
    ) -> Fence | None:
        """Return the fence of who looks into a room, or None for an account without a session.

        Raises:
            NotSignedIn, NotConnected: who calls may not look, or not through that session.
        """
        if fence is None:
            accounts.signed_in(principal)
        else:
            await self._check_own(principal, room_id, fence)
        return fence

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
        if (known := self._owners.get(at)) is not None:
            return known
        session = await self.session_of(room_id, session_id)
        if session is None:
            raise unknown(room_id, session_id)
        if len(self._owners) >= REMEMBERED:
            self._owners.clear()
        self._owners[at] = (session.agent_key, session.kind)
        return self._owners[at]


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
