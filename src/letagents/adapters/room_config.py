"""The file that chooses a room for a folder: found upwards from there, read, and written once."""

import os
import stat
import tempfile
from contextlib import suppress
from itertools import islice
from pathlib import Path

import orjson

from letagents.domain import room_config
from letagents.domain.ids import RoomId
from letagents.domain.room_config import FILE, LARGEST, LEVELS, RoomConfig

_BOM = b"\xef\xbb\xbf"
# A pipe of that name makes nobody wait, a link is not followed, Windows changes no line ends.
_FLAGS = ("O_NONBLOCK", "O_NOFOLLOW", "O_BINARY")
_READING = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in _FLAGS)
_MODE = 0o644  # it is made to be committed, and read by whoever works here


def find(folder: Path) -> RoomConfig | None:
    """Return what the file says that is nearest upwards from `folder`; None if there is none."""
    for one in islice((folder, *folder.parents), LEVELS):
        file = one / FILE
        if os.path.lexists(file):
            return _read(file)
    return None


def _read(file: Path) -> RoomConfig:
    try:
        content = _content(file)
    except OSError as error:
        return room_config.unreadable(str(file), error.strerror or "it cannot be read")
    if len(content) > LARGEST:
        return room_config.unreadable(str(file), f"it has more than {LARGEST} bytes")
    try:
        return room_config.read(str(file), orjson.loads(content.removeprefix(_BOM)))
    except orjson.JSONDecodeError:
        return room_config.unreadable(str(file), "it is not JSON")


def _content(file: Path) -> bytes:
    """Return the file's content, or a little more of it than may be read."""
    if file.is_symlink():
        raise OSError(0, "it is a link")
    with os.fdopen(os.open(file, _READING), "rb") as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise OSError(0, "it is no file")
        return opened.read(LARGEST + 1)


def write(file: Path, room_id: RoomId) -> None:
    """Write `file` as a whole.

    Raises:
        FileExistsError: it is there already, and was left as it is.
        OSError: it cannot be written.
    """
    descriptor, name = tempfile.mkstemp(prefix=f"{FILE}.", suffix=".tmp", dir=file.parent)
    beside = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(orjson.dumps({"room": str(room_id)}, option=orjson.OPT_INDENT_2) + b"\n")
            opened.flush()
            os.fsync(descriptor)
        beside.chmod(_MODE)
        _put(beside, file)
    finally:
        with suppress(FileNotFoundError):
            beside.unlink()


def _put(beside: Path, file: Path) -> None:
    try:
        file.hardlink_to(beside)  # unlike a renaming, it never takes another file's place
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(file):
            raise FileExistsError(file) from None
        beside.rename(file)
