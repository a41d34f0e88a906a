"""What a person sees of agents and does about them, who are run in this process."""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from subprocess import CompletedProcess

import attrs
import pytest
from tests.e2e.shell import Running, run

from letagents.application.client import LetAgents
from letagents.domain.deeds import Act
from letagents.domain.fencing import Fence
from letagents.domain.ids import ClientKey, RoomId
from letagents.domain.manifest import Entry
from letagents.domain.messages import Draft
from letagents.domain.progress import Activity
from letagents.domain.recovery import Desired
from letagents.entrypoints.daemon.process import Running as Supervisor
from letagents.entrypoints.daemon.process import supervising
from letagents.settings import Settings
from letagents.testing.contracts.room_callers import BOB, arrival
from letagents.testing.determinism import ManualClock
from letagents.testing.scripted_provider import Play, ScriptedProvider
from letagents.wiring.client import open_letagents

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets"),
]
ROOM = RoomId("workshop")
DOING = Activity("tool", "It reads\x1b[2J the plan.\nThen it writes.")


@attrs.define
class House:
    """A home with an agent, and whoever asks it."""

    home: Path
    provider: ScriptedProvider
    supervisor: Supervisor
    letagents: LetAgents
    asker: Fence
    asked: int = 0

    async def ask(self) -> str:
        self.asked += 1
        draft = Draft("@Ada what now?", ClientKey(f"{self.asked}"))
        return str((await self.letagents.rooms.post(ROOM, draft, self.asker)).id)

    async def does(self, *words: str) -> "CompletedProcess[str]":
        return await asyncio.to_thread(run, self.home, "agents", *words)

    async def shown(self, *words: str) -> str:
        done = await self.does(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    async def until(self, kind: str) -> None:
        """Wait until that has happened to the agent."""
        feed = self.supervisor.server.methods.sessions.feeds.of("ada")
        async with asyncio.timeout(30):
            last = 0
            while True:
                for event in await feed.after(last, timedelta(seconds=30)):
                    last = event.sequence
                    if event.kind == kind:
                        return


@asynccontextmanager
async def house(home: Path) -> AsyncIterator[House]:
    provider, settings = ScriptedProvider(), Settings(home=home)
    entry = Entry("ada", str(ROOM), "Ada", "codex", ManualClock().now(), desired=Desired.RUNNING)
    async with (
        supervising(settings, {}, providers={"codex": provider}) as supervisor,
        open_letagents(settings) as letagents,
    ):
        await supervisor.household.add(entry)
        await letagents.rooms.join(ROOM)
        asker = await letagents.rooms.connect(ROOM, arrival(BOB, 1))
        made = House(home, provider, supervisor, letagents, asker.fence)
        async with asyncio.timeout(30):
            await supervisor.there("ada")
        yield made


async def test_who_is_stuck_is_seen_and_helped(tmp_path: Path) -> None:
    async with house(tmp_path / "h") as ours:
        ours.provider.plays.extend([Play(quota=True, doing=(DOING,)), Play("Done at last.")])
        about = await ours.ask()
        await ours.until("turn.ended")
        waiting = await ours.ask()

        status = await ours.shown("status")
        assert "wanted running" in status
        assert f"{about}: blocked, try 1" in status
        assert "nothing left for now" in status
        assert f"`letagents agents retry ada {about}`" in status
        assert "agents skip" not in status
        refused = await ours.does("skip", "ada", about)
        assert refused.returncode == 1
        assert "provider work may already have started" in refused.stderr
        assert await ours.shown("skip", "ada", waiting) == f"{waiting} is passed over.\n"

        with Running(ours.home, ["agents", "logs", "ada", "--follow", "--json"]) as following:
            seen = [json.loads(await asyncio.to_thread(following.line)) for _ in range(4)]
            assert await ours.shown("retry", "ada") == f"{about} is tried again.\n"
            while seen[-1]["kind"] != "turn.answered":
                seen.append(json.loads(await asyncio.to_thread(following.line)))
        assert [one["sequence"] for one in seen] == list(range(1, len(seen) + 1))
        assert [one["kind"] for one in seen].count("turn.began") == 2
        did = await ours.supervisor.household.journal.look(lambda one: one.newest_deeds("ada", 9))
        assert [(one.act, one.detail) for one in did] == [
            (Act.RETRIED, about),
            (Act.SKIPPED, waiting),
        ]
        (detail,) = (await ours.shown("status", "ada", "--json")).splitlines()
        states = {one["source_message_id"]: one["state"] for one in json.loads(detail)["items"]}
        assert states == {about: "acknowledged", waiting: "cancelled_by_user"}
        told = await ours.shown("logs", "ada")
        assert "It reads\\x1b[2J the plan.\n" in told
        assert "is stuck with no message" in (await ours.does("retry", "ada")).stderr
        assert ours.provider.transcript.turns_run() == [f"supervised-room:ada:{ROOM}:{about}"] * 2


async def test_how_agents_are_is_followed_and_looked_up(tmp_path: Path) -> None:
    async with house(tmp_path / "h") as ours:
        ours.provider.started[-1].crash()
        await ours.until("process.ended")
        with Running(ours.home, ["agents", "list", "--follow", "--json"]) as following:

            async def follow(field: str, wanted: str) -> None:
                """Wait until the agent is seen so."""
                while json.loads(await asyncio.to_thread(following.line))[field] != wanted:
                    pass

            await follow("observed_state", "idle")
            renamed = await ours.shown("rename", "ada", "Countess")
            await follow("display_name", "Countess")
        assert renamed.endswith("  Others call it Countess from its next start on.\n")
        crashed, alive = (await ours.shown("processes", "ada")).splitlines()
        assert "  crashed (SIGKILL) at " in crashed
        assert alive.endswith("  is there")
        ours.provider.plays.append(Play(hangs=True))
        await ours.ask()
        await ours.until("turn.began")
        stopped = "The turn is stopped, and nothing of it is posted.\n"
        assert await ours.shown("stop-turn", "ada") == stopped
        goes = "ada goes to elsewhere once it is in no turn.\n"
        assert await ours.shown("move", "ada", "elsewhere") == goes
        await ours.until("agent.moved_room")
        history = (await ours.shown("history", "ada", "-n", "9")).splitlines()
        assert [line.split("  ", 1)[1].partition("  by ")[0] for line in history] == [
            "ada  renamed Ada → Countess",
            "ada  its turn was stopped at msg_1",
            f"ada  moved {ROOM} → elsewhere",
        ]
        if sys.platform == "linux":
            asked = re.compile(r"  by \S+ \d+, started by \S+ \d+$")
            assert all(asked.search(line) for line in history), history
