"""Which process a number means: its birth, by which a later process of that number is told apart.

A birth is the machine's boot and the moment in it at which the process began, as the kernel says.
The program's name is no part of it: a process may take another program's place after it was born.
"""

import enum
import os
import subprocess
import sys
from pathlib import Path

from letagents.adapters.system import SystemClock

_BEGAN = 19
"""Where the moment of birth is after the program's name: field 22 of the line."""


class Presence(enum.Enum):
    """Whether a process is there."""

    SAME = "it is there"
    GONE = "it has ended"
    UNKNOWN = "there is no telling"


def birth_of(pid: int) -> str | None:
    """Return the birth of the process of that number; None if there is none.

    Raises:
        OSError: there is no telling.
    """
    if sys.platform == "linux":
        began = _began_in_proc(pid)
    elif sys.platform == "win32":
        raise OSError("processes cannot be told apart here")
    else:
        began = _began_by_ps(pid)
    return None if began is None else f"{SystemClock().tick().boot}|{began}"


def presence(pid: int, birth: str) -> Presence:
    """Return whether the process of that number and birth is there."""
    try:
        found = birth_of(pid)
    except OSError:
        return Presence.UNKNOWN
    return Presence.SAME if birth and found == birth else Presence.GONE


def _began_in_proc(pid: int) -> str | None:
    try:
        line = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = line[line.rindex(")") + 2 :].split()  # a program's name may hold anything
    has_ended = fields[0] in ("Z", "X")
    return None if has_ended else fields[_BEGAN]


def _began_by_ps(pid: int) -> str | None:
    asked = subprocess.run(
        ["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
        timeout=5,
        env={"LC_ALL": "C", **({"TZ": os.environ["TZ"]} if "TZ" in os.environ else {})},
    )
    state, _, began = asked.stdout.strip().partition(" ")
    return None if not state or state.startswith("Z") else began.strip()
