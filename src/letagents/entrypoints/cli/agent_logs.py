"""`letagents agents status`, `logs`, `retry` and `skip`: how agents stand, and what they do."""

import argparse
from collections.abc import Mapping
from typing import Any

import anyio

from letagents.domain.errors import NotAvailable
from letagents.domain.supervised import SupervisorSilent, SupervisorUnavailable
from letagents.entrypoints.cli import agent_states, printing
from letagents.settings import load
from letagents.wire import supervisor as wire
from letagents.wiring.supervisor import ask_supervisor

WAIT_MS = 25_000
PATIENCE = 60.0
AGAIN_AFTER = 1.0
"""Seconds until a supervisor that has gone is asked again, by who follows."""


def run(arguments: argparse.Namespace) -> int:
    """Do what the verb says; return the exit code."""
    printing.output()
    verbs = {"status": _status, "logs": _logs, "retry": _change, "skip": _change}
    verbs[arguments.command](arguments)
    return 0


# --- how they stand -------------------------------------------------------------------------------


def _status(arguments: argparse.Namespace) -> None:
    named = [arguments.agent] if arguments.agent else [one["id"] for one in _agents()]
    for name in named:
        found = _detail(name)
        if arguments.json:
            printing.say_json(found)
        else:
            _say(found)
    if not named and not arguments.json:
        printing.say("There are no agents. `letagents agents add` adds one.")


def _agents() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _asked(wire.LIST_AGENTS, {})
    return found


def _detail(name: str, message_id: str | None = None) -> dict[str, Any]:
    facts = {"entry_id": name, "source_message_id": message_id}
    found: dict[str, Any] = _asked(wire.INSPECT_AGENT, facts)
    return found


def _say(found: Mapping[str, Any]) -> None:
    agent, open_items = found["agent"], _open(found)
    process = f", process {found['process_id']}" if found["process_id"] else ""
    printing.say(printing.one_line(f"{agent_states.head(agent)}{process}"))
    if agent["last_error"]:
        printing.say(printing.one_line(f"  {agent['last_error']}"))
    if agent["condition"] == "auth_blocked":
        printing.say(f"  auth_blocked: `letagents agents grant {agent['id']} --file grant.json`")
    control = agent["turn_control"]
    if control is not None and control["status"] == "uncertain":
        printing.say(printing.one_line(f"  Whether its turn was stopped: {control['error']}"))
    if open_items:
        _say_first(agent["id"], open_items[0])
    if (behind := found["waiting"] - 1) > 0:
        printing.say(f"  {behind} more wait behind it.")
    if found["uncertain_effects"]:
        count = len(found["uncertain_effects"])
        printing.say(f"  {count} may have been done: `letagents effects {agent['id']}`")


def _open(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the messages that are not over, first in first."""
    over = ("acknowledged", "cancelled")
    return [one for one in reversed(found["items"]) if not one["state"].startswith(over)]


def _say_first(name: str, item: Mapping[str, Any]) -> None:
    printing.say(f"  {item['source_message_id']}: {item['state']}, try {item['attempt_count']}")
    if item["last_error"]:
        printing.say(printing.one_line(f"    {item['last_error']}"))
    if item["state"] == "blocked":
        ways = ("retry", "skip") if item["may_be_skipped"] else ("retry",)
        for way in ways:
            printing.say(f"    `letagents agents {way} {name} {item['source_message_id']}`")


# --- a message that one is stuck with -------------------------------------------------------------


def _change(arguments: argparse.Namespace) -> None:
    found = _detail(arguments.agent)
    message_id = arguments.message or _stuck(found)
    route = found["route"] or {}
    facts = {
        **route,
        "entry_id": arguments.agent,
        "source_message_id": message_id,
        "daemon_generation": found["daemon_generation"],
    }
    is_retry = arguments.command == "retry"
    told = _asked(wire.RETRY_MESSAGE if is_retry else wire.SKIP_MESSAGE, facts)
    if arguments.json:
        printing.say_json({**told, "source_message_id": message_id})
        return
    what = "is tried again" if is_retry else "is passed over"
    printing.say(f"{message_id} {what}.")


def _stuck(found: Mapping[str, Any]) -> str:
    for item in _open(found):
        if item["state"] == "blocked":
            return str(item["source_message_id"])
    raise NotAvailable(
        f"{found['agent']['id']} is stuck with no message.",
        remedy="`letagents agents status` shows what each is at.",
    )


# --- what they do ---------------------------------------------------------------------------------


def _logs(arguments: argparse.Namespace) -> None:
    told = _watched(arguments.agent, 0, 0)
    _say_events(told["events"][-arguments.number :] if arguments.number else [], arguments)
    while arguments.follow:
        told = _followed(arguments.agent, told)
        _say_events(told["events"], arguments)


def _followed(name: str, last: Mapping[str, Any]) -> dict[str, Any]:
    """Return what happened next; a supervisor that has gone is waited for."""
    while True:
        try:
            told = _watched(name, last["sequence"], WAIT_MS)
            if told["daemon_generation"] == last["daemon_generation"]:
                return told
            return _watched(name, 0, 0)  # its successor counts anew
        except (SupervisorUnavailable, SupervisorSilent):
            anyio.run(anyio.sleep, AGAIN_AFTER)


def _watched(name: str, after: int, wait: int) -> dict[str, Any]:
    facts = {"entry_id": name, "after_sequence": after, "wait_ms": wait}
    told: dict[str, Any] = _asked(wire.WATCH_AGENT, facts, PATIENCE)
    return told


def _say_events(events: list[dict[str, Any]], arguments: argparse.Namespace) -> None:
    for event in events:
        if arguments.json:
            printing.say_json(event)
            continue
        head = f"{event['observed_at']}  {event['kind']}"
        for line in event["summary"].splitlines() or [""]:
            printing.say(printing.one_line(f"{head}  {line}"))


def _asked(method: str, params: Mapping[str, object], patience: float | None = None) -> Any:
    return anyio.run(ask_supervisor, load(), method, params, patience)
