"""What every Attachments does: inherit the suite, with fixtures `rooms`, `attachments` and `clock`.

`rooms` and `attachments` are on the same place.
"""

from datetime import timedelta

import attrs
import pytest

from letagents.domain.attachments import (
    LARGEST,
    MOST_WAITING,
    WAITS,
    File,
    FileTooLarge,
    TooManyUploads,
    UnknownAttachment,
    UnknownUpload,
    file,
)
from letagents.domain.errors import ConnectionLost
from letagents.domain.ids import ClientKey, RoomId
from letagents.domain.messages import Draft, Latest, Message
from letagents.domain.sessions import Connection
from letagents.ports.attachments import Attachments
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import ADA, ROOM, RoomCallers, arrival
from letagents.testing.determinism import ManualClock

PLAN = file("plan.png", bytes(range(256)), "image/png")
NOTES = file("notes.txt", b"Oil the gate.")
ELSEWHERE = RoomId("barn")


def said(text: str, *uploads: str) -> Draft:
    """Return a draft with files, whose key is all that it says."""
    return Draft(text, ClientKey(f"{text} {' '.join(uploads)}"), attachments=uploads)


@pytest.mark.anyio
class AttachmentsContract(RoomCallers):
    """Needs fixtures `rooms`, `attachments` and `clock`."""

    @pytest.mark.rule("R47", "R48", "R50")
    async def test_a_message_has_the_files_that_it_names_and_whoever_reads_has_them(
        self, rooms: RoomTransport, attachments: Attachments, ada: Connection, bob: Connection
    ) -> None:
        waiting = [await attachments.upload(ROOM, one, ada.fence) for one in (PLAN, NOTES)]
        draft = said("", *(one.upload_id for one in waiting))
        made = await rooms.post(ROOM, draft, ada.fence)
        again = await rooms.post(ROOM, draft, ada.fence)
        bare = await rooms.post(ROOM, said("and that is all"), bob.fence)

        assert again.id == made.id
        read = (await rooms.read(ROOM, Latest(), bob.fence)).messages
        assert [told(one) for one in read] == [told(made), told(bare)] == [FILES, []]
        alone = await rooms.message(ROOM, made.id)
        assert alone is not None
        assert told(alone) == FILES
        fetched = [await attachments.fetch(ROOM, made.id, at, bob.fence) for at in (1, 2)]
        assert [one.content for one in fetched] == [PLAN.content, NOTES.content]
        assert fetched[0].attachment.content_type == "image/png"

    @pytest.mark.rule("R46", "R47")
    async def test_a_file_goes_with_one_message_of_its_uploader_in_its_room(
        self, rooms: RoomTransport, attachments: Attachments, ada: Connection, bob: Connection
    ) -> None:
        await rooms.join(ELSEWHERE)
        there = await rooms.connect(ELSEWHERE, arrival(ADA, 77))
        one = (await attachments.upload(ROOM, PLAN, ada.fence)).upload_id
        other = (await attachments.upload(ROOM, NOTES, ada.fence)).upload_id
        for room_id, draft, by in (
            (ROOM, said("mine now", one), bob),
            (ELSEWHERE, said("over there", one), there),
            (ROOM, said("no such file", one, "upl_none"), ada),
        ):
            with pytest.raises(UnknownUpload):
                await rooms.post(room_id, draft, by.fence)
        first = await rooms.post(ROOM, said("here", one), ada.fence)
        with pytest.raises(UnknownUpload):
            await rooms.post(ROOM, said("here again", other, one), ada.fence)
        second = await rooms.post(ROOM, said("the other", other), ada.fence)

        assert [first.id.number, second.id.number] == [1, 2], "what is refused says nothing"
        assert [told(one) for one in (first, second)] == [FILES[:1], FILES[1:]]

    @pytest.mark.rule("R46", "R49")
    async def test_what_waits_for_too_long_is_let_go(
        self,
        rooms: RoomTransport,
        attachments: Attachments,
        clock: ManualClock,
        ada: Connection,
        bob: Connection,
    ) -> None:
        waiting = [await attachments.upload(ROOM, NOTES, ada.fence) for _ in range(MOST_WAITING)]
        with pytest.raises(TooManyUploads):
            await attachments.upload(ROOM, NOTES, ada.fence)
        await attachments.upload(ROOM, NOTES, bob.fence)
        clock.set_to(clock.now() + WAITS - timedelta(seconds=1))
        kept = await rooms.post(ROOM, said("in time", waiting[0].upload_id), ada.fence)
        clock.set_to(clock.now() + timedelta(seconds=1))
        with pytest.raises(UnknownUpload):
            await rooms.post(ROOM, said("too late", waiting[1].upload_id), ada.fence)
        await attachments.upload(ROOM, NOTES, ada.fence)
        with pytest.raises(UnknownUpload):
            await rooms.post(ROOM, said("gone", waiting[1].upload_id), ada.fence)

        assert (await attachments.fetch(ROOM, kept.id, 1)).content == NOTES.content

    @pytest.mark.rule("R50")
    async def test_there_is_no_file_where_there_is_none(
        self, rooms: RoomTransport, attachments: Attachments, ada: Connection, bob: Connection
    ) -> None:
        one = await attachments.upload(ROOM, PLAN, ada.fence)
        with_a_file = await rooms.post(ROOM, said("look", one.upload_id), ada.fence)
        without = await rooms.post(ROOM, said("look there"), ada.fence)
        for message, place in ((with_a_file, 2), (with_a_file, 0), (without, 1)):
            with pytest.raises(UnknownAttachment):
                await attachments.fetch(ROOM, message.id, place)
        await rooms.disconnect(ROOM, bob.fence)
        with pytest.raises(ConnectionLost):
            await attachments.fetch(ROOM, with_a_file.id, 1, bob.fence)
        with pytest.raises(ConnectionLost):
            await attachments.upload(ROOM, PLAN, bob.fence)

    @pytest.mark.rule("R45")
    async def test_a_file_may_be_as_large_as_it_may(
        self, rooms: RoomTransport, attachments: Attachments, ada: Connection
    ) -> None:
        whole = attrs.evolve(NOTES, content=b"\x00\xff" * (LARGEST // 2))
        one = await attachments.upload(ROOM, whole, ada.fence)
        message = await rooms.post(ROOM, said("all of it", one.upload_id), ada.fence)
        with pytest.raises(FileTooLarge):
            file("more.bin", whole.content + b"!")

        assert (await attachments.fetch(ROOM, message.id, 1)).content == whole.content


def told(message: Message) -> list[tuple[str, str, int]]:
    """Return what a message tells of its files."""
    return [(one.name, one.content_type, one.size) for one in message.attachments]


def _facts(one: File) -> tuple[str, str, int]:
    return one.name, one.content_type, len(one.content)


FILES = [_facts(PLAN), _facts(NOTES)]
