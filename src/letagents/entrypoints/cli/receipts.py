"""`letagents receipts ROOM MESSAGE`: whom a message woke, and whether they have had it."""

import argparse
from collections.abc import Iterator, Mapping

import anyio

from letagents.domain.ids import MessageId, RoomId
from letagents.domain.receipts import Receipt, State
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.printing import DIM, Surface
from letagents.entrypoints.cli.visiting import visiting
from letagents.wire import moments

NOBODY = "It woke nobody."
_WORDS: Mapping[State, str] = {
    State.QUEUED: "has not seen it yet",
    State.RESPONDING: "has seen it",
    State.BLOCKED: "has seen it, and is blocked",
    State.ACKNOWLEDGED: "has spoken since",
    State.UNAVAILABLE: "is not there",
}


def run(arguments: argparse.Namespace) -> int:
    """Show the receipts; return the exit code."""
    surface = printing.output()
    room_id, found = anyio.run(_found, arguments.room, arguments.message)
    for one in found:
        if arguments.json:
            printing.say_json(plain(one, room_id))
        else:
            printing.say(line(one, surface))
    if not found and not arguments.json:
        printing.say(NOBODY)
    return 0


async def _found(room: str, message_id: MessageId) -> tuple[RoomId, tuple[Receipt, ...]]:
    async with visiting(room) as visit:
        return visit.room_id, await visit.client.reached.of(visit.room_id, message_id)


def line(one: Receipt, surface: Surface) -> str:
    """Return the line of a receipt."""
    return " ".join(_parts(one, surface))


def _parts(one: Receipt, surface: Surface) -> Iterator[str]:
    when = one.updated_at
    local = surface.is_terminal
    yield surface.painted(
        f"{when.astimezone():%Y-%m-%d %H:%M}" if local else moments.to_text(when), DIM
    )
    yield one.state.value
    name, bar, rest = printing.one_line(one.actor_label).partition(" | ")
    yield surface.speaker(name, one.actor_label) + surface.painted(bar + rest, DIM)
    yield f"{_WORDS[one.state]} ({one.reason.value.replace('_', ' ')})"


def plain(one: Receipt, room_id: RoomId) -> dict[str, object]:
    """Return a receipt for programs."""
    return {
        "room_id": str(room_id),
        "message_id": str(one.message_id),
        "agent_session_id": str(one.session_id),
        "agent_key": one.agent_key,
        "actor_label": one.actor_label,
        "activation_reason": one.reason.value,
        "receipt_state": one.state.value,
        "created_at": moments.to_text(one.created_at),
        "updated_at": moments.to_text(one.updated_at),
    }
