"""What the guard needs of a repository's hooks.

K98  Putting the guard among the hooks keeps each hook that was there, calls it first, and putting
     it away leaves every file as it was; what is somebody else's is never written over.
"""

import enum
from typing import Protocol

import attrs

from letagents.domain.errors import LetAgentsError


class HookStatus(enum.Enum):
    """What stands under a hook's name."""

    ABSENT = "absent"
    OURS = "installed"
    CHANGED = "changed"
    FOREIGN = "not ours"


@attrs.frozen
class HookState:
    """How a hook is; `has_kept` says that one from before is kept beside it.

    `is_apart` says that it is in no folder of the repository's own: others may use it as well.
    """

    name: str
    status: HookStatus
    path: str
    has_kept: bool = False
    is_apart: bool = False


class NoHooks(LetAgentsError):
    """The hooks cannot be changed as asked. Nothing was overwritten."""

    code = "no_hooks"


class Hooks(Protocol):
    """The hooks of one repository. Its verbs raise NoHooks."""

    def install(self) -> list[HookState]:
        """Put the guard there; return how the hooks are then."""
        ...

    def uninstall(self) -> list[HookState]:
        """Take it away; return how the hooks are then."""
        ...

    def status(self) -> list[HookState]:
        """Return how the hooks are."""
        ...
