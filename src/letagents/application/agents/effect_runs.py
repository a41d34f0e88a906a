"""Doing what the processes of supervised agents ask for, each call once, and keeping its outcome.

Nothing is done within a transaction. What was begun here goes on when whoever asked for it has
gone, so that its outcome is written down.
"""

import asyncio
from contextlib import suppress

import attrs

from letagents.application.agents.effect_steps import Asked, EffectSteps, Told
from letagents.domain import bindings, effects
from letagents.domain.effect_authority import Context, Coordinates, refused
from letagents.domain.effects import Answer, Effect, Key, State
from letagents.domain.errors import LetAgentsError, OutcomeUnknown, Retry, StateUnavailable
from letagents.domain.manifest import Admission
from letagents.ports.ids import Ids
from letagents.ports.supervision import Journal
from letagents.ports.tools import Authority, Tools


@attrs.define(eq=False)
class _Call:
    """A call that is asked for, as long as somebody is about it; `key` once it is its own."""

    same: str
    task: "asyncio.Task[Told]" = attrs.field(init=False)
    key: Key | None = None


@attrs.define(eq=False)
class EffectRuns:
    """What is done here for supervised agents."""

    _steps: EffectSteps
    _ids: Ids
    _tools: Tools
    _asked: set["asyncio.Task[Told]"] = attrs.field(factory=set)
    _under_way: dict[Key, _Call] = attrs.field(factory=dict)
    """Who does what. It is kept within the transaction that begins it: one goes on at once."""

    async def drained(self) -> None:
        """Return once nothing is under way that was begun here."""
        while self._asked:
            await asyncio.wait(self._asked)

    async def execute(self, at: Coordinates, asked: Asked) -> Told:
        """Do a call, or return what became of it before; of those who ask at once only one does it.

        Raises:
            EffectRefused: it is not begun.
            LetAgentsError: what the tool raised.
        """
        asked.check()
        call = _Call(f"{asked.tool}\0{asked.text}")
        call.task = asyncio.create_task(self._executed(at, asked, call))
        self._asked.add(call.task)
        call.task.add_done_callback(lambda _: self._over(call))
        return await asyncio.shield(call.task)

    def _over(self, call: _Call) -> None:
        self._asked.discard(call.task)
        if call.key is not None:
            del self._under_way[call.key]

    async def _executed(self, at: Coordinates, asked: Asked, call: _Call) -> Told:
        fresh = self._ids.uuid()

        def begin(journal: Journal) -> "tuple[Told, Authority | None] | asyncio.Task[Told]":
            context = self._steps.context(journal, at, asked.request_id)
            if (other := self._under_way.get(context.key)) is not None:
                return _shared(other, call)
            # Who is bound is seen first: a successor that has no secret yet has not begun anything,
            # and answers only what was begun before it.
            known = journal.effect(context.key)
            authority = self._authority(journal, at, context, known)
            told = self._steps.prepared(journal, context, known, asked, fresh)
            call.key = context.key
            self._under_way[context.key] = call
            return told, authority

        begun = await self._steps.sessions.journal.change(begin)
        if isinstance(begun, asyncio.Task):
            return await asyncio.shield(begun)
        told, authority = begun
        self._steps.tell_prepared(told)
        if told.answer is not Answer.EXECUTE or authority is None:
            return told
        return await self._run(told, asked, authority)

    async def _run(self, told: Told, asked: Asked, authority: Authority) -> Told:
        try:
            result = await self._tools.run(asked.tool, asked.arguments, authority)
        except LetAgentsError as error:
            if error.retry is Retry.AFTER_READING and told.effect.request.is_change:
                with suppress(StateUnavailable):  # what is told says already that nobody knows
                    await self._doubt(told)
            else:
                await self._note(told, error=str(error))
            raise
        text = self._steps.written(result)
        kept = await self._done(told, text)
        # Who asked has the whole result, whatever of it is kept.
        return attrs.evolve(told, answer=Answer.COMPLETED, effect=attrs.evolve(kept, result=text))

    def _authority(
        self, journal: Journal, at: Coordinates, context: Context, known: Effect | None
    ) -> Authority | None:
        if known is not None and (known.state.is_settled or known.state is State.UNCERTAIN):
            return None  # it is not done any more, whoever is bound
        entry, binding = context.entry, journal.binding(at.entry_id)
        held = self._steps.sessions.vault.of(binding) if binding is not None else None
        is_its = binding is not None and bindings.is_for(binding, at.execution_id, entry.api_url)
        if binding is None or held is None or not is_its:
            raise refused(
                "The exact server-issued worker identity is unavailable for this supervised "
                "tool execution."
            )
        return Authority(
            at.entry_id,
            entry.provider,
            binding.room_id,
            binding.session_id,
            held.token,
            entry.api_url,
            entry.workspace,
            held.session,
            is_granted=entry.admission is not Admission.SIGN_IN,
        )

    async def _done(self, told: Told, text: str) -> Effect:
        """Write down the result of what was done.

        Raises:
            OutcomeUnknown: a change was made, and that could not be written down.
        """
        try:
            return await self._note(told, result=text)
        except StateUnavailable as error:
            if not told.effect.request.is_change:
                raise
            raise OutcomeUnknown(
                f"{told.effect.request.tool} was done, and what came of it could not be written "
                f"down. {error.happened}",
                remedy="Do not call it again: look at what it has changed.",
            ) from error

    async def _note(
        self, told: Told, *, result: str | None = None, error: str | None = None
    ) -> Effect:
        """Write down what became of what this supervisor did, in its turn or after it."""

        def note(journal: Journal) -> Effect:
            known = journal.effect(told.effect.key) or told.effect
            settled = self._steps.settled(journal, known, result, error)
            journal.put_effect(settled)
            return settled

        settled = await self._steps.sessions.journal.change(note)
        self._steps.tell(settled, settled.state.value)
        return settled

    async def _doubt(self, told: Told) -> None:
        def doubt(journal: Journal) -> None:
            known = journal.effect(told.effect.key) or told.effect
            journal.put_effect(effects.after_crash(known, now=self._steps.sessions.clock.now()))

        await self._steps.sessions.journal.change(doubt)


def _shared(other: _Call, call: _Call) -> "asyncio.Task[Told]":
    """Return who does a call already that is asked for again."""
    if other.same != call.same:
        raise effects.reused()
    return other.task
