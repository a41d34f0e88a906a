"""What stands in the way of a commit or a push: paths that others claim, a task that went on.

Every commit loads this where the guard is installed: it needs nothing that is slow to load.
Whether somebody still holds a task is asked last, and only of those who would be in the way.

K95  What changes a path is stopped by whoever claims it and holds the task of the claim now, unless
     who changes it claims it too.
K96  A change is the worker's that the environment names; else it may be that of each who claimed
     paths from this checkout, and one whom nothing stops is enough; else it is nobody's.
K97  Whose task went on to another, who holds it now, and who has taken none since, is stopped
     whatever it changes.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from letagents.domain import path_regexes


class Held(NamedTuple):
    """Somebody's claim of paths, or a task that somebody has now; `patterns` are of a claim."""

    room_id: str
    task_id: str
    lease_id: str
    agent_key: str
    holder: str
    since: int
    patterns: tuple[str, ...] = ()


class Author(NamedTuple):
    """Whose a change may be; `lost` is the task that went on to another, if it is one's last."""

    agent_key: str | None
    lost: Held | None = None


class Stop(NamedTuple):
    """What is in the way: a claim and a path that it means, or a task that went on."""

    held: Held
    path: str | None = None


NOBODY = Author(None)

IsHeld = Callable[[Held], bool]
"""Whether somebody still holds the task of that."""


def stops(
    paths: Iterable[str], claims: Iterable[Held], authors: Iterable[Author], is_held: IsHeld
) -> list[Stop]:
    """Return what is in the way of a change of `paths`: nothing if it may be done.

    Of several who may be its authors, the answer is for the one whom least is in the way, and for
    the first of such.
    """
    claimed = matching(paths, claims)
    found = [list(_in_the_way(claimed, author, is_held)) for author in (*authors,) or (NOBODY,)]
    return min(found, key=len)


def _in_the_way(
    claimed: Mapping[str, list[Held]], author: Author, is_held: IsHeld
) -> Iterator[Stop]:
    if author.lost is not None and is_held(author.lost):
        yield Stop(author.lost)
    for path, claims in claimed.items():
        if author.agent_key in {claim.agent_key for claim in claims}:
            continue
        if (first := next(filter(is_held, claims), None)) is not None:
            yield Stop(first, path)


def matching(paths: Iterable[str], claims: Iterable[Held]) -> dict[str, list[Held]]:
    """Return the claims that each path is in; a path that is in none is left out."""
    literals, globs = _sorted(claims)
    found: dict[str, list[Held]] = {}
    for path in paths:
        plain = path_regexes.normal(path)
        first = plain.partition("/")[0]
        in_the_way = [claim for above in _above(plain) for claim in literals.get(above, ())]
        in_the_way += [
            claim
            for begins, pattern, claim in (*globs.get(first, ()), *globs.get("", ()))
            if plain.startswith(begins) and _compiled(pattern).match(plain)
        ]
        if in_the_way:
            found[path] = in_the_way
    return found


def _sorted(
    claims: Iterable[Held],
) -> tuple[dict[str, list[Held]], dict[str, list[tuple[str, str, Held]]]]:
    """Return claims by the paths that they name, and the others by their first folder, if any."""
    literals: dict[str, list[Held]] = {}
    globs: dict[str, list[tuple[str, str, Held]]] = {}
    for claim in claims:
        for pattern in claim.patterns:
            begins = path_regexes.literal(pattern)
            if begins == pattern:
                literals.setdefault(pattern, []).append(claim)
            else:
                first, slash, _ = begins.partition("/")
                globs.setdefault(first if slash else "", []).append((begins, pattern, claim))
    return literals, globs


def _above(path: str) -> Iterator[str]:
    """Yield `path` and the folders that it is in."""
    yield path
    end = path.rfind("/")
    while end > 0:
        path = path[:end]
        yield path
        end = path.rfind("/")


_COMPILED: dict[str, "re.Pattern[str]"] = {}


def _compiled(pattern: str) -> "re.Pattern[str]":
    if pattern not in _COMPILED:
        _COMPILED[pattern] = re.compile(path_regexes.regex(pattern))
    return _COMPILED[pattern]
