"""Agents' folders, as worktrees that git makes of a person's repository.

They are in the home, and the person sees in their own repository what an agent committed on its
branch. Beside each folder is a file that says that it was made whole. While git is at work on the
folder that file is locked, by git itself too, which goes on where we are killed: what is there, not
whole and not locked, was never worked in.
"""

import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio
import attrs
from anyio import to_thread

from letagents.adapters import git, marks, private
from letagents.adapters.marks import CONTEXT, MARKER, NotSmall
from letagents.domain import redaction, workplaces
from letagents.domain.workplaces import Context, Kept, Looked, Wish, WorkplaceRefused, Worktree

MAKING = 300.0
"""Seconds that git may take for a large checkout."""
ASKING = 30.0
SHOWN = 300
_HEADS = "refs/heads/"
_UNDER_WAY = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}
_UNSEEN = (f"/{CONTEXT}*", f"/{MARKER}*")
"""What git is not to see, nor an agent to commit."""


class _Failed(Exception):
    """Git says no; these are its words."""


@attrs.frozen
class GitWorktrees:
    """Makes them below `root`, which is a folder of the home."""

    root: Path
    program: str = "git"

    async def plan(
        self, wish: Wish, entry_id: str, attempt_id: str, taken: Collection[str]
    ) -> Worktree:
        """Return how the folder of an agent is to be. Raises: as Workplaces."""
        here = Path(wish.repository)
        try:
            top = await self._ask(here, "rev-parse", "--show-toplevel")
            branches = await self._branches(top)
            branch = wish.branch or workplaces.branch_of(entry_id, {*branches, *taken})
            is_there = branch in branches
            if not is_there:
                await self._ask(top, "check-ref-format", "--branch", branch)
            base = branch if is_there and wish.base is None else wish.base or "HEAD"
            named = f"{base}^{{commit}}"
            revision = await self._ask(top, "rev-parse", "--verify", "--end-of-options", named)
            is_dirty = bool(await self._ask(top, "status", "--porcelain"))
        except _Failed as error:
            raise _refused(f"No folder can be made of {here}: {error}.") from error
        if is_there and wish.base is not None:
            raise _refused(f"The branch {branch} is there already, and begins where it does.")
        folder = self.root.joinpath(*workplaces.folder_of(top, attempt_id))
        return Worktree(top, str(folder), branch, revision, not is_there, is_dirty)

    async def provide(self, worktree: Worktree, attempt_id: str) -> None:
        """See that the folder is there. Raises: as Workplaces."""
        folder = Path(worktree.folder)
        try:
            await to_thread.run_sync(_own_folder, folder.parent)
            if _is_link(folder):
                raise OSError("a link leads from there to elsewhere")
            with _making(folder) as lock:
                if _is_there(folder) and _is_whole(lock):
                    await self._check_alive(worktree)
                    await self._mark(worktree, attempt_id)
                else:
                    await self._make(worktree, lock)
                    await self._mark(worktree, attempt_id)
                    _say_whole(lock)
        except OSError as error:
            why = error.strerror or str(error)
            raise _refused(f"{folder} cannot be made: {why}.") from error
        except _Failed as error:
            raise _refused(f"{folder} cannot be made: {error}.") from error

    async def introduce(self, worktree: Worktree, context: Context) -> None:
        """Write down in the folder who works there now. Raises: as Workplaces."""
        document = {
            "version": 1,
            "provider": "codex",
            "entry_id": context.entry_id,
            "room_id": context.room_id,
            "work_attempt_id": context.work_attempt_id,
            "execution_generation_id": context.execution_id,
            "agent_session_id": context.session_id,
            "agent_display_name": context.display_name,
        }
        file = Path(worktree.folder) / CONTEXT
        try:
            await to_thread.run_sync(marks.write, file, document)
        except OSError as error:
            raise _refused(f"{file} cannot be written: {error.strerror or error}.") from error

    async def remove(self, worktree: Worktree, attempt_id: str) -> Kept | None:
        """Remove the folder if nothing would be lost with it; else return why it is kept."""
        folder = Path(worktree.folder)
        if _is_link(folder):
            return Kept(worktree.folder, "it is a link to elsewhere")
        if not _is_there(folder):
            return None
        try:
            with _making(folder):
                await to_thread.run_sync(_check_mark, folder, attempt_id)
                why = workplaces.why_kept(await self._looked(folder))
                if why is None:
                    await self._removed(worktree)
        except (_Failed, OSError, WorkplaceRefused) as error:
            why = str(error)
        if why is not None:
            return Kept(worktree.folder, why)
        _lock_of(folder).unlink(missing_ok=True)
        return None

    # --- making -----------------------------------------------------------------------------------

    async def _make(self, worktree: Worktree, lock: int) -> None:
        os.truncate(lock, 0)
        folder, repository = Path(worktree.folder), worktree.repository
        await self._clear(worktree)
        there = await self._checked_out(repository)
        other = there.get(worktree.branch)
        if other is not None and not _is_same(other, folder):
            raise _Failed(f"the branch {worktree.branch} is checked out in {other}")
        branches = await self._branches(repository)
        which: tuple[str, ...] = (str(folder), worktree.branch)
        if worktree.branch not in branches:
            which = ("--no-track", "-b", worktree.branch, str(folder), worktree.revision)
        add = ("worktree", "add", "-f", "-f", *which)  # also where a person removed the folder
        await self._ask(repository, *add, within=MAKING, holding=lock)

    async def _mark(self, worktree: Worktree, attempt_id: str) -> None:
        folder = Path(worktree.folder)
        await to_thread.run_sync(_check_mark, folder, attempt_id)
        await self._hide_marks(folder)
        document = {
            "version": 1,
            "work_attempt_id": attempt_id,
            "repo": folder.parent.name,
            "branch": worktree.branch,
            "resolved_revision": worktree.revision,
        }
        await to_thread.run_sync(marks.write, folder / MARKER, document)

    async def _clear(self, worktree: Worktree) -> None:
        """Make way: only what git had begun to make here, and nobody has touched, is removed."""
        folder = Path(worktree.folder)
        if not _is_there(folder):
            return
        known = [one for one, _ in await self._listed(worktree.repository)]
        if _is_link(folder) or not any(_is_same(one, folder) for one in known):
            raise workplaces.foreign(worktree.folder)
        if _names_in(folder) != {".git"}:
            await self._check_untouched(folder)
        words = ("worktree", "remove", "-f", "-f", str(folder))
        await self._ask(worktree.repository, *words, within=MAKING)

    async def _check_untouched(self, folder: Path) -> None:
        """See that all that is in a folder is as it was committed. Raises: WorkplaceRefused."""
        admin = Path(await self._ask(folder, "rev-parse", "--absolute-git-dir"))
        (admin / "index.lock").unlink(missing_ok=True)  # of a git that has ended
        await self._ask(folder, "read-tree", "HEAD")
        told = await self._ask(folder, "status", "--porcelain", "--untracked-files=all")
        if any(line[:2] != " D" for line in told.splitlines()):
            raise workplaces.foreign(str(folder))

    async def _hide_marks(self, folder: Path) -> None:
        told = await self._ask(folder, "rev-parse", "--git-path", "info/exclude")
        await to_thread.run_sync(_excluded, folder / told)

    async def _check_alive(self, worktree: Worktree) -> None:
        try:
            await self._ask(Path(worktree.folder), "rev-parse", "--verify", "HEAD")
        except _Failed as error:
            raise _refused(
                f"{worktree.folder} belongs to {worktree.repository}, which is not there any more "
                f"or does not know of it: {error}.",
                remedy="Put the repository back where it was (`git worktree repair` mends a moved "
                "one). What the agent did is kept in that folder.",
            ) from error

    # --- removing ---------------------------------------------------------------------------------

    async def _looked(self, folder: Path) -> Looked:
        told = await self._ask(folder, "status", "--porcelain", "-z", "--untracked-files=all")
        paths = [one for one in told.split("\0") if one and one[3:] not in (CONTEXT, MARKER)]
        admin = Path(await self._ask(folder, "rev-parse", "--absolute-git-dir"))
        under_way = (what for name, what in _UNDER_WAY.items() if (admin / name).exists())
        refs = await self._ask(folder, "for-each-ref", "--contains=HEAD", "--count=1")
        return Looked(len(paths), next(under_way, None), bool(refs))

    async def _removed(self, worktree: Worktree) -> None:
        folder, repository = Path(worktree.folder), worktree.repository
        for name in (CONTEXT, MARKER):
            (folder / name).unlink(missing_ok=True)
        await self._ask(repository, "worktree", "remove", str(folder), within=MAKING)
        with suppress(OSError):  # others may be in it
            folder.parent.rmdir()
        if worktree.is_own_branch and worktree.branch not in await self._checked_out(repository):
            with suppress(_Failed):  # something was committed on it, and it stays
                name = f"{_HEADS}{worktree.branch}"
                await self._ask(repository, "update-ref", "-d", name, worktree.revision)

    # --- git --------------------------------------------------------------------------------------

    async def _branches(self, repository: str) -> set[str]:
        told = await self._ask(repository, "for-each-ref", "--format=%(refname)", _HEADS)
        return {line.removeprefix(_HEADS) for line in told.splitlines()}

    async def _checked_out(self, repository: str) -> dict[str, str]:
        """Return the branches that are checked out, and where."""
        listed = await self._listed(repository)
        return {branch: folder for folder, branch in listed if branch is not None}

    async def _listed(self, repository: str) -> list[tuple[str, str | None]]:
        told = await self._ask(repository, "worktree", "list", "--porcelain", "-z")
        found = []
        for record in told.split("\0\0"):
            facts = dict(line.partition(" ")[::2] for line in record.split("\0") if line)
            if "worktree" in facts:
                branch = facts.get("branch", "").removeprefix(_HEADS) or None
                found.append((facts["worktree"], branch))
        return found

    async def _ask(
        self, folder: str | Path, *words: str, within: float = ASKING, holding: int | None = None
    ) -> str:
        """Return what git answers there. Raises: _Failed."""
        held = () if holding is None else (holding,)
        try:
            with anyio.fail_after(within):
                done = await anyio.run_process(
                    [self.program, "-C", str(folder), *words],
                    env={**git.environment(), "LC_ALL": "C"},
                    check=False,
                    pass_fds=held,
                )
        except (OSError, ValueError) as error:
            raise _Failed(f"git cannot be run: {error}") from error
        except TimeoutError as error:
            raise _Failed(f"git took longer than {within:.0f} seconds") from error
        if done.returncode != 0:
            said = redaction.shown(done.stderr.decode("utf-8", "replace").strip(), SHOWN)
            raise _Failed(said.rstrip(".") or f"git ended with {done.returncode}")
        return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def _own_folder(folder: Path) -> None:
    """Make the folder, for its owner alone; see that no link leads out of the home."""
    private.make_folder(folder)
    if folder.resolve(strict=True) != folder:
        raise OSError(f"a link leads from {folder} to elsewhere")


def _check_mark(folder: Path, attempt_id: str) -> None:
    """See that a folder is not marked as another one's. Raises: WorkplaceRefused."""
    try:
        found = marks.read(folder / MARKER)
    except NotSmall:
        found = {}
    if found is not None:  # an agent may have swept its mark away
        workplaces.check_marked(str(folder), attempt_id, found.get("work_attempt_id"))


_WHOLE = b"made\n"


def _is_whole(lock: int) -> bool:
    return os.pread(lock, len(_WHOLE), 0) == _WHOLE


def _say_whole(lock: int) -> None:
    os.pwrite(lock, _WHOLE, 0)
    os.fsync(lock)


@contextmanager
def _making(folder: Path) -> Iterator[int]:
    """Hold the right to make or to remove a folder; who is started with it holds it too."""
    if sys.platform == "win32":
        raise OSError("folders for agents are not made on Windows")
    import fcntl

    descriptor = os.open(_lock_of(folder), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise OSError("git is still at work there") from error
        yield descriptor
    finally:
        os.close(descriptor)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _excluded(file: Path) -> None:
    """Add our names to what git does not see, where they are not there yet."""
    before = file.read_text("utf-8", "surrogateescape") if file.exists() else ""
    missing = [name for name in _UNSEEN if name not in before.splitlines()]
    if missing:
        file.parent.mkdir(exist_ok=True)
        with file.open("a", encoding="utf-8", errors="surrogateescape") as opened:
            opened.write("" if not before or before.endswith("\n") else "\n")
            opened.write("".join(f"{name}\n" for name in missing))


def _is_there(folder: Path) -> bool:
    return os.path.lexists(folder)


def _is_link(folder: Path) -> bool:
    return folder.is_symlink()


def _names_in(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir()}


def _is_same(one: str, folder: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(folder)


def _refused(happened: str, remedy: str | None = None) -> WorkplaceRefused:
    return WorkplaceRefused(
        happened,
        remedy=remedy
        or "Run git there yourself to see what is wrong, or pass --workspace with a folder that "
        "there is.",
    )
