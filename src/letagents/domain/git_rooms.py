"""The rooms of a repository: its own, and those of its branches. (Source: mcp-tools 5.)

G1  A remote's room is its host and path: no user, password, port, query, `.git` or final slash.
G2  A remote that could still hold a secret, or names a place only from where it stands, has none.
G3  A host is lower-cased, and on github.com the owner and the repository too.
G4  A branch room's id holds the repository and the branch, and both are read back from it.
G5  Both forms of a branch room's id, and any spelling of its repository, mean one room.
G6  On its default branch a checkout's room is the repository's; on another it is the branch's.
G7  While the default branch is not known, main, master and trunk count as it.
G8  Only repositories on github.com have branch rooms, and only branches whose id is not too long.
G18  What begins as the id of a branch's room and spells none is refused, with the id that it means:
     who writes the branch itself into it would meet nobody there.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Literal

import attrs

from letagents.domain import remotes
from letagents.domain.errors import Malformed
from letagents.domain.ids import RoomId

DEFAULTS = frozenset({"main", "master", "trunk"})
"""What counts as a default branch where the checkout does not tell which one is."""

_PASTED = re.compile(r"(?:https?|ssh|git)://|git@[^/:]+:", re.IGNORECASE)
_REPOSITORY = re.compile(r"github\.com/[^/\s:]+/[^/\s:]+")
_OLDER = re.compile(r"git-room:github\.com:([^/\s:]+/[^/\s:]+):(branch|tag):([\w-]+)", re.ASCII)
_LOCATOR = re.compile(r"github\.com/([^/\s:]+/[^/\s:]+)/focus/git:(branch|tag):([\w-]+)", re.ASCII)
_ALMOST = re.compile(r"git-room:|github\.com/[^/\s:]+/[^/\s:]+/focus/git:")
_SPELT_OUT = re.compile(
    r"(?:git-room:github\.com:([^/\s:]+/[^/\s:]+):|github\.com/([^/\s:]+/[^/\s:]+)/focus/git:)"
    r"(branch|tag):([^\s%]+)"
)

# --- a repository's room ------------------------------------------------------------------------


@attrs.frozen
class Checkout:
    """What is known of a checkout. `repository` is its remote as a room, without any secret.

    `git_dir` is the folder that all worktrees of a repository without such a remote share.
    """

    root: str
    repository: str | None = None
    branch: str | None = None
    default_branch: str | None = None
    git_dir: str | None = attrs.field(default=None, eq=False, kw_only=True)


def repository_room(remote: str) -> str | None:
    """Return the room of the repository that `remote` names, or None if it has none (G1, G2)."""
    room = remotes.repository(remote)
    return room if RoomId.fits(room) else None


def canonical_name(text: str) -> str:
    """Return `text` as the name of a room, in the one spelling that its room has (G3, G5).

    Raises:
        Malformed: it is the URL of something that is no repository.
    """
    name = text.strip()
    if _PASTED.match(name):
        if (repository := repository_room(name)) is None:
            # Not quoted: a password may stand in it.
            raise Malformed(
                "This URL or address names no repository.",
                remedy="Pass host/owner/repository, or another name for the room.",
            )
        name = repository
    while "/" in name and (shorter := name.rstrip("/").removesuffix(".git").strip()) != name:
        name = shorter
    if (bare := remotes.BARE.fullmatch(name)) is not None:
        name = remotes.folded(bare["address"], bare["path"].removeprefix("/"))
    ref = ref_of(name)
    if ref is None and _ALMOST.match(name) is not None:
        raise _misspelt(name)
    return ref.older_id if ref is not None else name


def _misspelt(name: str) -> Malformed:
    found = _SPELT_OUT.fullmatch(name)
    meant = (
        Ref(f"github.com/{(found[1] or found[2]).lower()}", *found.group(3, 4)) if found else None
    )
    if meant is not None and RoomId.fits(meant.older_id):
        remedy = f"The room of the {meant.kind} {meant.name} is {meant.older_id}."
    else:
        remedy = "Pass the id that check_repo shows as derived_branch_room_from_git."
    return Malformed("This is not how the id of a branch's room is spelled.", remedy=remedy)


# --- a branch's room ----------------------------------------------------------------------------


@attrs.frozen
class Ref:
    """A branch or a tag of a repository on github.com, which may have a room of its own."""

    repository: str
    kind: str
    name: str

    @property
    def older_id(self) -> str:
        """The id of its room, in the form that rooms here have."""
        return f"git-room:{self.repository.replace('/', ':', 1)}:{self.kind}:{_encoded(self.name)}"

    @property
    def locator(self) -> str:
        """The newer form, which means the same room."""
        return f"{self.repository}/focus/git:{self.kind}:{_encoded(self.name)}"


def ref_of(room: str) -> Ref | None:
    """Return the branch or tag whose room has the id `room`, in either form (G4, G5)."""
    found = _OLDER.fullmatch(room) or _LOCATOR.fullmatch(room)
    name = _decoded(found[3]) if found is not None else None
    if found is None or name is None:
        return None
    return Ref(f"github.com/{found[1].lower()}", found[2], name)


def branch_room(repository: str | None, branch: str | None) -> RoomId | None:
    """Return the id of a branch's room, or None if the branch can have none (G8)."""
    if not branch or repository is None or not _REPOSITORY.fullmatch(repository):
        return None
    if "\ufffd" in branch:  # stands for bytes that could not be read: two branches could be one
        return None
    name = Ref(repository.lower(), "branch", branch).older_id
    return RoomId(name) if RoomId.fits(name) else None


def _encoded(name: str) -> str:
    return urlsafe_b64encode(name.encode()).decode().rstrip("=")


def _decoded(text: str) -> str | None:
    """Return what `text` spells, or None unless it is the one way to spell it."""
    try:
        name = urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except ValueError:
        return None
    return name if name and _encoded(name) == text else None


# --- the room of a checkout ---------------------------------------------------------------------


@attrs.frozen
class GitRoom:
    """The room in which those who work in a checkout meet, and the repository's behind it."""

    repository: RoomId | None
    branch: RoomId | None = None

    @property
    def active(self) -> RoomId | None:
        """The branch's room on a branch that may have one, else the repository's."""
        return self.branch or self.repository

    @property
    def kind(self) -> Literal["repo", "branch"] | None:
        """Which of the two is active."""
        if self.branch is not None:
            return "branch"
        return "repo" if self.repository is not None else None


def behind(room_id: RoomId) -> GitRoom:
    """Return what the room `room_id` is: a branch's, with its repository's behind it, or one."""
    ref = ref_of(str(room_id))
    if ref is None or not RoomId.fits(ref.repository):
        return GitRoom(room_id)
    return GitRoom(RoomId(ref.repository), room_id)


def active(repository: RoomId | None, checkout: Checkout | None) -> GitRoom:
    """Return the room of a checkout whose repository has the room `repository` (G6, G7)."""
    if repository is None or ref_of(str(repository)) is not None:
        return GitRoom(None) if repository is None else behind(repository)
    if checkout is None or _is_default(checkout):
        return GitRoom(repository)
    return GitRoom(repository, branch_room(str(repository), checkout.branch))


def _is_default(checkout: Checkout) -> bool:
    if checkout.default_branch is not None:
        return checkout.branch == checkout.default_branch
    return checkout.branch in DEFAULTS
