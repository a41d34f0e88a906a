"""Which process is on the other end of a connection, and by which other it was started."""

import socket
import struct
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from letagents.domain.deeds import Doer
from letagents.wire.supervisor import Request

_CREDENTIALS = struct.Struct("3i")
_LOCAL, _PEER_OF_MAC = 0, 2


def peer(connected: Any) -> int | None:
    """Return the number of the process that a socket leads to, where the system tells."""
    if connected is None:
        return None
    try:
        if sys.platform == "linux":
            told = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            pid = int(_CREDENTIALS.unpack(told)[0])
        elif sys.platform == "darwin":
            pid = int(connected.getsockopt(_LOCAL, _PEER_OF_MAC))
        else:
            return None
    except OSError:
        return None
    return pid if pid > 0 else None


def doer(request: Request, now: datetime, generation: int) -> Doer:
    """Return who asks for a change, as it is written down with it."""
    return Doer(now, generation, "" if request.peer is None else named(request.peer))


def named(pid: int) -> str:
    """Return a process by its name and number, and by which one it was started, if that is told.

    Its arguments are left alone: they may hold anything.
    """
    found = _name_and_parent(pid)
    if found is None:
        return f"process {pid}"
    name, parent = found
    above = _name_and_parent(parent)
    started = f", started by {above[0]} {parent}" if above is not None else ""
    return f"{name} {pid}{started}"


def _name_and_parent(pid: int) -> tuple[str, int] | None:
    try:
        told = Path(f"/proc/{pid}/stat").read_bytes().decode("utf-8", "replace")
    except OSError:
        return None
    head, _, rest = told.rpartition(")")
    return head.partition("(")[2], int(rest.split()[1])
