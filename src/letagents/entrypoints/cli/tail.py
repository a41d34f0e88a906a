"""`letagents tail ROOM`: the newest messages of a room, and then each as it comes."""

import argparse
import asyncio
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import date
from typing import Protocol

import anyio
import attrs

from letagents.domain import names
from letagents.domain.messages import Message
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.printing import DIM, YELLOW, Surface
from letagents.entrypoints.cli.visiting import a_person, room_called
from letagents.wire import moments, readable

QUOTED = 100
"""So many characters of a quoted message are shown."""

INDENT = "    "


def run(arguments: argparse.Namespace) -> int:
    """Show them until somebody interrupts, or whoever reads them leaves; return the exit code."""
    surface = printing.output()
    show = _show_json if arguments.json else Transcript(surface).show
    anyio.run(_tail, arguments.room, arguments.newest, arguments.once, show)
    return 0


class Show(Protocol):
    """Shows one message."""

    def __call__(self, message: Message) -> None: ...


async def _tail(name: str, newest: int, once: bool, show: Show) -> None:
    async with a_person() as person:
        room_id = (await room_called(person, name)).room_id
        with _until_the_reader_leaves():
            after = None if newest else await person.last(room_id)
            for message in await person.newest(room_id, newest):
                show(message)
                after = message.id
            if once:
                return
            async for message in person.follow(room_id, after):
                show(message)


@contextmanager
def _until_the_reader_leaves() -> Iterator[None]:
    """Cancel what is inside when nobody can read standard output any more.

    Without this, `tail | head -1` would end no sooner than the next message comes.
    """
    output, loop = sys.stdout.fileno(), asyncio.get_running_loop()
    with anyio.CancelScope() as inside:
        if not stat.S_ISFIFO(os.fstat(output).st_mode):
            yield
            return
        with suppress(NotImplementedError):  # on Windows the next message tells
            loop.add_reader(output, inside.cancel)
        try:
            yield
        finally:
            with suppress(NotImplementedError):
                loop.remove_reader(output)


def _show_json(message: Message) -> None:
    plain = {"room_id": str(message.room_id), **readable.message(message)}
    printing.say_json(plain)


@attrs.define
class Transcript:
    """Messages as a person reads them. On a terminal the day is told when it changes."""

    surface: Surface
    _day: date | None = None

    def show(self, message: Message) -> None:
        """Print one message."""
        for line in self.lines(message):
            printing.say(line)

    def lines(self, message: Message) -> Iterator[str]:
        """Return the lines of a message: its head, and what was said indented below.

        Only a head begins at the margin, so no text can pass for a message of somebody else's.
        """
        if self.surface.is_terminal:
            yield from self._new_day(message)
        yield self._head(message)
        if message.reply_to is not None:
            yield INDENT + self._quote(message)
        for line in printing.lines(message.text) if message.text else ():
            yield f"{INDENT}{line}".rstrip()
        for place, one in enumerate(message.attachments, start=1):
            told = f"+ att_{place} {printing.one_line(one.name)} ({one.size:,} bytes)"
            yield INDENT + self.surface.painted(told, DIM)

    def _new_day(self, message: Message) -> Iterator[str]:
        day = message.said_at.astimezone().date()
        if day != self._day:
            self._day = day
            yield self.surface.painted(f"-- {day:%A, %Y-%m-%d} --", DIM)

    def _head(self, message: Message) -> str:
        surface, when = self.surface, message.said_at
        local = surface.is_terminal
        moment = f"{when.astimezone():%H:%M:%S}" if local else moments.to_text(when)
        parts = [surface.painted(moment, DIM), str(message.id)]
        if message.is_thread_reply:
            parts.append(surface.painted(f"[thread {message.thread_root}]", YELLOW))
        return " ".join([*parts, self._speaker(message.sender)])

    def _speaker(self, sender: str) -> str:
        """Return the whole label: a name holds no bar, so a person cannot pass for an agent."""
        name, bar, rest = printing.one_line(sender).partition(" | ")
        return self.surface.speaker(name, sender) + self.surface.painted(bar + rest, DIM)

    def _quote(self, message: Message) -> str:
        quoted = message.reply_to
        if quoted is None:
            return ""
        name = printing.one_line(names.primary_label(quoted.sender))
        text = " ".join(printing.lines(quoted.text))
        cut = text if len(text) <= QUOTED else f"{text[:QUOTED].rstrip()}..."
        return self.surface.painted(f"> {quoted.id} {name}: {cut}", DIM)
