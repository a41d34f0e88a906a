"""What is said of agents at a shell."""

import argparse
from typing import Any

import pytest

from letagents.domain.surfaces import LOCAL_ROOMS
from letagents.entrypoints.cli import agent_states

PLAIN = argparse.Namespace(json=False)
AGENT: dict[str, Any] = {
    "id": "ada",
    "provider": "codex",
    "room_id": "workshop",
    "api_url": LOCAL_ROOMS,
    "desired_state": "running",
    "observed_state": "starting",
    "last_error": None,
    "restarts": 1,
}


def test_what_a_program_wrote_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    agent_states.say([{**AGENT, "last_error": "It wrote: \x1b[2Jhello\nthere"}], PLAIN)

    assert capsys.readouterr().out.splitlines() == [
        "ada  codex in workshop: wanted running, starting",
        "  It wrote: \\x1b[2Jhello",
        "  there",
    ]


def test_who_follows_is_told_of_what_is_seen_to_change_alone() -> None:
    again, idle = {**AGENT, "restarts": 2}, {**AGENT, "observed_state": "idle"}

    assert agent_states.news([AGENT], [again], PLAIN) == []
    assert agent_states.news([AGENT], [again], argparse.Namespace(json=True)) == [again]
    assert agent_states.news([AGENT], [idle], PLAIN) == [idle]
    assert agent_states.news([], [AGENT], PLAIN) == [AGENT]
