"""Waiting, as the application promises it, over memory and files."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import anyio
import pytest
from tests.contract.machine import KEY, ROOM, Machine, switched_on

from letagents.application.client import Client
from letagents.application.messaging import SHORTEST_WAIT, WAIT, Heard
from letagents.domain.errors import ConnectionReplaced, SessionEnded, UnknownMessage, UnknownRoom
from letagents.domain.ids import MessageId, RegistrationKey, RoomId
from letagents.domain.messages import Page
from letagents.domain.sessions import Connection
from letagents.entrypoints.mcp.tools.listening_calls import signs_of_life

OTHER_KEY, THIRD_KEY = RegistrationKey("another chat's"), RegistrationKey("a third chat's")


@pytest.fixture(params=["memory", "files"])
async def machine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Machine]:
    with anyio.fail_after(60):
        async with switched_on(tmp_path if request.param == "files" else None) as machine:
            yield machine


Speaker = tuple[Client, Connection]


async def registered(machine: Machine, key: RegistrationKey, name: str) -> Speaker:
    process = await machine.process()
    return process.client, (await process.register(key, name)).connection


async def said(speaker: Speaker, *texts: str) -> list[MessageId]:
    client, connection = speaker
    return [(await client.messages.send(connection, text)).id for text in texts]


def texts(heard: Heard) -> list[str]:
    return [message.text for message in heard.page.messages]


async def test_without_a_cursor_the_newest_hundred_come_at_once(machine: Machine) -> None:
    ada = await registered(machine, KEY, "Ada")
    await said(ada, *map(str, range(1, 106)))
    heard = await ada[0].messages.wait(ROOM, None)

    assert texts(heard) == list(map(str, range(6, 106)))
    assert heard.page.more


async def test_after_a_cursor_the_next_hundred_come_at_once(machine: Machine) -> None:
    ada = await registered(machine, KEY, "Ada")
    await said(ada, *map(str, range(1, 106)))
    heard = await ada[0].messages.wait(ROOM, MessageId(1))

    assert texts(heard) == list(map(str, range(2, 102)))
    assert heard.page.more


async def test_a_wait_ends_empty_when_its_time_is_over(machine: Machine) -> None:
    ada = await registered(machine, KEY, "Ada")
    [one] = await said(ada, "one")
    heard = await ada[0].messages.wait(ROOM, one, timeout=timedelta(milliseconds=1))

    assert heard == Heard(Page(()))


async def test_a_wait_in_an_empty_room_ends_with_its_first_message(machine: Machine) -> None:
    ada, bob = await registered(machine, KEY, "Ada"), await registered(machine, OTHER_KEY, "Bob")
    heard: list[Heard] = []

    async def wait() -> None:
        heard.append(await ada[0].messages.wait(ROOM, None, viewer=ada[1]))

    async with anyio.create_task_group() as waiting:
        waiting.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        await said(bob, "@everyone hello")

    assert texts(heard[0]) == ["@everyone hello"]


async def test_messages_for_others_do_not_end_a_wait_and_are_counted(machine: Machine) -> None:
    process = await machine.process()
    ada = process.client, (await process.register(KEY, "Ada")).connection
    bob = await registered(machine, OTHER_KEY, "Bob")
    await registered(machine, THIRD_KEY, "Cid")
    [start, *passed] = await said(bob, "@everyone hello", "@Cid for you", "@Cid for you alone")
    waits_again, heard = anyio.Event(), list[Heard]()
    process.rooms.before_waiting += [lambda: None, waits_again.set]

    async def wait() -> None:
        heard.append(await ada[0].messages.wait(ROOM, start, viewer=ada[1]))

    async with anyio.create_task_group() as waiting:
        waiting.start_soon(wait)
        await waits_again.wait()
        await said(bob, "@Ada and now for you")

    assert texts(heard[0]) == ["@Ada and now for you"]
    assert list(heard[0].passed_over) == passed


async def test_a_wait_that_heard_only_what_is_for_others_says_what_it_passed_over(
    machine: Machine,
) -> None:
    ada, bob = await registered(machine, KEY, "Ada"), await registered(machine, OTHER_KEY, "Bob")
    await registered(machine, THIRD_KEY, "Cid")
    [start, *passed] = await said(bob, "@everyone hello", *["@Cid only for you"] * 120)
    heard = await ada[0].messages.wait(
        ROOM, start, viewer=ada[1], timeout=timedelta(milliseconds=1)
    )

    assert not heard.page.messages
    assert list(heard.passed_over) == passed


async def test_without_a_viewer_nothing_is_for_others(machine: Machine) -> None:
    bob = await registered(machine, OTHER_KEY, "Bob")
    await registered(machine, THIRD_KEY, "Cid")
    [start, _] = await said(bob, "@everyone hello", "@Cid only for you")

    assert texts(await bob[0].messages.wait(ROOM, start)) == ["@Cid only for you"]


async def test_a_waiter_who_is_replaced_is_told_so(machine: Machine) -> None:
    process, rival = await machine.process(), await machine.process()
    mine = (await process.register()).connection

    async def wait() -> None:
        with pytest.raises(ConnectionReplaced):
            await process.client.messages.wait(
                ROOM, None, viewer=mine, timeout=timedelta(seconds=30)
            )

    async with anyio.create_task_group() as waiting:
        waiting.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        await rival.register()

    assert process.client.connections.of_session(mine.session.session_id) is None


async def test_a_waiter_whose_session_ends_is_told_so(machine: Machine) -> None:
    process = await machine.process()
    mine = (await process.register()).connection

    async def wait() -> None:
        with pytest.raises(SessionEnded):
            await process.client.messages.wait(ROOM, None, viewer=mine)

    async with anyio.create_task_group() as waiting:
        waiting.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        await process.client.registration.disconnect(mine)


async def test_a_wait_has_a_floor_a_default_and_a_ceiling(machine: Machine) -> None:
    messages = (await machine.process()).client.messages
    bounded = [
        messages.bounded(timedelta(milliseconds=asked)) for asked in (0, 1, 5_000, 86_400_000)
    ]

    assert messages.bounded(None) == WAIT == timedelta(seconds=30)
    assert bounded == [WAIT, SHORTEST_WAIT, timedelta(seconds=5), messages.longest_wait]
    assert messages.longest_wait == timedelta(minutes=3)


async def test_a_cursor_that_the_room_has_not_reached_is_refused(machine: Machine) -> None:
    ada = await registered(machine, KEY, "Ada")
    await said(ada, "one")

    with pytest.raises(UnknownMessage, match="after_message_id: msg_2 does not exist"):
        await ada[0].messages.wait(ROOM, MessageId(2))
    with pytest.raises(UnknownRoom):
        await ada[0].messages.wait(RoomId("nowhere"), None)


async def test_a_long_wait_gives_signs_of_life_until_it_ends() -> None:
    told: list[tuple[float, float | None, str | None]] = []
    thrice = anyio.Event()

    async def tell(progress: float, total: float | None = None, message: str | None = None) -> None:
        told.append((progress, total, message))
        if len(told) == 3:
            thrice.set()

    with anyio.fail_after(20):
        async with signs_of_life(tell, every=0.01):
            await thrice.wait()
    count = len(told)
    await anyio.wait_all_tasks_blocked()

    assert [waited for waited, _, _ in told[:3]] == [0.01, 0.02, 0.03]
    assert told[0][1:] == (None, "waiting for messages")
    assert len(told) == count
