"""Surroundings and checkouts, as git and the machine's files tell of them."""

import getpass
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import anyio
import attrs
from anyio import to_thread
from anyio.abc import Process

from letagents.adapters import room_config
from letagents.domain import git_rooms
from letagents.domain.git_rooms import Checkout
from letagents.domain.ids import RoomId
from letagents.domain.room_config import FILE
from letagents.ports.surroundings import Place, Written

LIMIT = 5.0
"""Seconds that git may take. (Source: mcp-tools 5.1.)"""

_MISLEADING = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS",
    "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
)  # fmt: skip
"""What a hook, or an alias, that we may run in says of its own repository, which is not ours."""

_RUNS_NOTHING = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "credential.helper": "",
}


@attrs.define
class Patience:
    """How long git is waited for: after it was waited for in vain, less, until it answers again.

    What hangs once mostly hangs again, and whoever asks should not wait for that each time.
    """

    limit: float = LIMIT
    short: float = LIMIT / 10
    _is_short: bool = False

    @property
    def now(self) -> float:
        """How many seconds it is waited for now."""
        return min(self.limit, self.short) if self._is_short else self.limit

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Give up what is done under this once it has taken too long."""
        with anyio.move_on_after(self.now) as scope:
            yield
        self._is_short = scope.cancelled_caught


@attrs.define
class GitSurroundings:
    """Asks git each time. One that is missing, or takes too long, has nothing to say."""

    git: str = "git"
    patience: Patience = attrs.field(factory=Patience)

    async def person(self) -> str | None:
        """Return git's user.name, else what its user.email begins with, else the system's user."""
        name = None
        with self.patience.waiting():
            name = await self._ask("config", "--get", "user.name")
            name = name or _before_the_at(await self._ask("config", "--get", "user.email"))
        return name or _system_user()

    async def branch(self, cwd: str | None = None) -> str | None:
        """Return the branch checked out in `cwd`; None outside a checkout and on no branch."""
        branch = None
        with self.patience.waiting():
            branch = await self._ask("branch", "--show-current", cwd=cwd)
        return branch  # noqa: RET504  # the wait may be given up

    async def _ask(self, *words: str, cwd: str | None = None) -> str | None:
        return await _asked(self.git, *words, cwd=cwd)


@attrs.define
class GitCheckouts:
    """Looks each time. Git is asked only where a checkout is to be expected."""

    git: str = "git"
    patience: Patience = attrs.field(factory=Patience)

    async def look(self, cwd: str | None = None) -> Place:
        """Return what is known of `cwd` once it is known, or when the limit has come."""
        place = Place(cwd or os.curdir, is_there=False)
        with self.patience.waiting():
            place, expected = await to_thread.run_sync(_place, cwd, abandon_on_cancel=True)
            if expected:
                place = attrs.evolve(place, is_silent=True)
                checkout = await self._checkout(place.folder)
                place = attrs.evolve(place, checkout=checkout, is_silent=checkout is None)
        return place

    async def choose(self, root: str, room_id: RoomId) -> Written:
        """Write the file in `root` that chooses the room."""
        file = Path(root) / FILE
        try:
            await to_thread.run_sync(partial(room_config.write, file, room_id))
        except FileExistsError:
            return Written(str(file), "it is there already")
        except OSError as error:
            return Written(str(file), error.strerror or "it cannot be written")
        return Written(str(file))

    async def _checkout(self, folder: str) -> Checkout | None:
        ask = partial(_asked, self.git, cwd=folder)
        root = await ask("rev-parse", "--show-toplevel")
        if root is None:  # a bare repository, or one that git does not trust
            return None
        remote = await ask("remote", "get-url", "origin")
        repository = remote and git_rooms.repository_room(remote)
        default = await ask("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
        shared = None if repository else await ask("rev-parse", "--git-common-dir")
        return Checkout(
            str(Path(root)),
            repository,
            await ask("branch", "--show-current"),
            default and default.removeprefix("origin/"),
            git_dir=shared and _resolved(folder, shared),
        )


def _place(cwd: str | None) -> tuple[Place, bool]:
    """Return what the files around `cwd` tell, and whether git will know of a checkout there."""
    try:
        folder = Path(cwd or os.curdir).expanduser().resolve(strict=True)
        is_there = folder.is_dir()
    except (OSError, RuntimeError, ValueError):
        return Place(cwd or os.curdir, is_there=False), False
    if not is_there:
        return Place(str(folder), is_there=False), False
    expected = any(os.path.lexists(one / ".git") for one in (folder, *folder.parents))
    return Place(str(folder), config=room_config.find(folder)), expected


def _resolved(folder: str, path: str) -> str:
    return str(Path(folder, path).resolve())


async def _asked(git: str, *words: str, cwd: str | None = None) -> str | None:
    """Return what git answers; None if it has no answer, or cannot be started there."""
    try:
        with anyio.CancelScope(shield=True):  # one that is being started can be ended by nobody
            process = await anyio.open_process(
                [git, *words],
                cwd=cwd,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
    except (OSError, ValueError):
        return None
    async with process:
        try:
            told = await _read(process)
            status = await process.wait()
        except anyio.get_cancelled_exc_class():
            await _end(process)
            raise
    answer = told.decode("utf-8", "replace").strip()
    return answer if status == 0 and answer else None


async def _read(process: Process) -> bytes:
    assert process.stdout is not None  # noqa: S101  # for the type checker: it is a pipe
    return b"".join([some async for some in process.stdout])


async def _end(process: Process) -> None:
    """End git with what it has started, which may hold its output open for as long as it lives."""
    with suppress(ProcessLookupError, PermissionError):
        _kill(process)
    with anyio.move_on_after(LIMIT / 10, shield=True):
        await _read(process)


if sys.platform == "win32":

    def _kill(process: Process) -> None:
        process.kill()

else:

    def _kill(process: Process) -> None:
        os.killpg(process.pid, signal.SIGKILL)


def environment() -> dict[str, str]:
    """Return this process's environment, in which git looks only where it is sent (G16).

    Nothing of it is ours: what git starts is to find no token there.
    """
    plain = {
        name: value
        for name, value in os.environ.items()
        if name not in _MISLEADING and not name.startswith(("GIT_CONFIG_", "LETAGENTS_"))
    }
    kept = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
    plain.update({name: os.environ[name] for name in kept if name in os.environ})
    plain.update(GIT_TERMINAL_PROMPT="0", GIT_OPTIONAL_LOCKS="0")
    plain["GIT_CONFIG_COUNT"] = str(len(_RUNS_NOTHING))
    for number, (key, value) in enumerate(_RUNS_NOTHING.items()):
        plain[f"GIT_CONFIG_KEY_{number}"] = key
        plain[f"GIT_CONFIG_VALUE_{number}"] = value
    return plain


def _before_the_at(email: str | None) -> str:
    return (email or "").partition("@")[0]


def _system_user() -> str | None:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return None
