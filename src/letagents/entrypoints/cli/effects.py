"""`letagents effects`: what agents may have done before a crash, and a person's word on it."""

import argparse
from collections.abc import Mapping
from typing import Any

import anyio

from letagents.domain.errors import Malformed
from letagents.entrypoints.cli import printing
from letagents.settings import load
from letagents.wire import supervisor as wire
from letagents.wiring.supervisor import ask_supervisor


def run(arguments: argparse.Namespace) -> int:
    """List what is uncertain, or settle one; return the exit code."""
    printing.output()
    settled = arguments.happened or arguments.not_done
    if settled is not None:
        if arguments.agent:
            raise Malformed(
                "An effect is settled by its id alone, whoever's it is.",
                remedy=f"Leave {arguments.agent} out.",
            )
        facts = {"effect_id": settled, "happened": arguments.happened is not None}
        effect = _asked(wire.SETTLE_EFFECT, facts)
        _say([effect], arguments)
        return 0
    found = _asked(wire.LIST_EFFECTS, {"entry_id": arguments.agent or ""})
    if not found and arguments.agent:
        _asked(wire.READ_ATTEMPT, {"id": arguments.agent})  # which refuses one that there is not
    _say(found, arguments)
    if not found and not arguments.json:
        printing.say("Nothing is uncertain.")
    return 0


def _asked(method: str, params: Mapping[str, object]) -> Any:
    return anyio.run(ask_supervisor, load(), method, params)


def _say(effects: list[dict[str, Any]], arguments: argparse.Namespace) -> None:
    for effect in effects:
        if arguments.json:
            printing.say_json(effect)
            continue
        given = wire.canonical(effect["input"])
        printing.say(
            f"{effect['effect_id']}  {effect['created_at']}  {effect['entry_id']} in "
            f"{effect['room_id']}: {effect['tool_name']} {given} ({effect['state']})"
        )
