"""A home whose supervisor is killed life after life, while somebody talks to its agent."""

import asyncio
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import cast

import anyio
import attrs
from tests.e2e.forks import Forked
from tests.e2e.minds import DONE, UNCERTAIN, Act, Minds, by_socket
from tests.e2e.shell import PATIENCE, environment

from letagents.adapters.state.memory import MemoryState
from letagents.application.client import LetAgents
from letagents.domain.fencing import Fence
from letagents.domain.ids import ClientKey, RoomId
from letagents.domain.messages import After, Draft, Message
from letagents.settings import Settings
from letagents.testing.contracts.room_callers import BOB, arrival
from letagents.wire import supervisor as wire
from letagents.wiring.client import open_letagents
from letagents.wiring.supervisor import ask_supervisor

ROOM = RoomId("workshop")
EDGES = tuple(
    f"{side} {record}"
    for record in (
        "binding",
        "ingress",
        "item.pending",
        "item.dispatching",
        "item.awaiting_result",
        "effect.executing",
        "effect.completed",
        "effect.prepared",
        "effect.failed",
        "item.publishing",
        "item.acknowledged",
    )
    for side in ("before", "after")
)
"""Each of the records of a session, a turn and its effects, in their order."""


@attrs.define(eq=False)
class Home:
    """The home, its room, and whoever asks its agent in it."""

    folder: Path
    minds: Minds
    letagents: LetAgents
    asker: Fence
    asked: list[str] = attrs.field(factory=list)

    @contextmanager
    def supervisor(self, **fault: str) -> Iterator[Forked]:
        """Have a supervisor meanwhile, with that fault."""
        told = {"MINDS": str(self.minds.socket), **fault}
        process = Forked([], environment(self.folder, told), "tests.e2e.mortal_supervisor")
        try:
            yield process
        finally:
            process.kill()
            process.wait(PATIENCE)
            for stream in (process.stdin, process.stdout, process.stderr):
                stream.close()

    async def begin(self) -> None:
        """Have an agent that has answered once."""
        with self.supervisor() as first:
            await line(first)
            await self.add()
            await self.heard(f"answer {await self.ask()}")

    async def die_at(self, edge: str) -> None:
        """Ask the agent something, in a life that ends there."""
        with self.supervisor(MORTAL_AT=edge) as mortal:
            await self.ask()
            assert await ended(mortal) == -signal.SIGKILL, edge

    async def settle(self) -> None:
        """Live on until all is answered, and see that it is right."""
        with self.supervisor() as last:
            await line(last)
            # Whatever was not answered in the lives before comes first.
            await self.heard(f"answer {await self.ask()}", PATIENCE + 2 * len(self.asked))
            await self.check()

    async def ask(self) -> str:
        """Say something to the agent; return which message it is."""
        draft = Draft("@Ada what now?", ClientKey(f"asked {len(self.asked)}"))
        said = await self.letagents.rooms.post(ROOM, draft, self.asker)
        self.asked.append(str(said.id))
        return str(said.id)

    async def add(self) -> None:
        """Let the supervisor have an agent, and wait until it is there."""
        entry = {"id": "ada", "room_id": str(ROOM), "display_name": "Ada", "provider": "codex"}
        await self.tell(wire.PUT_AGENT, {"entry": {**entry, "workspace_path": str(self.folder)}})
        with anyio.fail_after(PATIENCE):
            while True:
                (agent,) = cast(list[dict[str, object]], await self.tell(wire.LIST_AGENTS, {}))
                if agent["observed_state"] == "idle":
                    return
                await anyio.sleep(0.01)

    async def tell(self, method: str, params: Mapping[str, object]) -> object:
        """Ask the supervisor something, as a person does."""
        return await ask_supervisor(Settings(home=self.folder), method, params)

    async def heard(self, text: str, patience: float = PATIENCE) -> None:
        """Wait until something is said in the room."""
        with anyio.fail_after(patience):
            after = After(None)
            while True:
                assert not self.minds.lost
                page = await self.letagents.rooms.wait(ROOM, after, timeout=timedelta(seconds=5))
                if any(one.text == text for one in page.messages):
                    return
                after = After(page.messages[-1].id) if page.messages else after

    async def said(self) -> list[Message]:
        """Return all that was ever said."""
        found: list[Message] = []
        while True:
            after = After(found[-1].id if found else None)
            page = await self.letagents.rooms.read(ROOM, after)
            if not page.messages:
                return found
            found.extend(page.messages)

    async def check(self) -> None:
        """See that each message had one turn and one answer, and nothing was done twice."""
        texts = Counter(one.text for one in await self.said())
        assert self.minds.begun == Counter(self.asked), "each message has one turn"
        answers = {one: texts[f"answer {one}"] for one in self.asked}
        assert answers == dict.fromkeys(self.asked, 1), "each message has one answer"
        assert texts["I answer."] == 0, "an answer is the turn's own"
        listed = cast(list[dict[str, object]], await self.tell(wire.LIST_EFFECTS, {}))
        unsure = {str(cast(dict[str, str], one["input"])["text"]) for one in listed}
        for about in self.asked:
            outcome, times = self.minds.told[about], texts[f"did {about}"]
            if outcome == DONE:
                assert times == 1, f"{about} is told to be done"
            elif outcome == UNCERTAIN:
                assert times <= 1, f"{about} is done again"
                assert f"did {about}" in unsure, "what cannot be known is shown"
            else:
                assert times == 0, outcome
        uncertain = [one for one in self.asked if self.minds.told[one] == UNCERTAIN]
        assert len(listed) == len(uncertain)


@asynccontextmanager
async def home(folder: Path, act: Act = by_socket) -> AsyncIterator[Home]:
    """Open a home."""
    minds = Minds(folder / "minds", act)
    settings = Settings(home=folder / "h")
    async with minds.listening(), open_letagents(settings, state=MemoryState()) as letagents:
        await letagents.rooms.join(ROOM)
        asker = await letagents.rooms.connect(ROOM, arrival(BOB, 1))
        yield Home(settings.home, minds, letagents, asker.fence)


async def line(process: Forked) -> bytes:
    """Return what a process says next; nothing once it has ended."""
    assert sys.platform != "win32"
    return await asyncio.to_thread(process.stdout.readline)


async def ended(process: Forked) -> int:
    """Wait for the end of a process; return its exit code."""
    return await asyncio.to_thread(process.wait, PATIENCE)
