"""An orchestrator that runs the supervisor in its own process, with a program of agents of its own.

Here that is a parrot, which needs no process. Another would start one in `start`, tell how it is
found again to `born`, and answer `fate` from what it has written down: so it is known after a crash
how each turn ended.
"""

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import attrs

from letagents import (
    Desired,
    Entry,
    RegistrationKey,
    RoomId,
    Settings,
    Wish,
    open_letagents,
    supervising,
)
from letagents.domain.turns import Answered, Fate, NeverStarted, Outcome
from letagents.ports.providers import (
    Born,
    Cause,
    Connection,
    Ending,
    Gone,
    Launch,
    Reference,
    Turn,
    unrecorded,
)

HERE = Connection("parrot", pid=1, birth="none")


@attrs.define(eq=False)
class Parrot:
    """A conversation with a parrot, who says what it always says."""

    reference: Reference
    said: dict[str, Outcome] = attrs.field(factory=dict)
    over: anyio.Event = attrs.field(factory=anyio.Event)

    async def run(self, turn: Turn, started: Callable[[str], Awaitable[None]]) -> Outcome:
        await started(turn.proposed_id)
        self.said[turn.item_id] = Answered("Hello yourself.")
        return self.said[turn.item_id]

    async def fate(self, item_id: str, turn_id: str | None) -> Fate:
        return self.said.get(item_id) or NeverStarted()

    async def interrupt(self, turn_id: str) -> bool:
        return False

    def watch(self, tell: Callable[..., None]) -> Callable[[], None]:
        return lambda: None

    async def ended(self) -> Ending:
        await self.over.wait()
        return Ending(Cause.STOPPED, 0)

    async def end(self) -> Ending:
        self.over.set()
        return await self.ended()

    async def leave(self) -> None:
        """Leave it where it is."""


class Parrots:
    """The program that runs parrots."""

    name = "open-model"

    async def version(self) -> str:
        return "1"

    async def start(self, launch: Launch, born: Born = unrecorded) -> Parrot:
        await born(HERE)
        return Parrot(Reference("parrot-1", HERE))

    async def resume(self, launch: Launch, conversation_id: str, born: Born = unrecorded) -> Parrot:
        await born(HERE)
        return Parrot(Reference(conversation_id, HERE))

    async def attach(self, launch: Launch, reference: Reference) -> Gone:
        return Gone()

    async def abandon(self, connection: Connection) -> None:
        """There is no process."""


async def main() -> None:
    room = RoomId("workshop")
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(home=Path(home))
        async with (
            supervising(settings, providers={Parrots.name: Parrots()}) as supervisor,
            open_letagents(settings) as letagents,
            letagents.client() as client,
        ):
            polly = Entry(
                "polly",
                str(room),
                "Polly",
                Parrots.name,
                supervisor.now(),
                desired=Desired.RUNNING,
            )
            await supervisor.household.add(polly)
            await client.places.join(room)
            ada = await client.registration.register(
                RegistrationKey("a random key of this chat"), Wish(room, display_name="Ada")
            )
            await supervisor.there("polly")
            asked = await client.messages.send(ada.connection, "@Polly good morning!")
            heard = await client.messages.wait(room, asked.id, viewer=ada.connection)
            for answer in heard.page.messages:
                print(f"{answer.sender.partition(' | ')[0]} answers {asked.id}: {answer.text}")


anyio.run(main)
