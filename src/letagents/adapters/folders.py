"""Whether a place on the disk is there, is ours alone, and takes what is written to it."""

import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

from letagents.ports.health import Finding

_OTHERS = 0o077
_PROBE = b"letagents doctor\n"


def examine(about: str, folder: Path) -> Iterator[Finding]:
    """Say of a folder whether it is private, and whether a file in it can be written and synced."""
    if not folder.exists():
        yield not_used_yet(about, folder)
        return
    try:
        _write_and_sync(folder)
    except OSError as error:
        yield _unusable(about, folder, error)
        return
    yield Finding(about, f"{folder} can be written and synced")
    yield from openness(about, folder)


def not_used_yet(about: str, place: Path) -> Finding:
    """Say of a place that is not there whether it could be made."""
    try:
        above = next(parent for parent in place.parents if parent.exists())
        may = above.is_dir() and os.access(above, os.W_OK | os.X_OK)
    except OSError as error:  # a name that is too long, a folder that may not be looked into
        return _unusable(about, place, error)
    if may:
        return Finding(about, f"{place} is not used yet")
    why = "may not be written" if above.is_dir() else "is no folder"
    return Finding(
        about,
        f"{place} is not there and cannot be made: {above} {why}.",
        remedy=_elsewhere(about),
    )


def openness(about: str, *places: Path) -> Iterator[Finding]:
    """Tell of each of these places that others than its owner may look into or change."""
    if os.name == "nt":  # where these bits say nothing
        return
    for place in places:
        if not place.exists() or not place.stat().st_mode & _OTHERS:
            continue
        mode = "700" if place.is_dir() else "600"
        yield Finding(
            about,
            f"{place} can be read or changed by others than its owner.",
            remedy=f"Run: chmod {mode} {shlex.quote(str(place))}",
        )


def _write_and_sync(folder: Path) -> None:
    descriptor, name = tempfile.mkstemp(prefix=".doctor.", dir=folder)
    try:
        os.write(descriptor, _PROBE)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
        Path(name).unlink()


def _unusable(about: str, place: Path, error: OSError) -> Finding:
    why = error.strerror or str(error)
    return Finding(about, f"{place} cannot be used: {why}.", remedy=_elsewhere(about))


def _elsewhere(about: str) -> str:
    setting = {"state": "LETAGENTS_STATE_PATH", "rooms": "LETAGENTS_ROOMS_DB"}
    named = setting.get(about, "LETAGENTS_HOME")
    return f"Let this user write there, or set {named} to a place where they may."
