"""Patterns of paths: what they match, and whether two can match one path."""

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from letagents.domain.errors import Malformed
from letagents.domain.path_patterns import LONGEST, Pattern


@pytest.mark.rule("K80", "K81")
@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("src/app.py", "src/app.py", True),
        ("src/app.py", "src/app.pyc", False),
        ("src/app.py", "SRC/app.py", False),
        ("src", "src/api/deep/x.py", True),
        ("src/", "src/api/x.py", True),
        ("./src/", "src/x", True),
        ("src", "srcs/x", False),
        ("*.py", "a.py", True),
        ("*.py", "src/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "src/deep/a.py", True),
        ("src/**/test_*.py", "src/test_a.py", True),
        ("src/**/test_*.py", "src/a/b/test_a.py", True),
        ("src/**/test_*.py", "src/a/b/tests.py", False),
        ("src/**", "src/a", True),
        ("src/**", "src", False),
        ("src/*/x", "src/a/x/below", True),
        ("src/*", "src/a/b", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[!a-c]x", "dx", True),
        ("[]]x", "]x", True),
        ("[[]x", "[x", True),
        ("[a-]x", "-x", True),
        ("caf\u00e9", "cafe\u0301/menu", True),
        ("a b/*", "a b/c d", True),
    ],
)
def test_a_pattern_matches_paths_and_what_lies_below(pattern: str, path: str, fits: bool) -> None:
    assert Pattern.parse(pattern).matches(path) is fits


@pytest.mark.rule("K82")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "/etc/passwd",
        "//x",
        "..",
        "../x",
        "a/../b",
        "a//b",
        "./.",
        "a/./b",
        "a\\b",
        "C:/x",
        "a\x00b",
        "a\nb",
        "x" * (LONGEST + 1),
        "a**/b",
        "[abc",
        "[/]",
        "[!]",
        "[z-a]",
    ],
)
def test_what_no_path_can_match_is_no_pattern(text: str) -> None:
    with pytest.raises(Malformed, match="patterns: "):
        Pattern.parse(text)


NAMES = ["".join(letters) for size in (1, 2) for letters in itertools.product("abc", repeat=size)]
PATHS = ["/".join(names) for size in (1, 2, 3) for names in itertools.product(NAMES, repeat=size)]
"""If two patterns of at most two names, of at most two parts each, share a path, they share one."""

parts = st.sampled_from(["a", "b", "*", "?", "[ab]", "[!a]", "[!ab]"])
names = st.lists(parts, min_size=1, max_size=2).map("".join)
patterns = st.lists(names | st.just("**"), min_size=1, max_size=2).map("/".join)


@pytest.mark.rule("K83")
@settings(deadline=None)
@given(one=patterns, other=patterns)
@example(one="**/a", other="b/**")
@example(one="a/*", other="a")
@example(one="*/a", other="b")
@example(one="[!a]", other="a")
def test_patterns_overlap_exactly_when_some_path_fits_both(one: str, other: str) -> None:
    first, second = Pattern.parse(one), Pattern.parse(other)
    shared = [path for path in PATHS if first.matches(path) and second.matches(path)]
    found = first.overlaps(second)

    assert found == second.overlaps(first) == bool(shared)


@pytest.mark.rule("K83")
@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("src/**/*.py", "src/api/*", True),
        ("src/**/*.py", "docs/**", False),
        ("*.py", "*.md", False),
        ("src/[!a]*", "src/a", False),
        ("src/[!a]*", "src/[a]*", False),
        ("a*b", "*c", False),
        ("a*b", "*a*", True),
        ("**/test_*.py", "tests", True),
        ("a/b/c", "a/b", True),
        ("a/bc", "a/b", False),
    ],
)
def test_patterns_that_meet_and_that_do_not(one: str, other: str, shared: bool) -> None:
    assert Pattern.parse(one).overlaps(Pattern.parse(other)) is shared
