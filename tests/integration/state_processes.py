"""What other processes do to a state, in the tests of what only processes can show.

Run as `python -m tests.integration.state_processes ROLE PATH [ARGUMENT]`.
"""

import json
import os
import sys
import threading
from functools import partial
from pathlib import Path

import anyio
import attrs

from letagents.adapters.state.json_file import JsonFileState
from letagents.adapters.state.lockfile import try_acquire
from letagents.adapters.state.sqlite import SqliteState
from letagents.domain.local_state import LocalState

Counts = dict[str, int]


def counted(name: str, state: LocalState) -> tuple[LocalState, int]:
    """Raise the count of `name`, which is kept where no rule interprets it."""
    counts = state.extra.get("counts", {})
    assert isinstance(counts, dict)
    count = counts.get(name, 0) + 1
    return attrs.evolve(state, extra={**state.extra, "counts": {**counts, name: count}}), count


def say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def store_at(path: Path) -> JsonFileState | SqliteState:
    return SqliteState(path) if path.suffix == ".db" else JsonFileState(path)


async def count(path: Path, times: int, name: str) -> None:
    """Count up; say each number once it was acknowledged."""
    store = store_at(path)
    for _ in range(times):
        say(await store.transact(partial(counted, name)))
    if isinstance(store, SqliteState):
        store.close()


def count_like_the_npm_package(path: Path, times: int, name: str) -> None:
    """Count up under the lock as state-and-rules.md 2.4 describes it, without any care for ours."""
    lock = path.with_name(f"{path.name}.lock")
    for _ in range(times):
        while True:
            try:
                descriptor = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                break
            except FileExistsError:
                threading.Event().wait(0.002)
        plain = json.loads(path.read_text("utf-8")) if path.exists() else {}
        counts = plain.setdefault("counts", {})
        counts[name] = counts.get(name, 0) + 1
        temporary = path.with_name(f"{path.name}.{os.getpid()}.0123456789ab.tmp")
        temporary.write_text(json.dumps(plain, indent=2), "utf-8")
        temporary.replace(path)
        os.close(descriptor)
        lock.unlink(missing_ok=True)


def hold(path: Path) -> None:
    """Hold the lock until the process ends."""
    held = try_acquire(path)
    say("held" if held else "refused")
    sys.stdin.read()


def main() -> None:
    role, path, *rest = sys.argv[1:]
    if role == "count":
        anyio.run(count, Path(path), int(rest[0]), rest[1])
    elif role == "npm":
        count_like_the_npm_package(Path(path), int(rest[0]), rest[1])
    else:
        hold(Path(path))


if __name__ == "__main__":
    main()
