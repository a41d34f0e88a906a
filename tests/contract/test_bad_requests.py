"""What no client of ours sends: each is answered as stated, changes nothing, and is in no log."""

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import attrs
import httpx
import orjson
import pytest
import structlog
from structlog.testing import LogCapture
from tests.contract.documented import whole
from tests.contract.served import TOKEN, client, hosting

from letagents.adapters.rooms.memory import MemoryRooms
from letagents.application.server.hosting import Hosting
from letagents.entrypoints.server import answers as answers_module
from letagents.entrypoints.server import app
from letagents.entrypoints.server.app import ROUTES
from letagents.entrypoints.server.document.operations import OPERATIONS
from letagents.testing.determinism import CountingIds, ManualClock
from letagents.wire.http.credentials import SESSION_ID, SESSION_TOKEN

pytestmark = pytest.mark.anyio

Plain = dict[str, Any]
Headers = dict[str, str]

WRITES = sorted((method, path) for (method, path), one in OPERATIONS.items() if one.body)
READS = sorted((method, path) for method, path, _ in ROUTES if method == "GET")
HOLDING = ("/process", "/messages/stream", "/messages/poll")
"""Routes that hold on to a request."""
REFUSED = (*range(400, 500), 501)
SECRET = "s" * 43


@attrs.frozen
class Room:
    """A room with one session, and what is kept of it."""

    http: httpx.AsyncClient
    rooms: MemoryRooms
    worker: Plain

    @property
    def headers(self) -> Headers:
        """What the session shows in its headers."""
        return {
            SESSION_ID: self.worker["agent_session_id"],
            SESSION_TOKEN: self.worker["agent_session_token"],
        }

    def path(self, path: str, room_id: str = "shed") -> str:
        """Return a route's path for things of the right form that are not there."""
        named = path.replace("{room_id:path}", room_id)
        named = named.replace("{session_id}", self.worker["agent_session_id"])
        return re.sub(r"\{(\w+)_id\}", r"\1_1", named)

    async def call(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Return the answer to a call with the account's token."""
        headers = {"Authorization": f"Bearer {TOKEN}"} | more.pop("headers", {})
        with anyio.fail_after(10):
            return await self.http.request(method, path, headers=headers, **more)

    def kept(self) -> str:
        """Return all that the rooms keep, in a form to compare."""
        return repr(self.rooms._kept)


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    clock = ManualClock()
    rooms = MemoryRooms(CountingIds(), clock)
    served: Hosting = hosting(rooms, clock)
    async with client(served) as http:
        opened = Room(http, rooms, {})
        await opened.call("POST", "/rooms/shed/join")
        await opened.call("POST", "/agents", json={"name": "ada"})
        asked = {"actor_key": "ada/ada", "display_name": "Ada", "agent_instance_id": "one"}
        made = (await opened.call("POST", "/rooms/shed/agent-sessions", json=asked)).json()
        worker = {
            "agent_session_id": made["session_id"],
            "agent_session_token": made["session_token"],
        }
        yield Room(http, rooms, worker)


WRONG: tuple[object, ...] = (7.5, [[]], {"a": {}}, True)


def of_wrong_types(method: str, path: str) -> Iterator[Plain]:
    """Yield bodies of which one field is of no kind that it may be."""
    body = OPERATIONS[method, path].body or {}
    for name, schema in body["properties"].items():
        kinds = schema.get("type", "object")
        for value in WRONG:
            if not _fits(value, kinds):
                yield {name: value}


def _fits(value: object, kinds: str | list[str]) -> bool:
    of = {"string": str, "boolean": bool, "object": dict, "array": list, "number": float}
    return any(isinstance(value, of.get(kind, type(None))) for kind in _listed(kinds))


def _listed(kinds: str | list[str]) -> list[str]:
    return [kinds] if isinstance(kinds, str) else kinds


FREE = {"payload", "artifact", "arguments", "registration_liveness"}
IGNORED = {
    # Nothing is made of these: another one's word counts, or none does.
    "sender",
    "session_kind",
    "requested_base_display_name",
    "process_host_id",
    "desktop_human_client",
    "agent_session_generation",
}


@pytest.mark.parametrize(("method", "path"), WRITES)
async def test_a_field_of_a_wrong_kind_is_refused_and_nothing_is_kept(
    room: Room, method: str, path: str
) -> None:
    before, taken = room.kept(), []
    required = dict.fromkeys((OPERATIONS[method, path].body or {})["required"], "x")
    for wrong in of_wrong_types(method, path):
        if not FREE.union(IGNORED).isdisjoint(wrong):
            continue
        shown = room.worker if OPERATIONS[method, path].acts else {}
        answer = await room.call(
            method, room.path(path), json=required | shown | wrong, headers=room.headers
        )
        if answer.status_code not in REFUSED:
            taken.append((wrong, answer.status_code, answer.text[:100]))

    assert taken == []
    assert room.kept() == before


WANT_NOTHING = {
    ("POST", "/projects"),
    ("POST", "/rooms/{room_id:path}/agent-sessions/{session_id}/disconnect"),
    ("POST", "/rooms/{room_id:path}/locks"),
    ("POST", "/rooms/{room_id:path}/board-managers"),
    ("DELETE", "/rooms/{room_id:path}/board-managers/active"),
}
"""What is done without being told any more than a session."""


async def test_a_body_that_says_nothing_of_what_is_to_be_changed_changes_nothing(
    room: Room,
) -> None:
    taken, person = [], {"desktop_human_client": True}
    comes_in = {"manager_mode": "off"} | person
    await room.call("PATCH", "/rooms/shed/board-settings", json=comes_in)
    for method, path in sorted(set(WRITES) - WANT_NOTHING):
        before = room.kept()
        for shown in (room.worker, person):
            answer = await room.call(method, room.path(path), json=shown | {"unheard_of": 1})
            if answer.status_code not in REFUSED or room.kept() != before:
                taken.append((method, path, answer.status_code))

    assert taken == []


@pytest.mark.parametrize(("method", "path"), WRITES)
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[]", 400),
        (b'"text"', 400),
        (b"7", 400),
        (b"null", 400),
        (b"{", 400),
        (b'{"text": "\xff\xfe"}', 400),
        (b'{"text": "\xed\xa0\x80"}', 400),
        (b'{"text": "\\ud800"}', 400),
        (b"[" * 100_000, 400),
        (b'{"a":' * 100_000, 400),
        (b'{"n": NaN}', 400),
        (b'{"n": 1e999}', 400),
        (b'{"text": "' + b"x" * 1024 * 1024 + b'"}', 413),
    ],
    ids=lambda one: repr(one[:12]) if isinstance(one, bytes) else None,
)
async def test_a_body_that_is_none_is_refused(
    room: Room, method: str, path: str, body: bytes, status: int
) -> None:
    if OPERATIONS[method, path].body == OPERATIONS["POST", "/projects"].body:
        return  # what it is sent is not looked at
    if status == 413 and path.endswith("/attachments"):
        return  # it may be larger, and test_attachments.py sees how much
    before = room.kept()
    answer = await room.call(method, room.path(path), content=body)

    assert answer.status_code == status, answer.text
    assert room.kept() == before


@pytest.mark.parametrize(
    "shown",
    [
        {"agent_session_id": "x"},
        {"agent_session_token": SECRET},
        {"agent_session_id": "nobody", "agent_session_token": SECRET},
        {"agent_session_id": 7, "agent_session_token": SECRET},
        {"agent_session_id": "a\r\nb", "agent_session_token": SECRET},
        {"agent_session_id": "x" * 5000, "agent_session_token": SECRET},
        {"agent_session_id": "x", "agent_session_token": ["no"]},
    ],
)
async def test_credentials_that_are_none_are_refused_by_every_write(
    room: Room, shown: Plain
) -> None:
    before, taken = room.kept(), []
    for method, path in WRITES:
        if OPERATIONS[method, path].acts is None:
            continue
        answer = await room.call(method, room.path(path), json=shown)
        if answer.status_code not in (400, 401, 403):
            taken.append((method, path, answer.status_code, answer.text[:100]))

    assert taken == []
    assert room.kept() == before


ROOM_IDS = [
    ("..", 400),
    ("../..", 400),
    ("%2e%2e%2fshed", 400),
    ("shed%2f..", 400),
    ("%00", 400),
    ("a%00b", 400),
    ("%0d%0aSet-Cookie:%20a=b", 400),
    ("%ff%fe", 400),
    ("%20", 400),
    ("x" * 300, 400),
    ("a//b", 400),
    ("SHED", 404),
    ("..%5cshed", 404),
    ("%F0%9F%98%80", 404),
    ("%E2%80%AE", 400),
]


@pytest.mark.parametrize(("room_id", "status"), ROOM_IDS)
async def test_no_trick_in_a_room_s_name_leads_elsewhere(
    room: Room, room_id: str, status: int
) -> None:
    before, found = room.kept(), []
    for method, path in READS:
        if "{room_id:path}" not in path or path.endswith(HOLDING):
            continue
        url = httpx.URL(f"http://rooms.test{room.path(path, room_id)}")
        answer = await room.call(method, str(url))
        if answer.status_code not in {status, 404}:
            found.append((path, answer.status_code, answer.text[:100]))

    assert found == []
    assert room.kept() == before


@pytest.mark.parametrize(("room_id", "status"), ROOM_IDS)
async def test_nothing_is_written_through_a_trick_in_a_room_s_name(
    room: Room, room_id: str, status: int
) -> None:
    before, found = room.kept(), []
    for method, path in WRITES:
        if "{room_id:path}" not in path:
            continue
        url = httpx.URL(f"http://rooms.test{room.path(path, room_id)}")
        answer = await room.call(method, str(url), json=room.worker | {"text": "ahoy"})
        if answer.status_code not in {status, 400, 401, 403, 404}:
            found.append((method, path, answer.status_code, answer.text[:100]))

    assert found == []
    assert room.kept() == before


IDS_OF_NOTHING = (
    *("%2e%2e", "..%2f..", "%00", "%0d%0aX-Evil:%201", "%ff", "%20", "-1", "x" * 3000),
    *("msg_0", "msg_01", "msg_2147483648", "task_0", "task_01", "task_9999999999"),
)


@pytest.mark.parametrize("id_", IDS_OF_NOTHING, ids=lambda one: one[:20])
async def test_an_id_that_is_none_names_nothing(room: Room, id_: str) -> None:
    before, found = room.kept(), []
    for method, path, _ in ROUTES:
        if not re.search(r"\{\w+_id\}", path) or path.endswith(HOLDING):
            continue
        asked = re.sub(r"\{\w+_id\}", lambda _: id_, path)
        answer = await room.call(
            method,
            f"http://rooms.test{room.path(asked)}",
            json=None if method == "GET" else room.worker | {"text": "ahoy"},
            headers=room.headers,
        )
        if answer.status_code not in REFUSED or "x-evil" in answer.headers:
            found.append((method, path, answer.status_code, answer.text[:100]))

    assert found == []
    assert room.kept() == before


@pytest.mark.parametrize(
    "path",
    ["/rooms//messages", "/rooms/messages", "/rooms/", "//rooms/shed/messages", "/rooms/shed/"],
)
async def test_a_path_with_an_empty_part_is_no_route(room: Room, path: str) -> None:
    answer = await room.call("GET", f"http://rooms.test{path}")

    assert answer.status_code in (400, 404, 405), answer.text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "TRACE", "BREW"])
async def test_a_method_that_no_route_has_is_answered_as_a_missing_route(
    room: Room, method: str
) -> None:
    answer = await room.call(method, "/rooms/shed/messages")

    assert answer.status_code == 404
    assert answer.json() == {"error": f"Cannot {method} this path"}


async def test_a_value_of_a_query_that_is_none_is_refused_or_left(room: Room) -> None:
    failed = []
    for method, path in READS:
        if path.endswith(HOLDING):
            continue
        for name in OPERATIONS[method, path].query:
            for value in ("%00", "%ff", "-1", "9" * 30, "x" * 3000, "msg_0", "%D9%A3", "1.5"):
                answer = await room.call(method, f"{room.path(path)}?{name}={value}")
                if answer.status_code >= 500 and answer.status_code != 501:
                    failed.append((path, name, value, answer.status_code, answer.text[:80]))

    assert failed == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer "},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Bearer {TOKEN}, Bearer {TOKEN}"},
        {"Authorization": f"Bearer {TOKEN}%00"},
        {"X-Authorization": f"Bearer {TOKEN}"},
        {"Cookie": f"letagents_token={TOKEN}"},
    ],
)
async def test_a_token_in_a_wrong_place_is_none(room: Room, headers: Headers) -> None:
    for method, path in READS:
        if OPERATIONS[method, path].open_to_all:
            continue
        url = f"{room.path(path)}?token={TOKEN}&access_token={TOKEN}"
        answer = await room.http.request(method, url, headers=headers)

        assert answer.status_code == 401, (path, answer.text)


async def test_a_token_in_a_body_is_none(room: Room) -> None:
    before = room.kept()
    names = ("token", "access_token", "authorization", "letagents_token", "Authorization")
    for method, path in WRITES:
        asked = room.worker | dict.fromkeys(names, TOKEN)
        answer = await room.http.request(method, room.path(path), json=asked)

        assert answer.status_code == 401, (path, answer.text)
        assert TOKEN not in answer.text
    assert room.kept() == before


async def test_no_secret_is_in_a_log_or_an_answer_of_a_refusal(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = LogCapture()
    log = structlog.wrap_logger(None, [heard], structlog.BoundLogger)
    for module in (app, answers_module):
        monkeypatch.setattr(module, "log", log)
    own = room.worker["agent_session_token"]
    wrong = {"agent_session_id": "nobody", "agent_session_token": SECRET, "text": 7, "name": [own]}
    answers = []
    for method, path in WRITES:
        named = room.path(path)
        answers += [
            await room.call(method, f"{named}?token={TOKEN}", json=wrong),
            await room.call(method, named, json=room.worker | {"title": {"a": own}}),
            await room.call(method, named, content=f'{{"{own}'.encode(), headers={"X-T": own}),
        ]
    told = repr(heard.entries) + "".join(one.text for one in answers if one.status_code >= 400)

    assert len(heard.entries) >= len(answers)
    assert TOKEN not in told
    assert SECRET not in told
    assert own not in told


async def test_a_header_cannot_be_made_from_what_was_asked(room: Room) -> None:
    for method, path in READS:
        if path.endswith(HOLDING):
            continue
        answer = await room.call(
            method, f"{room.path(path)}?after=a%0d%0aX-Evil:%201&code=%0d%0aX-Evil:%201"
        )

        assert "x-evil" not in answer.headers


async def test_the_document_is_json_that_others_read(room: Room) -> None:
    answer = await room.call("GET", "/openapi.json")

    assert orjson.loads(answer.content) == orjson.loads(
        orjson.dumps(whole() | {"servers": answer.json()["servers"]})
    )
