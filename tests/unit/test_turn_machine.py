"""A state machine plays a supervisor that dies between any two steps of a turn and its effects.

What lies outside the supervisor outlives it: the provider's turns, the things that tools did, the
messages of the room. What the supervisor knows is what it has written down, one record a step.
"""

from collections import Counter
from collections.abc import Generator, Iterator
from datetime import UTC, datetime

import attrs
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from letagents.domain import effects, inbox
from letagents.domain.effects import Answer, Effect, Key, Request, State, Turn
from letagents.domain.inbox import (
    NEVER_BEGAN,
    NO_REPLY,
    UNREADABLE,
    Item,
    Outcome,
    Stage,
    TurnBinding,
    reply,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ROOM = "workshop"
STEPS = st.integers(1, 14) | st.integers(20, 40)
"""A turn that nothing goes wrong with takes a dozen."""
TOOLS = ("post_status", "read_messages")


@attrs.define
class Outside:
    """What a killed supervisor leaves as it is."""

    begun: dict[str, str] = attrs.field(factory=dict)
    """The turns that really began, and the item of each."""
    ended: dict[str, Outcome] = attrs.field(factory=dict)
    done: Counter[Key] = attrs.field(factory=Counter)
    room: dict[str, str] = attrs.field(factory=dict)
    """The messages of the room, by the keys under which they were posted."""

    def post(self, key: str, text: str) -> str:
        self.room.setdefault(key, text)
        return f"msg_{100 + list(self.room).index(key)}"


class Machine(RuleBasedStateMachine):
    """No turn twice, no message twice, no change twice, no message skipped."""

    def __init__(self) -> None:
        super().__init__()
        self.outside = Outside()
        self.items: dict[str, Item] = {}
        self.effects: dict[Key, Effect] = {}
        self.released: Counter[str] = Counter()
        self.turns = 0
        self.work: Iterator[None] | None = None
        self.reads_badly = False

        for _ in range(3):
            self._message_arrives()

    @rule()
    def a_message_arrives(self) -> None:
        self._message_arrives()

    def _message_arrives(self) -> None:
        number = len(self.items) + 1
        message = f"msg_{number}"
        item = Item(inbox.item_id("e1", ROOM, message), "e1", ROOM, message, number)
        self.items.setdefault(item.item_id, item)

    @rule(steps=STEPS)
    def the_supervisor_works(self, steps: int) -> None:
        self._works(steps)

    @rule(steps=STEPS)
    def it_works_and_is_killed(self, steps: int) -> None:
        self._works(steps)
        self._is_killed_and_starts_again()

    def _works(self, steps: int) -> None:
        for _ in range(steps):
            if self.work is None:
                self.work = self._delivered()
            if next(self.work, self) is self:
                self.work = None

    def _is_killed_and_starts_again(self) -> None:
        self.work = None
        self.items = {key: inbox.after_crash(item) for key, item in self.items.items()}
        self.effects = {
            key: effects.after_crash(effect, now=NOW) for key, effect in self.effects.items()
        }

    @rule(bad=st.booleans())
    def transcripts_can_be_read_or_not(self, bad: bool) -> None:
        self.reads_badly = bad

    @precondition(lambda self: any(one.stage is Stage.BLOCKED for one in self.items.values()))
    @rule()
    def a_person_lets_it_go_on(self) -> None:
        self.work = None
        for item in self.items.values():
            if item.stage is Stage.BLOCKED:
                self.released[item.item_id] += 1
                self._keep(inbox.released(item))

    @precondition(lambda self: any(one.stage is Stage.BLOCKED for one in self.items.values()))
    @rule()
    def a_person_passes_one_over_that_cannot_have_begun(self) -> None:
        for item in self.items.values():
            if item.stage is Stage.BLOCKED and not item.may_have_begun:
                self._keep(inbox.skipped(item))
                return

    # --- the supervisor, a step at a time ---------------------------------------------------------

    def _keep(self, item: Item) -> None:
        self.items[item.item_id] = item

    def _delivered(self) -> Iterator[None]:
        item = inbox.head(self.items.values())
        if item is None:
            return
        if item.has_answer:
            item = inbox.publishing(item) if item.stage is Stage.PENDING else item
        elif item.is_unsure:
            item = yield from self._looked_up(item)
        else:
            item = yield from self._run(item)
        self._keep(item)
        yield
        if item.outcome is not None and item.stage is Stage.PUBLISHING:
            message = self.outside.post(item.reply_key, item.outcome.text or "")
            yield
            self._keep(inbox.published(item, message, ROOM))

    def _run(self, item: Item) -> Generator[None, None, Item]:
        item = inbox.dispatched(item)
        self._keep(item)
        yield
        self.turns += 1
        turn = TurnBinding(f"t{self.turns}", "w1", "x1", "c1")
        names_turns_itself = self.turns % 2 == 0
        if names_turns_itself:
            self.outside.begun[turn.turn_id] = item.item_id
            yield
        item = inbox.started(item, turn)
        self._keep(item)
        yield
        self.outside.begun[turn.turn_id] = item.item_id
        yield
        for number, tool in enumerate(TOOLS):
            yield from self._called(item, str(number), tool)
        outcome = reply(f"answer to {item.message_id}") if self.turns % 3 else NO_REPLY
        self.outside.ended[turn.turn_id] = outcome
        yield
        return inbox.ended(item, outcome)

    def _called(self, item: Item, request_id: str, tool: str) -> Iterator[None]:
        assert item.turn is not None
        key = Key("e1", "x1", item.turn.turn_id, request_id)
        asked = Effect(
            f"effect-{key.turn_id}-{request_id}",
            key,
            Request(ROOM, tool, "{}"),
            State.PREPARED,
            NOW,
            NOW,
        )
        prepared = effects.prepare(
            self.effects.get(key), asked, Turn(ROOM, item.message_id), now=NOW
        )
        self.effects[key] = prepared.effect
        yield
        if prepared.answer is Answer.EXECUTE:
            self.outside.done[key] += 1
            yield
            self.effects[key] = effects.completed(self.effects[key], "{}", now=NOW)
            yield

    def _looked_up(self, item: Item) -> Generator[None, None, Item]:
        if item.stage is Stage.PENDING:
            item = inbox.looked_up(item)
            self._keep(item)
            yield
        if not self.reads_badly and item.turn is not None:
            for number, tool in enumerate(TOOLS):  # a provider that lives asks again
                yield from self._called(item, str(number), tool)
        return inbox.ended(item, self._transcript(item))

    def _transcript(self, item: Item) -> Outcome:
        known = self.outside.begun
        of_item = [turn_id for turn_id, owner in known.items() if owner == item.item_id]
        turn_id = item.turn.turn_id if item.turn is not None else "".join(of_item[-1:])
        if turn_id not in known:
            return NEVER_BEGAN
        if self.reads_badly:
            return UNREADABLE
        return self.outside.ended.setdefault(turn_id, reply("recovered"))

    # --- what we would defend ---------------------------------------------------------------------

    @invariant()
    def no_turn_begins_twice_unless_a_person_says_so(self) -> None:
        begun = Counter(self.outside.begun.values())

        assert all(count <= 1 + self.released[item] for item, count in begun.items())

    @invariant()
    def no_change_is_made_twice(self) -> None:
        for key, count in self.outside.done.items():
            assert count == 1 or not self.effects[key].request.is_change

    @invariant()
    def what_may_have_been_done_is_never_called_undone(self) -> None:
        for key, effect in self.effects.items():
            if self.outside.done[key] and effect.request.is_change:
                assert effect.state not in (State.PREPARED, State.FAILED)
            if effect.state is State.COMPLETED:
                assert self.outside.done[key]

    @invariant()
    def nothing_is_skipped_and_nothing_overtakes(self) -> None:
        stages = [item.is_over for item in self.items.values()]

        assert stages == sorted(stages, reverse=True)

    @invariant()
    def what_is_said_in_the_room_is_the_kept_answer(self) -> None:
        for item in self.items.values():
            said = self.outside.room.get(item.reply_key)
            assert said is None or item.outcome == reply(said)
            assert item.stage is not Stage.ACKNOWLEDGED or said is not None


@pytest.mark.rule("J3", "J4", "J20", "J21", "J22", "J23", "J24")
def test_whenever_a_supervisor_dies_nothing_is_doubled_and_nothing_skipped() -> None:
    run_state_machine_as_test(
        Machine, settings=settings(max_examples=40, stateful_step_count=40, deadline=None)
    )


@pytest.mark.long
def test_that_holds_for_many_deaths() -> None:
    run_state_machine_as_test(
        Machine, settings=settings(max_examples=2000, stateful_step_count=80, deadline=None)
    )
