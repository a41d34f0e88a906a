"""Surroundings, read from the git checkout and the machine."""

import getpass
import subprocess

import anyio
import attrs

LIMIT = 5.0
"""Seconds that git may take. (Source: mcp-tools 5.1.)"""


@attrs.define
class GitSurroundings:
    """Asks git each time. One that is missing, or takes longer than `limit`, has nothing to say."""

    git: str = "git"
    limit: float = LIMIT

    async def person(self) -> str | None:
        """Return git's user.name, else what its user.email begins with, else the system's user."""
        with anyio.move_on_after(self.limit):
            name = await self._ask("config", "--get", "user.name")
            name = name or _before_the_at(await self._ask("config", "--get", "user.email"))
            return name or _system_user()
        return _system_user()

    async def branch(self, cwd: str | None = None) -> str | None:
        """Return the branch checked out in `cwd`; None outside a checkout and on no branch."""
        with anyio.move_on_after(self.limit):
            return await self._ask("branch", "--show-current", cwd=cwd)
        return None

    async def _ask(self, *words: str, cwd: str | None = None) -> str | None:
        try:
            done = await anyio.run_process(
                [self.git, *words],
                cwd=cwd,
                check=False,
                stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except (OSError, ValueError):  # it cannot be started, or not in that folder
            return None
        answer = done.stdout.decode("utf-8", "replace").strip()
        return answer if done.returncode == 0 and answer else None


def _before_the_at(email: str | None) -> str:
    return (email or "").partition("@")[0]


def _system_user() -> str | None:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return None
