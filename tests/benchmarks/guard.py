"""What a commit of many files pays for the guard, as whole processes; and a claim among many."""

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import anyio
from tests.benchmarks.reporting import Row
from tests.integration.guarded import Tree, Workers, environment, repository, workers_in

FILES = 100
CLAIMS = 250
"""Of four patterns each, by another agent."""
TIMES = 30


def guard_on_a_commit(home: Path) -> list[Row]:
    """The hook as git calls it, and the command, over a thousand patterns of somebody else's."""
    return anyio.run(_guarded, home)


def claim_among_many(home: Path) -> list[Row]:
    """A claim in a room where somebody else has claimed a thousand patterns."""
    return anyio.run(_claimed, home)


async def _guarded(home: Path) -> list[Row]:
    tree = repository(home / "checkout", home / "rooms")
    async with workers_in(tree.home) as workers:
        await _claims(workers)
        bob = await workers.come(2)
        await workers.claim(bob, await workers.task(bob, "work"), "ours/", root=tree.root)
        tree.write(*(f"{('ours', 'free')[n % 2]}/{n}/x.py" for n in range(FILES)))
        hook = str(tree.root / ".git" / "hooks" / "pre-commit")
        command = [sys.executable, "-m", "letagents", "guard", "check"]
        return [
            await anyio.to_thread.run_sync(partial(_row, tree, "the guard's hook", [hook])),
            await anyio.to_thread.run_sync(partial(_row, tree, "letagents guard check", command)),
        ]


def _row(tree: Tree, what: str, words: Sequence[str]) -> Row:
    ours, bare = [], []
    for _ in range(TIMES):
        ours.append(_milliseconds(tree, words))
        bare.append(_milliseconds(tree, [sys.executable, "-c", "pass"]))
    details = f"least {min(ours):.0f}; a bare Python {statistics.median(bare):.0f}"
    label = f"{what} on a commit of {FILES} files, whole process, median ms"
    return Row(label, statistics.median(ours), 150, details)


def _milliseconds(tree: Tree, words: Sequence[str]) -> float:
    began = time.perf_counter()
    subprocess.run(words, cwd=tree.root, env=environment(tree.home), check=True)
    return (time.perf_counter() - began) * 1000


async def _claimed(home: Path) -> list[Row]:
    async with workers_in(home) as workers:
        await _claims(workers)
        bob = await workers.come(2)
        task_id = await workers.task(bob, "work")
        spans = []
        for number in range(TIMES):
            began = time.perf_counter()
            await workers.claim(bob, task_id, f"ours{number}/**/*.py", f"ours{number}/x/")
            spans.append((time.perf_counter() - began) * 1000)
    label = f"a claim beside {4 * CLAIMS} patterns, in the store, synced, median ms"
    return [Row(label, statistics.median(spans), 10, f"least {min(spans):.1f}")]


async def _claims(workers: Workers) -> None:
    ada = await workers.come(1)
    task_id = ""
    for number in range(CLAIMS):
        if number % 50 == 0:
            task_id = await workers.task(ada, f"work {number}")
        patterns = ("a{}/", "b{}/**/*.py", "c{}.py", "docs/*{}.md")
        await workers.claim(ada, task_id, *(one.format(number) for one in patterns))


MEASURED = (guard_on_a_commit, claim_among_many)
