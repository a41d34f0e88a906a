"""`letagents agents stop-turn`: the turn that an agent is in is stopped, or begun anew."""

import argparse
from collections.abc import Mapping
from typing import Any

import anyio

from letagents.domain.errors import NotAvailable
from letagents.entrypoints.cli import printing
from letagents.settings import load
from letagents.wire import supervisor as wire
from letagents.wiring.supervisor import ask_supervisor

PATIENCE = 60.0
_IN_TURN = ("awaiting_result", "result_recovery")


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked; return the exit code: 1 if what became of the turn is not known."""
    printing.output()
    found = _asked(wire.INSPECT_AGENT, {"entry_id": arguments.agent, "source_message_id": None})
    if arguments.stopped or arguments.not_stopped:
        told = _asked(wire.RESOLVE_CONTROL, _seen(found, arguments))
    else:
        told = _asked(wire.CONTROL_TURN, _named(found, arguments))
    if arguments.json:
        printing.say_json(told)
    else:
        printing.say(printing.one_line(_became(told, arguments.agent)))
    return 1 if told["status"] in ("uncertain", "dispatching") else 0


def _named(found: Mapping[str, Any], arguments: argparse.Namespace) -> dict[str, object]:
    """Return exactly the turn that the agent is in, and what is to be done about it."""
    items = [one for one in found["items"] if one["state"] in _IN_TURN and one["provider_turn_id"]]
    if not items or found["route"] is None:
        raise NotAvailable(
            f"{arguments.agent} is in no turn.",
            remedy="`letagents agents status` shows what each agent is at.",
        )
    item, route = items[-1], found["route"]
    return {
        "id": arguments.agent,
        "daemon_generation": found["daemon_generation"],
        "room_id": route["room_id"],
        "work_attempt_id": route["work_attempt_id"],
        "execution_generation_id": route["execution_generation_id"],
        "provider_continuation_id": found["provider_continuation_id"],
        "provider_turn_id": item["provider_turn_id"],
        "inbox_item_id": item["inbox_item_id"],
        "source_message_id": item["source_message_id"],
        # A turn is stopped once, however often that is asked for.
        "action_id": f"stop:{item['provider_turn_id']}"[:200],
        "action_sequence": 1,
        "correction": arguments.correct,
    }


def _seen(found: Mapping[str, Any], arguments: argparse.Namespace) -> dict[str, object]:
    control = found["agent"]["turn_control"]
    if control is None:
        raise NotAvailable(
            f"No turn of {arguments.agent} was to be stopped.", remedy="Look at its status."
        )
    return {
        "id": arguments.agent,
        "work_attempt_id": control["work_attempt_id"],
        "execution_generation_id": control["execution_generation_id"],
        "action_id": control["action_id"],
        "resolution": "applied" if arguments.stopped else "not_applied",
    }


def _became(told: Mapping[str, Any], name: str) -> str:
    if told["status"] in ("uncertain", "dispatching"):
        why = f" {told['error']}" if told["error"] else ""
        return (
            f"Whether the turn was stopped is not known yet.{why} `letagents agents status {name}` "
            f"shows it once it is; if you see it, say so: `letagents agents stop-turn {name} "
            "--stopped`, or `--not-stopped`."
        )
    if not told["interrupted"]:
        return f"The turn was not stopped. {told['error'] or ''}".rstrip()
    if told["has_correction"]:
        return "The turn is stopped, and its message is begun anew with your words."
    return "The turn is stopped, and nothing of it is posted."


def _asked(method: str, params: Mapping[str, object]) -> Any:
    return anyio.run(ask_supervisor, load(), method, params, PATIENCE)
