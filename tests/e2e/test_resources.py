"""What can be read beside tools, and who is told when it changes, in both eras of the protocol."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import MCPError
from mcp.shared.subscriptions import ResourceUpdated
from mcp_types import TextResourceContents
from tests.e2e.chats import ERAS, Chat, House, Served, living_in

from letagents.domain.bounds import RESULT_LIMIT
from letagents.entrypoints.mcp.resources import MESSAGES, READINESS
from letagents.wire.bounds import size

WORKSHOP = "letagents://rooms/workshop/messages"
UPDATED, LISTED = "notifications/resources/updated", "notifications/resources/list_changed"


@pytest.fixture(params=ERAS)
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[House]:
    async with living_in(tmp_path, request.param) as house:
        yield house


@pytest.fixture
async def old_house(tmp_path: Path) -> AsyncIterator[House]:
    async with living_in(tmp_path, ERAS[0]) as house:
        yield house


@pytest.fixture
async def new_house(tmp_path: Path) -> AsyncIterator[House]:
    async with living_in(tmp_path, ERAS[1]) as house:
        yield house


async def speaking(house: House, *texts: str) -> tuple[Chat, str]:
    """Let a worker say something in the workshop; return its chat and its handle."""
    chat = await house.chat()
    await chat.call("join_room", name="workshop")
    registered = await chat.call(
        "register_agent_session", registration_key="a key", room_id="workshop"
    )
    worker_id = str(registered["worker_id"])
    for text in texts:
        await chat.call("send_message", worker_id=worker_id, text=text)
    return chat, worker_id


async def read(chat: Chat, uri: str) -> Any:
    [content] = (await chat.client.read_resource(uri, cache_mode="bypass")).contents
    assert isinstance(content, TextResourceContents)
    assert (content.uri, content.mime_type) == (uri, "application/json")
    return json.loads(content.text)


async def seen(chat: Chat, count: int) -> list[str]:
    """Wait until the client got so many notices."""
    with anyio.fail_after(10):
        while len(chat.notices) < count:
            await anyio.lowlevel.checkpoint()
            await anyio.wait_all_tasks_blocked()
    return chat.notices


async def test_readiness_is_listed_and_a_room_is_a_template(house: House) -> None:
    chat = await house.chat()
    listed = (await chat.client.list_resources()).resources
    templates = (await chat.client.list_resource_templates()).resource_templates

    assert [(one.name, one.uri) for one in listed] == [("runtime_readiness", READINESS)]
    assert [(one.name, one.uri_template) for one in templates] == [("room_messages", MESSAGES)]
    assert (await read(chat, READINESS))["profile"] == "autonomous_mcp_worker"


async def test_a_room_is_read_as_agents_see_it(house: House) -> None:
    chat, _ = await speaking(house, "one", "two")
    content = await read(chat, WORKSHOP)

    assert content == {"messages": (await chat.call("read_messages"))["messages"]}


@pytest.mark.parametrize(
    "uri",
    ["letagents://rooms/github.com%2Fa%2Fb/messages", "letagents://rooms/github.com/a/b/messages"],
)
async def test_a_repository_s_room_is_read_in_either_spelling(house: House, uri: str) -> None:
    chat = await house.chat()
    await chat.call("join_room", name="github.com/A/b")

    assert await read(chat, uri) == {"messages": []}


async def test_a_long_room_shows_its_newest_and_says_what_it_leaves_out(house: House) -> None:
    chat, _ = await speaking(house, *(f"{number} {'é' * 3_000}" for number in range(1, 16)))
    content = await read(chat, WORKSHOP)
    shown = [message["id"] for message in content["messages"]]

    assert size(content) <= RESULT_LIMIT
    assert shown[-1] == "msg_15"
    assert content["truncated"] is True
    assert content["omitted_message_count"] == 15 - len(shown)
    assert content["older"] == (
        f"read_messages(room_id='workshop', before_message_id='{shown[0]}')"
    )


@pytest.mark.parametrize(
    "uri",
    [
        "letagents://rooms/nowhere/messages",
        "letagents://rooms//messages",
        "letagents://rooms/%ff/messages",
        "letagents://rooms/%00/messages",
        "letagents://rooms/workshop",
        "letagents://runtime/nothing",
        "file:///etc/passwd",
    ],
)
async def test_what_is_not_there_is_refused_by_its_name(house: House, uri: str) -> None:
    chat, _ = await speaking(house)
    with pytest.raises(MCPError) as refused:
        await chat.client.read_resource(uri)

    assert refused.value.error.code == -32602
    assert refused.value.error.data == {"uri": uri}


@pytest.mark.filterwarnings("ignore:resources/:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:resources/")
async def test_a_subscriber_with_a_session_is_told_until_it_has_enough(old_house: House) -> None:
    chat, worker_id = await speaking(old_house, "before")
    other = await old_house.chat()
    await chat.client.subscribe_resource(WORKSHOP)
    await chat.client.subscribe_resource(WORKSHOP)
    await chat.call("send_message", worker_id=worker_id, text="one")

    assert await seen(chat, 2) == [UPDATED, LISTED]
    await chat.client.unsubscribe_resource(WORKSHOP)
    await chat.call("send_message", worker_id=worker_id, text="two")
    await anyio.wait_all_tasks_blocked()

    assert chat.notices == [UPDATED, LISTED], "once for each message, and none afterwards"
    assert other.notices == []


@pytest.mark.filterwarnings("ignore:resources/")
async def test_subscribing_to_what_is_not_there_is_refused(old_house: House) -> None:
    chat = await old_house.chat()
    with pytest.raises(MCPError, match="nowhere"):
        await chat.client.subscribe_resource("letagents://rooms/nowhere/messages")


async def test_a_stream_is_told_of_its_room_for_as_long_as_it_is_open(new_house: House) -> None:
    chat, worker_id = await speaking(new_house, "before")
    nowhere = "letagents://rooms/nowhere/messages"
    wanted = [WORKSHOP, nowhere, "test://anything"]
    with anyio.fail_after(10):
        async with (
            chat.client.listen(resources_list_changed=True) as lists,
            chat.client.listen(resource_subscriptions=wanted) as updates,
        ):
            assert updates.honored.resource_subscriptions == wanted
            for text in ("one", "two"):
                await chat.call("send_message", worker_id=worker_id, text=text)

                assert await anext(aiter(updates)) == ResourceUpdated(WORKSHOP)
            assert lists.honored.resources_list_changed is True
        await chat.call("send_message", worker_id=worker_id, text="three")
        await anyio.wait_all_tasks_blocked()


async def test_nothing_is_watched_while_nobody_has_subscribed(house: House) -> None:
    chat, _ = await speaking(house, "one")
    watches = chat.visit.watches

    assert watches is not None
    assert not watches.rooms


@pytest.mark.filterwarnings("ignore:resources/")
async def test_a_room_is_watched_once_and_let_go_of(old_house: House) -> None:
    chat, _ = await speaking(old_house)
    spelt_otherwise = "letagents://rooms/%77orkshop/messages"
    watches = chat.visit.watches
    assert watches is not None
    for uri in (WORKSHOP, spelt_otherwise):
        await chat.client.subscribe_resource(uri)

    assert len(watches.rooms) == len(followers()) == 1
    for uri in (WORKSHOP, spelt_otherwise, "test://anything"):
        await chat.client.unsubscribe_resource(uri)

    await anyio.wait_all_tasks_blocked()
    assert list(watches.rooms) == []
    assert followers() == []


def followers() -> list[str]:
    """Return the tasks that follow a room."""
    names = (task.name or "" for task in anyio.get_running_tasks())
    return [name for name in names if "_follow" in name]


# --- between processes ----------------------------------------------------------------------------


def say(home: Path, text: str) -> None:
    """Say something in the workshop from a process of its own."""
    with Served(home) as other:
        other.call("join_room", name="workshop")
        me = other.call("register_agent_session", registration_key=text, room_id="workshop")
        other.call("send_message", worker_id=me["worker_id"], text=text)
        assert other.close() == 0


def test_what_another_process_says_is_told_to_a_subscriber_with_a_session(tmp_path: Path) -> None:
    with Served(tmp_path, ERAS[0]) as served:
        hello = json.loads(served.said[0])["result"]
        served.call("join_room", name="workshop")
        served.answer(served.ask("resources/subscribe", {"uri": WORKSHOP}))
        say(tmp_path, "hello")
        told = [served.notice(), served.notice()]
        served.answer(served.ask("resources/unsubscribe", {"uri": WORKSHOP}))

        assert hello["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}
        assert [one["method"] for one in told] == [UPDATED, LISTED]
        assert told[0]["params"] == {"uri": WORKSHOP}
        assert served.close() == 0


def test_what_another_process_says_is_told_on_an_open_stream(tmp_path: Path) -> None:
    with Served(tmp_path, ERAS[1]) as served:
        found = served.answer(served.ask("server/discover", {}))["result"]
        served.call("join_room", name="workshop")
        number = served.ask(
            "subscriptions/listen", {"notifications": {"resourceSubscriptions": [WORKSHOP]}}
        )
        acknowledged = served.notice()
        say(tmp_path, "hello")
        told = served.notice()

        assert found["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}
        assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
        assert told["method"] == UPDATED
        assert told["params"]["uri"] == WORKSHOP
        assert told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == number
        assert served.close() == 0
