"""What a supervisor does for agents that poll by themselves: it admits each poll, and keeps offers.

Nothing is asked of anybody else: who may poll, and from where, is in the journal alone.
"""

from collections.abc import Callable

import attrs
import structlog

from letagents.application.agents import entries
from letagents.application.agents.supervising import Supervising
from letagents.domain import bindings, custody, ingress
from letagents.domain.bindings import Binding, Claim, Lent
from letagents.domain.custody import Invocation, Offer, Polling
from letagents.domain.ids import MessageId
from letagents.ports.supervision import Journal

log = structlog.get_logger()


@attrs.frozen
class Told:
    """How an agent's poll stands: the cursor as it is kept, and which polling and binding it is."""

    polling: Polling
    binding: Binding


@attrs.frozen
class Release:
    """What an admission said, and what is offered; of a wait alone there is an offer."""

    revision: int
    activation_id: str = ""
    epoch: int = 0
    offer: Offer | None = None


@attrs.define(eq=False)
class Polls:
    """The polls of a supervisor's agents."""

    _sessions: Supervising

    async def begin(self, entry_id: str, activation_id: str, newest: MessageId | None) -> None:
        """Let the agent's process poll from now on; one without a cursor begins at `newest`."""

        def begin(journal: Journal) -> None:
            entry, binding = journal.entry(entry_id), journal.binding(entry_id)
            if entry is None or entry.execution is None or binding is None:
                return
            session_id = binding.session_id
            polling = Polling(activation_id, entry.execution.execution_id, session_id=session_id)
            journal.put_entry(attrs.evolve(entry, polling=polling))
            if binding.cursor is None and newest is not None:
                now = self._sessions.clock.now()
                journal.put_binding(bindings.advanced(binding, newest, now=now))
                _pass(journal, entry_id, newest)

        await self._sessions.journal.change(begin)
        log.info("polling.begun", entry_id=entry_id)

    async def of(self, entry_id: str, execution_id: str) -> Polling | None:
        """Return the polling of a process, if it ever polled."""
        entry = await entries.find(self._sessions.journal, entry_id)
        polling = entry.polling if entry is not None else None
        is_its = polling is not None and polling.execution_id == execution_id
        return polling if is_its else None

    async def change(
        self, entry_id: str, activation_id: str, move: Callable[[Polling], Polling]
    ) -> None:
        """Write down what became of a polling's turn, if it is still the agent's.

        Raises: as `move`.
        """

        def change(journal: Journal) -> None:
            entry = journal.entry(entry_id)
            polling = entry.polling if entry is not None else None
            if polling is None or polling.activation_id != activation_id:
                return
            moved = move(polling)
            if moved != polling:
                _put(journal, entry_id, moved)

        await self._sessions.journal.change(change)

    async def end(self, entry_id: str) -> None:
        """Let the agent's process poll no more."""

        def end(journal: Journal) -> None:
            entry = journal.entry(entry_id)
            if entry is not None and entry.polling is not None:
                journal.put_entry(attrs.evolve(entry, polling=None))

        await self._sessions.journal.change(end)

    async def before(
        self, claim: Claim, generation: int, invocation: Invocation | None = None
    ) -> Told:
        """Admit a poll, and acknowledge what its cursor says was seen.

        Raises:
            PollRefused: it is not admitted.
        """

        def admit(journal: Journal) -> Told:
            told = self._checked(journal, claim, generation)
            if invocation is None:
                return told
            passed = bindings.cursor(invocation.cursor or "")
            polling, seen = custody.acknowledged(told.polling, invocation.process_id, passed)
            if seen is None:
                return told
            now = self._sessions.clock.now()
            binding = bindings.advanced(told.binding, seen, now=now)
            journal.put_binding(binding)
            _pass(journal, claim.entry_id, seen)
            _put(journal, claim.entry_id, polling)
            return Told(polling, binding)

        return await self._sessions.journal.change(admit)

    async def release(self, claim: Claim, generation: int, release: Release) -> Told:
        """Let what a poll brought be shown, once it is written down that it is offered.

        Raises:
            PollRefused: it may not be shown.
        """

        def offer(journal: Journal) -> Told:
            told = self._checked(journal, claim, generation)
            custody.check_same(
                told.polling, told.binding, revision=release.revision, is_wait=bool(release.offer),
                activation_id=release.activation_id, epoch=release.epoch,
            )  # fmt: skip
            if release.offer is None:
                return told
            polling = custody.offered(told.polling, release.offer, at=told.binding.cursor)
            if polling != told.polling:
                _put(journal, claim.entry_id, polling)
            return Told(polling, told.binding)

        return await self._sessions.journal.change(offer)

    def _checked(self, journal: Journal, claim: Claim, generation: int) -> Told:
        entry, binding = journal.entry(claim.entry_id), journal.binding(claim.entry_id)
        place = entry.place if entry is not None else None
        held = self._sessions.vault.of(binding) if binding is not None else None
        own = self._sessions.hold.generation
        lent = bindings.lending(
            claim, place, binding, generation=generation, own=own, has_secret=held is not None
        )
        if lent is not Lent.AVAILABLE or binding is None or entry is None:
            raise custody.refused(custody.NOT_BOUND)
        return Told(custody.check_active(entry.polling, claim.execution_id), binding)


def _pass(journal: Journal, entry_id: str, to: MessageId) -> None:
    """Note where the agent is in its room, also for a session that it has later."""
    known = journal.ingress(entry_id)
    if known is not None:
        journal.put_ingress(ingress.acknowledged(known, to))


def _put(journal: Journal, entry_id: str, polling: Polling) -> None:
    entry = journal.entry(entry_id)
    if entry is not None:
        journal.put_entry(attrs.evolve(entry, polling=polling))
