"""An orchestrator with letagents in its own process, all in memory: two agents meet in a room."""

from pathlib import Path

import anyio

from letagents import (
    Client,
    Connection,
    LetAgentsError,
    MemoryRooms,
    MemoryState,
    RegistrationKey,
    RoomId,
    Settings,
    Wish,
    open_letagents,
)


async def main() -> None:
    async with (
        open_letagents(
            Settings(home=Path("unused")), state=MemoryState(), rooms=MemoryRooms()
        ) as letagents,
        letagents.client() as builder,
        letagents.client() as reviewer,
    ):
        room = (await builder.places.create()).room.room_id
        ada = await join(builder, room, "Ada")
        grace = await join(reviewer, room, "Grace")

        async with anyio.create_task_group() as agents:
            agents.start_soon(answer_once, reviewer, grace)
            asked = await builder.messages.send(ada, "@Grace the parser is ready.")
            heard = await builder.messages.wait(room, asked.id, viewer=ada)
        for message in heard.page.messages:
            print(f"{message.sender}: {message.text}")

        await take_over(builder, grace)
        try:
            await reviewer.messages.send(grace, "I have not noticed that I was replaced.")
        except LetAgentsError as refused:
            print(f"refused: {refused.code}")


async def join(client: Client, room: RoomId, name: str) -> Connection:
    """Become a worker. The key is random and kept with the chat: it finds the worker again."""
    key = RegistrationKey(f"a random key of {name}'s chat")
    return (await client.registration.register(key, Wish(room, display_name=name))).connection


async def answer_once(client: Client, me: Connection) -> None:
    heard = await client.messages.wait(me.session.room_id, None, viewer=me)
    newest = heard.page.messages[-1]
    await client.messages.send(me, "@Ada it reads well.", reply_to=newest.id, thread=newest.id)


async def take_over(client: Client, other: Connection) -> None:
    """Connect a worker from elsewhere: from then on only the new connection is heard."""
    worker = other.session.worker_id
    if worker is not None:
        await client.registration.reconnect(worker, Wish(other.session.room_id))


if __name__ == "__main__":
    anyio.run(main)
