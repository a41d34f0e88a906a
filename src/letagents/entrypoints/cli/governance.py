"""`letagents intents`, `approve` and `deny`: what agents ask for, and what a person says to it."""

import argparse
import shlex
from datetime import datetime
from typing import TYPE_CHECKING

import anyio

from letagents.domain import intents
from letagents.domain.approvals import Intent, IntentStatus
from letagents.domain.errors import Malformed
from letagents.domain.ids import RoomId
from letagents.domain.intents import Action
from letagents.domain.names import primary_label
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.printing import DIM, Surface
from letagents.entrypoints.cli.visiting import a_person_and_client, room_called
from letagents.wire import governance, moments

if TYPE_CHECKING:
    from letagents.ports.governance import Decided

NOTHING = "Nothing waits for a decision."
NONE_YET = "Nobody has asked for anything yet."


def run(arguments: argparse.Namespace) -> int:
    """Do what the command says; return the exit code."""
    surface = printing.output()
    if arguments.command == "intents":
        _list(arguments, surface)
    else:
        printing.say(said(anyio.run(_decided, arguments), surface))
    return 0


def _list(arguments: argparse.Namespace, surface: Surface) -> None:
    room_id, found = anyio.run(_found, arguments.room, arguments.all)
    if arguments.json:
        for one in found:
            printing.say_json(governance.intent(one, room_id))
    elif found:
        printing.say("\n".join(listed(found, surface)))
    else:
        printing.say(NONE_YET if arguments.all else NOTHING)


async def _found(room: str, everything: bool) -> tuple[RoomId, list[Intent]]:
    status = None if everything else IntentStatus.PENDING
    async with a_person_and_client() as (person, client):
        room_id = (await room_called(person, room)).room_id
        found: list[Intent] = []
        after: str | None = None
        while True:
            page = await client.governing.intents(room_id, status, after=after)
            found += page.intents
            if not page.more:
                return room_id, found
            after = page.intents[-1].intent_id


async def _decided(arguments: argparse.Namespace) -> "Decided":
    intent_id, reason = arguments.intent.strip(), arguments.reason
    if not intent_id:
        raise Malformed(
            "INTENT: it is blank.",
            remedy=f"Pass one as `letagents intents {shlex.quote(arguments.room)}` shows it.",
        )
    async with a_person_and_client() as (person, client):
        room_id = (await room_called(person, arguments.room)).room_id
        async with person.present(room_id, await person.name()) as by:
            decide = client.governing.approve
            if arguments.command == "deny":
                decide = client.governing.deny
            return await decide(by, intent_id, reason)


def said(decided: "Decided", surface: Surface) -> str:
    """Return in words what was decided, and what follows."""
    intent = decided.intent
    who = _who(intent)
    wanted = printing.one_line(intents.words(intent.action, intent.payload))
    if intent.status is IntentStatus.DENIED:
        return f"{intent.intent_id} is denied: {who} may not {wanted}."
    if intent.action is Action.TASK_CREATE:
        return f"{intent.intent_id} is approved: {intent.task_id} is on the board."
    if intent.status is IntentStatus.USED:
        return f"{intent.intent_id} is approved, and {who} has made use of it."
    until = _time(intent.expires_at, surface)
    return f"{intent.intent_id} is approved: {who} may {wanted} until {until}."


def listed(found: list[Intent], surface: Surface) -> list[str]:
    """Return the lines of the list."""
    rows = [("INTENT", "STATUS", "ASKED", "BY", "WANTS TO"), *(_row(one, surface) for one in found)]
    head, *rest = printing.columns(rows)
    return [surface.painted(head, DIM), *rest]


def _row(one: Intent, surface: Surface) -> tuple[str, ...]:
    wanted = printing.one_line(intents.words(one.action, one.payload))
    return one.intent_id, one.status.value, _time(one.created_at, surface), _who(one), wanted


def _who(one: Intent) -> str:
    label = primary_label(one.proposer.actor_label) if one.proposer else "somebody"
    return printing.one_line(label)


def _time(moment: datetime, surface: Surface) -> str:
    return f"{moment.astimezone():%H:%M}" if surface.is_terminal else moments.to_text(moment)
