"""The sessions that host grants open for a supervisor's agents, and the bearers that they show.

Grants and bearers are in the memory of this process alone. What is written down is that an agent is
let in by a grant, and that the grant was refused; so a successor waits for the grant again.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime

import anyio
import attrs
import structlog

from letagents.application.agents import entries
from letagents.application.agents.supervising import Supervising
from letagents.application.client import LetAgents
from letagents.domain import held_grants, names
from letagents.domain.errors import LetAgentsError
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.held_grants import ATTEMPTS, BETWEEN, PATIENCE, Grant, GrantCallFailed
from letagents.domain.ids import Token
from letagents.domain.manifest import Admission, Entry
from letagents.domain.sessions import Connection
from letagents.ports.grant_servers import GrantServer, Minted
from letagents.ports.ids import Ids
from letagents.ports.supervision import Journal

log = structlog.get_logger()


@attrs.define(eq=False)
class Held:
    """A grant that is held, and what is open by it."""

    grant: Grant = attrs.field(repr=False)
    token: Token = attrs.field(repr=False)
    """The secret of the agent's session, where its server lets us make it."""
    made: Connection | None = attrs.field(default=None, repr=False)
    ends: datetime | None = None
    made_at: datetime | None = None
    letagents: LetAgents | None = attrs.field(default=None, repr=False)
    lock: anyio.Lock = attrs.field(factory=anyio.Lock)

    def is_fresh(self, entry: Entry, now: datetime) -> bool:
        """Whether the bearer may be used on, in the room where the agent is now."""
        made = self.made.session if self.made is not None else None
        if made is None or self.made_at is None or str(made.room_id) != entry.room_id:
            return False
        is_named = made.display_name == entry.display_name
        return is_named and held_grants.is_fresh(self.ends, self.made_at, now=now)

    def shows(self, bearer: str) -> bool:
        """Whether that is the bearer which is shown now."""
        shown = self.made.bearer if self.made is not None else None
        return shown is not None and shown.value == bearer

    def take(self, grant: Grant) -> None:
        """Hold a newer grant; what another one opened is used no more."""
        if self.grant.grant_id != grant.grant_id:
            self.made = None
        self.grant = grant

    def opened(self, minted: Minted, now: datetime) -> Connection:
        """Return the session that was opened, and use it from now on."""
        fence = Fence(minted.session.session_id, UNNUMBERED, self.token)
        made = self.made = Connection(minted.session, fence, bearer=minted.bearer)
        self.ends, self.made_at = minted.expires_at, now
        return made


@attrs.frozen
class Way:
    """What asks one server with grants, and what opens an agent's rooms there."""

    server: GrantServer
    open_: "Callable[[Shown], AbstractAsyncContextManager[LetAgents]]"


@attrs.define(eq=False)
class GrantedSessions:
    """What is held of one supervisor's agents. `way_to` returns the way to the server at a URL."""

    supervising: Supervising
    ids: Ids
    way_to: Callable[[str], Way] = attrs.field(repr=False)
    wait: Callable[[float], Awaitable[None]] = anyio.sleep
    withdraw: Callable[[str], None] = lambda _entry_id: None
    """Has an agent handed nothing any more."""
    _held: dict[str, Held] = attrs.field(factory=dict, repr=False)

    # --- what is held -----------------------------------------------------------------------------

    @property
    def entry_ids(self) -> tuple[str, ...]:
        """Whose grants are held."""
        return tuple(self._held)

    def hold(self, grant: Grant) -> None:
        """Hold a grant, unless a newer one of its agent is held."""
        known = self._held.get(grant.entry_id)
        if known is None:
            self._held[grant.entry_id] = Held(grant, self.ids.token())
        elif not held_grants.is_older(grant, known.grant):
            known.take(grant)

    def of(self, entry_id: str) -> Held:
        """Return what is held of an agent.

        Raises:
            AuthorityBlocked: nothing is.
        """
        held = self._held.get(entry_id)
        if held is None:
            raise held_grants.no_grant(entry_id)
        return held

    async def block(self, entry_id: str, grant: Grant, why: str) -> None:
        """Let go of a grant that is of no use any more, unless another is held meanwhile."""
        held = self._held.get(entry_id)
        if held is None or held.grant.grant_id != grant.grant_id:
            return
        del self._held[entry_id]

        def block(journal: Journal) -> None:
            known = journal.entry(entry_id)
            if known is not None:
                blocked = attrs.evolve(known, admission=Admission.BLOCKED, last_error=why)
                journal.put_entry(blocked)
            journal.unbind(entry_id)

        await self.supervising.journal.change(block)
        self.supervising.vault.drop(entry_id)
        log.warning("grant.blocked", entry_id=entry_id)
        self.supervising.feeds.of(entry_id).tell("agent.auth_blocked", why)
        self.withdraw(entry_id)

    async def forget(self, entry_id: str) -> None:
        """Let go of the grant of an agent that is forgotten, and end its session if that works."""
        held = self._held.pop(entry_id, None)
        if held is None or held.made is None:
            return
        try:
            await self.way_to(held.grant.api_url).server.end(held.grant, held.made.session)
        except GrantCallFailed as error:
            log.warning("grant.session_left", entry_id=entry_id, status=error.status)

    def forget_all(self) -> None:
        """Hold no grant any longer."""
        self._held.clear()

    # --- what is open by it -----------------------------------------------------------------------

    async def opened(self, entry_id: str, *, fresh: bool = False) -> Connection:
        """Return the session of an agent, opened if it is not, or if a `fresh` one is wanted.

        Raises:
            AuthorityBlocked: there is no grant to open it by.
            GrantCallFailed: its server does not open it.
        """
        held = self.of(entry_id)
        async with held.lock:
            entry = await entries.find(self.supervising.journal, entry_id)
            now = self.supervising.clock.now()
            if entry is None:
                raise held_grants.no_grant(entry_id)
            if held.made is not None and not fresh and held.is_fresh(entry, now):
                return held.made
            grant = held.grant
            minted = await self._minted(entry, grant, held.token)
            self.supervising.hold.check()
            if self._held.get(entry_id) is not held or held.grant.grant_id != grant.grant_id:
                raise held_grants.no_grant(entry_id)  # meanwhile it was ended, or another installed
            return held.opened(minted, now)

    async def _minted(self, entry: Entry, grant: Grant, token: Token) -> Minted:
        """Have a session opened; a grant that its server refuses is let go of."""
        try:
            return await self._asked(entry, grant, token)
        except GrantCallFailed as error:
            if error.is_definitive:
                await self.block(entry.entry_id, grant, error.happened)
            raise

    async def _asked(self, entry: Entry, grant: Grant, token: Token) -> Minted:
        """Ask for a session, again where that may help (J127)."""
        asked, server = _asked_for(entry, grant), self.way_to(grant.api_url).server
        for attempt in range(1, ATTEMPTS + 1):
            self.supervising.hold.check()
            try:
                minted = await server.mint(grant, asked, token, PATIENCE)
                held_grants.check_echo(minted.session, asked)
            except GrantCallFailed as error:
                if not error.may_pass or attempt == ATTEMPTS:
                    raise held_grants.mint_failed(attempt, error) from error
                await self.wait(BETWEEN)
            except LetAgentsError as error:
                raise held_grants.mint_failed(attempt, error) from error
            else:
                return minted
        raise AssertionError("the last attempt ends the loop")

    def refused(self, entry_id: str, bearer: str) -> None:
        """Hear that a server knows a bearer no more."""
        held = self._held.get(entry_id)
        if held is not None and held.shows(bearer):
            held.made = None

    async def bound(self, entry_id: str, *, fresh: bool) -> Connection:
        """Return the session of an agent, as `opened`, lent to the agent's living process."""
        made = await self.opened(entry_id, fresh=fresh)
        entry = await entries.find(self.supervising.journal, entry_id)
        if entry is not None and entry.execution is not None and not entry.execution.is_over:
            await self.supervising.bind_opened(entry, entry.execution, made)
        return made


@attrs.frozen
class Shown:
    """What the calls of one agent show: its bearer, as it is when each is sent."""

    _granted: GrantedSessions
    entry_id: str

    async def opened(self) -> Connection:
        """Return the agent's session, opened if it is not. Raises as GrantedSessions.opened."""
        return await self._granted.opened(self.entry_id)

    async def token(self) -> str | None:
        """Return the bearer for the next call. Raises as GrantedSessions.opened."""
        made = self._granted.of(self.entry_id).made or await self.opened()
        return made.bearer.value if made.bearer is not None else None

    async def refused(self, token: str) -> None:
        """Hear that the server knows the bearer no more."""
        self._granted.refused(self.entry_id, token)

    async def session_ended(self, session_id: object, token: Token) -> None:
        """Do nothing: the bearer is of no use then, and is refused next."""


def _asked_for(entry: Entry, grant: Grant) -> dict[str, str]:
    return {
        "room_id": entry.room_id,
        "agent_key": grant.agent_key,
        "agent_instance_id": f"daemon:{entry.entry_id}",
        "display_name": entry.display_name,
        "runtime": entry.provider,
        "ide_label": names.ide_label(entry.provider) or entry.provider,
    }
