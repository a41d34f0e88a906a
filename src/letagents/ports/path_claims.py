"""What the application needs of the paths that are claimed in a room.

K90  Of all who claim paths that meet, from wherever, one has them; the others have nothing of what
     they asked for, and are told who holds it.
K91  A claim that was answered is kept, and any store opened on the same place knows it.
K92  Claims come in the order of their numbers, and a reader with a cursor misses none.
K93  A replaced or ended connection that shows its fence claims nothing, releases nothing and reads
     nothing.
K99  Who claims or releases paths is compared with the task's work lease in that transaction: who
     shows another epoch of it changes nothing, and is told who has the task now.
"""

from typing import Protocol

import attrs

from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.path_claims import ClaimView, Granted, PathClaim, Query, Wanted


@attrs.frozen
class PathClaimPage:
    """Some claims; where `more` says so, others come after the one of the number `last`."""

    claims: tuple[ClaimView, ...]
    more: bool = False
    last: int = 0


class PathClaims(Protocol):
    """The claimed paths of rooms."""

    async def claim(self, room_id: RoomId, wanted: Wanted, fence: Fence | None = None) -> Granted:
        """Claim paths for a task that the caller holds.

        Raises:
            UnknownTask, LeaseMissing, LeaseHeld, LeaseFenceStale: it does not hold the task.
            PathsHeld: another has some of them.
            TooManyClaims: the task has as many claims as one may have.
        """
        ...

    async def release(
        self,
        room_id: RoomId,
        task_id: str,
        *,
        claim_id: str | None = None,
        epoch: int | None = None,
        fence: Fence | None = None,
    ) -> tuple[PathClaim, ...]:
        """Let one claim of a task go, or all that the caller has for it; return those.

        `epoch` is that of the task's work lease, and is compared if it is shown and there is one.

        Raises:
            UnknownTask: there is no such task.
            LeaseFenceStale: its work lease has moved on.
            UnknownClaim: there is no such claim, or it is another's.
        """
        ...

    async def claims(
        self, room_id: RoomId, query: Query, viewer: Fence | None = None
    ) -> PathClaimPage:
        """Return a page of the claims that have not ended."""
        ...
