"""`letagents rooms`: the rooms that this machine keeps."""

import argparse
from collections.abc import Sequence

import anyio

from letagents.application.person import Glance
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.printing import DIM, Surface
from letagents.entrypoints.cli.visiting import a_person
from letagents.wire import moments

NOTHING = (
    "There is no room here yet. An agent makes one when it joins; you can, too:\n"
    '  letagents send --create workshop "Hello"'
)


def run(arguments: argparse.Namespace) -> int:
    """List them; return the exit code."""
    surface = printing.output()
    glances = anyio.run(_glances)
    if arguments.json:
        for glance in glances:
            printing.say_json(_plain(glance))
    else:
        printing.say("\n".join(listed(glances, surface)) if glances else NOTHING)
    return 0


async def _glances() -> list[Glance]:
    async with a_person() as person:
        return await person.glances()


def listed(glances: Sequence[Glance], surface: Surface) -> list[str]:
    """Return the lines of the list; local time on a terminal, ISO elsewhere."""
    rows = [("ROOM", "MESSAGES", "LAST ACTIVITY"), *(_row(one, surface) for one in glances)]
    head, *rest = printing.columns(rows)
    return [surface.painted(head, DIM), *rest]


def _row(glance: Glance, surface: Surface) -> tuple[str, str, str]:
    when = glance.last_activity
    shown = f"{when.astimezone():%Y-%m-%d %H:%M}" if surface.is_terminal else moments.to_text(when)
    return printing.one_line(str(glance.room.room_id)), f"{glance.messages:,}", shown


def _plain(glance: Glance) -> dict[str, object]:
    room = glance.room
    return {
        "room_id": str(room.room_id),
        "display_name": room.display_name,
        "code": room.code,
        "messages": glance.messages,
        "created_at": moments.to_text(room.created_at),
        "last_activity_at": moments.to_text(glance.last_activity),
    }
