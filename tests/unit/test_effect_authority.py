"""Who may ask for an effect: whoever is in the turn that goes on."""

from datetime import UTC, datetime

import attrs
import pytest

from letagents.domain import effect_authority, inbox
from letagents.domain.effect_authority import Context, Coordinates
from letagents.domain.effects import EffectRefused, Key
from letagents.domain.inbox import Item, TurnBinding
from letagents.domain.manifest import Ending, Entry, Execution

NOW = datetime(2030, 1, 1, tzinfo=UTC)
EXECUTION = Execution("x1", "w1", 7, NOW)
ENTRY = attrs.evolve(
    Entry("e1", "workshop", "Ada", "codex", NOW), execution=EXECUTION, work_attempt_id="w1"
)
CURSOR = attrs.evolve(ENTRY, provider="cursor")
ITEM = inbox.started(
    inbox.dispatched(Item("i1", "e1", "workshop", "msg_1", 1)), TurnBinding("t1", "w1", "x1", "c1")
)
AT = Coordinates("e1", "w1", "x1", 7)


def asked(at: Coordinates, entry: Entry | None = ENTRY, item: Item | None = ITEM) -> Context:
    return effect_authority.context(at, 7, entry, item, "12")


@pytest.mark.rule("J16")
@pytest.mark.parametrize(
    ("at", "entry", "item", "said"),
    [
        (attrs.evolve(AT, generation=6), ENTRY, ITEM, "belongs to a stale daemon generation"),
        (AT, None, ITEM, "lost its exact agent work authority"),
        (attrs.evolve(AT, work_attempt_id="w2"), ENTRY, ITEM, "lost its exact agent work"),
        (attrs.evolve(AT, execution_id="x2"), ENTRY, ITEM, "lost its exact agent work"),
        (AT, attrs.evolve(ENTRY, execution=None), ITEM, "lost its exact agent work"),
        (AT, ENTRY, None, "has no exact active turn"),
        (AT, ENTRY, attrs.evolve(ITEM, turn=None), "has no exact active turn"),
        (AT, ENTRY, inbox.blocked(ITEM, "so"), "has no exact active turn"),
    ],
)
def test_effects_are_of_the_turn_that_goes_on(
    at: Coordinates, entry: Entry | None, item: Item | None, said: str
) -> None:
    with pytest.raises(EffectRefused, match=said):
        asked(at, entry, item)


@pytest.mark.rule("J16")
def test_a_process_that_has_ended_asks_for_nothing() -> None:
    over = attrs.evolve(EXECUTION, ended_at=NOW, ending=Ending.EXITED)

    with pytest.raises(EffectRefused, match="lost its exact agent work authority"):
        asked(AT, attrs.evolve(ENTRY, execution=over))


@pytest.mark.rule("J17")
def test_a_turn_that_is_named_is_the_one_that_goes_on() -> None:
    assert asked(attrs.evolve(AT, turn_id="t1")).key == asked(AT).key
    assert asked(attrs.evolve(AT, turn_id="t1"), CURSOR).entry is CURSOR
    for at, entry in ((attrs.evolve(AT, turn_id="t2"), ENTRY), (AT, CURSOR)):
        with pytest.raises(EffectRefused, match="does not belong to the exact active turn"):
            asked(at, entry)


@pytest.mark.rule("J16", "J17")
@pytest.mark.parametrize(
    ("at", "entry", "said"),
    [
        (attrs.evolve(AT, generation=6), None, "completion belongs to a stale daemon generation"),
        (AT, None, "effect completion lost its exact agent work authority"),
        (attrs.evolve(AT, work_attempt_id="w2"), ENTRY, "completion lost its exact agent work"),
        (AT, CURSOR, "Cursor supervised effect completion requires its exact provider turn"),
    ],
)
def test_who_says_what_became_of_an_effect_is_told_what_is_wrong_with_that(
    at: Coordinates, entry: Entry | None, said: str
) -> None:
    effect_authority.check_completion(AT, 7, ENTRY)
    effect_authority.check_completion(attrs.evolve(AT, turn_id="t1"), 7, CURSOR)

    with pytest.raises(EffectRefused, match=said):
        effect_authority.check_completion(at, 7, entry)


@pytest.mark.rule("J17")
@pytest.mark.parametrize(
    ("entry", "item", "turn_id", "is_in_turn"),
    [
        (CURSOR, ITEM, "t1", True),
        (CURSOR, ITEM, "t2", False),
        (CURSOR, ITEM, None, False),
        (CURSOR, None, "t1", False),
        (CURSOR, inbox.blocked(ITEM, "so"), "t1", False),
        (ENTRY, None, None, True),
        (None, None, None, True),
    ],
)
def test_an_agent_of_cursor_acts_in_its_turn_alone(
    entry: Entry | None, item: Item | None, turn_id: str | None, is_in_turn: bool
) -> None:
    assert effect_authority.is_in_turn(entry, item, turn_id) is is_in_turn


@pytest.mark.rule("J18")
def test_an_effect_is_of_the_process_that_began_its_turn() -> None:
    successor = attrs.evolve(ENTRY, execution=Execution("x2", "w1", 8, NOW))
    found = asked(attrs.evolve(AT, execution_id="x2"), successor)

    assert found.key == Key("e1", "x1", "t1", "12")
