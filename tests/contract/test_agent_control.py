"""What a program can see and change that looks after all agents of a supervisor."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from letagents.application.agents.grant_renewals import GrantRenewals
from letagents.domain import inbox
from letagents.domain.errors import Malformed
from letagents.domain.manifest import Entry
from letagents.domain.recovery import Desired
from letagents.entrypoints.daemon.process import Running, supervising
from letagents.settings import Settings
from letagents.testing.determinism import ManualClock
from letagents.testing.scripted_provider import ScriptedProvider
from letagents.wire import supervisor as wire

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets"),
]


@attrs.define
class Controlled:
    """A supervisor with an agent that is there, and who asks it."""

    running: Running
    provider: ScriptedProvider

    async def ask(self, method: str, **params: object) -> Any:
        found = self.running.server.methods.named(method)
        assert found is not None
        async with asyncio.timeout(30):
            return await found(wire.Request(2, "1", method, params, os.getpid()))

    async def watched(self, told: dict[str, Any] | None = None) -> Any:
        """Return how agents are once that is otherwise than it was told."""
        last = told or {"daemon_generation": 0, "sequence": 0}
        known = {
            "after_daemon_generation": last["daemon_generation"],
            "after_sequence": last["sequence"],
        }
        return await self.ask(wire.WATCH_AGENTS, **known, wait_ms=30_000)

    async def until(self, state: str) -> Any:
        """Return how agents are once the agent is in that state."""
        told = await self.watched()
        while told["entries"][0]["observed_state"] != state:
            told = await self.watched(told)
        return told

    async def happened(self, kind: str) -> None:
        """Wait until that has happened to the agent."""
        last, kinds = 0, set[str]()
        while kind not in kinds:
            told = await self.ask(wire.WATCH_AGENT, entry_id="ada", after_sequence=last)
            last, kinds = told["sequence"], {one["kind"] for one in told["events"]}

    async def inspected(self) -> Any:
        return await self.ask(wire.INSPECT_AGENT, entry_id="ada", source_message_id=None)

    async def there(self) -> None:
        async with asyncio.timeout(30):
            await self.running.there("ada")


@pytest.fixture
async def controlled(anyio_backend: str, tmp_path: Path) -> AsyncIterator[Controlled]:
    provider = ScriptedProvider()
    entry = Entry("ada", "workshop", "Ada", "codex", ManualClock().now(), desired=Desired.RUNNING)
    async with supervising(
        Settings(home=tmp_path / "h"), {}, providers={"codex": provider}
    ) as running:
        await running.household.add(entry)
        made = Controlled(running, provider)
        await made.there()
        yield made


async def test_who_is_behind_is_told_at_once_and_who_is_not_when_something_changes(
    controlled: Controlled,
) -> None:
    told = await controlled.until("idle")
    waiting = asyncio.create_task(controlled.watched(told))
    await asyncio.sleep(0)
    again = await controlled.ask(
        wire.WATCH_AGENTS,
        after_daemon_generation=told["daemon_generation"],
        after_sequence=told["sequence"],
        wait_ms=0,
    )
    assert again == told
    assert not waiting.done()

    await controlled.ask(wire.NAME_AGENT, id="ada", display_name=" Countess ")
    news = await waiting
    assert news["sequence"] > told["sequence"]
    assert [one["display_name"] for one in news["entries"]] == ["Countess"]
    other = {**news, "daemon_generation": news["daemon_generation"] + 1}
    assert await controlled.watched(other) == news


async def test_a_supervisor_that_fails_says_so_and_does_not_just_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(GrantRenewals, "run", fail)

    async def supervise() -> None:
        async with supervising(Settings(home=tmp_path / "h"), {}) as running:
            async with asyncio.timeout(30):
                await running.ended()

    with pytest.raises(ZeroDivisionError):
        await supervise()


async def test_who_waits_for_news_does_not_hold_up_the_end(controlled: Controlled) -> None:
    told = await controlled.until("idle")
    waiting = asyncio.create_task(controlled.watched(told))
    await asyncio.sleep(0)
    controlled.running.server.methods.sessions.end_waits()

    assert await waiting == told


@pytest.mark.rule("J151")
async def test_an_agent_is_told_to_work_to_pause_and_to_be_paused(controlled: Controlled) -> None:
    told = await controlled.until("idle")
    journal = controlled.running.server.methods.sessions.journal
    item = inbox.dispatched(inbox.Item("i1", "ada", "workshop", "msg_9", 9))
    await journal.change(lambda one: one.put_item(item))
    news = await controlled.watched(told)
    listed = await controlled.ask(wire.LIST_AGENTS)
    assert [one["observed_state"] for one in (*news["entries"], *listed)] == ["working", "working"]

    paused = await controlled.ask(wire.WANT_AGENT, id="ada", desired_state="paused")
    assert paused["observed_state"] == "pausing"
    assert (await controlled.until("paused"))["entries"][0]["provider_ref"] is None


@pytest.mark.rule("J159", "J160")
async def test_who_comes_back_sees_what_was_changed_and_from_where(
    controlled: Controlled,
) -> None:
    await controlled.ask(wire.WANT_AGENT, id="ada", desired_state="paused")
    await controlled.ask(
        wire.WANT_IF, id="ada", desired_state="running", expected_desired_state="stopped"
    )
    await controlled.ask(wire.NAME_AGENT, id="ada", display_name="Countess")
    await controlled.ask(wire.WANT_AGENT, id="ada", desired_state="stopped")
    await controlled.until("stopped")
    await controlled.ask(wire.REMOVE_AGENT, id="ada")

    told = await controlled.ask(wire.LIST_DEEDS, entry_id="ada")
    (newest,) = await controlled.ask(wire.LIST_DEEDS, limit=1)

    assert [(one["act"], one["detail"]) for one in told] == [
        ("wanted", "running → paused"),
        ("renamed", "Ada → Countess"),
        ("wanted", "paused → stopped"),
        ("removed", ""),
    ]
    assert newest == told[-1]
    assert {one["generation"] for one in told} == {controlled.running.generation}
    if sys.platform == "linux":
        assert all(f" {os.getpid()}, started by " in one["by"] for one in told)


@pytest.mark.rule("J54")
async def test_who_saw_another_wish_changes_none(controlled: Controlled) -> None:
    late = await controlled.ask(
        wire.WANT_IF, id="ada", expected_desired_state="paused", desired_state="stopped"
    )
    assert (late["applied"], late["entry"]["desired_state"]) == (False, "running")

    done = await controlled.ask(
        wire.WANT_IF, id="ada", expected_desired_state="running", desired_state="stopped"
    )
    assert (done["applied"], done["entry"]["desired_state"]) == (True, "stopped")


@pytest.mark.rule("J140")
async def test_the_processes_of_an_agent_are_told_with_their_ends(controlled: Controlled) -> None:
    controlled.provider.started[-1].crash()
    told = await controlled.watched()
    while (attempt := await controlled.ask(wire.READ_ATTEMPT, id="ada"))["restart_count"] == 0:
        told = await controlled.watched(told)

    first, second = attempt["execution_generations"]
    how = ("terminal_cause", "exit_code", "signal")
    assert [first["terminal"][name] for name in how] == ["crashed", None, "SIGKILL"]
    assert attempt["last_terminal"] == first["terminal"]
    assert second["terminal"] is None
    assert first["work_attempt_id"] == second["work_attempt_id"] == attempt["work_attempt_id"]
    assert "process.ended" in [one["kind"] for one in attempt["activity"]]


async def test_what_others_saw_of_an_agent_is_among_what_it_does(controlled: Controlled) -> None:
    event = {"method": "hook/ran", "summary": "It was formatted."}
    assert await controlled.ask(wire.APPEND_ACTIVITY, id="ada", event=event) == {"appended": True}

    told = await controlled.ask(wire.WATCH_AGENT, entry_id="ada", wait_ms=0)
    assert (told["events"][-1]["kind"], told["events"][-1]["summary"]) == (
        "hook/ran",
        "It was formatted.",
    )


@pytest.mark.rule("J14")
async def test_where_an_agent_begins_is_set_once(controlled: Controlled) -> None:
    await controlled.until("idle")
    await controlled.ask(wire.WANT_AGENT, id="ada", desired_state="stopped")
    await controlled.until("stopped")
    begun = await controlled.ask(wire.BEGIN_INGRESS, entry_id="ada", daemon_generation=1)
    assert begun["status"] == "existing"
    journal = controlled.running.server.methods.sessions.journal
    there = await journal.look(lambda one: one.ingress("ada"))
    assert there is not None
    await journal.change(lambda one: one.put_ingress(attrs.evolve(there, room_id="another")))

    fresh = await controlled.ask(wire.BEGIN_INGRESS, entry_id="ada", daemon_generation=1)
    assert fresh["status"] == "bootstrapped"


@pytest.mark.rule("J152")
async def test_an_agent_is_told_at_once_what_it_begins_with_and_answers_it_once(
    controlled: Controlled,
) -> None:
    begin = {"entry_id": "ada", "daemon_generation": 1}
    for text in ("Begin.", "Begin again."):
        told = await controlled.ask(wire.BEGIN_INGRESS, **begin, initial_message=text)
        assert told["status"] == "existing"
    await controlled.happened("turn.answered")
    items = (await controlled.inspected())["items"]

    assert [one["source_message_id"] for one in items] == ["desktop-initial-message:ada"]
    phases = ["received", "queued", "turn_started", "turn_finished", "publish_started", "published"]
    assert [one["phase"] for one in items[0]["timeline"]] == phases
    with pytest.raises(Malformed, match="An initial message is a text, or null"):
        await controlled.ask(wire.BEGIN_INGRESS, **begin, initial_message=" ")
    stale = await controlled.ask(wire.BEGIN_INGRESS, entry_id="ada", initial_message="Begin.")
    assert stale["status"] == "stale"
