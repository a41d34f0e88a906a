"""`letagents requests`, `answer`, `memory` and `guidelines`: what a room knows, what people say."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio

from letagents.domain import knowledge, records
from letagents.domain.errors import Malformed
from letagents.domain.guidelines import MAX_BYTES, InForce, ReplyOrder
from letagents.domain.ids import RoomId
from letagents.domain.knowledge import Section
from letagents.domain.names import primary_label
from letagents.domain.records import Record
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.given import STANDARD_INPUT, name_given, text_given
from letagents.entrypoints.cli.printing import BOLD, DIM, Surface
from letagents.entrypoints.cli.visiting import visiting
from letagents.wire import memory, moments

INDENT = "  "
_ONE_AFTER_ANOTHER = "(agents that are called together answer one after another)"
NOTHING = {
    Section.ATTENTION: "Nothing waits for an answer.",
    Section.MEMORY: "Nobody has kept a fact in this room yet.",
}
NO_GUIDELINES = (
    "This room has no guidelines for agents. To set some:\n  letagents guidelines ROOM --set FILE"
)


def run(arguments: argparse.Namespace) -> int:
    """Do what the command says; return the exit code."""
    surface = printing.output()
    does = {
        "requests": _requests,
        "answer": _answer,
        "memory": _memory,
        "guidelines": _guidelines,
    }
    does[arguments.command](arguments, surface)
    return 0


# --- requests and facts -------------------------------------------------------------------------


def _requests(arguments: argparse.Namespace, surface: Surface) -> None:
    _list(arguments, Section.ATTENTION, surface)


def _memory(arguments: argparse.Namespace, surface: Surface) -> None:
    if arguments.revise is None and (arguments.title, arguments.body) != (None, None):
        raise Malformed(
            "--title and --body say what a fact is revised to.",
            remedy="Pass --revise with its id, or leave them out.",
        )
    if arguments.history is not None:
        _show(arguments, *anyio.run(_versions, arguments), surface)
    elif arguments.revise is not None:
        done = anyio.run(_revised, arguments, _text(arguments.title), _text(arguments.body))
        printing.say(f"{done.record_id} has version {done.version} now.")
    elif (record_id := arguments.archive or arguments.restore) is not None:
        done = anyio.run(_archived, arguments, record_id)
        printing.say(f"{done.record_id} is {'archived' if done.archived else 'there again'}.")
    else:
        _list(arguments, Section.MEMORY, surface)


def _list(arguments: argparse.Namespace, section: Section, surface: Surface) -> None:
    room_id, found = anyio.run(_found, arguments, section)
    if found or arguments.json:
        _show(arguments, room_id, found, surface)
    else:
        printing.say(NOTHING[section])


async def _found(arguments: argparse.Namespace, section: Section) -> tuple[RoomId, list[Record]]:
    """Return the records that are open, or all."""
    async with visiting(arguments.room) as visit:
        found: list[Record] = []
        more, after = True, None
        while more and (arguments.all or not found or found[-1].is_open):
            page = await visit.client.memory.records(visit.room_id, section, after=after)
            found += page.records
            more, after = page.more, records.cursor(page.records[-1]) if page.records else None
        return visit.room_id, [one for one in found if arguments.all or one.is_open]


async def _versions(arguments: argparse.Namespace) -> tuple[RoomId, Sequence[Record]]:
    async with visiting(arguments.room) as visit:
        found = await visit.client.memory.history(visit.room_id, arguments.history.strip())
        return visit.room_id, found.records


def _text(words: str | None) -> str | None:
    return None if words is None else text_given(words)


async def _revised(arguments: argparse.Namespace, title: str | None, body: str | None) -> Record:
    async with visiting(arguments.room) as visit:
        found = await visit.client.memory.history(visit.room_id, arguments.revise.strip())
        before = found.records[0]
        old = before.entry
        said = knowledge.entry(
            before.section,
            category=old.category,
            title=old.title if title is None else title,
            body=old.body if body is None else body,
            recommendation=old.recommendation,
            unblocks=old.unblocks,
            source_url=old.source_url,
            source_message_id=old.source_message,
        )
        async with visit.acting() as by:
            return await visit.client.memory.revise(by, before, said)


async def _archived(arguments: argparse.Namespace, record_id: str) -> Record:
    async with visiting(arguments.room) as visit, visit.acting() as by:
        is_archived = arguments.archive is not None
        return await visit.client.memory.archive(by, record_id.strip(), archived=is_archived)


def _show(
    arguments: argparse.Namespace, room_id: RoomId, found: Sequence[Record], surface: Surface
) -> None:
    for at, record in enumerate(found):
        if arguments.json:
            printing.say_json(memory.record(record, room_id))
            continue
        if at:
            printing.say()
        for line in shown(record, surface):
            printing.say(line)


def shown(record: Record, surface: Surface) -> list[str]:
    """Return a record in lines: what it is, what it says, what became of it."""
    said, who = record.entry, printing.one_line(primary_label(record.author.label))
    state = ", archived" if record.archived else ""
    facts = f"{said.category}, version {record.version}{state}, by {who}, {_time(record, surface)}"
    lines = [
        surface.painted(printing.one_line(said.title), BOLD),
        surface.painted(f"{INDENT}{record.record_id}  {facts}", DIM),
        *_indented(said.body),
    ]
    named = {
        "recommends": said.recommendation,
        "unblocks": said.unblocks,
        "source": said.source_url,
        "said in": said.source_message and str(said.source_message),
    }
    for name, text in named.items():
        lines += _indented(f"{name}: {text}") if text else []
    if (given := record.response) is not None:
        lines += _indented(f"answered by {primary_label(given.actor.label)}: {given.body}")
    return lines


def _indented(text: str) -> list[str]:
    return [f"{INDENT}{line}".rstrip() for line in printing.lines(text)]


def _time(record: Record, surface: Surface) -> str:
    when = record.updated_at
    return f"{when.astimezone():%Y-%m-%d %H:%M}" if surface.is_terminal else moments.to_text(when)


# --- answers ------------------------------------------------------------------------------------


def _answer(arguments: argparse.Namespace, _surface: Surface) -> None:
    text = text_given(" ".join(arguments.text))
    record = anyio.run(_answered, arguments, text, name_given(arguments.name))
    who = printing.one_line(primary_label(record.author.label))
    printing.say(f"{record.record_id} is answered; the room tells {who}.")


async def _answered(arguments: argparse.Namespace, text: str, name: str | None) -> Record:
    async with visiting(arguments.room) as visit, visit.acting(name) as by:
        return await visit.client.memory.answer(by, arguments.request.strip(), text)


# --- guidelines ---------------------------------------------------------------------------------


def _guidelines(arguments: argparse.Namespace, surface: Surface) -> None:
    text = None if arguments.set is None else _file_given(arguments.set)
    if text is None and arguments.replies is not None:
        room_id, found = anyio.run(_ordered, arguments)
    else:
        room_id, found = anyio.run(_in_force, arguments, text)
    if arguments.json:
        printing.say_json(memory.guidelines(found, room_id, can_manage=True))
        return
    if found.reply_order is not ReplyOrder.PARALLEL:
        printing.say(surface.painted(_ONE_AFTER_ANOTHER, DIM))
    kept = found.guidelines
    if kept is None or kept.text is None:
        printing.say(NO_GUIDELINES)
        return
    if found.inherited_from is not None:
        whose = printing.one_line(str(found.inherited_from))
        printing.say(surface.painted(f"(those of {whose})", DIM))
    for line in printing.lines(kept.text):
        printing.say(line)


async def _ordered(arguments: argparse.Namespace) -> tuple[RoomId, InForce]:
    async with visiting(arguments.room) as visit, visit.acting(name_given(arguments.name)) as by:
        order = ReplyOrder(arguments.replies)
        return visit.room_id, await visit.client.memory.set_reply_order(by, order)


async def _in_force(arguments: argparse.Namespace, text: str | None) -> tuple[RoomId, InForce]:
    async with visiting(arguments.room) as visit:
        if text is None:
            return visit.room_id, await visit.client.memory.guidelines(visit.room_id)
        async with visit.acting(name_given(arguments.name)) as by:
            return visit.room_id, await visit.client.memory.set_guidelines(by, text)


def _file_given(place: str) -> str:
    """Return what a file or standard input holds; no more of it than is looked at."""
    try:
        if place == STANDARD_INPUT:
            held = sys.stdin.buffer.read(2 * MAX_BYTES)
        else:
            with Path(place).open("rb") as file:
                held = file.read(2 * MAX_BYTES)
        return held.decode("utf-8-sig")
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise Malformed(
            f"--set: {printing.one_line(place)} cannot be read: {why}.",
            remedy="Name a text file, or - for standard input.",
        ) from None
    except UnicodeDecodeError as error:
        raise Malformed(
            f"--set: what is in {printing.one_line(place)} is no UTF-8: the byte at {error.start} "
            "does not fit.",
            remedy="Convert it, for example with iconv, and set it again.",
        ) from None
