"""The tools over HTTP, for clients that start no process: in both eras, over a real socket."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest
from tests.e2e.chats import ERAS, Plain
from tests.e2e.http_chats import HttpChat, chatting
from tests.e2e.served import Server, served

pytestmark = pytest.mark.anyio

OLD, NEW = ERAS


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("mcp") / "home") as running:
        yield running


@pytest.fixture(scope="module")
def tokens(server: Server) -> dict[str, str]:
    return {login: server.account(login) for login in ("ada", "bob")}


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def chats() -> AsyncIterator[AsyncExitStack]:
    with anyio.fail_after(60):
        async with AsyncExitStack() as stack:
            yield stack


async def registered(chat: HttpChat, key: str, room: str, name: str = "Juniper") -> Plain:
    """Return what a call shows of the worker that the chat has then."""
    await chat.call("join_room", name=room)
    made = await chat.call(
        "register_agent_session", registration_key=key, room_id=room, display_name=name
    )
    return {"worker_id": made["worker_id"], "room_id": room}


async def test_two_accounts_talk_and_one_waits(
    server: Server, tokens: dict[str, str], era: str, chats: AsyncExitStack
) -> None:
    room = f"harbour-{era}"
    one = await chats.enter_async_context(chatting(server.url, tokens["ada"], era))
    two = await chats.enter_async_context(chatting(server.url, tokens["bob"], era))
    juniper = await registered(one, "of one", room)
    willow = await registered(two, "of two", room, "Willow")
    heard: list[Plain] = []

    async def listen() -> None:
        heard.append(await two.call("wait_for_messages", timeout=30_000, **willow))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        sent = await one.call("send_message", text="@Willow ahoy", **juniper)
    answered = await two.call("send_message", text="ahoy yourself", **willow)
    read = await one.call("read_messages", **juniper)

    assert [said["text"] for said in heard[0]["messages"]] == ["@Willow ahoy"]
    assert sent["agent_identity"]["canonical_key"].startswith("ada/worker-")
    assert answered["agent_identity"]["display_name"] == "Willow"
    assert [said["text"] for said in read["messages"]] == ["@Willow ahoy", "ahoy yourself"]


async def test_a_handle_is_good_in_any_chat_of_its_account_and_in_no_other(
    server: Server, tokens: dict[str, str], era: str, chats: AsyncExitStack
) -> None:
    room = f"quay-{era}"
    async with chatting(server.url, tokens["ada"], era) as first:
        juniper = await registered(first, "lasting", room)
    later = await chats.enter_async_context(chatting(server.url, tokens["ada"], era))
    other = await chats.enter_async_context(chatting(server.url, tokens["bob"], era))
    sent = await later.call("send_message", text="still me", **juniper)
    again = await later.call("register_agent_session", registration_key="lasting", room_id=room)
    theirs = await other.refused("send_message", text="it is me", **juniper)
    same_key = await registered(other, "lasting", room, "Willow")

    assert sent["agent_identity"]["display_name"] == "Juniper"
    assert again["worker_id"] == juniper["worker_id"]
    assert "[unknown_worker]" in theirs
    assert same_key["worker_id"] != juniper["worker_id"]


async def test_a_chat_whose_connection_was_replaced_is_heard_no_more(
    server: Server, tokens: dict[str, str], chats: AsyncExitStack
) -> None:
    old = await chats.enter_async_context(chatting(server.url, tokens["ada"], OLD))
    new = await chats.enter_async_context(chatting(server.url, tokens["ada"], OLD))
    juniper = await registered(old, "replaced", "pier")
    await old.call("send_message", text="from the old life", **juniper)
    await new.call("register_agent_session", **juniper)
    refused = [await old.refused("send_message", text="still me?", **juniper) for _ in range(2)]
    await new.call("send_message", text="from the new one", **juniper)
    alone = await chats.enter_async_context(chatting(server.url, tokens["ada"], NEW))
    read = await alone.call("read_messages", **juniper)

    assert all("[connection_replaced]" in one for one in refused)
    assert [said["text"] for said in read["messages"]] == [
        "from the old life",
        "from the new one",
    ]


@pytest.mark.parametrize("era", ERAS)
async def test_a_handle_outlives_the_server_and_no_secret_is_in_its_log(
    tmp_path: Path, era: str
) -> None:
    home = tmp_path / "home"
    with served(home) as first:
        token = first.account("ada")
        async with chatting(first.url, token, era) as chat:
            juniper = await registered(chat, "outliving", "harbour")
            await chat.call("send_message", text="before", **juniper)
        code, log = first.stop(), first.running.complaints()
    with served(home) as second:
        async with chatting(second.url, token, era) as chat:
            sent = await chat.call("send_message", text="after", **juniper)

    assert (sent["id"], sent["agent_identity"]["display_name"]) == ("msg_2", "Juniper")
    assert code == 0
    assert "POST /mcp" in log
    assert [secret for secret in (token, "outliving", "before") if secret in log] == []
    assert "Traceback" not in log
