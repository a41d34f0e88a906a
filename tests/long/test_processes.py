"""Hundreds of processes that come and go while others ask after them and tidy up."""

import multiprocessing
import sys
from multiprocessing.connection import Connection as Pipe
from multiprocessing.process import BaseProcess
from pathlib import Path

import attrs
import pytest

from letagents.adapters.processes import locks
from letagents.adapters.processes.locks import ProcessLocks
from letagents.adapters.system import SystemIds

pytestmark = pytest.mark.long

WAVES = 60
TOGETHER = 8
KEPT = 4
SOON = 30.0


@attrs.define
class Started:
    """A process that tells its name, and what it last heard of each process that it asked after."""

    process: BaseProcess
    pipe: Pipe

    def answer(self) -> object:
        assert self.pipe.poll(SOON)
        return self.pipe.recv()


def live(run_dir: Path, pipe: Pipe) -> None:
    """Be there; ask after whoever is named, many times."""
    locks.REMEMBERED = KEPT  # so that each start finds something to remove
    processes = ProcessLocks(run_dir, SystemIds())
    pipe.send(processes.own)
    while True:
        names = pipe.recv()
        pipe.send({name: {processes.is_alive(name) for _ in range(50)} for name in names})


if sys.platform == "win32":
    _process = multiprocessing.get_context("spawn").Process
else:
    _server = multiprocessing.get_context("forkserver")
    _server.set_forkserver_preload([__name__])
    _process = _server.Process


def start(run_dir: Path) -> Started:
    ours, theirs = multiprocessing.Pipe()
    process: BaseProcess = _process(target=live, args=(run_dir, theirs), daemon=True)
    process.start()
    return Started(process, ours)


@pytest.mark.rule("D20", "D21", "D23", "D24")
def test_nobody_who_is_there_is_ever_taken_for_gone_nor_the_dead_for_there(tmp_path: Path) -> None:
    alive: dict[str, Started] = {}
    dead: list[str] = []
    for _ in range(WAVES):
        begun = [start(tmp_path / "run") for _ in range(TOGETHER)]
        alive |= {str(one.answer()): one for one in begun}
        asked = [*alive, *dead[-2 * KEPT :]]
        for one in alive.values():
            one.pipe.send(asked)
        for one in alive.values():
            heard = one.answer()
            assert isinstance(heard, dict)
            assert all(heard[name] == {True} for name in alive)
            assert all(heard[name] <= {False, None} for name in asked if name not in alive)
        for name in list(alive)[: len(alive) - KEPT]:
            gone = alive.pop(name)
            gone.process.kill()
            gone.process.join(SOON)
            dead.append(name)
    for one in alive.values():
        one.process.kill()

    assert len(set(dead)) == len(dead) == WAVES * TOGETHER - KEPT
    assert len(list((tmp_path / "run" / "processes").iterdir())) <= 2 * KEPT + 2 * TOGETHER
