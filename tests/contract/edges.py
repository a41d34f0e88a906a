"""Where a supervisor is killed in the tests of what it leaves to the next one."""

from collections.abc import Callable
from typing import TypeVar

import attrs

from letagents.ports.supervision import Journal, Supervision

T = TypeVar("T")


class Killed(BaseException):
    """The supervisor is there no more."""


@attrs.define
class Edge:
    """Where the supervisor is killed: at the edge of that number, counted from 1; at none, if 0."""

    at: int = 0
    reached: int = 0

    def pass_by(self) -> None:
        """Go on, unless this is where it is killed, or it was killed before."""
        self.reached += 1
        if self.at and self.reached >= self.at:
            raise Killed


@attrs.define(eq=False)
class MortalJournal:
    """A journal before and after each of whose changes the supervisor may be killed."""

    inner: Supervision
    edge: Edge

    async def change(self, work: Callable[[Journal], T]) -> T:
        self.edge.pass_by()
        done = await self.inner.change(work)
        self.edge.pass_by()
        return done

    async def look(self, work: Callable[[Journal], T]) -> T:
        return await self.inner.look(work)
