"""`letagents approvals` and `letagents manager`: how a board is governed, and by whom."""

import argparse
from typing import TYPE_CHECKING

import anyio
import attrs

from letagents.application.orders import Orders
from letagents.domain.errors import Malformed
from letagents.domain.governance import Candidate, Failover, Manager, ManagerMode
from letagents.domain.ids import RoomId
from letagents.domain.names import primary_label
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.given import name_given, reason_given
from letagents.entrypoints.cli.printing import DIM, Surface, one_line
from letagents.entrypoints.cli.told import told
from letagents.entrypoints.cli.visiting import Visit, visiting
from letagents.wire import governance, moments

if TYPE_CHECKING:
    from letagents.domain.governance_acts import Act
    from letagents.ports.governance import Governed

NOBODY_THERE = "No agent is in this room. One that registers there can manage its board."

_MODES = {
    ManagerMode.OFF: "agents need no approval",
    ManagerMode.MANAGER_OPTIONAL: "agents need approvals while one manages the board and is there",
    ManagerMode.INTENT_REQUIRED: "agents need approvals always",
}
_FAILOVERS = {
    Failover.OFF: "nothing happens",
    Failover.ANNOUNCE: "the room says so",
    Failover.AUTO: "another agent takes its place",
}
_THERE = {True: "yes", False: "gone", None: "?"}
_REMEDIES = {
    "coordination_target_session_unreachable": "Name another: `letagents manager ROOM` lists who "
    "is there.",
    "agent_session_not_found": "Name another: `letagents manager ROOM` lists who is there.",
}


def run(arguments: argparse.Namespace) -> int:
    """Show or change how the board is governed; return the exit code."""
    surface = printing.output()
    if arguments.command == "approvals":
        _approvals(arguments)
    elif arguments.reason is not None and not arguments.release:
        raise Malformed(
            "--reason: it says why somebody manages the board no more.",
            remedy="Pass --release with it, or leave it out.",
        )
    elif arguments.who is not None or arguments.release:
        _change(arguments)
    else:
        _list(arguments, surface)
    return 0


# --- how much is asked --------------------------------------------------------------------------


def _approvals(arguments: argparse.Namespace) -> None:
    room_id, governed, acts = anyio.run(_governed, arguments, name_given(arguments.name))
    if arguments.json:
        printing.say_json(_plain(governed, room_id))
        for one in acts:
            printing.say_json(_plain_act(one))
        return
    for line in [*shown(governed), *map(done, acts)]:
        printing.say(line)


async def _governed(
    arguments: argparse.Namespace, name: str | None
) -> "tuple[RoomId, Governed, tuple[Act, ...]]":
    mode = ManagerMode(arguments.mode) if arguments.mode else None
    failover = Failover(arguments.failover) if arguments.failover else None
    async with visiting(arguments.room) as visit:
        if mode is not None or failover is not None:
            async with visit.acting(name) as by:
                await visit.client.governing.set_mode(by, mode, failover)
        governing = visit.client.governing
        governed = await governing.governed(visit.room_id)
        acts = await governing.acts(visit.room_id) if arguments.history else ()
        return visit.room_id, governed, acts


def done(act: "Act") -> str:
    """Return in a line what was done to how a board is governed."""
    about = act.intent_id or act.manager_id
    told = (act.detail, f"({about})" if about else None, act.reason and f"“{act.reason}”")
    words = act.type.value.removeprefix("board_").replace("_", " ")
    more = " ".join(one_line(one) for one in told if one)
    return f"{moments.to_text(act.at)}  {_name(act.actor)}: {words} {more}".rstrip()


def _plain_act(act: "Act") -> dict[str, object]:
    facts = attrs.asdict(act)
    return facts | {"type": act.type.value, "at": moments.to_text(act.at)}


def shown(governed: "Governed") -> list[str]:
    """Return in lines how a board is governed."""
    mode, failover = governed.settings.manager_mode, governed.settings.manager_failover
    manager = _name(governed.manager.actor_label) if governed.manager else "nobody"
    return [
        f"mode      {mode.value}: {_MODES[mode]}",
        f"failover  {failover.value}: when the manager is gone, {_FAILOVERS[failover]}",
        f"manager   {manager}",
        f"waiting   {governed.pending}",
    ]


def _plain(governed: "Governed", room_id: RoomId) -> dict[str, object]:
    manager = governed.manager
    return {
        "room_id": str(room_id),
        "settings": governance.settings(governed.settings, room_id),
        "active_manager": governance.manager(manager, room_id) if manager else None,
        "pending_intent_count": governed.pending,
    }


# --- by whom ------------------------------------------------------------------------------------


def _change(arguments: argparse.Namespace) -> None:
    arguments.reason = reason_given(arguments.reason)
    manager = anyio.run(_changed, arguments, name_given(arguments.name))
    if manager is None:
        printing.say("Nobody manages the board.")
    elif manager.is_active:
        printing.say(f"{_name(manager.actor_label)} manages the board.")
    else:
        printing.say(f"{_name(manager.actor_label)} does not manage the board any more.")


async def _changed(arguments: argparse.Namespace, name: str | None) -> Manager | None:
    async with visiting(arguments.room) as visit, visit.acting(name) as by:
        with told(_REMEDIES):
            if arguments.release:
                return await visit.client.governing.release_manager(by, arguments.reason)
            return await Orders(visit.client.board, visit.client.governing).manage(
                by, arguments.who
            )


def _list(arguments: argparse.Namespace, surface: Surface) -> None:
    room_id, found, manager = anyio.run(_candidates, arguments.room)
    if arguments.json:
        for one in found:
            printing.say_json(_candidate(one, room_id, manager))
    elif found:
        printing.say("\n".join(listed(found, manager, surface)))
    else:
        printing.say(NOBODY_THERE)


async def _candidates(room: str) -> tuple[RoomId, tuple[Candidate, ...], Manager | None]:
    async with visiting(room) as visit:
        return visit.room_id, await _found(visit), (await _now(visit)).manager


async def _found(visit: Visit) -> tuple[Candidate, ...]:
    return await visit.client.governing.candidates(visit.room_id)


async def _now(visit: Visit) -> "Governed":
    return await visit.client.governing.governed(visit.room_id)


def listed(found: tuple[Candidate, ...], manager: Manager | None, surface: Surface) -> list[str]:
    """Return the lines of the list."""
    rows = [("AGENT", "THERE", "MANAGES", "PROGRAM", "SESSION")]
    rows += [_row(one, manager) for one in found]
    head, *rest = printing.columns(rows)
    return [surface.painted(head, DIM), *rest]


def _row(one: Candidate, manager: Manager | None) -> tuple[str, str, str, str, str]:
    session = one.session
    manages = "yes" if _manages(one, manager) else "-"
    name, program = one_line(session.display_name), one_line(session.ide_label)
    return name, _THERE[one.is_there], manages, program, str(session.session_id)


def _manages(one: Candidate, manager: Manager | None) -> bool:
    return manager is not None and manager.session_id == one.session.session_id


def _candidate(one: Candidate, room_id: RoomId, manager: Manager | None) -> dict[str, object]:
    session = one.session
    return {
        "room_id": str(room_id),
        "agent_session_id": str(session.session_id),
        "agent_key": session.agent_key,
        "actor_label": session.actor_label,
        "display_name": session.display_name,
        "ide_label": session.ide_label,
        "is_there": one.is_there,
        "manages": _manages(one, manager),
    }


def _name(label: str) -> str:
    return one_line(primary_label(label) or label)
