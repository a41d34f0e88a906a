"""A repository under guard, and the workers of a room who claim its files."""

import os
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import attrs

from letagents.adapters.guard.hooks import GitHooks
from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.processes.locks import ProcessLocks
from letagents.adapters.rooms.kept.board import TERM, KeptBoard
from letagents.adapters.rooms.kept.paths import KeptPaths
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.system import SystemClock, SystemIds
from letagents.domain.ids import RoomId, Token, WorkerId
from letagents.domain.path_claims import PathClaim, Wanted, patterns_of
from letagents.domain.sessions import Arrival, Connection
from letagents.domain.tasks import Patch, Proposal, Status

ROOM = RoomId("workshop")
REMOTE = "https://example.com/o/r.git"
REPOSITORY = "example.com/o/r"
PATIENCE = 60


def environment(home: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment in which git is nobody's, and rooms are in `home`."""
    left_out = ("GIT_", "LETAGENTS_")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    ours = {"LETAGENTS_HOME": str(home), "GIT_EDITOR": "true"}
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        ours[name] = os.devnull
    for name in ("AUTHOR", "COMMITTER"):
        ours |= {f"GIT_{name}_NAME": "Ada", f"GIT_{name}_EMAIL": "ada@example.org"}
    return {**plain, **ours, **(more or {})}


@attrs.frozen
class Tree:
    """A worktree, in which git is called as somebody at a shell calls it."""

    root: Path
    home: Path

    def run(self, *words: str, **settings: str) -> "subprocess.CompletedProcess[str]":
        """Run git to its end; return how it went."""
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *words],
            cwd=self.root,
            env=environment(self.home, settings),
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        said = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        return subprocess.CompletedProcess(done.args, done.returncode, *said)

    def git(self, *words: str, **settings: str) -> str:
        """Return what git says; it has to succeed."""
        done = self.run(*words, **settings)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def write(self, *names: str, text: str = "new\n") -> None:
        """Write files, and add them to the index."""
        for name in names:
            file = self.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        self.git("add", "--", *names)

    def commit(self, *names: str, text: str = "new\n", **settings: str) -> str | None:
        """Change files and commit them; return the complaint, None where it was done."""
        self.write(*names, text=text)
        return self.try_commit(**settings)

    def try_commit(self, *words: str, **settings: str) -> str | None:
        """Commit what is in the index; return the complaint, None where it was done."""
        done = self.run("commit", "--quiet", "--message", "one", *words, **settings)
        assert done.returncode in (0, 1), done.stderr
        return done.stderr if done.returncode else None

    def carry(self, *names: str, text: str = "new\n") -> None:
        """Change files and commit them, whatever anybody has claimed."""
        assert self.commit(*names, text=text, LETAGENTS_GUARD="off") is None

    def beside(self, root: Path) -> "Tree":
        """Return another tree of the same person."""
        return Tree(root, self.home)


def repository(root: Path, home: Path, *, remote: str | None = REMOTE, guard: bool = True) -> Tree:
    """Make a repository with one commit, under guard."""
    root.mkdir(parents=True)
    tree = Tree(root.resolve(), home)
    tree.git("init", "--quiet", "--initial-branch", "main")
    if remote is not None:
        tree.git("remote", "add", "origin", remote)
    tree.write("README.md", "src/app.py", "lib/b.py", text="first\n")
    tree.git("commit", "--quiet", "--message", "first")
    if guard:
        GitHooks(tree.root).install()
    return tree


@attrs.define
class Workers:
    """A room on this machine, in which workers hold tasks and claim paths."""

    home: Path
    rooms: LocalRooms
    board: KeptBoard
    paths: KeptPaths

    async def come(self, number: int) -> Connection:
        """Return a worker's connection."""
        await self.rooms.join(ROOM)
        return await self.rooms.connect(ROOM, _arrival(number))

    async def task(self, who: Connection, title: str) -> str:
        """Give a new task to a worker; return its id."""
        made = await self.board.propose(ROOM, Proposal(title=title))
        await self.take(who, made.view.task.task_id)
        return made.view.task.task_id

    async def take(self, who: Connection, task_id: str) -> None:
        """Let a worker claim a task."""
        await self.board.change(ROOM, task_id, Patch(status=Status.ASSIGNED), who.fence)

    async def claim(
        self,
        who: Connection,
        task_id: str,
        *patterns: str,
        root: Path | None = None,
        repository: str = REPOSITORY,
    ) -> PathClaim:
        """Let a worker claim paths, from a checkout or from nobody knows where."""
        wanted = Wanted(
            task_id=task_id,
            patterns=patterns_of(patterns),
            repository=repository,
            root=str(root) if root else None,
        )
        return (await self.paths.claim(ROOM, wanted, who.fence)).claim

    async def at_work(
        self, number: int, *patterns: str, root: Path | None = None
    ) -> tuple[Connection, str]:
        """Return a worker with a task for which it has claimed paths, and that task."""
        who = await self.come(number)
        task_id = await self.task(who, f"work {number}")
        await self.claim(who, task_id, *patterns, root=root)
        return who, task_id


@asynccontextmanager
async def workers_in(home: Path, term: timedelta = TERM) -> AsyncIterator[Workers]:
    """Open a room in `home`, whose workers are all of this process and have leases of `term`."""
    processes = ProcessLocks(home / "run", SystemIds())
    rooms = LocalRooms(home / "rooms.db", SystemIds(), SystemClock(), NoNudges(), processes)
    try:
        yield Workers(home, rooms, KeptBoard(rooms, term), KeptPaths(rooms, term))
    finally:
        await rooms.aclose()
        processes.close()


def _arrival(number: int) -> Arrival:
    # Not that of the contract suites: benchmarks come here too, and have no pytest.
    worker = WorkerId(f"worker_{number:032x}")
    return Arrival(
        token=Token(f"s{number:042d}"),
        agent_key=f"ada/worker-{number:032x}",
        instance_id=str(worker),
        display_name=f"Worker{number}",
        owner_label="Ada",
        ide_label="Claude Code",
        runtime="claude-code",
        worker_id=worker,
    )
