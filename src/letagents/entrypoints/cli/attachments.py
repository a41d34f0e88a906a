"""`letagents attachment ROOM MESSAGE [att_N]`: has a file that goes with a message."""

import argparse
from collections.abc import Sequence
from mimetypes import guess_type
from pathlib import Path

import anyio

from letagents.domain import attachments
from letagents.domain.attachments import LARGEST, Fetched, File
from letagents.domain.errors import Malformed
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.printing import one_line
from letagents.entrypoints.cli.visiting import visiting


def run(arguments: argparse.Namespace) -> int:
    """Write the file, and say where; return the exit code."""
    printing.output()
    place = attachments.place_of(arguments.attachment)
    found = anyio.run(_fetched, arguments, place)
    where = Path(arguments.to or found.attachment.name)
    _write(where / found.attachment.name if where.is_dir() else where, found.content)
    return 0


async def _fetched(arguments: argparse.Namespace, place: int) -> Fetched:
    async with visiting(arguments.room) as visit:
        return await visit.client.files.fetch(visit.room_id, arguments.message, place)


def _write(where: Path, content: bytes) -> None:
    try:
        with where.open("xb") as file:
            file.write(content)
    except FileExistsError:
        raise Malformed(
            f"{one_line(str(where))} is there already.", remedy="Pass --to with another name."
        ) from None
    except OSError as error:
        raise _unusable(where, error, "Pass --to with a place where you can write.") from None
    printing.say(str(where))


def read(paths: Sequence[str]) -> list[File]:
    """Return the files that somebody attaches. Raises as `domain.attachments.file`."""
    return [_read(Path(one)) for one in paths]


def _read(path: Path) -> File:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise _unusable(path, error, "Attach a file that you can read.") from None
    return attachments.file(path.name, content, guess_type(path.name)[0])


def _unusable(path: Path, error: OSError, remedy: str) -> Malformed:
    return Malformed(f"{one_line(str(path))}: {error.strerror or 'it fails'}.", remedy=remedy)
