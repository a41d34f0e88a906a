"""`letagents focus`: the rooms beside a room, opened and concluded by a person."""

import argparse

import anyio

from letagents.domain import focus_rooms
from letagents.domain.errors import Malformed
from letagents.domain.focus_rooms import (
    Changes,
    Details,
    Focus,
    Outcome,
    Routing,
    Scope,
    Visibility,
)
from letagents.domain.rooms import Room
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.given import name_given, task_given, text_given
from letagents.entrypoints.cli.printing import DIM, Surface, one_line
from letagents.entrypoints.cli.told import told
from letagents.entrypoints.cli.visiting import a_person_and_client, room_called, visiting
from letagents.ports.focus_rooms import Concluded, Opened
from letagents.wire import public

NOTHING = "There is no focus room beside {}. `letagents focus open {} TITLE` makes one."
_FACTS = ("artifact", "review_state", "blocker_state", "parent_task_next", "next_owner")
_FIELDS = {"title": "TITLE", "display_name": "--called", "summary": "SUMMARY"}
_FIELDS |= {name: f"--{name.replace('_', '-')}" for name in _FACTS}
_REMEDIES = {
    "focus_room_concluded": "Say what has changed since in the room beside it: `letagents send`.",
    "focus_room_not_opened": "Open it with a TITLE, beside a room that is no focus room.",
    "unknown_task": "Run `letagents board ROOM --all` to see those that there are.",
}


def run(arguments: argparse.Namespace) -> int:
    """Do what the verb says; return the exit code."""
    surface = printing.output()
    if arguments.command == "list":
        _list(arguments, surface)
    elif arguments.command == "open":
        _open(arguments)
    elif arguments.command == "set":
        printing.say(said(anyio.run(_set, arguments, name_given(arguments.name))))
    else:
        _conclude(arguments)
    return 0


def said(room: Room) -> str:
    """Return in words which room it is."""
    focus = _focus(room)
    state = "open" if focus.is_active else "concluded"
    return f"{room.room_id} is {state} beside {one_line(str(focus.parent))}: {_called(room)}"


def _called(room: Room) -> str:
    return one_line(room.display_name)


def _focus(room: Room) -> Focus:
    if room.focus is None:
        raise Malformed(
            f"{one_line(str(room.room_id))} is no focus room.",
            remedy="Pass one as `letagents focus list ROOM` shows it, such as focus_3.",
        )
    return room.focus


# --- those that there are -----------------------------------------------------------------------


def _list(arguments: argparse.Namespace, surface: Surface) -> None:
    name, found = anyio.run(_found, arguments.room)
    shown = [one for one in found if arguments.all or _focus(one).is_active]
    if arguments.json:
        for one in shown:
            printing.say_json(plain(one))
    elif shown:
        printing.say("\n".join(listed(shown, surface)))
    else:
        printing.say(NOTHING.format(one_line(name), one_line(name)))


async def _found(room: str) -> tuple[str, tuple[Room, ...]]:
    async with visiting(room) as visit:
        return str(visit.room_id), await visit.client.beside.beside(visit.room_id)


def listed(found: list[Room], surface: Surface) -> list[str]:
    """Return the lines of the list."""
    head, *rest = printing.columns([("ROOM", "KEY", "STATE", "TITLE"), *map(_row, found)])
    return [surface.painted(head, DIM), *rest]


def _row(room: Room) -> tuple[str, str, str, str]:
    focus = _focus(room)
    state = "active" if focus.is_active else "concluded"
    return str(room.room_id), one_line(focus.key), state, _called(room)


def plain(room: Room) -> dict[str, object]:
    """Return what programs are shown of one."""
    conclusion = _focus(room).conclusion
    shown = public.room(room)
    return {name: shown[name] for name in ("room_id", "display_name", *_SHOWN)} | {
        "conclusion_summary": conclusion.outcome.summary if conclusion else None
    }


_SHOWN = ("parent_room_id", "focus_key", "source_task_id", "focus_status", "focus_settings")


# --- one of them --------------------------------------------------------------------------------


def _open(arguments: argparse.Namespace) -> None:
    title = " ".join(arguments.title)
    if arguments.task is not None:
        arguments.task = task_given(arguments.task)
    elif not title.strip():
        raise Malformed("TITLE is missing.", remedy="Pass a title, or --task with a task.")
    with told({}, _FIELDS):
        called = focus_rooms.checked_title(title) if title.strip() else None
    opened = anyio.run(_opened, arguments, called, name_given(arguments.name))
    printing.say(said(opened.room) if opened.is_new else f"{said(opened.room)} (it was before)")
    printing.say(f"Agents enter it with join_room(name={str(opened.room.room_id)!r}).")


async def _opened(arguments: argparse.Namespace, title: str | None, name: str | None) -> Opened:
    async with visiting(arguments.room) as visit, visit.acting(name) as by:
        with told(_REMEDIES, _FIELDS):
            return await visit.client.beside.open(by, task_id=arguments.task, title=title)


async def _set(arguments: argparse.Namespace, name: str | None) -> Room:
    changes = Changes(
        parent_visibility=Visibility(arguments.tells) if arguments.tells else None,
        activity_scope=Scope(arguments.scope) if arguments.scope else None,
        github_event_routing=Routing(arguments.events) if arguments.events else None,
    )
    async with a_person_and_client() as (person, client):
        focus = _focus(await room_called(person, arguments.room))
        async with person.present(focus.parent, name or await person.name()) as by:
            return await client.beside.set(by, focus.key, changes)


def _conclude(arguments: argparse.Namespace) -> None:
    summary = text_given(" ".join(arguments.summary))
    with told({}, _FIELDS):
        details = Details(**{name: getattr(arguments, name) for name in _FACTS})
        outcome = Outcome(summary=summary, details=details)
    done = anyio.run(_concluded, arguments, outcome, name_given(arguments.name))
    printing.say(said(done.room))
    if done.message is None:
        printing.say("It is silent: the room beside it was not told.")
    else:
        where = one_line(str(_focus(done.room).parent))
        printing.say(f"{where} was told ({done.message.id}).")


async def _concluded(
    arguments: argparse.Namespace, outcome: Outcome, name: str | None
) -> Concluded:
    async with a_person_and_client() as (person, client):
        focus = _focus(await room_called(person, arguments.room))
        async with person.present(focus.parent, name or await person.name()) as by:
            with told(_REMEDIES, _FIELDS):
                return await client.beside.conclude(by, focus.key, outcome)
