"""The room that goes with a folder: found, entered when a chat begins, and chosen for others."""

import attrs
import structlog

from letagents.application.places import Entered, Places
from letagents.domain import forges, git_rooms, rooms
from letagents.domain.errors import LetAgentsError, UnknownRoom
from letagents.domain.forges import Verdict
from letagents.domain.git_rooms import GitRoom
from letagents.domain.ids import RoomId
from letagents.domain.room_config import RoomConfig
from letagents.ports.forges import Forges
from letagents.ports.surroundings import Checkouts, Place

log = structlog.get_logger()

NOWHERE = GitRoom(None)


@attrs.frozen
class Here:
    """A folder, the room that its people chose for it, and the room that git tells of."""

    place: Place
    configured: GitRoom = NOWHERE
    derived: GitRoom = NOWHERE

    @property
    def detected(self) -> GitRoom:
        """The room that goes with the folder: what was chosen comes before what git tells."""
        return self.configured if self.configured.active is not None else self.derived

    @property
    def via(self) -> str:
        """Through which door that room is entered."""
        return "config" if self.configured.active is not None else "git-remote"

    def is_home(self, room_id: RoomId) -> bool:
        """Whether the room is that of the folder, of its branch or of its repository."""
        ours = (self.detected, self.derived)
        return room_id in [one for both in ours for one in (both.branch, both.repository)]


@attrs.frozen
class NotChosen:
    """Why no file was written, and what to do instead."""

    error: str
    hint: str | None = None
    path: str | None = None


@attrs.frozen
class Chosen:
    """A file was written. `entered` is the room that it chooses, or `failed` says why not."""

    path: str
    room_id: RoomId
    entered: Entered | None = None
    failed: LetAgentsError | None = None


@attrs.frozen
class Asked:
    """A repository, and what is known of who may see it."""

    repository: str
    verdict: Verdict


@attrs.define
class Repository:
    """What one chat can ask about the folder that it works in."""

    checkouts: Checkouts
    forges: Forges
    places: Places

    async def look(self, cwd: str | None = None) -> Here:
        """Return what is known of a folder and its rooms."""
        place = await self.checkouts.look(cwd)
        checkout, config = place.checkout, place.config
        remote = checkout.repository if checkout is not None else None
        return Here(
            place,
            git_rooms.active(config.room if config is not None else None, checkout),
            git_rooms.active(rooms.canonical(remote) if remote is not None else None, checkout),
        )

    async def auto_join(self) -> Entered | None:
        """Enter the room of this folder, or else the one that this machine was in last.

        It raises nothing, and changes nothing for a chat that has entered a room by then.
        (Source: mcp-tools 6.)
        """
        try:
            entered = await self._joined()
        except LetAgentsError as error:
            log.warning("room.not_joined", code=error.code, reason=str(error))
            return None
        if entered is not None:
            room_id = str(entered.room.room_id)
            log.info("room.joined", room_id=room_id, joined_via=entered.joined_via)
        return entered

    async def _joined(self) -> Entered | None:
        here = await self.look()
        if (config := here.place.config) is not None and config.wrong is not None:
            log.warning("room_config.ignored", path=config.path, reason=config.wrong)
        if here.detected.active is not None:
            return await self.places.settle(here.detected, via=here.via)
        return await self.places.come_back()

    async def initialize(
        self, room_id: RoomId | None = None, cwd: str | None = None
    ) -> Chosen | NotChosen:
        """Choose a room for a whole checkout, in a file that goes with it, and enter that room."""
        here = await self.look(cwd)
        checkout, config = here.place.checkout, here.place.config
        if checkout is None:
            return NotChosen(
                f"{here.place.folder} is not inside a git checkout.",
                "Pass cwd inside one, or run `git init` there first.",
            )
        if config is not None:
            return _chosen_already(config)
        chosen = room_id or here.derived.repository
        if chosen is None:
            return NotChosen(
                "No room follows from this checkout: its remote `origin` is missing, or names no "
                "host.",
                "Pass room.",
            )
        return await self._choose(checkout.root, chosen)

    async def _choose(self, root: str, room_id: RoomId) -> Chosen | NotChosen:
        try:
            await self.places.check(room_id)
        except UnknownRoom as error:  # it would keep later chats from every room
            return NotChosen(error.happened, error.remedy)
        written = await self.checkouts.choose(root, room_id)
        if written.wrong is not None:
            return NotChosen(f"The file was not written: {written.wrong}.", path=written.path)
        try:
            entered = await self.places.enter(git_rooms.behind(room_id), via="config")
        except LetAgentsError as error:
            return Chosen(written.path, room_id, failed=error)
        return Chosen(written.path, room_id, entered)

    async def visibility(self, cwd: str | None = None) -> Asked | None:
        """Return who may see the repository of a folder; None if it has no remote to ask about."""
        here = await self.look(cwd)
        if (repository := here.derived.repository) is None:
            return None
        return Asked(str(repository), await self._verdict(str(repository)))

    async def _verdict(self, repository: str) -> Verdict:
        question = forges.question(repository)
        if question is None:
            return Verdict("unknown", wrong="Only GitHub, GitLab and Bitbucket can be asked.")
        answer = await self.forges.ask(question)
        if answer is None:
            return Verdict(question.provider, wrong=f"{question.provider} could not be reached.")
        return forges.verdict(question, answer)


def _chosen_already(config: RoomConfig) -> NotChosen:
    if config.wrong is None:
        what, then = "chooses a room already", "Change or remove that file to choose another."
    else:
        what = f"is there, and is ignored: {config.wrong}"
        then = "Mend or remove that file, then call this again."
    return NotChosen(f"{config.path} {what}.", then, config.path)
