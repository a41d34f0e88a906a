"""Folders and files that are their owner's alone from the moment that they are made."""

import os
from pathlib import Path


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
