"""`letagents send ROOM TEXT`: a person says something in a room."""

import argparse
import re
import sys

import anyio

from letagents.domain import names
from letagents.domain.errors import Malformed
from letagents.domain.ids import ClientKey, quoted
from letagents.domain.messages import TEXT_LIMIT, Message, checked_text
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.visiting import a_person, room_called

STANDARD_INPUT = "-"

_LAST_LINE_END = re.compile(r"\r?\n\Z")


def run(arguments: argparse.Namespace) -> int:
    """Say it, and print the id that it has in the room; return the exit code."""
    printing.output()
    text = checked_text(_given(arguments.text))
    message = anyio.run(_said, arguments, text, _key(arguments.key), _name(arguments.name))
    printing.say(str(message.id))
    return 0


async def _said(
    arguments: argparse.Namespace, text: str, key: ClientKey | None, name: str | None
) -> Message:
    async with a_person() as person:
        room = await room_called(person, arguments.room, create=arguments.create)
        return await person.say(
            room.room_id,
            text,
            name=name or await person.name(),
            key=key,
            reply_to=arguments.reply_to,
            thread=arguments.thread,
        )


def _given(text: str) -> str:
    """Return the text, from standard input if it is a dash, without its last line's end."""
    if text != STANDARD_INPUT:
        return text
    given = sys.stdin.buffer.read(4 * TEXT_LIMIT + 2)
    try:
        return _LAST_LINE_END.sub("", given.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Malformed(
            f"What came in is no UTF-8: the byte at {error.start} does not fit.",
            remedy="Convert it, for example with iconv, and send it again.",
        ) from None


def _key(text: str | None) -> ClientKey | None:
    if text is None:
        return None
    if not ClientKey.fits(text):
        raise Malformed(
            f"{quoted(text)} cannot be a key.",
            remedy="Pass a --key of 1 to 200 characters, without control characters.",
        )
    return ClientKey(text)


def _name(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return names.checked_display_name(text)
    except Malformed:
        raise Malformed(
            f"{quoted(text)} is not a name that a room can show.",
            remedy=f"Pass --as with 1 to {names.DISPLAY_NAME_LIMIT} characters, "
            "without control characters and without |.",
        ) from None
