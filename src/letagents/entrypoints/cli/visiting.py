"""A person's visit to this machine's rooms: opened, and closed again, for one command."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import attrs

from letagents.application.client import Client
from letagents.application.person import Person
from letagents.domain import locators, rooms
from letagents.domain.errors import UnknownRoom
from letagents.domain.ids import RoomId
from letagents.domain.rooms import Room, looks_like_code
from letagents.domain.sessions import Connection
from letagents.entrypoints import logs
from letagents.entrypoints.cli.printing import one_line
from letagents.settings import load
from letagents.wiring.client import open_letagents


@asynccontextmanager
async def a_person() -> AsyncIterator[Person]:
    """Open what the settings ask for, and let a person in."""
    async with a_person_and_client() as (person, _):
        yield person


@asynccontextmanager
async def a_person_and_client() -> AsyncIterator[tuple[Person, Client]]:
    """Let a person in who asks for more than messages."""
    settings = load()
    # What goes as it should is no news to somebody who sees it happen.
    logs.configure(settings.log, "warning" if settings.log_level == "info" else settings.log_level)
    async with (
        open_letagents(settings) as letagents,
        letagents.client(settings.hints) as client,
    ):
        yield (
            Person(letagents.rooms, client.messages, client.chat, letagents.ids, client.files),
            client,
        )


@attrs.frozen
class Visit:
    """A person who has come to see about one room."""

    room_id: RoomId
    client: Client
    _person: Person

    @asynccontextmanager
    async def acting(self, name: str | None = None) -> AsyncIterator[Connection]:
        """Be in the room for a moment, under that name or the person's own."""
        async with self._person.present(self.room_id, name or await self._person.name()) as by:
            yield by


@asynccontextmanager
async def visiting(room: str) -> AsyncIterator[Visit]:
    """Let a person in who has come to see about that room. Raises: as `room_called`."""
    async with a_person_and_client() as (person, client):
        room_id = (await room_called(person, room)).room_id
        yield Visit(room_id, client, person)


async def room_called(person: Person, name: str, *, create: bool = False) -> Room:
    """Return the room of that name.

    Raises:
        UnknownRoom: it is not there; the error tells what this person may have meant.
    """
    try:
        return await person.room(name, create=create)
    except UnknownRoom:
        raise _unknown(name, await person.nearest(name), create=create) from None


def _unknown(name: str, near: Sequence[str], *, create: bool) -> UnknownRoom:
    if locators.is_named(rooms.canonical(name)):
        return UnknownRoom(
            f"There is no focus room {one_line(name.strip())} here.",
            remedy="`letagents rooms` lists the rooms, and `letagents focus list` with one of them "
            "the focus rooms beside it.",
        )
    if create or looks_like_code(name):  # of what is to be made, else only a code is refused
        return UnknownRoom(
            f"There is no room with the invite code {one_line(name.strip())} here.",
            remedy="Check the code with whoever gave it, or write `_` in place of `-` to name a "
            "room so.",
        )
    nearest = f"; the nearest are {', '.join(map(one_line, near))}" if near else ""
    return UnknownRoom(
        f"There is no room {one_line(name.strip())} here{nearest}.",
        remedy="`letagents rooms` lists those that are there; "
        "`letagents send --create ROOM TEXT` makes one.",
    )
