"""`letagents agents move`: an agent goes to another room, once it is in no turn."""

import argparse
from collections.abc import Mapping
from typing import Any

import anyio

from letagents.domain import rooms
from letagents.entrypoints.cli import printing
from letagents.settings import load
from letagents.wire import supervisor as wire
from letagents.wiring.supervisor import ask_supervisor

PATIENCE = 60.0


def run(arguments: argparse.Namespace) -> int:
    """Prepare the move and commit it; return the exit code."""
    printing.output()
    name = arguments.agent
    found = _asked(wire.INSPECT_AGENT, {"entry_id": name, "source_message_id": None})
    about = {"entry_id": name, "daemon_generation": found["daemon_generation"]}
    current = _asked(wire.GET_CURRENT_MOVE, about)
    destination = str(rooms.canonical(arguments.room))
    if current is None or current["phase"] != "prepared":
        # Each move follows from the last one: one that is asked for twice is made once.
        before = current["updated_at"] if current is not None else "first"
        request = {"destination_room_id": destination, "request_id": f"person:{before}"}
        current = _asked(wire.PREPARE_MOVE, {**about, **request})
    elif current["destination_room_id"] != destination:
        _asked(wire.ROLL_BACK_MOVE, {**about, "operation_id": current["operation_id"]})
        return run(arguments)
    told = _asked(wire.COMMIT_MOVE, {**about, "operation_id": current["operation_id"]})
    if arguments.json:
        printing.say_json(told)
    else:
        printing.say(f"{name} goes to {told['destination_room_id']} once it is in no turn.")
    return 0


def _asked(method: str, params: Mapping[str, object]) -> Any:
    return anyio.run(ask_supervisor, load(), method, params, PATIENCE)
