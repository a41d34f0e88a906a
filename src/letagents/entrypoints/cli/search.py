"""`letagents search ROOM WORDS...`: finds what was said in a room, newest first."""

import argparse
from collections.abc import Iterator
from datetime import datetime

import anyio
import attrs

from letagents.application.searching import Searching
from letagents.domain import search
from letagents.domain.errors import Malformed
from letagents.domain.ids import RoomId, quoted
from letagents.domain.search import Hit, Query
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.printing import DIM, YELLOW, Surface
from letagents.entrypoints.cli.visiting import a_person, room_called
from letagents.wire import hits, moments

NOTHING = "Nothing was found."
INDENT = "    "


def run(arguments: argparse.Namespace) -> int:
    """Show what is found; return the exit code."""
    surface = printing.output()
    query = _query(arguments)
    room_id, found = anyio.run(_found, arguments.room, query, arguments.most)
    if arguments.json:
        for one in found:
            printing.say_json({"room_id": str(room_id), **hits.hit(one)})
    else:
        for one in found:
            for line in lines(one, surface):
                printing.say(line)
        if not found and arguments.most > 0:
            printing.say(NOTHING)
    return 0


async def _found(room: str, query: Query, most: int) -> tuple[RoomId, list[Hit]]:
    """Return the room and its newest hits, page by page until there are `most`."""
    async with a_person() as person:
        room_id = (await room_called(person, room)).room_id
        searching = Searching(person.rooms, person.messages.connections)
        found: list[Hit] = []
        while len(found) < most:
            limit = min(most - len(found), search.HITS_LIMIT)
            below = found[-1].id if found else None
            page = await searching.search(room_id, attrs.evolve(query, limit=limit, below=below))
            found += page.hits
            if not page.more:
                break
        return room_id, found


def _query(arguments: argparse.Namespace) -> Query:
    return search.asked(
        " ".join(map(_as_asked, arguments.words)) or None,
        author=arguments.author,
        thread=arguments.thread,
        since=_moment(arguments.since, "since"),
        until=_moment(arguments.until, "until"),
    )


def _as_asked(word: str) -> str:
    """Return what the shell handed over as one word: it had been quoted if blanks are in it."""
    return f'"{word}"' if " " in word.strip() and '"' not in word else word


def _moment(text: str | None, field: str) -> datetime | None:
    if text is None:
        return None
    moment = moments.from_text(text.strip())
    if moment is None:
        raise Malformed(
            f"{field}: {quoted(text)} is not a time.",
            remedy=f"Pass --{field} a date or time in UTC, such as 2030-01-31 or 2030-01-31T12:00.",
        )
    return moment


def lines(hit: Hit, surface: Surface) -> Iterator[str]:
    """Return the lines of a hit; local time on a terminal, ISO elsewhere."""
    when = hit.said_at
    local = surface.is_terminal
    moment = f"{when.astimezone():%Y-%m-%d %H:%M}" if local else moments.to_text(when)
    parts = [surface.painted(moment, DIM), str(hit.id)]
    if hit.thread_root != hit.id:
        parts.append(surface.painted(f"[thread {hit.thread_root}]", YELLOW))
    name, bar, rest = printing.one_line(hit.sender).partition(" | ")
    speaker = surface.speaker(name, hit.sender) + surface.painted(bar + rest, DIM)
    yield " ".join([*parts, speaker])
    yield f"{INDENT}{printing.one_line(hit.snippet)}"
