"""Tasks whose holders are killed or silent, as agents in real processes see it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import anyio
import pytest
from tests.e2e.chats import Served

SHORT = {"LETAGENTS_LEASE_TERM": "1"}
SOON = 30


@contextmanager
def machine(home: Path, settings: dict[str, str] | None = None) -> Iterator["Machine"]:
    with ExitStack() as started:
        yield Machine(home, settings, started)


class Machine:
    """One home, in which processes are started."""

    def __init__(self, home: Path, settings: dict[str, str] | None, started: ExitStack) -> None:
        self.home, self.settings, self.started = home, settings, started

    def start(self) -> Served:
        served = self.started.enter_context(Served(self.home, settings=self.settings))
        served.call("join_room", name="workshop")
        return served

    def at_work(self, name: str) -> tuple[Served, str, str]:
        """Start a worker, give it a task, and return both."""
        served = self.start()
        worker_id = registered(served, name)
        task = served.call("add_task", title=f"For {name}", worker_id=worker_id)
        task_id = task["task"]["id"]
        served.call("update_task", task_id=task_id, status="accepted", worker_id=worker_id)
        served.call("claim_task", task_id=task_id, worker_id=worker_id)
        return served, worker_id, task_id


def registered(served: Served, name: str) -> str:
    told = served.call(
        "register_agent_session",
        room_id="workshop",
        registration_key=f"{name}'s key",
        display_name=name,
    )
    return str(told["worker_id"])


def kill(served: Served) -> None:
    served.process.kill()
    served.process.wait()


def can_claim(served: Served, **arguments: str) -> bool:
    result = served.answer(served.begin("claim_task", **arguments))["result"]
    assert result["isError"] is False or "is not yours" in result["content"][0]["text"], result
    return result["isError"] is False


@pytest.mark.rule("E8")
def test_a_worker_that_was_killed_is_told_of_its_tasks_when_it_is_back(tmp_path: Path) -> None:
    with machine(tmp_path) as here:
        killed, worker_id, task_id = here.at_work("Juniper")
        kill(killed)
        back, other = here.start(), here.start()
        other_id = registered(other, "Maple")
        assert not can_claim(other, task_id=task_id, worker_id=other_id)
        told = back.call("register_agent_session", room_id="workshop", worker_id=worker_id)
        again = back.call("register_agent_session", room_id="workshop", worker_id=worker_id)
        moved = back.call("update_task", task_id=task_id, status="in_progress", worker_id=worker_id)

    assert told["resumed_work"].startswith(f"{task_id} (work). Carry on")
    assert "resumed_work" not in again
    assert moved["task"]["status"] == "in_progress"


@pytest.mark.rule("L1", "L2", "D20", "D21")
async def test_the_task_of_the_dead_falls_free_and_that_of_the_silent_does_not(
    tmp_path: Path,
) -> None:
    with machine(tmp_path, SHORT) as here:
        silent, silent_id, kept = here.at_work("Juniper")
        killed, _, freed = here.at_work("Rowan")
        other = here.start()
        other_id = registered(other, "Maple")
        kill(killed)
        with anyio.fail_after(SOON):
            while not can_claim(other, task_id=freed, worker_id=other_id):
                await anyio.lowlevel.checkpoint()
        taken = can_claim(other, task_id=kept, worker_id=other_id)
        moved = silent.call("update_task", task_id=kept, status="in_review", worker_id=silent_id)

    assert not taken, "its last word is older than that of the one who is dead"
    assert moved["task"]["status"] == "in_review"
