"""`letagents agents grant`: let an agent into its room by a host grant."""

import argparse
import hashlib
import json
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio

from letagents.domain import manifest
from letagents.domain.errors import Malformed
from letagents.domain.held_grants import GrantCallFailed
from letagents.entrypoints.cli import printing
from letagents.entrypoints.daemon.grants import grant_of
from letagents.settings import load
from letagents.wire import moments
from letagents.wire import supervisor as wire
from letagents.wire.supervisor import Params
from letagents.wiring.granting import renewed_grant
from letagents.wiring.supervisor import ask_supervisor

PATIENCE = 60.0
_GIVEN = ("grant_id", "supervisor_grant", "grant_generation", "grant_expires_at")


def run(arguments: argparse.Namespace) -> int:
    """Hand over the grant; return the exit code: 1 if it is not taken."""
    printing.output()
    if arguments.give_up:
        return _given_up(arguments)
    given, agent = _given(arguments.file), _agent(arguments.agent)
    facts: dict[str, Any] = {
        **{name: given.get(name) for name in _GIVEN},
        "entry_id": agent["id"],
        "room_id": agent["room_id"],
        "api_url": agent["api_url"],
        "agent_key": given.get("agent_key") or f"{given.get('owner_login')}/{agent['id']}",
        "owner_account_id": given.get("owner_account_id"),
        "host_id": platform.node() or "host",
        "installation_id": _installation(),
        "daemon_generation": _asked(wire.STATUS, {})["generation"],
    }
    told = _asked(wire.INSTALL_GRANT, facts | _renewed(facts))
    if arguments.json:
        printing.say_json(told)
    else:
        printing.say(f"{agent['id']}: {_WORDS[told['status']]}")
    return 0 if told["status"] == "installed" else 1


def _given_up(arguments: argparse.Namespace) -> int:
    told = _asked(wire.GIVE_UP_GRANT, {"entry_id": arguments.agent})
    if arguments.json:
        printing.say_json(told)
    else:
        printing.say(
            f"{arguments.agent}: its grant is forgotten; the machine's sign-in lets it in."
        )
    return 0


_WORDS = {
    "installed": "the grant is held in memory until the supervisor ends.",
    "stale": "the grant is over, or not for the server of this agent's room.",
    "provider_unavailable": "it has no process.",
}


def _renewed(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the server says of the grant now: what was printed of its end may be long ago.

    Raises:
        GrantCallFailed: it will have nothing of it any more.
    """
    grant = grant_of(Params(facts))
    if grant is None:
        return {}
    try:
        renewed = anyio.run(renewed_grant, grant)
    except GrantCallFailed as error:
        if error.is_definitive:
            raise
        return {}
    return {
        "supervisor_grant": renewed.secret.value,
        "grant_generation": renewed.generation,
        "grant_expires_at": moments.to_text(renewed.expires_at),
    }


def _given(file: str) -> Mapping[str, Any]:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).expanduser().read_text("utf-8")
        given = json.loads(text)
    except OSError as error:
        raise Malformed(
            f"{file} cannot be read: {error.strerror or type(error).__name__}.",
            remedy="Pass --file with the path of a file of yours, or - to be read from.",
        ) from error
    except (ValueError, RecursionError, RuntimeError):
        given = None
    if not isinstance(given, dict):
        raise Malformed(
            "That is no host grant.", remedy="Pass what `letagents accounts grant LOGIN` printed."
        )
    return given


def _agent(name: str) -> Mapping[str, Any]:
    for agent in _asked(wire.LIST_AGENTS, {}):
        if agent["id"] == name:
            found: Mapping[str, Any] = agent
            return found
    raise manifest.unknown(name)


def _installation() -> str:
    """Return a name of this home that tells nothing of where it is."""
    return hashlib.sha256(str(load().home.absolute()).encode()).hexdigest()[:32]


def _asked(method: str, params: Mapping[str, object]) -> Any:
    return anyio.run(ask_supervisor, load(), method, params, PATIENCE)
