"""The programs that the documentation shows, run as they stand."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
SAID = {
    "in_memory.py": ["@Ada it reads well.", "refused: connection_replaced"],
    "as_supervisor.py": ["the agent is told: {'id': 'msg_1'}", "in the room: The build is green."],
    "mounted_server.py": ["msg_1 by Juniper", "known there as ada/worker-"],
    "own_rooms.py": ["said in the workshop: 2"],
    "own_supervisor.py": ["Polly answers msg_1: Hello yourself."],
}


def test_every_example_is_expected_to_say_something() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SAID)


@pytest.mark.parametrize("name", sorted(SAID))
def test_an_example_runs_and_says_what_its_page_promises(name: str) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / name], capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 0, done.stderr
    assert [line for line in SAID[name] if line not in done.stdout] == []
