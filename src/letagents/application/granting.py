"""The host grants of a supervisor's agents: installed, used, renewed, and ended.

Grants and bearers are in the memory of this process alone. What is written down is that an agent is
let in by a grant, and that the grant was refused; so a successor waits for the grant again.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from datetime import datetime

import anyio
import attrs
import structlog

from letagents.application.client import LetAgents
from letagents.application.servers import Lodging
from letagents.application.supervising import Supervising
from letagents.domain import held_grants, names
from letagents.domain.errors import LetAgentsError
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.held_grants import (
    ATTEMPTS,
    BETWEEN,
    HEARTBEAT,
    LASTS,
    PATIENCE,
    Grant,
    GrantCallFailed,
)
from letagents.domain.hints import Hints
from letagents.domain.ids import Token
from letagents.domain.manifest import Admission, Entry, FenceLost
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


@attrs.frozen
class Way:
    """What asks one server with grants, and what opens an agent's rooms there."""

    server: GrantServer
    open_: "Callable[[Shown], AbstractAsyncContextManager[LetAgents]]"


@attrs.define(eq=False)
class Grants:
    """The grants of one supervisor's agents. `way_to` returns the way to the server at a URL."""

    sessions: Supervising
    ids: Ids
    way_to: Callable[[str], Way] = attrs.field(repr=False)
    wait: Callable[[float], Awaitable[None]] = anyio.sleep
    look_again: Callable[[str], None] = lambda _entry_id: None
    """Has an agent looked at now."""
    withdraw: Callable[[str], None] = lambda _entry_id: None
    """Has an agent handed nothing any more."""
    _held: dict[str, Held] = attrs.field(factory=dict, repr=False)
    _stack: AsyncExitStack = attrs.field(factory=AsyncExitStack)

    # --- installing ---------------------------------------------------------------------------

    async def install(
        self,
        grant: Grant,
        generation: int,
        *,
        credential_only: bool = False,
        recovery_only: bool = False,
    ) -> str | None:
        """Hold a grant, and let its agent in by it. Return the session, if there is one already.

        Raises:
            Stale: it is not to be installed.
            ProviderUnavailable: the agent has no process, and only for one it was to be installed.
            GrantCallFailed: its server lets the agent in no more.
        """
        entry = await self._entry(grant.entry_id)
        own, now = self.sessions.hold.generation, self.sessions.clock.now()
        if entry is None or held_grants.is_stale(
            grant, entry, generation=generation, own=own, now=now
        ):
            raise Stale
        is_alive = entry.execution is not None and not entry.execution.is_over
        if credential_only and not is_alive:
            raise ProviderUnavailable
        self._hold(grant)
        if entry.admission is Admission.SIGN_IN:
            self.withdraw(grant.entry_id)
        await self._change(grant.entry_id, _granted)
        log.info("grant.installed", entry_id=grant.entry_id)
        self.sessions.feeds.of(grant.entry_id).tell(
            "agent.granted", "It is let in by a host grant."
        )
        if recovery_only:
            return None
        if not is_alive:
            self.look_again(grant.entry_id)
            return None
        return await self._let_in(grant.entry_id, fresh=credential_only)

    def _hold(self, grant: Grant) -> None:
        before = self._held.get(grant.entry_id)
        if before is None:
            self._held[grant.entry_id] = Held(grant, self.ids.token())
        elif not held_grants.is_older(grant, before.grant):
            if before.grant.grant_id != grant.grant_id:
                before.made = None
            before.grant = grant

    async def _let_in(self, entry_id: str, *, fresh: bool) -> str:
        """Open the session of an agent whose process lives, and bind it if none was bound."""
        held = self._of(entry_id)
        made = await self._opened(entry_id, held, fresh=fresh)
        await self._bind(entry_id, made)
        self.look_again(entry_id)
        return str(made.session.session_id)

    async def _bind(self, entry_id: str, made: Connection) -> None:
        """Lend the new bearer to the agent's living process."""
        entry = await self._entry(entry_id)
        if entry is None or entry.execution is None or entry.execution.is_over:
            return
        await self.sessions.bind_opened(entry, entry.execution, made)

    # --- being let in -------------------------------------------------------------------------

    async def lodging(self, entry_id: str) -> Lodging | None:
        """Return the rooms of an agent that is let in by a grant; None for another one.

        Raises:
            AuthorityBlocked: it is let in by one that is not here.
        """
        letagents = await self.letagents(entry_id)
        if letagents is None:
            return None
        reached = letagents.chat(Hints()).reached
        owner, _, _ = self._of(entry_id).grant.agent_key.partition("/")
        return Lodging(letagents.rooms, owner, owner, reached)

    async def letagents(self, entry_id: str) -> LetAgents | None:
        """Return what opens all rooms to an agent, as `lodging`."""
        entry = await self._entry(entry_id)
        if entry is None or entry.admission is Admission.SIGN_IN:
            return None
        held = self._of(entry_id)
        if held.letagents is None:
            opening = self.way_to(held.grant.api_url).open_(Shown(self, entry_id))
            held.letagents = await self._stack.enter_async_context(opening)
        return held.letagents

    def _of(self, entry_id: str) -> Held:
        held = self._held.get(entry_id)
        if held is None:
            raise held_grants.no_grant(entry_id)
        return held

    async def opened(self, entry_id: str) -> Connection:
        """Return the session of an agent, opened if it is not.

        Raises:
            AuthorityBlocked: there is no grant to open it by.
            GrantCallFailed: its server does not open it.
        """
        return await self._opened(entry_id, self._of(entry_id), fresh=False)

    async def _opened(self, entry_id: str, held: Held, *, fresh: bool) -> Connection:
        async with held.lock:
            entry, now = await self._entry(entry_id), self.sessions.clock.now()
            if entry is None:
                raise held_grants.no_grant(entry_id)
            if held.made is not None and not fresh and held.is_fresh(entry, now):
                return held.made
            grant = held.grant
            try:
                minted = await self._minted(entry, grant, held.token)
            except GrantCallFailed as error:
                if error.is_definitive:
                    await self._block(entry_id, grant, error.happened)
                raise
            self.sessions.hold.check()
            if self._held.get(entry_id) is not held or held.grant.grant_id != grant.grant_id:
                raise held_grants.no_grant(entry_id)  # meanwhile it was ended, or another installed
            fence = Fence(minted.session.session_id, UNNUMBERED, held.token)
            held.made = Connection(minted.session, fence, bearer=minted.bearer)
            held.ends, held.made_at = minted.expires_at, now
            return held.made

    async def _minted(self, entry: Entry, grant: Grant, token: Token) -> Minted:
        asked, server = _asked(entry, grant), self.way_to(grant.api_url).server
        for attempt in range(1, ATTEMPTS + 1):
            self.sessions.hold.check()
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

    # --- renewing, and ending -----------------------------------------------------------------

    async def run(self) -> None:
        """Renew what is to be renewed, until this is cancelled."""
        while True:
            await self.wait(HEARTBEAT)
            await self.beat()

    async def beat(self) -> None:
        """Look at each grant, and at its bearer, once."""
        for entry_id in tuple(self._held):
            try:
                await self._looked_at(entry_id)
            except FenceLost:
                raise
            except LetAgentsError as error:
                log.warning("grant.unrenewed", entry_id=entry_id, code=error.code)

    async def _looked_at(self, entry_id: str) -> None:
        held, now = self._of(entry_id), self.sessions.clock.now()
        grant = held.grant
        if grant.expires_at <= now:
            await self._block(entry_id, grant, "Its host grant is over.")
        elif held_grants.is_due(grant, now=now):
            await self._renew(entry_id, held, grant)
        elif held.made is not None and held_grants.is_to_be_rotated(held.ends, now=now):
            await self._bind(entry_id, await self._opened(entry_id, held, fresh=True))

    async def _renew(self, entry_id: str, held: Held, grant: Grant) -> None:
        try:
            answer = await self.way_to(grant.api_url).server.renew(grant, LASTS)
        except GrantCallFailed as error:
            if error.is_definitive:
                await self._block(entry_id, grant, f"Its host grant was refused: {error.happened}.")
            raise
        renewed = held_grants.renewed(grant, answer, now=self.sessions.clock.now())
        if renewed is None:
            await self._block(entry_id, grant, "Its host grant was answered with another one.")
            return
        if held.grant != grant:
            return  # a newer one was installed meanwhile
        held.grant = renewed
        log.info("grant.renewed", entry_id=entry_id)
        if held.made is not None:
            await self._bind(entry_id, await self._opened(entry_id, held, fresh=True))

    async def _block(self, entry_id: str, grant: Grant, why: str) -> None:
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

        await self.sessions.journal.change(block)
        self.sessions.vault.drop(entry_id)
        log.warning("grant.blocked", entry_id=entry_id)
        self.sessions.feeds.of(entry_id).tell("agent.auth_blocked", why)
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

    async def aclose(self) -> None:
        """Hold no grant any longer."""
        self._held.clear()
        await self._stack.aclose()

    # --- what is written down -----------------------------------------------------------------

    async def _entry(self, entry_id: str) -> Entry | None:
        return await self.sessions.journal.look(lambda journal: journal.entry(entry_id))

    async def _change(self, entry_id: str, move: Callable[[Entry], Entry]) -> None:
        def change(journal: Journal) -> None:
            known = journal.entry(entry_id)
            if known is not None:
                journal.put_entry(move(known))

        await self.sessions.journal.change(change)


class Stale(Exception):
    """A grant is not to be installed."""


class ProviderUnavailable(Exception):
    """An agent has no process for which a grant could be installed."""


@attrs.frozen
class Shown:
    """What the calls of one agent show: its bearer, as it is when each is sent."""

    _grants: Grants
    entry_id: str

    async def opened(self) -> Connection:
        """Return the agent's session, opened if it is not. Raises as Grants.opened."""
        return await self._grants.opened(self.entry_id)

    async def token(self) -> str | None:
        """Return the bearer for the next call. Raises as Grants.opened."""
        held = self._grants._of(self.entry_id)  # they are one thing
        made = held.made or await self.opened()
        return made.bearer.value if made.bearer is not None else None

    async def refused(self, token: str) -> None:
        """Hear that the server knows the bearer no more."""
        self._grants.refused(self.entry_id, token)

    async def session_ended(self, session_id: object, token: Token) -> None:
        """Do nothing: the bearer is of no use then, and is refused next."""


def _granted(entry: Entry) -> Entry:
    """Return an agent that is let in by a grant now, and tried at once."""
    history = attrs.evolve(entry.history, not_before=None)
    was_blocked = entry.admission is Admission.BLOCKED
    return attrs.evolve(
        entry,
        admission=Admission.GRANT,
        history=history,
        last_error=None if was_blocked else entry.last_error,
    )


def _asked(entry: Entry, grant: Grant) -> dict[str, str]:
    return {
        "room_id": entry.room_id,
        "agent_key": grant.agent_key,
        "agent_instance_id": f"daemon:{entry.entry_id}",
        "display_name": entry.display_name,
        "runtime": entry.provider,
        "ide_label": names.ide_label(entry.provider) or entry.provider,
    }
