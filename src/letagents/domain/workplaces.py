"""Where an agent works that has a folder of its own: a worktree of a person's repository.

(Source: supervisor 6.6.)

J70  An agent has a branch of its own, named after it. A name that is taken is left to who has it,
     and the next number is put behind it.
J71  A folder is named after its repository and its work attempt, in harmless characters alone.
J72  A folder that is marked as another attempt's is neither worked in nor removed.
J73  A folder is removed once its agent is forgotten and only if nothing would be lost with it:
     nothing is changed or new in it, nothing is under way, and its newest commit is on a branch, a
     tag or a remote. Else it is kept, and the person is told where and why.
"""

import re
from collections.abc import Collection, Iterable

import attrs

from letagents.domain.errors import LetAgentsError

_HARMLESS = re.compile(r"[^A-Za-z0-9_-]+")
_PREFIX = "letagents"
LONGEST_NAME = 60


class WorkplaceRefused(LetAgentsError):
    """An agent cannot have that folder. Nothing that was there was changed."""

    code = "workplace_refused"


@attrs.frozen
class Wish:
    """What a person says of the folder: of which checkout, on which branch, from where on."""

    repository: str
    branch: str | None = None
    base: str | None = None


@attrs.frozen
class Worktree:
    """One folder, as it is to be and is found again."""

    repository: str
    """The person's checkout."""
    folder: str
    branch: str
    revision: str
    """The commit at which it begins."""
    is_own_branch: bool = True
    """Whether the branch is made for it."""
    was_dirty: bool = False
    """Whether the person's checkout had changes that are not in it."""


@attrs.frozen
class Context:
    """Who works in a folder now. Nothing of it is secret."""

    entry_id: str
    room_id: str
    work_attempt_id: str
    execution_id: str
    session_id: str
    display_name: str


@attrs.frozen
class Kept:
    """That a folder was left as it is, and why."""

    folder: str
    why: str


@attrs.frozen
class Looked:
    """What would be lost with a folder."""

    changes: int = 0
    """So many paths that are changed or new."""
    under_way: str | None = None
    """What git is in the middle of."""
    is_reachable: bool = True
    """Whether its newest commit is on a branch, a tag or a remote."""


def branch_of(entry_id: str, taken: Collection[str]) -> str:
    """Return the name of an agent's branch, which none of `taken` has (J70)."""
    harmless = _harmless(entry_id)
    name = f"{_PREFIX}-{harmless}" if _PREFIX in taken else f"{_PREFIX}/{harmless}"
    return next(one for one in _numbered(name, len(taken) + 1) if _is_free(one, taken))


def _is_free(name: str, taken: Collection[str]) -> bool:
    return not any(one == name or one.startswith(f"{name}/") for one in taken)


def _numbered(name: str, most: int) -> Iterable[str]:
    yield name
    yield from (f"{name}-{number}" for number in range(2, most + 2))


def folder_of(repository: str, attempt_id: str) -> tuple[str, str]:
    """Return the two last parts of a folder's path (J71)."""
    name = re.split(r"[/\\]", repository.rstrip("/\\"))[-1]
    return _harmless(name) or "repository", _harmless(attempt_id)


def _harmless(text: str) -> str:
    return _HARMLESS.sub("-", text).strip("-")[:LONGEST_NAME]


def check_marked(folder: str, attempt_id: str, marked: object) -> None:
    """Let an agent work in a folder that is marked with its attempt (J72).

    Raises:
        WorkplaceRefused: it is marked with another one.
    """
    if marked != attempt_id:
        raise foreign(folder)


def foreign(folder: str) -> WorkplaceRefused:
    """Return what is said of a folder that is in the place of an agent's, and is not its own."""
    return WorkplaceRefused(
        f"{folder} is there, and what is in it is not that agent's.",
        remedy="Look what is in it and move it away; then start the agent.",
    )


def why_kept(looked: Looked) -> str | None:
    """Return why a folder is not removed; None if it may be (J73)."""
    if looked.under_way is not None:
        return f"it is in the middle of a {looked.under_way}"
    if looked.changes:
        count = "one path is" if looked.changes == 1 else f"{looked.changes} paths are"
        return f"{count} changed or new in it, and not committed"
    return None if looked.is_reachable else "its newest commit is on no branch"
