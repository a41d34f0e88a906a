"""Which supervisor is the newest."""

import pytest

from letagents.domain import generations
from letagents.domain.generations import FenceLost, GenerationDamaged


@pytest.mark.rule("J50")
def test_each_generation_is_one_more() -> None:
    assert generations.next_generation(None) == 1
    assert generations.next_generation("7\n") == 8
    assert generations.next_generation("0") == 1


@pytest.mark.rule("J50")
@pytest.mark.parametrize("text", ["", "\n", "seven", "-1", "7\n8", "07", " 7", "7" * 16])
def test_a_generation_that_cannot_be_read_is_not_guessed(text: str) -> None:
    with pytest.raises(GenerationDamaged) as damaged:
        generations.next_generation(text)

    assert damaged.value.happened == (
        "Supervisor generation state is malformed; refusing to roll back fencing."
    )


@pytest.mark.rule("J51")
@pytest.mark.parametrize("text", ["8\n", "6\n", "", None, "x"])
def test_only_the_newest_generation_acts(text: str | None) -> None:
    generations.check_fence(7, "7\n")

    with pytest.raises(FenceLost):
        generations.check_fence(7, text)


def test_only_who_says_another_generation_has_followed() -> None:
    assert generations.is_followed(7, 8)
    assert not generations.is_followed(7, 7)
    assert not generations.is_followed(7, None)
