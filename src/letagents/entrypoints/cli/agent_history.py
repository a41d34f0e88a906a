"""`letagents agents history`: what was changed of agents, when, and by which process."""

import argparse
from collections.abc import Mapping
from typing import Any

import anyio

from letagents.entrypoints.cli import printing
from letagents.settings import load
from letagents.wire import supervisor as wire
from letagents.wiring.supervisor import ask_supervisor

_SAID = {
    "wanted": "wanted",
    "granted": "let in by the grant",
    "grant_given_up": "its grant was given up",
    "message_retried": "to be tried again",
    "message_skipped": "passed over",
    "effect_settled": "settled",
    "turn_stopped": "its turn was stopped at",
    "stop_settled": "the stop was",
    "move_taken_back": "move taken back",
}


def run(arguments: argparse.Namespace) -> int:
    """Say what was changed, the newest last; return the exit code."""
    printing.output()
    facts = {"entry_id": arguments.agent or "", "limit": arguments.number}
    found = _asked(facts) if arguments.number else []
    for deed in found:
        if arguments.json:
            printing.say_json(deed)
        else:
            printing.say(printing.one_line(_line(deed)))
    if not found and not arguments.json:
        printing.say("Nothing was changed yet.")
    return 0


def _line(deed: Mapping[str, Any]) -> str:
    what = _SAID.get(deed["act"], deed["act"])
    detail = f" {deed['detail']}" if deed["detail"] else ""
    by = f"  by {deed['by']}" if deed["by"] else ""
    return f"{deed['at']}  {deed['entry_id']}  {what}{detail}{by}"


def _asked(facts: Mapping[str, object]) -> Any:
    return anyio.run(ask_supervisor, load(), wire.LIST_DEEDS, facts)
