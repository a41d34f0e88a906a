"""Codenames: the same for a seed everywhere, and never one that is held."""

import pytest

from letagents.domain import codenames
from letagents.domain.names import handle_form, name_key

EVERY_NAME = [codenames.codename_at(index) for index in range(codenames.SPACE)]
EVERY_KEY = frozenset(one.name for one in EVERY_NAME)


@pytest.mark.rule("N10")
def test_the_list_of_words_stays_as_it_is() -> None:
    words = codenames.WORDS

    assert len(words) == len(set(words)) == 102
    assert (words[0], words[50], words[101]) == ("amber", "mesa", "wren")
    assert codenames.SPACE == 10_404


@pytest.mark.rule("N10")
@pytest.mark.parametrize(
    ("seed", "index"),
    [
        ("owner/agent", 8487),
        ("worker_0123", 5979),
        ("supervised_e730326a", 3798),
        ("owner/agent:3", 9104),
    ],
)
def test_a_seed_points_at_one_codename_everywhere(seed: str, index: int) -> None:
    assert codenames.seed_index(seed) == index
    assert codenames.codename(seed) == codenames.codename_at(index)
    assert codenames.codename(seed, 2) == codenames.codename_at(index + 2)


@pytest.mark.rule("N10")
def test_indexes_go_round_in_both_directions() -> None:
    assert codenames.codename_at(0).display_name == "AmberAmber"
    assert codenames.codename_at(codenames.SPACE) == codenames.codename_at(0)
    assert codenames.codename_at(-1).display_name == "WrenWren"


@pytest.mark.rule("N10")
def test_a_seed_with_a_lone_surrogate_has_a_codename_too() -> None:
    assert codenames.codename("mcp:\udc80") == codenames.codename("mcp:\udc80")


@pytest.mark.rule("N11")
def test_every_codename_is_a_name_of_its_own_of_letters_only() -> None:
    assert len(EVERY_KEY) == codenames.SPACE
    assert all(one.display_name.isascii() and one.display_name.isalpha() for one in EVERY_NAME)
    assert all(name_key(one.display_name) == one.name for one in EVERY_NAME)


@pytest.mark.rule("N12")
def test_a_suggestion_avoids_each_spelling_of_a_held_name() -> None:
    first = codenames.codename("owner/agent")
    spelt_apart = f"{first.display_name[:5]} {first.display_name[5:].upper()}"

    assert codenames.free_codename("owner/agent", ()) == first
    assert codenames.free_codename("owner/agent", [name_key(spelt_apart)]) == (
        codenames.codename("owner/agent", 1)
    )


@pytest.mark.rule("N12")
def test_the_last_free_codename_is_found_and_after_it_there_is_none() -> None:
    last = codenames.codename_at(77)

    assert codenames.free_codename("owner/agent", EVERY_KEY - {last.name}) == last
    assert codenames.free_codename("owner/agent", EVERY_KEY) is None


@pytest.mark.rule("N13")
def test_a_taken_name_is_replaced_by_the_first_free_numbered_seed_of_the_agent() -> None:
    first = codenames.codename("owner/agent:1")
    second = codenames.codename("owner/agent:2")

    assert codenames.replacement_name("owner/agent", ["oak"]) == first.display_name
    assert codenames.replacement_name("owner/agent", [first.name]) == second.display_name
    assert handle_form(second.display_name).isalpha()


@pytest.mark.rule("N13")
def test_a_replacement_is_found_while_any_codename_is_free() -> None:
    reached = {
        codenames.codename(f"owner/agent:{count}").name for count in range(1, codenames.SPACE + 1)
    }
    unreached = min(EVERY_KEY - reached)
    found = codenames.replacement_name("owner/agent", EVERY_KEY - {unreached})

    assert found is not None
    assert name_key(found) == unreached
    assert codenames.replacement_name("owner/agent", EVERY_KEY) is None
