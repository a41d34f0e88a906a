"""A person in rooms, over rooms and state that live in memory."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from letagents import MemoryRooms, MemoryState, Settings, open_letagents
from letagents.application.person import Person
from letagents.domain.errors import Malformed, UnknownRoom
from letagents.domain.hints import Hints
from letagents.domain.ids import ClientKey, MessageId
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio


@pytest.fixture
async def rooms() -> MemoryRooms:
    return MemoryRooms(CountingIds(), ManualClock())


@pytest.fixture
async def person(rooms: MemoryRooms) -> AsyncIterator[Person]:
    settings = Settings(home=Path("/nowhere"), hints=Hints(owner_label="Grace"))
    async with (
        open_letagents(settings, rooms=rooms, state=MemoryState()) as letagents,
        letagents.client(settings.hints) as client,
    ):
        yield Person(rooms, client.messages, client.chat, CountingIds(), client.files)


async def test_whoever_follows_gets_each_message_once_and_in_order(person: Person) -> None:
    room_id = (await person.room("workshop", create=True)).room_id
    await person.say(room_id, "before", name="Grace")
    heard: list[str] = []

    async def follow() -> None:
        async with aclosing(person.follow(room_id, await person.last(room_id))) as messages:
            async for message in messages:
                heard.append(message.text)
                if message.text == "enough":
                    return

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow)
            for text in ("one", "two", "enough"):
                await anyio.wait_all_tasks_blocked()
                await person.say(room_id, text, name="Grace")

    assert heard == ["one", "two", "enough"]


async def test_the_newest_are_found_beyond_the_largest_page(person: Person) -> None:
    room_id = (await person.room("workshop", create=True)).room_id
    assert await person.last(room_id) is None
    for number in range(1, 604):
        await person.say(room_id, f"{number}", name="Grace")

    newest = await person.newest(room_id, 602)

    assert [message.id.number for message in newest] == list(range(2, 604))
    assert len(await person.newest(room_id, 1_000)) == 603
    assert await person.newest(room_id, 0) == []
    assert await person.last(room_id) == MessageId(603)


async def test_a_room_is_shown_with_its_messages_and_its_last_sign_of_life(person: Person) -> None:
    quiet = await person.room("quiet", create=True)
    room = await person.room("workshop", create=True)
    message = await person.say(room.room_id, "Hello", name="Grace")

    glances = {str(glance.room.room_id): glance for glance in await person.glances()}

    assert (glances["quiet"].messages, glances["quiet"].last_activity) == (0, quiet.created_at)
    assert glances["workshop"].messages == 1
    assert glances["workshop"].last_activity == message.said_at


async def test_a_key_is_one_person_s_own(person: Person) -> None:
    room_id = (await person.room("workshop", create=True)).room_id
    key = ClientKey("ready")

    first = await person.say(room_id, "Ready", name="Grace", key=key)
    again = await person.say(room_id, "Ready", name="Grace", key=key)
    other = await person.say(room_id, "Ready", name="李", key=key)
    another = await person.say(room_id, "Ready", name="王", key=key)

    assert [one.id.number for one in (first, again, other, another)] == [1, 1, 2, 3]
    assert [one.sender for one in (first, other)] == ["Grace", "李"]


async def test_a_room_is_found_by_what_its_name_is_like(person: Person) -> None:
    for name in ("workshop", "garden", "Garage"):
        await person.room(name, create=True)

    assert await person.nearest("gar") == ["garden", "Garage"]
    assert await person.nearest("WORKSHP") == ["workshop"]
    assert await person.nearest("zebra") == []
    with pytest.raises(UnknownRoom):
        await person.room("gar")
    with pytest.raises(Malformed):
        await person.room(" ")


@pytest.mark.parametrize(
    ("label", "name"),
    [("Ada | Lovelace", "Ada Lovelace"), ("x" * 80, "x" * 64), ("\x1b\x07", "Owner")],
)
async def test_a_name_that_was_not_made_for_rooms_is_made_to_fit(
    label: str, name: str, person: Person
) -> None:
    person.chat.hints = Hints(owner_label=label)

    assert await person.name() == name
