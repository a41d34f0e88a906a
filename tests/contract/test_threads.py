"""Threads and names of rooms: as rooms keep them, and over HTTP."""

from collections.abc import AsyncIterator
from typing import Any

import attrs
import httpx
import pytest
from tests.contract.kept_rooms import InMemory, InPostgres, KeptRooms, OnThisMachine
from tests.contract.served import ADA, TOKEN, client, hosting

from letagents.adapters.accounts.memory import MemoryAccounts
from letagents.adapters.rooms.kept.room_names import KeptRoomNames
from letagents.adapters.rooms.kept.threads import KeptThreads
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.accounts import Account
from letagents.domain.errors import Malformed
from letagents.domain.ids import RoomId
from letagents.domain.sessions import Session
from letagents.domain.tasks import AdminRequired
from letagents.testing.contracts.room_callers import RoomCallers
from letagents.testing.contracts.threads import ThreadsContract
from letagents.testing.determinism import CountingIds, ManualClock

ROOM = RoomId("harbour")


class _KeptThreads(ThreadsContract):
    @pytest.fixture
    def threads(self, rooms: KeptRooms) -> KeptThreads:
        return KeptThreads(rooms)

    @pytest.fixture
    def threads_elsewhere(self, elsewhere: KeptRooms) -> KeptThreads:
        return KeptThreads(elsewhere)


class TestThreadsInMemory(InMemory, _KeptThreads):
    pass


class TestThreadsOnThisMachine(OnThisMachine, _KeptThreads):
    pass


@pytest.mark.long
class TestThreadsInPostgres(InPostgres, _KeptThreads):
    pass


# --- names


@pytest.mark.anyio
class _Names(RoomCallers):
    @pytest.mark.rule("K124")
    async def test_a_room_is_called_something_else_and_stays_where_it_is(
        self, rooms: KeptRooms, elsewhere: KeptRooms
    ) -> None:
        await rooms.join(ROOM)
        renamed = await KeptRoomNames(rooms).rename(ROOM, "  North\n  pier ")

        assert (renamed.room_id, renamed.display_name) == (ROOM, "North pier")
        assert await elsewhere.join(ROOM, create=False) == renamed
        assert list(await elsewhere.known()) == [renamed]

    @pytest.mark.rule("K124")
    @pytest.mark.parametrize("name", ["", " ", "x", "x" * 65, "a\u202eb"])
    async def test_what_no_room_is_called_is_refused(self, rooms: KeptRooms, name: str) -> None:
        before = await rooms.join(ROOM)
        with pytest.raises(Malformed):
            await KeptRoomNames(rooms).rename(ROOM, name)

        assert await rooms.join(ROOM) == before


class TestNamesInMemory(InMemory, _Names):
    pass


class TestNamesOnThisMachine(OnThisMachine, _Names):
    pass


@pytest.mark.anyio
@pytest.mark.rule("K125")
async def test_only_an_admin_says_what_a_room_is_called() -> None:
    def nobody(caller: Session | None) -> bool:
        return False

    rooms = MemoryRooms(CountingIds(), ManualClock(), admins=nobody)
    before = await rooms.join(ROOM)
    with pytest.raises(AdminRequired):
        await KeptRoomNames(rooms).rename(ROOM, "North pier")

    assert await rooms.join(ROOM) == before


# --- over HTTP

BOBS = "b" * 64
BOB = Account(account_id="account_2", login="bob")


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    clock = ManualClock()
    accounts = MemoryAccounts.of(clock, {TOKEN: ADA, BOBS: BOB})

    def is_admin(caller: Session | None) -> bool:
        return caller is None or accounts.is_admin(caller.agent_key, caller.room_id)

    rooms = MemoryRooms(CountingIds(), clock, admins=is_admin)
    served = attrs.evolve(hosting(rooms, clock), accounts=accounts)
    async with client(served) as opened:
        opened.headers["Authorization"] = f"Bearer {TOKEN}"
        await opened.post("/rooms/harbour/join")
        yield opened


async def _say(http: httpx.AsyncClient, text: str, **more: object) -> Any:
    body = {"text": text, "desktop_human_client": True, **more}
    return await http.post("/rooms/harbour/messages", json=body)


@pytest.mark.anyio
async def test_a_person_says_something_without_a_session(http: httpx.AsyncClient) -> None:
    by_body = await _say(http, "ahoy")
    by_header = await http.post(
        "/rooms/harbour/messages",
        json={"text": "ahoy"},
        headers={"X-LetAgents-Desktop-Client": "1"},
    )
    unmarked = await http.post("/rooms/harbour/messages", json={"text": "ahoy"})

    assert (by_body.status_code, by_header.status_code) == (201, 201)
    assert by_body.json()["sender"] == by_header.json()["sender"]
    assert unmarked.status_code == 403


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"agent_prompt_kind": "join"}, "agent_prompt_kind must be one of: inline, auto"),
        ({"attachments": [{"upload_id": "u"}]}, "attachment upload not found or expired"),
        ({"reply_to": "message_1"}, "reply_to"),
    ],
)
async def test_what_no_message_can_be_here_is_refused(
    http: httpx.AsyncClient, more: dict[str, object], told: str
) -> None:
    refused = await _say(http, "ahoy", **more)

    assert refused.status_code == 400
    assert told in refused.json()["error"]
    assert (await http.get("/rooms/harbour/messages")).json()["messages"] == []


@pytest.mark.anyio
async def test_threads_are_listed_and_read_by_an_account(http: httpx.AsyncClient) -> None:
    await _say(http, "root")
    await _say(http, "reply", thread_root_id="msg_1")
    path = "/rooms/harbour/messages"

    listed = (await http.get(f"{path}/threads")).json()
    read = (await http.put(f"{path}/msg_1/thread/read", json={"message_id": "msg_2"})).json()
    unread = (await http.get(f"{path}/threads?filter=unread")).json()
    bobs = await http.get(f"{path}/threads", headers={"Authorization": f"Bearer {BOBS}"})
    missing = await http.put(f"{path}/msg_7/thread/read", json={})
    nobody = await http.put(f"{path}/msg_1/thread/read", headers={"Authorization": "Basic x"})
    wrong = await http.get(f"{path}/threads?filter=new")

    [thread] = listed["threads"]
    assert (thread["root_message_id"], thread["reply_count"]) == ("msg_1", 1)
    assert thread["latest_reply"]["text"] == "reply"
    assert thread["participants"][0]["message_count"] == 2
    assert (thread["last_read_message_id"], listed["unread_thread_count"]) == (None, 1)
    assert read["thread"]["last_read_message_id"] == "msg_2"
    assert (unread["threads"], unread["unread_thread_count"]) == ([], 0)
    assert bobs.json()["unread_thread_count"] == 1
    assert (missing.status_code, missing.json()["error"]) == (404, "thread not found")
    assert (nobody.status_code, nobody.json()["error"]) == (401, "account session required")
    assert (wrong.status_code, wrong.json()["error"]) == (400, "filter must be all or unread")


@pytest.mark.anyio
async def test_a_room_is_renamed_by_its_admin_alone(http: httpx.AsyncClient) -> None:
    async def rename(name: object, token: str = TOKEN, room: str = "harbour") -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"}
        return await http.patch(f"/rooms/{room}", json={"display_name": name}, headers=headers)

    renamed, refused = await rename("North pier"), await rename("South pier", BOBS)
    short, missing = await rename("x"), await rename("North pier", room="shed")
    entered = await http.post("/rooms/harbour/join")

    assert renamed.json()["display_name"] == "North pier"
    assert (refused.status_code, refused.json()["error"]) == (403, "Admin privileges required")
    assert short.json()["error"].startswith("display_name must be between 2 and 64 characters")
    assert missing.json()["code"] == "ROOM_NOT_FOUND"
    assert entered.json()["display_name"] == "North pier"
