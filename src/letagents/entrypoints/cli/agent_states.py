"""`letagents agents list --follow` and `processes`: how agents are, and what they have run."""

import argparse
from collections.abc import Mapping
from typing import Any

import anyio

from letagents.domain.manifest import Ending
from letagents.domain.supervised import SupervisorSilent, SupervisorUnavailable
from letagents.domain.surfaces import LOCAL_ROOMS
from letagents.entrypoints.cli import printing
from letagents.settings import load
from letagents.wire import supervisor as wire
from letagents.wiring.supervisor import ask_supervisor

WAIT_MS = 25_000
PATIENCE = 60.0
AGAIN_AFTER = 1.0
"""Seconds until a supervisor that has gone is asked again."""


def run(arguments: argparse.Namespace) -> int:
    """Do what the verb says; return the exit code."""
    printing.output()
    if arguments.command == "processes":
        _processes(arguments)
    else:
        _follow(arguments)
    return 0


def _follow(arguments: argparse.Namespace) -> None:
    """Say how each agent is, and again when that changes; a supervisor that goes is waited for."""
    told = _watched(None)
    say(told["entries"], arguments)
    while True:
        before, told = told["entries"], _next(told)
        if changed := news(before, told["entries"], arguments):
            say(changed, arguments)
        there = {agent["id"] for agent in told["entries"]}
        for name in sorted({agent["id"] for agent in before} - there):
            _say_gone(name, arguments)


def news(
    before: list[dict[str, Any]], there: list[dict[str, Any]], arguments: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return the agents of which something else is said now than before."""
    said = {agent["id"]: _told(agent, arguments) for agent in before}
    return [one for one in there if said.get(one["id"]) != _told(one, arguments)]


def _told(agent: Mapping[str, Any], arguments: argparse.Namespace) -> object:
    """Return what is said of an agent."""
    return agent if arguments.json else _lines(agent)


def _next(last: Mapping[str, Any]) -> dict[str, Any]:
    while True:
        try:
            return _watched(last)
        except (SupervisorUnavailable, SupervisorSilent):
            anyio.run(anyio.sleep, AGAIN_AFTER)


def _watched(last: Mapping[str, Any] | None) -> dict[str, Any]:
    known = (
        {}
        if last is None
        else {
            "after_daemon_generation": last["daemon_generation"],
            "after_sequence": last["sequence"],
        }
    )
    told: dict[str, Any] = _asked(wire.WATCH_AGENTS, {**known, "wait_ms": WAIT_MS})
    return told


def _say_gone(name: str, arguments: argparse.Namespace) -> None:
    if arguments.json:
        printing.say_json({"id": name, "removed": True})
    else:
        printing.say(f"{name} is no agent of this home any more.")


def _processes(arguments: argparse.Namespace) -> None:
    told = _asked(wire.READ_ATTEMPT, {"id": arguments.agent})
    processes = told["execution_generations"]
    for process in processes:
        if arguments.json:
            printing.say_json(process)
            continue
        end = process["terminal"]
        became = f"{_how(end)} at {end['ended_at']}" if end else "is there"
        printing.say(f"{process['started_at']}  {became}")
        for line in _last_words(end):
            printing.say(printing.one_line(f"  {line}"))
    if not processes and not arguments.json:
        printing.say(f"{arguments.agent} has had no process yet.")


def _last_words(end: Mapping[str, Any] | None) -> list[str]:
    """Return what a process wrote last that nobody has stopped."""
    if end is None or end["terminal_cause"] == Ending.STOPPED.value:
        return []
    return str(end["stdio_tail"]).splitlines()


def _how(end: Mapping[str, Any]) -> str:
    """Return how a process ended, with its exit code or signal where one is known."""
    code, cause = end["exit_code"], str(end["terminal_cause"])
    exit_ = end["signal"] or (f"exit code {code}" if code is not None else None)
    return cause if exit_ is None else f"{cause} ({exit_})"


def _asked(method: str, params: Mapping[str, object]) -> Any:
    return anyio.run(ask_supervisor, load(), method, params, PATIENCE)


def _where(agent: Mapping[str, Any]) -> str:
    """Return which server an agent's room is on; nothing for this machine."""
    return "" if agent["api_url"] == LOCAL_ROOMS else f" at {agent['api_url']}"


def head(agent: Mapping[str, Any]) -> str:
    """Return in one line which agent it is, where it works, and how it is."""
    return (
        f"{agent['id']}  {agent['provider']} in {agent['room_id']}{_where(agent)}: wanted "
        f"{agent['desired_state']}, {agent['observed_state']}"
    )


def _lines(agent: Mapping[str, Any]) -> list[str]:
    error = printing.lines(agent["last_error"]) if agent["last_error"] else []
    return [printing.one_line(head(agent)), *(f"  {line}" for line in error)]


def say(agents: list[dict[str, Any]], arguments: argparse.Namespace) -> None:
    """Say how agents are, a line each; that there are none, if so."""
    for agent in agents:
        if arguments.json:
            printing.say_json(agent)
            continue
        for line in _lines(agent):
            printing.say(line)
    if not agents and not arguments.json:
        printing.say("There are no agents. `letagents agents add` adds one.")
