"""The guard as git's hooks call it: lets a commit or a push through, or says why not.

It runs at every commit, so it loads what is quick to load, and the rest only where something is in
the way. Whatever goes wrong in it stops nobody: a warning is all.
"""

import functools
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from letagents.domain import path_guard
from letagents.wiring.guard import guard_changes, guarded_holders, guarded_rooms

if TYPE_CHECKING:
    import argparse

    from letagents.domain.path_guard import Held, Stop

REFUSED = 9
"""The hook's exit code where it refuses; one of a failure of Python's own is another."""


def main() -> int:
    """Run one hook with the words that git passed to it; return its exit code."""
    hook, *words = sys.argv[1:]
    return REFUSED if is_refused(hook, words) else 0


def run(arguments: "argparse.Namespace") -> int:
    """Carry out `letagents guard check`; 1 if it refuses."""
    return int(is_refused(arguments.hook, arguments.words))


def is_refused(hook: str, words: Sequence[str]) -> bool:
    """Whether what the hook is asked about may not be done; if so, it is said why."""
    way = os.environ.get("LETAGENTS_GUARD", "").strip().lower()
    if way == "off":
        return False
    try:
        refs = sys.stdin.read().splitlines() if hook == "pre-push" else ()
        stops = _stops(hook, words, refs)
    except Exception as error:  # noqa: BLE001  no failure of ours may stop anybody's work
        said = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"letagents guard: nothing was checked: {said}", file=sys.stderr)
        return False
    if not stops:
        return False
    from letagents.entrypoints.cli import refusals

    refusals.explain(hook, stops, warns=way == "warn")
    return way != "warn"


def _stops(hook: str, words: Sequence[str], refs: Iterable[str]) -> "list[Stop]":
    if (rooms := guarded_rooms(_rooms_file())) is None:
        return []
    try:
        changes = guard_changes()
        place = changes.place()
        claims = rooms.claims(*place.repositories)
        authors = rooms.authors(place.root, os.environ.get("LETAGENTS_WORKER_ID", "").strip())
        if not claims and not any(author.lost for author in authors):
            return []
        if hook == "pre-push":
            paths = changes.of_push(words[0] if words else "", refs)
        else:
            paths = changes.of_commit(place.git_dir)

        @functools.cache
        def is_held(held: "Held") -> bool:
            from letagents.settings import load

            return guarded_holders(rooms, load())(held)

        return path_guard.stops(sorted(paths), claims, authors, is_held) if paths else []
    finally:
        rooms.close()


def _rooms_file() -> str:
    """Return the file that rooms are in.

    Settings are read as a whole only where there is more to them than the home.
    """
    home = os.path.abspath(os.path.expanduser(os.environ.get("LETAGENTS_HOME") or "~/.letagents"))  # noqa: PTH100, PTH111  loading pathlib takes longer
    config = os.path.join(home, "config.toml")  # noqa: PTH118  the same again
    if not os.environ.get("LETAGENTS_ROOMS_DB") and not os.path.exists(config):  # noqa: PTH110  the same again
        return os.path.join(home, "rooms.db")  # noqa: PTH118  the same again
    from letagents.settings import load

    place = load().rooms_db.removeprefix("sqlite:///")
    if "://" in place:
        raise LookupError("the rooms are in a database that it does not know")
    return place
