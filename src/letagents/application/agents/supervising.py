"""What a supervisor does for its agents' processes: it binds, verifies, lends and remembers."""

from datetime import datetime

import attrs
import structlog

from letagents.application.agents import entries
from letagents.application.agents.agent_feed import Feeds
from letagents.application.agents.agent_states import WatchedJournal
from letagents.application.agents.vault import Vault
from letagents.domain import bindings, custody, effect_authority
from letagents.domain.bindings import Binding, BindingRefused, Claim, Lent, Place
from letagents.domain.ids import Credential, MessageId, Token
from letagents.domain.manifest import Entry, Execution
from letagents.domain.sessions import Connection
from letagents.ports.clock import Clock
from letagents.ports.supervision import Hold, Journal, Supervision

log = structlog.get_logger()

_REMEDY = "Bind the session of this process to its supervisor again."


@attrs.define(eq=False)
class Supervising:
    """The sessions of supervised agents."""

    _kept: Supervision
    hold: Hold
    clock: Clock
    vault: Vault = attrs.field(factory=Vault)
    journal: WatchedJournal = attrs.field(init=False)
    feeds: Feeds = attrs.field(init=False)
    started_at: datetime = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.started_at = self.clock.now()
        self.journal = WatchedJournal(self._kept, self.clock)
        self.feeds = Feeds(self.clock)

    def end_waits(self) -> None:
        """Let nobody wait for news any longer: the supervisor ends."""
        self.feeds.end()
        self.journal.end()

    async def bind(self, claim: Claim, token: Token, made: Connection | None = None) -> Binding:
        """Bind a session to its agent; `made` is what its room answered, if we opened it.

        Raises:
            BindingRefused: it is not of the agent that it names.
        """

        def bind(journal: Journal) -> Binding:
            bindings.check(claim, _place(journal, claim.entry_id))
            known = journal.binding(claim.entry_id)
            bound = bindings.bind(
                claim,
                known,
                shows_same_secret=known is not None and self.vault.holds(known, token),
                highest=journal.highest_epoch(claim.entry_id),
                now=self.clock.now(),
            )
            if bound is not known:
                journal.put_binding(bound)
            return bound

        binding = await self.journal.change(bind)
        self.vault.keep(binding, token, made)
        log.info("session.bound", entry_id=claim.entry_id, epoch=binding.epoch)
        return binding

    async def bind_opened(self, entry: Entry, execution: Execution, made: Connection) -> None:
        """Bind the session that was opened for an agent's process. Raises: as `bind`."""
        claim = Claim(
            entry_id=entry.entry_id,
            room_id=entry.room_id,
            work_attempt_id=execution.work_attempt_id,
            execution_id=execution.execution_id,
            session_id=str(made.session.session_id),
            api_url=entry.api_url,
        )
        await self.bind(claim, made.fence.token, made)

    async def check(self, claim: Claim) -> None:
        """Do nothing if a claim names where its agent is.

        Raises:
            BindingRefused: it does not.
        """
        place, _ = await self._looked_up(claim)
        bindings.check(claim, place)

    async def verify(self, claim: Claim, token: Token | None) -> None:
        """Do nothing if the session is bound exactly so; without a secret it is not.

        Raises:
            BindingRefused: it is not.
        """
        place, known = await self._looked_up(claim)
        bindings.check(claim, place)
        is_its = known is not None and bindings.is_of(known, claim)
        if known is None or token is None or not is_its or not self.vault.holds(known, token):
            raise BindingRefused(
                "Worker session verification does not match the active supervised binding.",
                remedy=_REMEDY,
            )

    async def lend(
        self, claim: Claim, generation: int, turn_id: str | None = None
    ) -> tuple[Lent, Token | Credential | None]:
        """Return the secret with which the session's next request may go, or why there is none.

        `turn_id` is the turn from which it is asked for, where that is named.
        """
        place, known, is_in_turn = await self.journal.look(
            lambda journal: (*_looked_up(journal, claim), _is_in_turn(journal, claim, turn_id))
        )
        held = self.vault.of(known) if known is not None else None
        lent = bindings.lending(
            claim,
            place,
            known,
            generation=generation,
            own=self.hold.generation,
            has_secret=held is not None,
            is_in_turn=is_in_turn,
        )
        return lent, held.lent if held is not None and lent is Lent.AVAILABLE else None

    async def install(self, claim: Claim, generation: int, token: Token) -> bool:
        """Keep the secret of a session that is bound already; return whether it is.

        That of an agent that polls by itself is not taken from others.
        """
        entry = await entries.find(self.journal, claim.entry_id)
        if entry is not None and entry.polling is not None:
            return False
        place, known = await self._looked_up(claim)
        own = self.hold.generation
        if known is None or not bindings.is_installable(
            claim, place, known, generation=generation, own=own
        ):
            return False
        self.vault.keep(known, token)
        return True

    async def checkpoint(self, claim: Claim, text: str) -> MessageId:
        """Write down that the session has seen all up to that message; return how far it is.

        `claim` names no room: it is the agent's.

        Raises:
            BindingRefused: it is not of the agent that it names, or no message.
        """

        def checkpoint(journal: Journal) -> MessageId:
            entry, known = journal.entry(claim.entry_id), journal.binding(claim.entry_id)
            place = entry.place if entry is not None else None
            whole = attrs.evolve(claim, room_id=place.room_id if place is not None else "")
            bindings.check(whole, place, about="Worker cursor")
            custody.check_checkpoint(entry.polling if entry is not None else None)
            own, to = bindings.of_cursor(known, whole), bindings.checked_cursor(text)
            there = bindings.advanced(own, to, now=self.clock.now())
            if there is not own:
                journal.put_binding(there)
            return there.cursor or to

        return await self.journal.change(checkpoint)

    async def _looked_up(self, claim: Claim) -> tuple[Place | None, Binding | None]:
        return await self.journal.look(lambda journal: _looked_up(journal, claim))


def _looked_up(journal: Journal, claim: Claim) -> tuple[Place | None, Binding | None]:
    return _place(journal, claim.entry_id), journal.binding(claim.entry_id)


def _is_in_turn(journal: Journal, claim: Claim, turn_id: str | None) -> bool:
    first = next(iter(journal.unfinished(claim.entry_id)), None)
    return effect_authority.is_in_turn(journal.entry(claim.entry_id), first, turn_id)


def _place(journal: Journal, entry_id: str) -> Place | None:
    entry = journal.entry(entry_id)
    return entry.place if entry is not None else None
