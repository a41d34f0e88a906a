"""`letagents send ROOM TEXT`: a person says something in a room."""

import argparse

import anyio

from letagents.domain.errors import Malformed
from letagents.domain.ids import ClientKey, quoted
from letagents.domain.messages import Message, checked_text
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.given import name_given, text_given
from letagents.entrypoints.cli.visiting import a_person, room_called


def run(arguments: argparse.Namespace) -> int:
    """Say it, and print the id that it has in the room; return the exit code."""
    printing.output()
    text = checked_text(text_given(arguments.text))
    message = anyio.run(_said, arguments, text, _key(arguments.key), name_given(arguments.name))
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


def _key(text: str | None) -> ClientKey | None:
    if text is None:
        return None
    if not ClientKey.fits(text):
        raise Malformed(
            f"{quoted(text)} cannot be a key.",
            remedy="Pass a --key of 1 to 200 characters, without control characters.",
        )
    return ClientKey(text)
