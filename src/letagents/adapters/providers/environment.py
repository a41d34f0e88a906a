"""What a program that runs an agent finds in its environment: no credential of letagents.

What the person set for the program itself, such as its own key, is passed on: it is how the program
signs in. What an agent's program around us said of itself is not: it is no part of the new one.
"""

import os
from collections.abc import Mapping

from letagents.ports.providers import Launch

_KEPT = ("LETAGENTS_HOME",)
FOREIGN = (
    "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CODEX_CI",
    "CODEX_INTERNAL_ORIGINATOR_OVERRIDE", "CODEX_SHELL", "CODEX_THREAD_ID",
)  # fmt: skip
REFUSED = ("LETAGENTS_TOKEN", "LETAGENTS_AGENT_SESSION_BEARER")
"""What a supervised process is never given. (Source: supervisor 4.1.)"""


def environment(launch: Launch, inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment of an agent's program."""
    return without_ours(inherited) | coordinates(launch)


def without_ours(inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment of a program that is only asked something."""
    return {
        name: value
        for name, value in inherited.items()
        if (not name.startswith("LETAGENTS_") or name in _KEPT) and name not in FOREIGN
    }


def of_tools(launch: Launch, inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return what letagents needs beside what every program of the agent's finds."""
    kept = {name: inherited[name] for name in _KEPT if name in inherited}
    return kept | coordinates(launch)


def coordinates(launch: Launch) -> dict[str, str]:
    """Return where the supervisor is found."""
    return {name: value for name, value in launch.coordinates.items() if name not in REFUSED}
