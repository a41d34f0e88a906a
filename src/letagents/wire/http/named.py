"""Things of servers that name them otherwise than by numbers, under the names they have there.

Our own server's are `work_lease_3`, `lock_1`, `intent_7`, `manager_2`; another's may be any text,
and has to be shown back to it as it was.
"""

import re

import attrs

from letagents.domain.approvals import Intent
from letagents.domain.governance import Manager
from letagents.domain.leases import Lease
from letagents.domain.locks import Lock

_NUMBERED = re.compile(r"[a-z_]+_([1-9][0-9]{0,8})")


@attrs.frozen(kw_only=True)
class NamedLease(Lease):
    """A lease that has a name of its own."""

    name: str

    @property
    def lease_id(self) -> str:
        """What it is called."""
        return self.name


@attrs.frozen(kw_only=True)
class NamedLock(Lock):
    """A lock that has a name of its own."""

    name: str

    @property
    def lock_id(self) -> str:
        """What it is called."""
        return self.name


@attrs.frozen(kw_only=True)
class NamedIntent(Intent):
    """An intent that has a name of its own."""

    name: str

    @property
    def intent_id(self) -> str:
        """Its name in the room."""
        return self.name


@attrs.frozen(kw_only=True)
class NamedManager(Manager):
    """An assignment that has a name of its own."""

    name: str

    @property
    def manager_id(self) -> str:
        """Its name in the room."""
        return self.name


def number_in(name: str, prefix: str) -> int | None:
    """Return the number that `name` is made of, or None where it is no name of ours."""
    found = _NUMBERED.fullmatch(name)
    return int(found[1]) if found and name == f"{prefix}_{found[1]}" else None
