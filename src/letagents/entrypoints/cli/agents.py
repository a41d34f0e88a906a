"""`letagents agents`: which agents the supervisor of this home looks after, and what is wanted."""

import argparse
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio

from letagents.domain import rooms
from letagents.domain.errors import Malformed
from letagents.domain.surfaces import LOCAL_ROOMS
from letagents.entrypoints.cli import agent_states, printing
from letagents.settings import load
from letagents.wire import supervisor as wire
from letagents.wiring.supervisor import ask_supervisor

PATIENCE = 300.0
"""Seconds for what programs and large folders are waited for."""
_ELSEWHERE = {
    **dict.fromkeys(("status", "logs", "retry", "skip"), "letagents.entrypoints.cli.agent_logs"),
    "grant": "letagents.entrypoints.cli.agent_grants",
    "move": "letagents.entrypoints.cli.agent_moves",
    "stop-turn": "letagents.entrypoints.cli.agent_turns",
    "processes": "letagents.entrypoints.cli.agent_states",
    "history": "letagents.entrypoints.cli.agent_history",
}
_WANTED = {"start": "running", "pause": "paused", "stop": "stopped"}


def run(arguments: argparse.Namespace) -> int:
    """Do what the verb says; return the exit code."""
    verb = arguments.command
    if verb in _ELSEWHERE:
        return int(import_module(_ELSEWHERE[verb]).run(arguments))
    if verb == "list" and arguments.follow:
        return agent_states.run(arguments)
    printing.output()
    if verb == "list":
        agent_states.say(_asked(wire.LIST_AGENTS, {}), arguments)
    elif verb == "add":
        added = _asked(wire.PUT_AGENT, {"entry": _entry(arguments)}, PATIENCE)
        agent_states.say([added], arguments)
        _say_folder(added, arguments)
    elif verb == "remove":
        _say_removed(_asked(wire.REMOVE_AGENT, {"id": arguments.agent}, PATIENCE), arguments)
    elif verb == "rename":
        facts = {"id": arguments.agent, "display_name": arguments.name}
        renamed = _asked(wire.NAME_AGENT, facts)
        agent_states.say([renamed], arguments)
        if not arguments.json:
            printing.say(f"  Others call it {renamed['display_name']} from its next start on.")
    else:
        facts = {"id": arguments.agent, "desired_state": _WANTED[verb]}
        agent_states.say([_asked(wire.WANT_AGENT, facts)], arguments)
    return 0


def _entry(arguments: argparse.Namespace) -> Mapping[str, object]:
    own = arguments.repo is not None
    if not own and (arguments.branch or arguments.base):
        raise Malformed(
            "--branch and --base say how a folder is made.", remedy="Pass --repo DIR with them."
        )
    folder = _folder(arguments.repo if own else arguments.workspace)
    where = "source_repo_path" if own else "workspace_path"
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
        where: folder,
        "branch": arguments.branch,
        "base": arguments.base,
        "desired_state": "running",
        "delivery_mode": "mcp_polling" if arguments.polling else "daemon_inbox",
        **_model(arguments),
    }


def _model(arguments: argparse.Namespace) -> Mapping[str, object]:
    """Return where an open model is, and by what its key is found."""
    is_open = arguments.provider == "open-model"
    if is_open and not (arguments.base_url and arguments.model):
        raise Malformed(
            "An agent of an open model has an address of it, and its name.",
            remedy="Pass --base-url URL and --model NAME; its key by --key-env or --key-file.",
        )
    file = arguments.key_file and str(Path(arguments.key_file).expanduser().absolute())
    named = {
        "base_url": arguments.base_url,
        "api_key_variable": arguments.key_env,
        "api_key_file": file,
    }
    return {name: value for name, value in named.items() if value}


def _folder(given: str) -> str:
    folder = Path(given).expanduser().absolute()
    if not folder.is_dir():
        raise Malformed(f"There is no folder {folder}.", remedy="Pass one that there is.")
    return str(folder)


def _say_folder(agent: Mapping[str, Any], arguments: argparse.Namespace) -> None:
    """Say where an agent works that has a folder of its own."""
    if arguments.json or agent["source_repo_path"] is None:
        return
    printing.say(f"  It works in {agent['workspace_path']} on the branch {agent['branch']}.")
    if agent["source_repo_had_changes"]:
        printing.say(
            f"  Changes in {agent['source_repo_path']} that are not committed are not in it: it "
            f"begins at {agent['resolved_revision'][:12]}."
        )


def _say_removed(told: Mapping[str, Any], arguments: argparse.Namespace) -> None:
    if arguments.json:
        printing.say_json(told)
        return
    printing.say(f"{told['id']} is no agent of this home any more.")
    if (kept := told["kept"]) is not None:
        printing.say(f"  Its folder {kept['workspace_path']} is kept: {kept['why']}.")


def _asked(method: str, params: Mapping[str, object], patience: float | None = None) -> Any:
    return anyio.run(ask_supervisor, load(), method, params, patience)
