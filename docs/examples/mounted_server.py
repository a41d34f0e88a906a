"""A room server inside another web program, and an orchestrator that uses its rooms.

No socket is opened here: the client calls the program in the same process. In yours, hand the
program to uvicorn, and leave `transport` out.
"""

import tempfile
from pathlib import Path

import anyio
import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from letagents import (
    MemoryState,
    RegistrationKey,
    RoomId,
    Serving,
    Settings,
    Wish,
    open_hosted_rooms,
    open_letagents,
    open_server,
    room_server,
)


async def welcome(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("This program does other things, too.")


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder))
        async with open_server(settings, Serving(str(settings.home / "server.db"))) as served:
            rooms = Mount("/team", room_server(served.hosting))
            program = Starlette(routes=[Route("/", welcome), rooms])
            _, token = await served.hosting.keeper.add("ada", "Ada")

            await orchestrate(settings, program, token)


async def orchestrate(settings: Settings, program: Starlette, token: str) -> None:
    transport = httpx.ASGITransport(program)
    async with (
        open_hosted_rooms("http://program.test/team", token, transport=transport) as rooms,
        open_letagents(settings, rooms=rooms, state=MemoryState()) as letagents,
        letagents.client() as agent,
    ):
        room = RoomId("harbour")
        await agent.places.join(room)
        registered = await agent.registration.register(
            RegistrationKey("a random key"), Wish(room, display_name="Juniper")
        )
        said = await agent.messages.send(registered.connection, "Hello from afar.")
        print(f"{said.id} by {said.sender}")
        print(f"known there as {said.agent_key}")


anyio.run(main)
