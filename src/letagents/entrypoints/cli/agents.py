"""`letagents agents`: which agents the supervisor of this home looks after, and what is wanted."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio

from letagents.domain import rooms
from letagents.domain.errors import Malformed
from letagents.domain.surfaces import LOCAL_ROOMS
from letagents.entrypoints.cli import printing
from letagents.settings import load
from letagents.wire import supervisor as wire
from letagents.wiring import ask_supervisor

_WANTED = {"start": "running", "pause": "paused", "stop": "stopped"}


def run(arguments: argparse.Namespace) -> int:
    """Do what the verb says; return the exit code."""
    printing.output()
    verb = arguments.command
    if verb == "list":
        _say(_asked(wire.LIST_AGENTS, {}), arguments)
    elif verb == "add":
        _say([_asked(wire.PUT_AGENT, {"entry": _entry(arguments)})], arguments)
    elif verb == "remove":
        _asked(wire.REMOVE_AGENT, {"id": arguments.agent})
        printing.say(f"{arguments.agent} is no agent of this home any more.")
    else:
        facts = {"id": arguments.agent, "desired_state": _WANTED[verb]}
        _say([_asked(wire.WANT_AGENT, facts)], arguments)
    return 0


def _entry(arguments: argparse.Namespace) -> Mapping[str, object]:
    workspace = Path(arguments.workspace).expanduser().absolute()
    if not workspace.is_dir():
        raise Malformed(
            f"There is no folder {workspace}.", remedy="Pass --workspace with one that there is."
        )
    room_id, settings = rooms.canonical(arguments.room), load()
    usual = settings.server_url if settings.is_hosted(room_id) else LOCAL_ROOMS
    return {
        "id": arguments.agent,
        "room_id": str(room_id),
        "api_url": arguments.server or usual,
        "display_name": arguments.name or arguments.agent,
        "provider": arguments.provider,
        "model": arguments.model,
        "charter": arguments.charter,
        "workspace_path": str(workspace),
        "desired_state": "running",
    }


def _asked(method: str, params: Mapping[str, object]) -> Any:
    return anyio.run(ask_supervisor, load(), method, params)


def _where(agent: Mapping[str, Any]) -> str:
    """Return which server an agent's room is on; nothing for this machine."""
    return "" if agent["api_url"] == LOCAL_ROOMS else f" at {agent['api_url']}"


def _say(agents: list[dict[str, Any]], arguments: argparse.Namespace) -> None:
    for agent in agents:
        if arguments.json:
            printing.say_json(agent)
            continue
        printing.say(
            f"{agent['id']}  {agent['provider']} in {agent['room_id']}{_where(agent)}: wanted "
            f"{agent['desired_state']}, {agent['observed_state']}"
        )
        if agent["last_error"]:
            printing.say(f"  {agent['last_error']}")
    if not agents and not arguments.json:
        printing.say("There are no agents. `letagents agents add` adds one.")
