"""Every adapter that keeps files keeps the promises of the port; and what a page gets of them."""

from base64 import b64encode

import httpx
import pytest
from tests.contract.kept_rooms import InMemory, InPostgres, KeptRooms, OnThisMachine
from tests.contract.served import TOKEN, Served, client, hosting
from tests.contract.served_room import Room

from letagents.adapters.rooms.hosted.attachments import HostedAttachments
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.kept.attachments import KeptAttachments
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain import attachments
from letagents.domain.attachments import LARGEST, UNTYPED, UnknownAttachment
from letagents.domain.errors import Malformed
from letagents.domain.ids import ClientKey
from letagents.domain.messages import AUTO, MOST_FILES, Draft
from letagents.ports.attachments import Attachments
from letagents.testing.contracts.attachments import AttachmentsContract
from letagents.testing.determinism import CountingIds, ManualClock


class _Kept(AttachmentsContract):
    @pytest.fixture
    def attachments(self, rooms: KeptRooms) -> Attachments:
        return KeptAttachments(rooms)


class TestAttachmentsInMemory(InMemory, _Kept):
    pass


class TestAttachmentsOnThisMachine(OnThisMachine, _Kept):
    pass


@pytest.mark.long
class TestAttachmentsInPostgres(InPostgres, _Kept):
    pass


class TestHostedAttachments(Served, AttachmentsContract):
    @pytest.fixture
    def attachments(self, calls: Calls) -> Attachments:
        return HostedAttachments(calls)


# --- what may be attached -----------------------------------------------------------------------


@pytest.mark.rule("R45")
@pytest.mark.parametrize("name", ["", " ", ".", "..", "a/b", "a\\b", "a\nb", "a\u202eb", "x" * 256])
def test_what_is_no_name_of_a_file_is_refused(name: str) -> None:
    with pytest.raises(Malformed, match="filename"):
        attachments.file(name, b"x")


@pytest.mark.rule("R45")
@pytest.mark.parametrize("told", [None, "", "image", "text/html\r\nSet-Cookie: x", "a/" + "b" * 99])
def test_what_is_no_type_of_a_file_says_nothing(told: str | None) -> None:
    assert attachments.file("a.bin", b"x", told).content_type == UNTYPED


@pytest.mark.rule("R47", "R48")
def test_a_draft_that_only_prompts_has_no_files_and_none_has_too_many() -> None:
    key, some = ClientKey("k"), ("upl_1",)
    with pytest.raises(Malformed, match="auto prompt messages"):
        Draft("", key, prompt_kind=AUTO, attachments=some)
    with pytest.raises(Malformed, match="too many"):
        Draft("", key, attachments=some * (MOST_FILES + 1))
    with pytest.raises(Malformed):
        Draft(" ", key, attachments=some)

    assert Draft("", key, attachments=some * MOST_FILES).text == ""


@pytest.mark.parametrize("name", ["", "att_0", "att_01", "att_11", "1", "att_1x"])
def test_what_names_no_file_of_a_message_is_refused(name: str) -> None:
    with pytest.raises(UnknownAttachment):
        attachments.place_of(name)


# --- as a page sees it --------------------------------------------------------------------------


@pytest.mark.anyio
async def test_a_file_goes_up_with_a_message_and_comes_down_as_no_page() -> None:
    clock = ManualClock()
    async with client(hosting(MemoryRooms(CountingIds(), clock), clock)) as http:
        http.headers["Authorization"] = f"Bearer {TOKEN}"
        room = Room(http)
        await room.call("POST", "/join")
        ada = await room.worker("Ada")
        page = {"filename": "pläne.html", "content_base64": b64encode(b"<script>").decode()}
        status, made = await room.call(
            "POST", "/attachments", ada | page | {"mime_type": "text/html"}
        )
        named = {"attachments": [{"upload_id": made["upload_id"]}]}
        _, said = await room.call("POST", "/messages", ada | named)
        refused = [
            await room.call("POST", "/messages", ada | body)
            for body in (
                named | {"text": "again"},
                {"text": "x", "attachments": "upl_1"},
                {"text": "x", "attachments": [{}]},
                {"text": ""},
                named | {"agent_prompt_kind": "auto"},
            )
        ]
        [shown] = said["attachments"]
        down = await http.get(shown["download_url"])
        nobody = await http.get(shown["download_url"], headers={"Authorization": "Bearer x"})
        none = await http.get(shown["download_url"].replace("att_1", "att_2"))
        wrong = await room.call("POST", "/attachments", ada | page | {"content_base64": "?"})

    assert (status, said["text"], shown["file_name"]) == (201, "", "pläne.html")
    assert (shown["mime_type"], shown["size_bytes"]) == ("text/html", 8)
    assert [(one[0], one[1]["error"]) for one in refused] == [
        (400, "attachment upload not found or expired"),
        (400, "attachments must be a list. Pass attachments as a list."),
        (400, refused[2][1]["error"]),
        (400, "sender and text or attachments are required"),
        (400, "auto prompt messages cannot include attachments"),
    ]
    assert (down.status_code, down.content) == (200, b"<script>")
    assert down.headers["content-type"] == UNTYPED
    assert down.headers["x-content-type-options"] == "nosniff"
    assert down.headers["content-disposition"].startswith("attachment; filename*=UTF-8''pl%C3")
    assert (nobody.status_code, none.status_code, wrong[0]) == (401, 404, 400)


@pytest.mark.anyio
async def test_only_what_carries_files_may_be_larger_than_all_else() -> None:
    clock = ManualClock()
    async with client(hosting(MemoryRooms(CountingIds(), clock), clock)) as http:
        http.headers["Authorization"] = f"Bearer {TOKEN}"
        room = Room(http)
        await room.call("POST", "/join")
        ada = await room.worker("Ada")
        largest = {"filename": "a.bin", "content_base64": b64encode(bytes(LARGEST)).decode()}
        one_more = {"filename": "a.bin", "content_base64": b64encode(bytes(LARGEST + 1)).decode()}
        answers: list[httpx.Response] = [
            await http.post(f"/rooms/shed/{where}", json=ada | body)
            for where, body in (
                ("attachments", largest),
                ("attachments", one_more),
                ("attachments", largest | {"content_base64": "A" * (6 * 1024 * 1024)}),
                ("messages", largest),
            )
        ]

    assert [one.status_code for one in answers] == [201, 413, 413, 413]
    assert answers[1].json()["code"] == "attachment_too_large"
