"""The journal of what supervised agents do, as their processes and a person ask for it."""

from collections.abc import Callable

import attrs
import structlog

from letagents.application.agents import deeds
from letagents.application.agents.effect_runs import EffectRuns
from letagents.application.agents.effect_steps import Asked, EffectSteps, Told
from letagents.application.agents.supervising import Supervising
from letagents.application.agents.turn_instructions import instruction
from letagents.domain import effect_authority, effects
from letagents.domain.deeds import Act, Doer
from letagents.domain.effect_authority import Coordinates
from letagents.domain.effects import Effect, EffectRefused, State
from letagents.ports.ids import Ids
from letagents.ports.supervision import Journal
from letagents.ports.tools import Tools

log = structlog.get_logger()

SETTLED = "SUPERVISED_EFFECT_SETTLED"


@attrs.define(eq=False)
class SupervisedEffects:
    """What supervised agents do. `written` writes a result as it is kept."""

    _sessions: Supervising
    _ids: Ids
    _written: Callable[[object], str]
    _tools: Tools | None = None
    runs: EffectRuns | None = attrs.field(init=False)
    """Does the calls, where they are done here."""
    _steps: EffectSteps = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._steps = EffectSteps(self._sessions, self._written)
        tools = self._tools
        self.runs = EffectRuns(self._steps, self._ids, tools) if tools is not None else None

    async def drained(self) -> None:
        """Return once nothing is under way that was begun here."""
        if self.runs is not None:
            await self.runs.drained()

    async def prepare(self, at: Coordinates, asked: Asked, *, is_change: bool) -> Told:
        """Write a call down before it is done; return what is to become of it.

        Raises:
            EffectRefused: it is not begun.
        """
        asked.check()
        if not effects.is_listed_right(asked.tool, is_change=is_change):
            raise EffectRefused(
                "The supervised effect classification does not match the registered tool policy.",
                remedy="Use the same version of letagents on both sides.",
            )
        fresh = self._ids.uuid()

        def prepare(journal: Journal) -> Told:
            context = self._steps.context(journal, at, asked.request_id)
            return self._steps.prepared(journal, context, journal.effect(context.key), asked, fresh)

        told = await self._sessions.journal.change(prepare)
        self._steps.tell_prepared(told)
        return told

    async def complete(
        self, at: Coordinates, effect_id: str, *, result: str | None, error: str | None
    ) -> None:
        """Write down what became of a call; `result` if it was done, else `error`.

        Raises:
            EffectRefused: it is not of the turn of who says so.
        """

        def complete(journal: Journal) -> None:
            known = journal.effect_named(effect_id)
            own, entry = self._sessions.hold.generation, journal.entry(at.entry_id)
            effect_authority.check_completion(at, own, entry)
            if known is None or known.key.entry_id != at.entry_id:
                raise effect_authority.other_turn()
            if known.state.is_settled:
                return
            context = self._steps.context(journal, at, known.key.request_id)
            if context.key != known.key:
                raise effect_authority.other_turn()
            journal.put_effect(self._steps.settled(journal, known, result, error))

        await self._sessions.journal.change(complete)
        log.info("effect.completed", entry_id=at.entry_id, effect_id=effect_id)

    async def uncertain(self, entry_id: str | None = None) -> list[Effect]:
        """Return what may have been done, of one agent or of all, the oldest first."""

        def look(journal: Journal) -> list[Effect]:
            found = journal.unsettled(entry_id)
            return [one for one in found if one.state is State.UNCERTAIN]

        return await self._sessions.journal.look(look)

    async def settle(self, effect_id: str, *, happened: bool, by: Doer | None = None) -> Effect:
        """Write down what a person has seen of an uncertain effect.

        Raises:
            EffectRefused: there is none of that id, or it is not uncertain.
        """
        result = self._written(instruction(SETTLED, effects.HAPPENED)) if happened else None

        def settle(journal: Journal) -> Effect:
            known = journal.effect_named(effect_id)
            if known is None:
                raise EffectRefused(
                    f"There is no effect {effect_id}.",
                    remedy="`letagents effects` lists those that are uncertain.",
                )
            now = self._sessions.clock.now()
            settled = effects.settled_by_person(known, result, now=now)
            journal.put_effect(settled)
            what = f"{known.request.tool} {effect_id}: {'done' if happened else 'not done'}"
            deeds.put(journal, by, known.key.entry_id, Act.SETTLED, what)
            return settled

        settled = await self._sessions.journal.change(settle)
        log.info("effect.settled", effect_id=effect_id, happened=happened)
        return settled
