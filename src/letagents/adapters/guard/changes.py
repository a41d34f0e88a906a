"""What a commit or a push changes, as git tells it to its hooks.

Every commit loads this where the guard is installed. Git is asked in the environment of the hook,
which names the index that is about to be committed.

A commit changes the paths that it adds, alters or deletes, and both names of what it renames; a
merge changes those that are as in none of its parents. A push is looked at along its first parents:
what came in by a merge is carried, and not changed.
"""

import os
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

from letagents.domain import remotes

LIMIT = 20
"""Seconds that git may take for one answer."""
MOST_COMMITS = 1_000
"""So many of the newest commits of a push are looked at."""

_SHOWN = ("--no-renames", "--name-only", "-z")
_ZEROS = frozenset("0")


class GitFailed(Exception):
    """Git gave no answer."""


class Place(NamedTuple):
    """The checkout that a hook runs in, and the names under which its repository may be known."""

    root: str
    git_dir: str
    repositories: tuple[str, ...]


def place() -> Place:
    """Return where the hook runs. Raises GitFailed."""
    root, git_dir, shared = _root_and_folders()
    names = [f"git-dir:{os.path.realpath(shared)}"]
    try:
        remote = remotes.repository(_lines("remote", "get-url", "origin")[0])
    except GitFailed:
        remote = None
    return Place(root, git_dir, (remote, *names) if remote else tuple(names))


def _root_and_folders() -> list[str]:
    folders = ("--git-dir", "--git-common-dir")
    try:
        return _lines("rev-parse", "--show-toplevel", *folders)[:3]
    except GitFailed:  # a bare repository has no checkout, and is pushed from all the same
        return _lines("rev-parse", "--absolute-git-dir", *folders)[:3]


def of_commit(git_dir: str) -> set[str]:
    """Return what the commit changes that is about to be made. Raises GitFailed."""
    try:
        changed = _against("HEAD")
    except GitFailed:
        _ask("symbolic-ref", "HEAD")  # there is a repository, with no commit yet
        return set(_paths("ls-files", "--cached", "-z"))
    for parent in _merged(git_dir) if changed else ():
        changed &= _against(parent)
    return changed


def of_push(remote: str, refs: Iterable[str]) -> set[str]:
    """Return what the commits of a push change; `refs` are the lines that git gives to its hook.

    Raises:
        GitFailed: git does not tell.
    """
    tips, known = [], []
    for line in refs:
        _, here, _, there = line.rsplit(" ", 3)  # the first is as somebody wrote it, with blanks
        if not _is_nothing(here):
            tips.append(here)
        if not _is_nothing(there):
            known.append(f"^{there}")
    if not tips:
        return set()
    remotely = [f"--remotes={remote}"] if remote in _remotes() else ["--remotes"]
    commits = _ask("rev-list", "--first-parent", "--ignore-missing", f"--max-count={MOST_COMMITS}",
                   *tips, *known, "--not", *remotely)  # fmt: skip
    shown = ("--root", "-r", "-c", "--no-commit-id", *_SHOWN)
    return set(_split(_ask("diff-tree", "--stdin", *shown, given=commits)))


def _is_nothing(commit: str) -> bool:
    return _ZEROS.issuperset(commit)


def _remotes() -> list[str]:
    return _ask("remote").decode("utf-8", "surrogateescape").split("\n")


def _merged(git_dir: str) -> list[str]:
    """Return the other parents of the commit, if it is a merge."""
    try:
        with open(os.path.join(git_dir, "MERGE_HEAD"), encoding="ascii") as file:  # noqa: PTH118, PTH123  loading pathlib takes longer
            return file.read().split()
    except FileNotFoundError:
        return []


def _against(commit: str) -> set[str]:
    return set(_paths("diff-index", "--cached", *_SHOWN, "--ignore-submodules=none", commit))


def _paths(*words: str) -> list[str]:
    return _split(_ask(*words))


def _split(answer: bytes) -> list[str]:
    names = answer.decode("utf-8", "surrogateescape").split("\0")
    return [name for name in names if name]


def _lines(*words: str) -> list[str]:
    return _ask(*words).decode("utf-8", "surrogateescape").split("\n")


def _ask(*words: str, given: bytes = b"") -> bytes:
    try:
        done = subprocess.run(
            ["git", *words], input=given, capture_output=True, timeout=LIMIT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitFailed(f"git {words[0]}: {error}") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise GitFailed(f"git {words[0]}: {said or done.returncode}")
    return done.stdout
