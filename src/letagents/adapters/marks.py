"""The two small files in an agent's folder: whose it is, and who works there now.

(Source: supervisor 4.2.) They are read only where they are regular files of our own, which no link
leads to, and written whole, into a new file that takes the old one's place.
"""

import json
import os
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

CONTEXT = ".letagents-supervisor-context.json"
MARKER = ".letagents-work-attempt.json"
LARGEST = 4096
"""Bytes of either file."""
_OTHERS = 0o077


class NotSmall(Exception):
    """It is no small regular file of this user's."""


def content(file: Path, *, for_us_alone: bool = False) -> bytes | None:
    """Return the bytes of a small regular file of ours, which no link leads to; None without one.

    With `for_us_alone` nobody else may read or change it.

    Raises:
        NotSmall: it is something else.
    """
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            raise NotSmall
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise NotSmall from error
    with os.fdopen(descriptor, "rb") as opened:
        found = os.fstat(opened.fileno())
        read = opened.read(LARGEST + 1)
    is_open = for_us_alone and os.name != "nt" and found.st_mode & _OTHERS
    if not stat.S_ISREG(found.st_mode) or not _is_ours(found) or is_open or len(read) > LARGEST:
        raise NotSmall
    return read


def _is_ours(found: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or found.st_uid == os.getuid()


def read(file: Path) -> Mapping[str, object] | None:
    """Return the object in a small regular file of ours; None without one.

    Raises:
        NotSmall: it is something else.
    """
    found = content(file)
    if found is None:
        return None
    try:
        document = json.loads(found)
    except (ValueError, RecursionError) as error:
        raise NotSmall from error
    if not isinstance(document, Mapping):
        raise NotSmall
    return document


def write(file: Path, document: Mapping[str, object]) -> None:
    """Put the document in the place of whatever has that name, for this user alone.

    Raises:
        OSError: it cannot be written, or whoever reads it would find it too large.
    """
    text = json.dumps(document, ensure_ascii=False).encode()
    if len(text) > LARGEST:
        raise OSError(f"{file.name} would be too large")
    descriptor, fresh = tempfile.mkstemp(prefix=f"{file.name}.", dir=file.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(text)
        Path(fresh).replace(file)
    except BaseException:
        with suppress(OSError):
            Path(fresh).unlink()
        raise
