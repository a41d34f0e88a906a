"""The host grants of a supervisor's agents: installed, and used to open the agents' rooms."""

from collections.abc import Callable
from contextlib import AsyncExitStack

import attrs
import structlog

from letagents.application.agents import deeds, entries
from letagents.application.agents.granted_sessions import GrantedSessions, Shown
from letagents.application.agents.servers import Lodging
from letagents.application.client import LetAgents
from letagents.domain import held_grants, recovery
from letagents.domain.deeds import Act, Doer
from letagents.domain.held_grants import Grant
from letagents.domain.hints import Hints
from letagents.domain.manifest import Admission, Entry
from letagents.ports.supervision import Journal

log = structlog.get_logger()


class Stale(Exception):
    """A grant is not to be installed."""


class ProviderUnavailable(Exception):
    """An agent has no process for which a grant could be installed."""


@attrs.define(eq=False)
class Grants:
    """What lets one supervisor's agents in."""

    granted: GrantedSessions
    look_again: Callable[[str], None] = lambda _entry_id: None
    """Has an agent looked at now."""
    _stack: AsyncExitStack = attrs.field(factory=AsyncExitStack)

    async def install(
        self,
        grant: Grant,
        generation: int,
        *,
        credential_only: bool = False,
        recovery_only: bool = False,
        by: Doer | None = None,
    ) -> str | None:
        """Hold a grant, and let its agent in by it. Return the session, if there is one already.

        Raises:
            Stale: it is not to be installed.
            ProviderUnavailable: the agent has no process, and only for one it was to be installed.
            GrantCallFailed: its server lets the agent in no more.
        """
        entry = await self._checked(grant, generation)
        is_alive = entry.execution is not None and not entry.execution.is_over
        if credential_only and not is_alive:
            raise ProviderUnavailable
        await self._hold(grant, entry, by)
        if recovery_only:
            return None
        if not is_alive:
            self.look_again(grant.entry_id)
            return None
        made = await self.granted.bound(grant.entry_id, fresh=credential_only)
        self.look_again(grant.entry_id)
        return str(made.session.session_id)

    async def give_up(self, entry_id: str, *, by: Doer | None = None) -> Entry:
        """Let an agent in by this machine's own sign-in again, and forget its grant.

        Its session is ended, if its server answers; its process lives on.

        Raises:
            ManifestRefused: it is let in by no grant, or by nothing else while its process lives.
        """

        def change(journal: Journal) -> Entry:
            held_grants.check_given_up(entries.known(journal, entry_id))
            journal.unbind(entry_id)
            deeds.put(journal, by, entry_id, Act.GRANT_GIVEN_UP)
            return entries.changed(journal, entry_id, held_grants.given_up)

        left = await self.granted.supervising.journal.change(change)
        self.granted.supervising.vault.drop(entry_id)
        self.granted.withdraw(entry_id)
        log.info("grant.given_up", entry_id=entry_id)
        await self.granted.forget(entry_id)
        self.look_again(entry_id)
        return left

    async def _checked(self, grant: Grant, generation: int) -> Entry:
        """Return the agent of a grant that may be installed."""
        sessions = self.granted.supervising
        entry = await entries.find(sessions.journal, grant.entry_id)
        own, now = sessions.hold.generation, sessions.clock.now()
        if entry is None or held_grants.is_stale(
            grant, entry, generation=generation, own=own, now=now
        ):
            raise Stale
        return entry

    async def _hold(self, grant: Grant, entry: Entry, by: Doer | None) -> None:
        """Hold a grant, and write down that its agent is let in by one."""
        sessions = self.granted.supervising
        self.granted.hold(grant)
        if entry.admission is Admission.SIGN_IN:
            self.granted.withdraw(grant.entry_id)

        def admit(journal: Journal) -> None:
            if journal.entry(grant.entry_id) is not None:
                entries.changed(journal, grant.entry_id, _granted)
                deeds.put(journal, by, grant.entry_id, Act.GRANTED, grant.grant_id)

        await sessions.journal.change(admit)
        log.info("grant.installed", entry_id=grant.entry_id)
        sessions.feeds.of(grant.entry_id).tell("agent.granted", "It is let in by a host grant.")

    async def lodging(self, entry_id: str) -> Lodging | None:
        """Return the rooms of an agent that is let in by a grant; None for another one.

        Raises:
            AuthorityBlocked: it is let in by one that is not here.
        """
        letagents = await self.letagents(entry_id)
        if letagents is None:
            return None
        reached = letagents.chat(Hints()).reached
        owner, _, _ = self.granted.of(entry_id).grant.agent_key.partition("/")
        return Lodging(letagents.rooms, owner, owner, reached)

    async def letagents(self, entry_id: str) -> LetAgents | None:
        """Return what opens all rooms to an agent, as `lodging`."""
        entry = await entries.find(self.granted.supervising.journal, entry_id)
        if entry is None or entry.admission is Admission.SIGN_IN:
            return None
        held = self.granted.of(entry_id)
        if held.letagents is None:
            way = self.granted.way_to(held.grant.api_url)
            opening = way.open_(Shown(self.granted, entry_id))
            held.letagents = await self._stack.enter_async_context(opening)
        return held.letagents

    async def aclose(self) -> None:
        """Hold no grant any longer."""
        self.granted.forget_all()
        await self._stack.aclose()


def _granted(entry: Entry) -> Entry:
    """Return an agent that is let in by a grant now, and tried at once."""
    was_blocked = entry.admission is Admission.BLOCKED
    return attrs.evolve(
        entry,
        admission=Admission.GRANT,
        history=recovery.without_pause(entry.history),
        last_error=None if was_blocked else entry.last_error,
    )
