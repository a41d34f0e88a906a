"""The journal of what supervised agents do, as their processes ask for it.

Nothing is done within a transaction. What was begun here goes on when whoever asked for it has
gone, so that its outcome is written down.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime

import attrs
import structlog

from letagents.application.supervising import Supervising
from letagents.application.turn_instructions import instruction, not_retained, shown
from letagents.domain import bindings, effect_authority, effects, room_moves, turn_answers
from letagents.domain.effect_authority import Context, Coordinates, refused
from letagents.domain.effects import (
    Answer,
    Effect,
    EffectRefused,
    Key,
    Prepared,
    State,
    Turn,
)
from letagents.domain.errors import LetAgentsError, Retry
from letagents.ports.ids import Ids
from letagents.ports.supervision import Journal
from letagents.ports.tools import Authority, Tools

log = structlog.get_logger()

SETTLED = "SUPERVISED_EFFECT_SETTLED"


@attrs.frozen
class Asked:
    """One call of a tool. `text` is its arguments in the one way in which they are written."""

    request_id: str
    tool: str
    arguments: Mapping[str, object]
    text: str


@attrs.frozen
class Told:
    """What is to become of a call: `effect` as it is kept."""

    answer: Answer
    effect: Effect
    message_id: str
    provider: str

    @property
    def room_id(self) -> str:
        """In which room it is done."""
        return self.effect.request.room_id


@attrs.define(eq=False)
class _Call:
    """A call that is asked for, as long as somebody is about it; `key` once it is its own."""

    same: str
    task: "asyncio.Task[Told]" = attrs.field(init=False)
    key: Key | None = None


@attrs.define(eq=False)
class SupervisedEffects:
    """What supervised agents do. `written` writes a result as it is kept."""

    _sessions: Supervising
    _ids: Ids
    _written: Callable[[object], str]
    _tools: Tools | None = None
    _asked: set["asyncio.Task[Told]"] = attrs.field(factory=set)
    _under_way: dict[Key, _Call] = attrs.field(factory=dict)
    """Who does what. It is kept within the transaction that begins it: one goes on at once."""

    @property
    def can_execute(self) -> bool:
        """Whether calls are done here."""
        return self._tools is not None

    async def drained(self) -> None:
        """Return once nothing is under way that was begun here."""
        while self._asked:
            await asyncio.wait(self._asked)

    async def prepare(self, at: Coordinates, asked: Asked, *, is_change: bool) -> Told:
        """Write a call down before it is done; return what is to become of it.

        Raises:
            EffectRefused: it is not begun.
        """
        _check_identities(asked)
        if not effects.is_listed_right(asked.tool, is_change=is_change):
            raise EffectRefused(
                "The supervised effect classification does not match the registered tool policy.",
                remedy="Use the same version of letagents on both sides.",
            )
        fresh = self._ids.uuid()

        def prepare(journal: Journal) -> Told:
            context = self._context(journal, at, asked.request_id)
            return self._prepared(journal, context, journal.effect(context.key), asked, fresh)

        told = await self._sessions.journal.change(prepare)
        self._tell_prepared(told)
        return told

    def _prepared(
        self, journal: Journal, context: Context, known: Effect | None, asked: Asked, fresh: str
    ) -> Told:
        item, now = context.item, self._sessions.clock.now()
        request = effects.request(item.room_id, asked.tool, asked.arguments, asked.text)
        new = Effect(fresh, context.key, request, State.PREPARED, now, now)
        if known is None:
            turn_answers.check_open(item, asked.tool)
        told = effects.prepare(known, new, _turn(journal, context), now=now)
        if told.answer is Answer.ROOM_MOVE and known is None:
            room_moves.check_free(context.entry, item)
        if asked.tool in turn_answers.TOOLS and told.answer is Answer.EXECUTE:
            told = self._recorded(journal, context, asked, told.effect)
        elif told.answer is Answer.ROOM_MOVE and known is None:
            _put_move(journal, context, told.effect, now=now)
        if told.effect != known:
            journal.put_effect(told.effect)
        return Told(told.answer, told.effect, item.message_id, context.entry.provider)

    def _tell_prepared(self, told: Told) -> None:
        effect, answer = told.effect, told.answer.value
        self._tell(effect, answer)
        entry_id, effect_id = effect.key.entry_id, effect.effect_id
        log.info("effect.prepared", entry_id=entry_id, effect_id=effect_id, answer=answer)

    def _recorded(
        self, journal: Journal, context: Context, asked: Asked, effect: Effect
    ) -> Prepared:
        """Write down what a turn says of its answer: that is all that its call does."""
        item, result = context.item, answer_noted(asked)
        if asked.tool == turn_answers.COMPLETE:
            provider, under_way = context.entry.provider, journal.unsettled(item.entry_id)
            journal.put_item(turn_answers.completed(item, provider, asked.arguments, under_way))
        else:
            journal.put_item(turn_answers.threaded(item, asked.arguments))
        now = self._sessions.clock.now()
        return Prepared(Answer.COMPLETED, effects.completed(effect, self._written(result), now=now))

    def _context(self, journal: Journal, at: Coordinates, request_id: str) -> Context:
        """Return whose turn it is, if the one who asks is in it."""
        item = next(iter(journal.unfinished(at.entry_id)), None)
        entry, own = journal.entry(at.entry_id), self._sessions.hold.generation
        return effect_authority.context(at, own, entry, item, request_id)

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
            context = self._context(journal, at, known.key.request_id)
            if context.key != known.key:
                raise effect_authority.other_turn()
            journal.put_effect(self._settled(journal, known, result, error))

        await self._sessions.journal.change(complete)
        log.info("effect.completed", entry_id=at.entry_id, effect_id=effect_id)

    def _settled(
        self, journal: Journal, known: Effect, result: str | None, error: str | None
    ) -> Effect:
        now = self._sessions.clock.now()
        if error is not None or result is None:
            return effects.failed(known, error or "The tool failed.", now=now)
        kept = journal.weight_of_turn(known.key.entry_id, known.key.turn_id).result_bytes
        size = len(result.encode())
        if not effects.is_kept(known.request, size, kept_of_turn=kept):
            result = self._written(not_retained(size, is_change=known.request.is_change))
        return effects.completed(known, result, now=now)

    async def uncertain(self, entry_id: str | None = None) -> list[Effect]:
        """Return what may have been done, of one agent or of all, the oldest first."""

        def look(journal: Journal) -> list[Effect]:
            found = journal.unsettled(entry_id)
            return [one for one in found if one.state is State.UNCERTAIN]

        return await self._sessions.journal.look(look)

    async def settle(self, effect_id: str, *, happened: bool) -> Effect:
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
            return settled

        settled = await self._sessions.journal.change(settle)
        log.info("effect.settled", effect_id=effect_id, happened=happened)
        return settled

    async def execute(self, at: Coordinates, asked: Asked) -> Told:
        """Do a call, or return what became of it before; of those who ask at once only one does it.

        Raises:
            EffectRefused: it is not begun.
            LetAgentsError: what the tool raised.
        """
        _check_identities(asked)
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
            context = self._context(journal, at, asked.request_id)
            if (other := self._under_way.get(context.key)) is not None:
                return _shared(other, call)
            # Who is bound is seen first: a successor that has no secret yet has not begun anything,
            # and answers only what was begun before it.
            known = journal.effect(context.key)
            authority = self._authority(journal, at, context, known)
            told = self._prepared(journal, context, known, asked, fresh)
            call.key = context.key
            self._under_way[context.key] = call
            return told, authority

        begun = await self._sessions.journal.change(begin)
        if isinstance(begun, asyncio.Task):
            return await asyncio.shield(begun)
        told, authority = begun
        self._tell_prepared(told)
        if told.answer is not Answer.EXECUTE or authority is None:
            return told
        return await self._run(told, asked, authority)

    async def _run(self, told: Told, asked: Asked, authority: Authority) -> Told:
        tools = self._own_tools()
        try:
            result = await tools.run(asked.tool, asked.arguments, authority)
        except LetAgentsError as error:
            if error.retry is Retry.AFTER_READING and told.effect.request.is_change:
                await self._doubt(told)
            else:
                await self._note(told, error=str(error))
            raise
        text = self._written(result)
        kept = await self._note(told, result=text)
        # Who asked has the whole result, whatever of it is kept.
        return attrs.evolve(told, answer=Answer.COMPLETED, effect=attrs.evolve(kept, result=text))

    def _tell(self, effect: Effect, what: str) -> None:
        feed = self._sessions.feeds.of(effect.key.entry_id)
        feed.tell("tool", f"{effect.request.tool}: {what}")

    def _own_tools(self) -> Tools:
        if self._tools is None:
            raise refused("This supervisor does no calls itself.")
        return self._tools

    def _authority(
        self, journal: Journal, at: Coordinates, context: Context, known: Effect | None
    ) -> Authority | None:
        if known is not None and (known.state.is_settled or known.state is State.UNCERTAIN):
            return None  # it is not done any more, whoever is bound
        entry, binding = context.entry, journal.binding(at.entry_id)
        held = self._sessions.vault.of(binding) if binding is not None else None
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
        )

    async def _note(
        self, told: Told, *, result: str | None = None, error: str | None = None
    ) -> Effect:
        """Write down what became of what this supervisor did, in its turn or after it."""

        def note(journal: Journal) -> Effect:
            known = journal.effect(told.effect.key) or told.effect
            settled = self._settled(journal, known, result, error)
            journal.put_effect(settled)
            return settled

        settled = await self._sessions.journal.change(note)
        self._tell(settled, settled.state.value)
        return settled

    async def _doubt(self, told: Told) -> None:
        def doubt(journal: Journal) -> None:
            known = journal.effect(told.effect.key) or told.effect
            journal.put_effect(effects.after_crash(known, now=self._sessions.clock.now()))

        await self._sessions.journal.change(doubt)


def _shared(other: _Call, call: _Call) -> "asyncio.Task[Told]":
    """Return who does a call already that is asked for again."""
    if other.same != call.same:
        raise effects.reused()
    return other.task


def _put_move(journal: Journal, context: Context, effect: Effect, *, now: datetime) -> None:
    """Note the move that a turn asks for, in place of one that it asked for before."""
    before = context.item.move
    replaced = journal.effect_named(before.effect_id) if before is not None else None
    if replaced is not None:
        journal.put_effect(effects.when_turn_ends(replaced, now=now))
    journal.put_item(room_moves.asked(context.item, effect))


def _check_identities(asked: Asked) -> None:
    if not asked.request_id.strip() or not asked.tool.strip():
        raise EffectRefused(
            "A supervised effect requires MCP request and tool identities.",
            remedy="Call the tool through its MCP process.",
        )


def _turn(journal: Journal, context: Context) -> Turn:
    key = context.key
    return Turn(
        room_id=context.item.room_id,
        message_id=context.item.message_id,
        weight=journal.weight_of_turn(key.entry_id, key.turn_id),
        open_of_agent=journal.count_unsettled(key.entry_id),
    )


def answer_noted(asked: Asked) -> dict[str, object]:
    """Return the result of a call that says how its turn is answered."""
    if asked.tool == turn_answers.THREAD:
        told = "The answer of this turn will open a thread under the message that it answers."
        return shown({"accepted": True, "instruction": told})
    outcome = asked.arguments.get("outcome")
    told = "End the turn now: this is its answer, and your last words are not published."
    return shown({"accepted": True, "outcome": outcome, "instruction": told})
