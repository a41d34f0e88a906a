"""How the last turns of a conversation ended."""

from letagents.adapters.providers.lives import REMEMBERED, Outcomes
from letagents.domain.turns import Answered


def test_of_many_turns_the_last_are_remembered() -> None:
    outcomes = Outcomes()
    for number in range(REMEMBERED + 1):
        outcomes.put(f"turn-{number}", Answered(f"{number}"))

    assert outcomes.of("turn-0") is None
    assert outcomes.of(None) is None
    assert outcomes.of("turn-1") == Answered("1")
    assert outcomes.of(f"turn-{REMEMBERED}") == Answered(f"{REMEMBERED}")
