"""Stopping the turn that an agent is in, for a person, and saying what became of that."""

import asyncio
from datetime import timedelta

import attrs
import structlog

from letagents.application.agents import deeds, entries
from letagents.application.agents.household import Household
from letagents.application.agents.supervising import Supervising
from letagents.domain import generations, inbox, turn_controls
from letagents.domain.deeds import Act, Doer
from letagents.domain.manifest import TurnControl, TurnControlStatus
from letagents.domain.turn_controls import Named, Resolution, TurnControlRefused
from letagents.ports.supervision import Journal

log = structlog.get_logger()

SETTLED_WITHIN = timedelta(seconds=5)
"""How long the end of a turn that is over may take to be written down."""


@attrs.frozen(kw_only=True)
class Stop:
    """What a person asks: which turn is stopped, under which name, and what is said to that."""

    entry_id: str
    generation: int
    named: Named
    action_id: str
    correction: str | None = None
    by: Doer | None = None


@attrs.frozen
class TurnControls:
    """Stops turns, each at most once."""

    household: Household
    sessions: Supervising
    settled_within: timedelta = SETTLED_WITHIN

    async def stop(self, asked: Stop) -> TurnControl:
        """Stop a turn; return how that stands, which is known unless it says that it is not.

        Raises:
            TurnControlRefused: the agent is not in exactly that turn; none was stopped.
            Malformed: the action has no name, or the correction is none.
        """
        turn_controls.check_action(asked.action_id, asked.correction)
        if not generations.is_current(asked.generation, self.sessions.hold.generation):
            raise TurnControlRefused(
                "The supervisor generation changed; refresh before stopping a turn.",
                remedy="Look again: `letagents agents status AGENT`.",
            )
        known = await self._known(asked.entry_id)
        if known is not None and _is_same(known, asked):
            return known
        begun = await self.household.stop_turn(
            asked.entry_id, lambda journal: self._begin(journal, asked)
        )
        log.info("turn.stopping", entry_id=asked.entry_id, status=begun.status.value)
        return await self._settled(asked, begun)

    async def _known(self, entry_id: str) -> TurnControl | None:
        return (await entries.look(self.sessions.journal, entry_id)).control

    def _begin(self, journal: Journal, asked: Stop) -> TurnControl:
        entry = entries.known(journal, asked.entry_id)
        first = next(iter(journal.unfinished(asked.entry_id)), None)
        control = turn_controls.begun(
            entry,
            first,
            asked.named,
            asked.action_id,
            asked.correction,
            now=self.sessions.clock.now(),
        )
        journal.put_entry(attrs.evolve(entry, control=control))
        how = ", corrected" if asked.correction is not None else ""
        what = f"{asked.named.message_id}{how}"
        deeds.put(journal, asked.by, asked.entry_id, Act.TURN_STOPPED, what)
        return control

    async def _settled(self, asked: Stop, begun: TurnControl) -> TurnControl:
        """Return a stop once the end of its turn is written down, which follows at once."""
        control: TurnControl | None = begun
        try:
            async with asyncio.timeout(self.settled_within.total_seconds()):
                sequence = 0
                while control is not None and control.status is TurnControlStatus.DISPATCHING:
                    states = await self.sessions.journal.agents_after(sequence, self.settled_within)
                    sequence = states.sequence
                    control = await self._known(asked.entry_id)
        except TimeoutError:
            return begun
        return control if control is not None and _is_same(control, asked) else begun

    async def resolve(
        self,
        entry_id: str,
        place: tuple[str, str],
        action_id: str,
        resolution: Resolution,
        *,
        by: Doer | None = None,
    ) -> TurnControl:
        """Write down what a person has seen of a stop that was uncertain.

        `place` is the attempt and the process in which it was begun.

        Raises:
            TurnControlRefused: it is not, or is another's.
        """

        def resolve(journal: Journal) -> TurnControl:
            entry = entries.known(journal, entry_id)
            known = entry.control
            if known is not None and (known.work_attempt_id, known.execution_id) != place:
                known = None
            item = journal.item(inbox.item_of(known.item_id)) if known is not None else None
            now = self.sessions.clock.now()
            settled, left = turn_controls.resolved(known, item, action_id, resolution, now=now)
            journal.put_entry(attrs.evolve(entry, control=settled))
            if left is not None:
                journal.put_item(left)
            deeds.put(journal, by, entry_id, Act.STOP_SETTLED, resolution.value)
            return settled

        settled = await self.sessions.journal.change(resolve)
        log.info("turn.resolved", entry_id=entry_id, resolution=resolution.value)
        self.household.look_again(entry_id)
        return settled


def _is_same(known: TurnControl, asked: Stop) -> bool:
    """Whether an action is known already, and is not to be begun again (J143)."""
    return known.action_id == asked.action_id and known.status is not TurnControlStatus.RETRYABLE
