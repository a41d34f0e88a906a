"""What the application asks about the place it runs in.

Q1  Every answer comes within five seconds, and a question that cannot be answered has the answer
    None.
G16  Looking at a checkout changes nothing in it, runs nothing that it brings, and asks nobody for a
     password; a secret inside a remote's URL is in no answer.
G17  A file that chooses a room is written whole or not at all, and never over one that is there.
"""

from typing import Protocol

import attrs

from letagents.domain.git_rooms import Checkout
from letagents.domain.ids import RoomId
from letagents.domain.room_config import RoomConfig


class Surroundings(Protocol):
    """The checkout, the person and the machine around this process."""

    async def person(self) -> str | None:
        """Return the name of the person who works here: git's, else the system user's."""
        ...

    async def branch(self, cwd: str | None = None) -> str | None:
        """Return the branch checked out in `cwd`, or None outside a checkout."""
        ...


@attrs.frozen
class Place:
    """A folder, and what those who work in it share.

    `is_there` tells whether it is a folder; `is_silent`, that a checkout is to be expected there,
    and git tells of none.
    """

    folder: str
    is_there: bool = True
    is_silent: bool = False
    checkout: Checkout | None = None
    config: RoomConfig | None = None


@attrs.frozen
class Written:
    """Where a file was to be written. `wrong` says why it was not."""

    path: str
    wrong: str | None = None


class Checkouts(Protocol):
    """The checkouts of this machine, and the files in them that choose a room."""

    async def look(self, cwd: str | None = None) -> Place:
        """Return what is known of `cwd`, or of the folder that this process runs in."""
        ...

    async def choose(self, root: str, room_id: RoomId) -> Written:
        """Write the file in `root` that chooses the room."""
        ...
