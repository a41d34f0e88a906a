"""Folders and files that are their owner's alone from the moment that they are made."""

import os
import stat
from pathlib import Path

_OTHERS = 0o077


def make_folder(folder: Path) -> None:
    """Make `folder`, and those above it that are not there, for their owner alone.

    Raises:
        OSError: it cannot be made, or is something else.
    """
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=0o700, exist_ok=True)
    if not missing and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is no folder")


def make_file(file: Path) -> None:
    """Make `file`, if it is not there, for its owner alone.

    Raises:
        OSError: it cannot be made.
    """
    if not file.exists():
        make_folder(file.parent)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))


def close_to_others(folder: Path, *files: Path) -> None:
    """Let nobody but the owner into `folder`, nor into those of `files` that are there.

    Raises:
        OSError: one is another user's, or a file is none but a link or something else.
    """
    if os.name == "nt":  # where modes say nothing
        return
    _close(folder, folder.stat(), 0o700)
    for file in files:
        try:
            found = file.lstat()
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{file} is no regular file")
        if found.st_uid != os.getuid():
            raise OSError(f"{file} belongs to another user")
        _close(file, found, 0o600)


def _close(place: Path, found: os.stat_result, mode: int) -> None:
    if found.st_mode & _OTHERS:
        place.chmod(mode)
