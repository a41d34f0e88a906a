"""Artifacts, as rooms keep them: each once, with a link for each task that it belongs to."""

from collections.abc import Callable, Collection

import attrs

from letagents.adapters.rooms.book import Book, Keeping, Kind, Where
from letagents.domain import artifacts
from letagents.domain.artifacts import Shared
from letagents.domain.authors import Author
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.room_events import Wanted
from letagents.domain.tasks import Artifact
from letagents.ports.artifacts import LIMIT, MOST, Events, SharedArtifacts

NO_FORGE = (
    "A room on this machine is told by no forge: events of GitHub come in hosted rooms only. "
    "What happened here is in the messages and on the board."
)


@attrs.frozen
class Link:
    """That an artifact belongs to a task."""

    task_id: str
    identity: str
    number: int


ARTIFACTS = Kind(
    name="artifact",
    of=Shared,
    key=lambda one: one.identity,
    number=lambda one: one.number,
)
LINKS = Kind(
    name="artifact_link",
    of=Link,
    key=lambda one: f"{one.task_id} {one.identity}",
    number=lambda one: one.number,
    about=lambda one: one.task_id,
)


@attrs.frozen
class Change:
    """That an artifact has changed; the number is that of the change."""

    number: int
    identity: str


CHANGES = Kind(
    name="artifact_change",
    of=Change,
    key=lambda one: str(one.number),
    number=lambda one: one.number,
    is_open=lambda _one: False,
)

CheckTask = Callable[[Book, str], object]
"""Raises UnknownTask if the room has no task of that id."""


def _any_task(_book: Book, _task_id: str) -> None:
    return None


@attrs.frozen
class KeptArtifacts:
    """The artifacts of rooms that are kept in books."""

    _rooms: Keeping
    _check_task: CheckTask = _any_task

    async def artifacts(
        self,
        room_id: RoomId,
        *,
        task_id: str | None = None,
        after: str | None = None,
        limit: int = LIMIT,
        viewer: Fence | None = None,
    ) -> SharedArtifacts:
        """Return artifacts, the newest first."""
        most = max(1, min(limit, MOST))

        def find(book: Book) -> SharedArtifacts:
            before = None if after is None else artifacts.place(after)
            where = Where(before=before, about=task_id, newest_first=True, limit=most + 1)
            if task_id is None:
                found = book.find(ARTIFACTS, where)
            else:
                self._check_task(book, task_id)
                found = [_linked(book, link) for link in book.find(LINKS, where)]
            return SharedArtifacts(tuple(found[:most]), more=len(found) > most)

        return await self._rooms.look(room_id, find, viewer)

    async def publish(
        self,
        room_id: RoomId,
        artifact: Artifact,
        task_ids: Collection[str] = (),
        fence: Fence | None = None,
    ) -> Shared:
        """Return the artifact as the room keeps it now."""

        def publish(book: Book) -> Shared:
            for task_id in task_ids:
                self._check_task(book, task_id)
            before = book.get(ARTIFACTS, artifacts.identity(artifact))
            after = artifacts.published(
                before,
                artifact,
                task_ids,
                number=book.next_number(ARTIFACTS),
                by=Author.of(book.caller),
                now=book.now,
            )
            if after != before:
                book.put(ARTIFACTS, after)
                book.put(CHANGES, Change(book.next_number(CHANGES), after.identity))
            for task_id in task_ids:
                book.put(LINKS, Link(task_id, after.identity, after.number))
            return after

        return await self._rooms.change(room_id, publish, fence)

    async def events(
        self,
        room_id: RoomId,
        wanted: Wanted,  # whatever is asked for, there is nothing
        viewer: Fence | None = None,
    ) -> Events:
        """Return nothing, and say why."""
        return await self._rooms.look(room_id, lambda _book: Events(note=NO_FORGE), viewer)


def _linked(book: Book, link: Link) -> Shared:
    found = book.get(ARTIFACTS, link.identity)
    assert found is not None  # noqa: S101  # no artifact is ever taken away
    return found
