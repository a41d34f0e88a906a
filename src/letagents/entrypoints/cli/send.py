"""`letagents send ROOM TEXT`: a person says something in a room."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio

from letagents.domain.errors import Malformed
from letagents.domain.ids import ClientKey, quoted
from letagents.domain.messages import Message, checked_text
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.given import name_given, text_given
from letagents.entrypoints.cli.visiting import a_person, room_called

if TYPE_CHECKING:
    from letagents.domain.attachments import File


def run(arguments: argparse.Namespace) -> int:
    """Say it, and print the id that it has in the room; return the exit code."""
    printing.output()
    text, files = text_given(arguments.text), _files(arguments.attach)
    if text or not files:
        checked_text(text)
    key, name = _key(arguments.key), name_given(arguments.name)
    message = anyio.run(_said, arguments, text, files, key, name)
    printing.say(str(message.id))
    return 0


def _files(paths: Sequence[str]) -> "list[File]":
    if not paths:
        return []
    from letagents.entrypoints.cli import attachments

    return attachments.read(paths)


async def _said(
    arguments: argparse.Namespace,
    text: str,
    files: "list[File]",
    key: ClientKey | None,
    name: str | None,
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
            files=files,
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
