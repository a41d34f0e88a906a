"""Surroundings, read from the git checkout and the machine."""

import getpass
import subprocess

import anyio
import attrs

LIMIT = 5.0
"""Seconds that git may take. (Source: mcp-tools 5.1.)"""


@attrs.define
class GitSurroundings:
    """Asks git each time; a missing or hanging git gives None."""

    git: str = "git"

    async def person(self) -> str | None:
        if name := await self._ask("config", "--get", "user.name"):
            return name
        email = await self._ask("config", "--get", "user.email")
        if email and (local := email.split("@")[0]):
            return local
        return _system_user()

    async def branch(self, cwd: str | None = None) -> str | None:
        return await self._ask("branch", "--show-current", cwd=cwd)

    async def _ask(self, *words: str, cwd: str | None = None) -> str | None:
        try:
            with anyio.fail_after(LIMIT):
                done = await anyio.run_process(
                    [self.git, *words],
                    cwd=cwd,
                    check=False,
                    stdin=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
        except (OSError, TimeoutError):
            return None
        answer = done.stdout.decode("utf-8", "replace").strip()
        return answer if done.returncode == 0 and answer else None


def _system_user() -> str | None:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return None
