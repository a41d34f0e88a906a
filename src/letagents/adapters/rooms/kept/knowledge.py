"""Facts and requests, as rooms keep them: each record as it is, and every version it ever had."""

from collections.abc import Callable

import attrs

from letagents.adapters.rooms.book import Book, Keeping, Kind, Where
from letagents.domain import knowledge, records
from letagents.domain.audience import ANSWER
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, quoted
from letagents.domain.knowledge import Entry, Section
from letagents.domain.records import Record, UnknownRecord
from letagents.ports.knowledge import MOST, Records

RECORDS = Kind(
    name="record",
    of=Record,
    key=lambda record: record.record_id,
    number=lambda record: record.number,
    state=lambda record: record.section.value,
    is_open=lambda record: record.is_open,
    by=lambda record: record.author.id,
)
VERSIONS = Kind(
    name="record_version",
    of=Record,
    key=lambda record: f"{record.record_id}:{record.version}",
    number=lambda record: record.version,
    about=lambda record: record.record_id,
)


@attrs.frozen
class KeptKnowledge:
    """The facts and requests of rooms that are kept in books."""

    _rooms: Keeping

    async def records(
        self,
        room_id: RoomId,
        section: Section,
        *,
        after: str | None = None,
        limit: int = MOST,
        viewer: Fence | None = None,
    ) -> Records:
        """Return the records of a section, those that are open first."""
        most = max(1, min(limit, MOST))

        def records(book: Book) -> Records:
            found = _following(book, section, after, most + 1)
            return Records(tuple(found[:most]), more=len(found) > most)

        return await self._rooms.look(room_id, records, viewer)

    async def history(
        self, room_id: RoomId, record_id: str, *, limit: int = 100, viewer: Fence | None = None
    ) -> Records:
        """Return the versions of a record, the newest first."""

        def history(book: Book) -> Records:
            _known(book, record_id)
            where = Where(about=record_id, newest_first=True, limit=limit + 1)
            found = book.find(VERSIONS, where)
            return Records(tuple(found[:limit]), more=len(found) > limit)

        return await self._rooms.look(room_id, history, viewer)

    async def add(
        self,
        room_id: RoomId,
        section: Section,
        record_id: str,
        said: Entry,
        fence: Fence | None = None,
    ) -> Record:
        """Return the record, made now or by the same call before."""

        def add(book: Book) -> Record:
            there = book.get(RECORDS, record_id)
            if there is not None:
                first = book.get(VERSIONS, f"{record_id}:1") or there
                records.check_repeated(first, section, said, by=book.caller)
                return there
            if (source := said.source_message) is not None:
                knowledge.check_source(source, book.message(source.number))
            number = book.next_number(RECORDS)
            made = records.added(
                section, record_id, said, number=number, by=book.caller, now=book.now
            )
            _put(book, made)
            if section is Section.ATTENTION:
                key = f"attention-request:{record_id}"
                words = records.words_of_request(made)
                book.say(words, key=key, session_id=made.session_id)
            return made

        return await self._rooms.change(room_id, add, fence)

    async def revise(
        self,
        room_id: RoomId,
        record_id: str,
        said: Entry,
        *,
        version: int,
        fence: Fence | None = None,
    ) -> Record:
        """Return the record with new content."""

        def revise(book: Book, record: Record) -> Record:
            if (source := said.source_message) is not None:
                knowledge.check_source(source, book.message(source.number))
            return records.revised(record, said, version=version, by=book.caller, now=book.now)

        return await self._change(room_id, record_id, revise, fence)

    async def archive(
        self,
        room_id: RoomId,
        record_id: str,
        *,
        version: int,
        archived: bool = True,
        fence: Fence | None = None,
    ) -> Record:
        """Return the record, archived or restored."""

        def archive(book: Book, record: Record) -> Record:
            return records.archived(record, archived, version=version, by=book.caller, now=book.now)

        return await self._change(room_id, record_id, archive, fence)

    async def answer(
        self, room_id: RoomId, record_id: str, text: str, fence: Fence | None = None
    ) -> Record:
        """Return the request with its answer, which is said in the room."""

        def answer(book: Book) -> Record:
            request = _known(book, record_id, Section.ATTENTION)
            after = records.answered(request, text, by=book.caller, now=book.now)
            _put(book, after)
            book.say(
                records.words_of_answer(after),
                key=f"internal:attention-response:{record_id}",
                source=ANSWER,
                session_id=after.session_id,
            )
            return after

        return await self._rooms.change(room_id, answer, fence)

    async def _change(
        self,
        room_id: RoomId,
        record_id: str,
        decide: Callable[[Book, Record], Record],
        fence: Fence | None,
    ) -> Record:
        def change(book: Book) -> Record:
            record = _known(book, record_id)
            after = decide(book, record)
            if after != record:
                _put(book, after)
            return after

        return await self._rooms.change(room_id, change, fence)


def _following(book: Book, section: Section, after: str | None, limit: int) -> list[Record]:
    """Return the records behind `after`: the open ones, then the others, each the newest first."""
    is_open, before = True, None
    if after is not None:
        is_open, record_id = records.place(after)
        before = _known(book, record_id, section, "cursor").number
    found = _part(book, section, is_open, before, limit)
    if is_open and len(found) < limit:
        found += _part(book, section, False, None, limit - len(found))
    return found


def _part(
    book: Book, section: Section, is_open: bool, before: int | None, limit: int
) -> list[Record]:
    where = Where(
        state=section.value, is_open=is_open, before=before, newest_first=True, limit=limit
    )
    return book.find(RECORDS, where)


def _known(
    book: Book, record_id: str, section: Section | None = None, field: str = "record_id"
) -> Record:
    record = book.get(RECORDS, record_id)
    if record is None or section not in (None, record.section):
        what = {Section.MEMORY: "fact", Section.ATTENTION: "request"}.get(
            section or Section.MEMORY, "record"
        )
        raise UnknownRecord(
            f"{field}: this room has no {what if section else 'record'} {quoted(record_id)}.",
            remedy="Call get_room_memory or get_human_requests to see those that there are.",
        )
    return record


def _put(book: Book, record: Record) -> None:
    book.put(RECORDS, record)
    book.put(VERSIONS, record)
