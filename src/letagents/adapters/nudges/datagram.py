"""Nudges between the processes of one machine: a datagram to each socket in the room's folder.

Each wait binds a socket of its own before it reads, and takes it away when it is over. Whoever
writes sends to all that it finds. What cannot be delivered is dropped: a waiter looks by itself
too, seldom where it has a socket, and more often where it could not have one.
"""

import asyncio
import contextlib
import hashlib
import itertools
import os
import socket
import stat
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import attrs

from letagents.adapters import private
from letagents.domain.ids import RoomId
from letagents.ports.ids import Ids

SELDOM = 2.0
"""So many seconds a waiter with a socket rests before it looks by itself."""
OFTEN = 0.5
"""The same for a waiter without one."""

_ADDRESS_LIMIT = 103
"""So many bytes fit into a socket's address on every system that has them."""
_WITHIN = len("/0123456789/.01234567ffffff")
"""So many of them a folder leaves for the room and the socket."""


@attrs.define(eq=False)
class DatagramNudges:
    """Nudges through sockets below `run_dir`, or where its path is too long, below a stand-in."""

    _run_dir: Path
    _ids: Ids
    _folders: dict[str, Path] = attrs.field(factory=dict)
    _lock: threading.Lock = attrs.field(factory=threading.Lock)
    _names: Iterator[str] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        ours = _digest(self._ids.uuid())[:8]
        self._names = (f"{ours}{number:x}" for number in itertools.count())

    def nudge(self, room_id: RoomId) -> None:
        """Send to every socket of the room; take those away that nobody listens on any more."""
        folder = self._folder(room_id)
        try:
            names = os.listdir(folder)  # noqa: PTH208  # every post pays for this
        except OSError:
            return
        if names:
            _send_to([folder / name for name in names if not name.startswith(".")])

    @contextlib.contextmanager
    def listening(self, room_id: RoomId, ring: Callable[[], None]) -> Iterator[float]:
        """Call `ring` at each nudge; say how long a waiter may rest."""
        try:
            ear = self._ear(self._folder(room_id))
            ear.listen(ring)
        except (OSError, NotImplementedError):
            yield OFTEN
            return
        try:
            yield SELDOM
        finally:
            ear.close()
            self._tidy(self._folder(room_id))

    def _tidy(self, folder: Path) -> None:
        """Leave nothing in the system's temporary folder that nobody listens in."""
        if folder.parent.parent == Path(tempfile.gettempdir()):
            with contextlib.suppress(OSError):
                folder.rmdir()
                folder.parent.rmdir()

    def fault(self) -> str | None:
        """Return why others cannot wake the waiters of this process, or None if they can."""
        try:
            self._ear(self._root / "probe").close()
        except OSError as error:
            return str(error)
        self._tidy(self._root / "probe")
        return None

    def _ear(self, folder: Path) -> "_Ear":
        if not hasattr(socket, "AF_UNIX"):
            raise OSError("this system has no sockets in folders")
        _make(folder)
        with self._lock:
            name = next(self._names)
        return _Ear(folder, name)

    def _folder(self, room_id: RoomId) -> Path:
        found = self._folders.get(room_id.value)
        if found is None:
            found = self._folders[room_id.value] = self._root / _digest(room_id.value)
        return found

    @property
    def _root(self) -> Path:
        near = self._run_dir.resolve() / "nudges"
        if len(os.fsencode(near)) + _WITHIN <= _ADDRESS_LIMIT:
            return near
        return Path(tempfile.gettempdir()) / f"letagents-{_digest(str(near))}"


class _Ear:
    """A socket with a name, on which one waiter hears nudges."""

    def __init__(self, folder: Path, name: str) -> None:
        self._address, unheard = folder / name, folder / f".{name}"
        self._loop: asyncio.AbstractEventLoop | None = None
        self._socket = _datagram_socket()
        try:
            # Named only once it can be heard on: a nudge that found it deaf would take it away.
            self._socket.bind(str(unheard))
            unheard.rename(self._address)
        except OSError:
            self._socket.close()
            raise

    def listen(self, ring: Callable[[], None]) -> None:
        """Call `ring` on the running event loop at each nudge."""
        loop = asyncio.get_running_loop()
        try:
            loop.add_reader(self._socket, self._hear, ring)
        except NotImplementedError:
            self.close()
            raise
        self._loop = loop

    def _hear(self, ring: Callable[[], None]) -> None:
        with contextlib.suppress(OSError):
            while True:
                self._socket.recv(1)
        ring()

    def close(self) -> None:
        """Hear no more, and leave nothing behind."""
        if self._loop is not None:
            self._loop.remove_reader(self._socket)
        self._socket.close()
        self._address.unlink(missing_ok=True)


def _send_to(ears: Iterable[Path]) -> None:
    with _datagram_socket() as sender:
        for ear in ears:
            try:
                sender.sendto(b"!", str(ear))
            except ConnectionRefusedError:
                with contextlib.suppress(OSError):
                    ear.unlink(missing_ok=True)
            except OSError:
                # It has gone meanwhile, or was nudged so often already that it is sure to look.
                continue


def _datagram_socket() -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.setblocking(False)
    return made


def _make(folder: Path) -> None:
    """Make a room's folder; the one above it may be in a place that others write to.

    Raises:
        OSError: it cannot be made, or is not ours alone.
    """
    private.make_folder(folder.parent)
    above = folder.parent.lstat()
    if not stat.S_ISDIR(above.st_mode) or above.st_uid != os.getuid() or above.st_mode & 0o022:
        raise PermissionError(f"{folder.parent} is not ours alone")
    folder.mkdir(mode=0o700, exist_ok=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:10]
