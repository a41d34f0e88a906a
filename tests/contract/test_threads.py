"""Threads of rooms, and what their admins do: as rooms keep them, and over HTTP."""

from collections.abc import AsyncIterator
from typing import Any

import attrs
import httpx
import pytest
from tests.contract.kept_rooms import InMemory, InPostgres, KeptRooms, OnThisMachine
from tests.contract.served import ADA, TOKEN, client, hosting

from letagents.adapters.accounts.memory import MemoryAccounts
from letagents.adapters.rooms.kept.administration import KeptAdministration
from letagents.adapters.rooms.kept.threads import KeptThreads
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.accounts import Account
from letagents.domain.errors import Malformed, SessionEnded
from letagents.domain.governance import NoSuchSession
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.messages import Latest
from letagents.domain.sessions import Connection, Session
from letagents.domain.tasks import AdminRequired
from letagents.testing.contracts.room_callers import ADA as ADA_NUMBER
from letagents.testing.contracts.room_callers import RoomCallers, arrival
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
        renamed = await KeptAdministration(rooms).rename(ROOM, "  North\n  pier ")

        assert (renamed.room_id, renamed.display_name) == (ROOM, "North pier")
        assert await elsewhere.join(ROOM, create=False) == renamed
        assert list(await elsewhere.known()) == [renamed]

    @pytest.mark.rule("K124")
    @pytest.mark.parametrize("name", ["", " ", "x", "x" * 65, "a\u202eb"])
    async def test_what_no_room_is_called_is_refused(self, rooms: KeptRooms, name: str) -> None:
        before = await rooms.join(ROOM)
        with pytest.raises(Malformed):
            await KeptAdministration(rooms).rename(ROOM, name)

        assert await rooms.join(ROOM) == before

    @pytest.mark.rule("K126")
    async def test_a_session_that_an_admin_ends_is_over_and_its_worker_may_come_back(
        self, rooms: KeptRooms, ada: Connection
    ) -> None:
        session_id = ada.session.session_id
        ended = await KeptAdministration(rooms).end(ada.session.room_id, session_id)
        again = await KeptAdministration(rooms).end(ada.session.room_id, session_id)
        with pytest.raises(SessionEnded):
            await rooms.read(ada.session.room_id, Latest(1), ada.fence)
        with pytest.raises(NoSuchSession):
            await KeptAdministration(rooms).end(ada.session.room_id, SessionId("session_7"))
        back = await rooms.connect(ada.session.room_id, arrival(ADA_NUMBER, 2, after=ada))

        assert ended.ended_at is not None
        assert again == ended
        assert back.session.session_id == session_id
        assert back.session.ended_at is None


class TestNamesInMemory(InMemory, _Names):
    pass


class TestNamesOnThisMachine(OnThisMachine, _Names):
    pass


@pytest.mark.anyio
@pytest.mark.rule("K125", "K126")
async def test_only_an_admin_does_what_admins_do() -> None:
    def nobody(caller: Session | None) -> bool:
        return False

    rooms = MemoryRooms(CountingIds(), ManualClock(), admins=nobody)
    before = await rooms.join(ROOM)
    worker = await rooms.connect(ROOM, arrival(ADA_NUMBER, 1))
    with pytest.raises(AdminRequired):
        await KeptAdministration(rooms).rename(ROOM, "North pier")
    with pytest.raises(AdminRequired):
        await KeptAdministration(rooms).end(ROOM, worker.session.session_id)

    assert await rooms.join(ROOM) == before
    assert (await rooms.read(ROOM, Latest(1), worker.fence)).messages == ()


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
        for token in (TOKEN, BOBS):
            headers = {"Authorization": f"Bearer {token}"}
            await opened.post("/rooms/harbour/join", headers=headers)
        yield opened


async def _say(http: httpx.AsyncClient, text: object, **more: object) -> Any:
    body = {"text": text, "desktop_human_client": True} | more
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
async def test_who_says_something_is_told_the_key_that_they_gave_it(
    http: httpx.AsyncClient,
) -> None:
    said = {"text": "ahoy", "desktop_human_client": True}
    told = [
        (await http.post("/rooms/harbour/messages", json=said | more)).json()
        for more in ({"client_message_id": " a key "}, {"client_message_id": "a key"}, {})
    ]

    assert [one["client_message_id"] for one in told] == ["a key", "a key", None]
    assert [one["id"] for one in told] == ["msg_1", "msg_1", "msg_2"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"agent_prompt_kind": "join"}, "agent_prompt_kind must be one of: inline, auto"),
        ({"attachments": [{"upload_id": "u"}]}, "attachment upload not found or expired"),
        ({"text": " "}, "sender and text or attachments are required"),
        ({"reply_to": "message_1"}, "reply_to must be a valid message id"),
        ({"reply_to": "msg_7"}, "reply_to must reference an existing message in this room"),
        ({"thread_root_id": "msg_7"}, "thread_root_id must reference an existing message in this"),
    ],
)
async def test_what_no_message_can_be_here_is_refused(
    http: httpx.AsyncClient, more: dict[str, object], told: str
) -> None:
    refused = await _say(http, **{"text": "ahoy", **more})

    assert refused.status_code == 400
    assert told in refused.json()["error"]
    assert (await http.get("/rooms/harbour/messages")).json()["messages"] == []


@pytest.mark.anyio
async def test_a_prompt_is_kept_and_one_that_says_nothing_is_shown_to_who_asks(
    http: httpx.AsyncClient,
) -> None:
    path, all_of_it = "/rooms/harbour/messages", {"include_prompt_only": "TRUE"}
    inline = await _say(http, "ahoy", agent_prompt_kind=" Inline ")
    alone = await _say(http, " ", agent_prompt_kind="auto")
    quoting = await _say(http, "this", reply_to="msg_2")
    with_a_file = await _say(http, "x", agent_prompt_kind="auto", attachments=[{"upload_id": "u"}])
    shown = [
        [one["id"] for one in (await http.get(path, params=params)).json()["messages"]]
        for params in ({}, all_of_it, {"include_prompt_only": ["1", "1"]}, {"after": "msg_1"})
    ]
    after = {"after": "msg_1", "timeout": "0"}
    polled = (await http.get(f"{path}/poll", params=all_of_it | after)).json()
    one = await http.get(f"{path}/msg_2", params=all_of_it)
    hidden = await http.get(f"{path}/msg_2")

    assert (inline.status_code, inline.json()["agent_prompt_kind"]) == (201, "inline")
    assert (alone.status_code, alone.json()["text"]) == (201, "")
    assert quoting.json()["error"] == "reply_to must reference a visible message"
    assert with_a_file.json()["error"] == "auto prompt messages cannot include attachments"
    assert shown == [["msg_1"], ["msg_1", "msg_2"], ["msg_1"], []]
    assert [one["agent_prompt_kind"] for one in polled["messages"]] == ["auto"]
    assert (one.status_code, hidden.status_code) == (200, 404)


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
async def test_a_message_that_is_given_out_says_which_thread_it_is_of(
    http: httpx.AsyncClient,
) -> None:
    path = "/rooms/harbour/messages"
    alone = (await _say(http, "root")).json()
    reply = (await _say(http, "reply", thread_root_id="msg_1")).json()
    await _say(http, "beside it")
    [listed] = (await http.get(f"{path}/threads")).json()["threads"]
    page = (await http.get(path, params={"limit": "1"})).json()
    older = (await http.get(path, params={"before": "msg_2"})).json()
    newest = (await http.get(path, params={"before": "latest"})).json()
    polled = (await http.get(f"{path}/poll", params={"after": "msg_1", "timeout": "0"})).json()
    one = (await http.get(f"{path}/msg_1")).json()["message"]

    assert (alone["thread"], reply["thread"], one["thread"]) == (None, listed, listed)
    given = [page, older, newest, polled]
    assert [[one["thread"] for one in each["messages"]] for each in given] == [
        [listed],
        [listed],
        [listed, listed, None],
        [listed, None],
    ]


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


async def _session(http: httpx.AsyncClient, name: str, **more: object) -> dict[str, str]:
    await http.post("/agents", json={"name": name})
    asked = {"actor_key": f"ada/{name}", "agent_instance_id": name, **more}
    made = (await http.post("/rooms/harbour/agent-sessions", json=asked)).json()
    return {"agent_session_id": made["session_id"], "agent_session_token": made["session_token"]}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("messages", {"text": "ahoy"}),
        ("presence", {"status": "idle"}),
        ("reasoning-sessions", {"summary": "thinking"}),
        ("tasks", {"title": "mend it"}),
    ],
)
async def test_a_session_that_only_watches_does_nothing(
    http: httpx.AsyncClient, path: str, body: dict[str, object]
) -> None:
    watcher = await _session(http, "owl", session_kind="controller")
    refused = await http.post(f"/rooms/harbour/{path}", json=body | watcher)

    assert refused.status_code == 403
    assert refused.json()["error"] == "Worker session is required for agent write actions."


@pytest.mark.anyio
@pytest.mark.parametrize("left_out", ["agent_session_id", "agent_session_token"])
async def test_half_a_session_is_none_and_not_a_person_either(
    http: httpx.AsyncClient, left_out: str
) -> None:
    half = {**await _session(http, "juniper"), left_out: " "}
    refused = [
        await http.post(f"/rooms/harbour/{path}", json={"text": "x", "title": "x", **half, **more})
        for path in ("messages", "tasks")
        for more in ({}, {"desktop_human_client": True})
    ]

    assert {one.status_code for one in refused} == {403}
    told = "Registered worker session is required for agent write actions."
    assert {one.json()["error"].partition(" Show")[0] for one in refused} == {told}


@pytest.mark.anyio
async def test_an_admin_ends_a_session_and_nobody_else_does(http: httpx.AsyncClient) -> None:
    worker = await _session(http, "juniper")
    path = f"/rooms/harbour/agent-sessions/{worker['agent_session_id']}/disconnect"

    refused = await http.post(path, json={}, headers={"Authorization": f"Bearer {BOBS}"})
    ended = await http.post(path, json={})
    missing = await http.post("/rooms/harbour/agent-sessions/session_7/disconnect", json={})
    over = await http.post("/rooms/harbour/messages", json={"text": "ahoy", **worker})

    assert (refused.status_code, refused.json()["error"]) == (403, "Admin privileges required")
    assert ended.json()["agent_session"]["ended_at"] is not None
    assert (missing.status_code, missing.json()["error"]) == (404, "Agent session not found")
    assert over.json()["error"].startswith("This agent session has ended.")
