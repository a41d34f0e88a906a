"""What is written down of the calls of supervised agents, a step within each transaction."""

from collections.abc import Callable, Mapping
from datetime import datetime

import attrs
import structlog

from letagents.application.agents.supervising import Supervising
from letagents.application.agents.turn_instructions import answer_noted, not_retained, thread_noted
from letagents.domain import effect_authority, effects, room_moves, turn_answers
from letagents.domain.effect_authority import Context, Coordinates
from letagents.domain.effects import Answer, Effect, EffectRefused, Prepared, State, Turn
from letagents.ports.supervision import Journal

log = structlog.get_logger()


@attrs.frozen
class Asked:
    """One call of a tool. `text` is its arguments in the one way in which they are written."""

    request_id: str
    tool: str
    arguments: Mapping[str, object]
    text: str

    def check(self) -> None:
        """Let a call pass that can be told apart from others.

        Raises:
            EffectRefused: it cannot.
        """
        if not self.request_id.strip() or not self.tool.strip():
            raise EffectRefused(
                "A supervised effect requires MCP request and tool identities.",
                remedy="Call the tool through its MCP process.",
            )


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


@attrs.frozen
class EffectSteps:
    """Writes down what supervised agents do. `written` writes a result as it is kept."""

    sessions: Supervising
    written: Callable[[object], str]

    def context(self, journal: Journal, at: Coordinates, request_id: str) -> Context:
        """Return whose turn it is, if the one who asks is in it."""
        item = next(iter(journal.unfinished(at.entry_id)), None)
        entry, own = journal.entry(at.entry_id), self.sessions.hold.generation
        return effect_authority.context(at, own, entry, item, request_id)

    def prepared(
        self, journal: Journal, context: Context, known: Effect | None, asked: Asked, fresh: str
    ) -> Told:
        """Write a call down, or find what is `known` of it; return what is to become of it.

        Raises:
            EffectRefused: it is not begun.
        """
        item, now = context.item, self.sessions.clock.now()
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

    def _recorded(
        self, journal: Journal, context: Context, asked: Asked, effect: Effect
    ) -> Prepared:
        """Write down what a turn says of its answer: that is all that its call does."""
        item, arguments, now = context.item, asked.arguments, self.sessions.clock.now()
        if asked.tool == turn_answers.COMPLETE:
            provider, under_way = context.entry.provider, journal.unsettled(item.entry_id)
            journal.put_item(turn_answers.completed(item, provider, arguments, under_way))
            result = answer_noted(arguments.get("outcome"))
        else:
            journal.put_item(turn_answers.threaded(item, arguments))
            result = thread_noted()
        return Prepared(Answer.COMPLETED, effects.completed(effect, self.written(result), now=now))

    def settled(
        self, journal: Journal, known: Effect, result: str | None, error: str | None
    ) -> Effect:
        """Return an effect once it is known what became of it: its `result`, or else an `error`."""
        now = self.sessions.clock.now()
        if error is not None or result is None:
            return effects.failed(known, error or "The tool failed.", now=now)
        kept = journal.weight_of_turn(known.key.entry_id, known.key.turn_id).result_bytes
        size = len(result.encode())
        if not effects.is_kept(known.request, size, kept_of_turn=kept):
            result = self.written(not_retained(size, is_change=known.request.is_change))
        return effects.completed(known, result, now=now)

    # --- told ------------------------------------------------------------------------------------

    def tell_prepared(self, told: Told) -> None:
        """Tell those who watch the agent what is to become of a call."""
        effect, answer = told.effect, told.answer.value
        self.tell(effect, answer)
        entry_id, effect_id = effect.key.entry_id, effect.effect_id
        log.info("effect.prepared", entry_id=entry_id, effect_id=effect_id, answer=answer)

    def tell(self, effect: Effect, what: str) -> None:
        """Tell those who watch the agent of an effect."""
        feed = self.sessions.feeds.of(effect.key.entry_id)
        feed.tell("tool", f"{effect.request.tool}: {what}")


def _put_move(journal: Journal, context: Context, effect: Effect, *, now: datetime) -> None:
    """Note the move that a turn asks for, in place of one that it asked for before."""
    before = context.item.move
    replaced = journal.effect_named(before.effect_id) if before is not None else None
    if replaced is not None:
        journal.put_effect(effects.when_turn_ends(replaced, now=now))
    journal.put_item(room_moves.asked(context.item, effect))


def _turn(journal: Journal, context: Context) -> Turn:
    key = context.key
    return Turn(
        room_id=context.item.room_id,
        message_id=context.item.message_id,
        weight=journal.weight_of_turn(key.entry_id, key.turn_id),
        open_of_agent=journal.count_unsettled(key.entry_id),
    )
