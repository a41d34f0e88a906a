"""An orchestrator that is the supervisor itself: it does its agent's calls, and keeps the journal.

Its agent has the tools of letagents as an MCP server, here in the same process. Each call comes to
`execute` under the request's own id: asked for again under it, it is not done again.
"""

import json
import tempfile
from pathlib import Path

import anyio
import attrs
from mcp import Client

from letagents import (
    Answered,
    Borrowed,
    Bound,
    Call,
    Connection,
    MessageId,
    OwnSession,
    RegistrationKey,
    RoomId,
    Settings,
    Told,
    Wish,
    agent_server,
    open_letagents,
)
from letagents import (
    Client as Chat,
)


@attrs.define(eq=False)
class Orchestrator:
    """Supervises one agent, in whose name it speaks."""

    chat: Chat
    agent: Connection
    journal: dict[str, Answered] = attrs.field(factory=dict)
    """On a disk, in an orchestrator that is to outlive a crash."""

    async def execute(self, call: Call) -> Answered | None:
        if call.request_id not in self.journal:
            self.journal[call.request_id] = Answered(
                str(self.agent.session.room_id), await self._done(call)
            )
        return self.journal[call.request_id]

    async def _done(self, call: Call) -> object:
        if call.tool != "send_message":
            return _result(refused=f"Not today: {call.tool}.")
        said = await self.chat.messages.send(self.agent, str(call.arguments["text"]))
        return _result(id=str(said.id))

    # The agent's process does no calls itself, has no session of its own and sees no messages.

    async def bind(self, session: OwnSession, *, is_known: bool = False) -> Bound:
        return Bound(is_supervised=True)

    async def borrow(self, session: OwnSession) -> Borrowed:
        return Borrowed(code="SUPERVISED_CREDENTIAL_UNAVAILABLE")

    async def checkpoint(self, session: OwnSession, cursor: str) -> None:
        """Nothing is to be written down."""

    async def prepare(self, call: Call) -> Told:
        raise NotImplementedError

    async def complete(
        self, effect_id: str, *, result: object = None, error: str | None = None
    ) -> None:
        raise NotImplementedError


def _result(**told: str) -> object:
    text = {"type": "text", "text": json.dumps(told)}
    return {"content": [text], "structuredContent": told}


async def main() -> None:
    room = RoomId("workshop")
    with tempfile.TemporaryDirectory() as home:
        async with (
            open_letagents(Settings(home=Path(home))) as letagents,
            letagents.client() as chat,
        ):
            await chat.places.join(room)
            ada = await chat.registration.register(
                RegistrationKey("a random key of this chat"), Wish(room, display_name="Ada")
            )
            orchestrator = Orchestrator(chat, ada.connection)
            async with Client(agent_server(orchestrator)) as agent:
                told = await agent.call_tool("send_message", {"text": "The build is green."})
                print(f"the agent is told: {told.structured_content}")
            newest = await chat.messages.rooms.message(room, MessageId(1))
            print(f"in the room: {newest.text if newest else None}")


anyio.run(main)
