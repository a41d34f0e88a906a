"""What stands in the way of a commit, and the expressions with which paths are matched for it."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from letagents.domain import path_regexes
from letagents.domain.errors import Malformed
from letagents.domain.path_guard import NOBODY, Author, Held, Stop, matching, stops
from letagents.domain.path_patterns import Pattern

ADA, BOB, EVE = "ada/1", "bob/2", "eve/3"

letters = st.sampled_from("aab/-^!]*?[.\\\n\u00e9e\u0301")
texts = st.text(letters, min_size=1, max_size=8) | st.sampled_from(["**/", "a/**", "**/*b"])
paths = st.text(st.sampled_from("aab/-^]!*[.\n\u00e9e\u0301"), min_size=1, max_size=8)


@pytest.mark.rule("K94")
@settings(deadline=None, max_examples=500)
@given(text=texts, path=paths)
@example(text="[!a]", path="/")
@example(text="[^-a]", path="]")
@example(text="[]-a]", path="^")
@example(text="[a-]", path="-")
@example(text="[--/]", path=".")
@example(text="a*", path="a\nb")
@example(text="**", path="a/b")
@example(text="**/b", path="b/c")
def test_a_pattern_and_its_expression_match_the_same_paths(text: str, path: str) -> None:
    try:
        pattern = Pattern.parse(text)
    except Malformed:
        return
    if path.startswith("/") or path.endswith("/") or "//" in path:
        return
    found = re.compile(path_regexes.regex(pattern.text)).match(path_regexes.normal(path))

    assert (found is not None) == pattern.matches(path)
    assert path_regexes.literal(pattern.text) == pattern.literal


def held(number: int, agent_key: str, *patterns: str) -> Held:
    return Held("workshop", f"task_{number}", f"paths_lease_{number}", agent_key, agent_key, 0,
                patterns)  # fmt: skip


HERS = held(1, ADA, "src", "docs/*.md")
HIS = held(2, BOB, "lib/b.py")


def everybody(_held: Held) -> bool:
    return True


def test_a_path_is_in_the_claims_that_mean_it() -> None:
    found = matching(["src/a/b.py", "docs/x.md", "docs/x.py", "lib/b.py", "lib"], [HERS, HIS])

    assert found == {"src/a/b.py": [HERS], "docs/x.md": [HERS], "lib/b.py": [HIS]}


WORDS = ["a", "b", "a/b", "a/*", "*/a", "a*", "a*/b", "**/a", "b/**/a", "b/?", "[ab]/a", "**"]


@settings(deadline=None)
@given(
    several=st.lists(st.lists(st.sampled_from(WORDS), max_size=4), max_size=4),
    found=st.lists(st.sampled_from(["a", "b", "a/b", "b/a", "ab/b", "b/b/a", "a/a"]), max_size=5),
)
def test_the_claims_of_many_paths_are_those_of_each(
    several: list[list[str]], found: list[str]
) -> None:
    claims = [held(number, ADA, *patterns) for number, patterns in enumerate(several)]
    meant = matching(found, claims)

    for path in found:
        expected = {one for one in claims if any(Pattern(p).matches(path) for p in one.patterns)}
        assert set(meant.get(path, ())) == expected
    assert [] not in meant.values()


@pytest.mark.rule("K95")
def test_a_change_is_stopped_by_who_claims_its_paths() -> None:
    found = stops(["src/a", "free", "lib/b.py"], [HERS, HIS], [Author(BOB)], everybody)

    assert found == [Stop(HERS, "src/a")]


@pytest.mark.rule("K95")
def test_who_holds_its_task_no_more_stops_nobody() -> None:
    assert stops(["src/a"], [HERS], [Author(BOB)], lambda held: held is not HERS) == []


@pytest.mark.rule("K95")
def test_what_one_claims_too_is_not_stopped() -> None:
    shared = held(3, BOB, "src/a")

    assert stops(["src/a"], [HERS, shared], [Author(BOB)], everybody) == []
    assert stops(["src/b"], [HERS, shared], [Author(BOB)], everybody) == [Stop(HERS, "src/b")]


@pytest.mark.rule("K96")
def test_a_change_that_may_be_of_one_whom_nothing_stops_is_let_through() -> None:
    both = [Author(ADA), Author(BOB)]

    assert stops(["src/a"], [HERS, HIS], both, everybody) == []
    assert stops(["lib/b.py"], [HERS, HIS], both, everybody) == []
    assert stops(["src/a", "lib/b.py"], [HERS, HIS], both, everybody) == [Stop(HIS, "lib/b.py")]


@pytest.mark.rule("K96")
def test_a_change_of_nobody_is_stopped_by_anybody() -> None:
    assert stops(["src/a"], [HERS], [], everybody) == [Stop(HERS, "src/a")]
    assert stops(["src/a"], [HERS], [NOBODY], everybody) == [Stop(HERS, "src/a")]
    assert stops(["free"], [HERS], [], everybody) == []


@pytest.mark.rule("K97")
def test_whose_task_went_on_is_stopped_whatever_it_changes() -> None:
    went_on = held(1, EVE)

    assert stops(["free"], [], [Author(ADA, went_on)], everybody) == [Stop(went_on)]
    assert stops(["free"], [], [Author(ADA, went_on)], lambda _held: False) == []
    assert stops(["free"], [], [Author(ADA, went_on), Author(BOB)], everybody) == []
