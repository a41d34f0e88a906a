"""`letagents supervise` as a process that ends itself, with SIGKILL, at an edge that a test names.

An edge is a record of the journal: `before item.dispatching` is when that stage of an item is put
down and not yet committed, `after item.dispatching` once it is on the disk. Whatever else is done,
a turn begun or a message posted, lies between two of them. Its agents are in another process.
"""

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import anyio
import attrs

from letagents.adapters.supervision.sql import SqlSupervision
from letagents.domain.bindings import Binding
from letagents.domain.effects import Effect
from letagents.domain.inbox import Item
from letagents.domain.ingress import Ingress
from letagents.domain.turns import Answered, Fate, NeverStarted, Outcome, Running, TurnUnsettled
from letagents.entrypoints import logs
from letagents.entrypoints.daemon import process
from letagents.ports.providers import (
    Born,
    Connection,
    Ending,
    Gone,
    Launch,
    Reference,
    Turn,
    unrecorded,
)
from letagents.ports.supervision import Journal, Supervision
from letagents.settings import load

T = TypeVar("T")
HERE = Connection("minds", 1, "birth")


@attrs.define
class Fault:
    """Where it ends or stops itself, and what it forgets; nothing, as long as nothing is set."""

    at: str | None = os.environ.get("MORTAL_AT")
    """An edge, or how many of them are passed before."""
    sends: int = int(os.environ.get("MORTAL_SIGNAL", "9"))
    forgets: str | None = os.environ.get("MORTAL_FORGETS")
    passed: int = 0

    @property
    def is_planned(self) -> bool:
        return self.at is not None or self.forgets is not None

    def pass_by(self, edge: str) -> None:
        self.passed += 1
        if self.at in (edge, str(self.passed)):
            self.at = None
            if self.sends == signal.SIGSTOP:
                print("stopped", flush=True)
            os.kill(os.getpid(), self.sends)


@attrs.define
class Noted:
    """The journal within a transaction, and what was put into it."""

    inner: Journal
    fault: Fault
    put: list[str] = attrs.field(factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def put_item(self, item: Item) -> None:
        self._put(f"item.{item.stage.value}", lambda: self.inner.put_item(item))

    def put_binding(self, binding: Binding) -> None:
        self._put("binding", lambda: self.inner.put_binding(binding))

    def put_ingress(self, ingress: Ingress) -> None:
        self._put("ingress", lambda: self.inner.put_ingress(ingress))

    def put_effect(self, effect: Effect) -> None:
        self._put(f"effect.{effect.state.value}", lambda: self.inner.put_effect(effect))

    def _put(self, name: str, put: Callable[[], None]) -> None:
        if name != self.fault.forgets:
            put()
        self.put.append(name)


@attrs.frozen
class MortalJournal:
    """The journal of a home, whose supervisor may die at each of its records."""

    inner: Supervision
    fault: Fault

    async def change(self, work: Callable[[Journal], T]) -> T:
        put: list[str] = []

        def change(journal: Journal) -> T:
            done = work(cast(Journal, Noted(journal, self.fault, put)))
            for name in put:
                self.fault.pass_by(f"before {name}")
            return done

        done = await self.inner.change(change)
        for name in put:
            self.fault.pass_by(f"after {name}")
        return done

    async def look(self, work: Callable[[Journal], T]) -> T:
        return await self.inner.look(work)


# --- agents that live in another process ----------------------------------------------------------


@attrs.frozen
class Minds:
    """A provider whose conversations are in the process that listens at a socket."""

    socket: Path
    name: str = "codex"

    async def version(self) -> str:
        return "1.0"

    async def start(self, launch: Launch, born: Born = unrecorded) -> "Conversation":
        await born(HERE)
        told = await self.ask(ask="start", coordinates=dict(launch.coordinates))
        return self._conversation(str(told["conversation"]))

    async def resume(
        self, launch: Launch, conversation_id: str, born: Born = unrecorded
    ) -> "Conversation":
        await born(HERE)
        coordinates = dict(launch.coordinates)
        await self.ask(ask="resume", conversation=conversation_id, coordinates=coordinates)
        return self._conversation(conversation_id)

    async def attach(self, launch: Launch, reference: Reference) -> "Conversation | Gone":
        told = await self.ask(ask="attach", conversation=reference.conversation_id)
        return self._conversation(reference.conversation_id) if told["is_there"] else Gone()

    async def abandon(self, connection: Connection) -> None:
        """Leave it: no process was started."""

    def _conversation(self, conversation_id: str) -> "Conversation":
        return Conversation(self, Reference(conversation_id, HERE))

    async def ask(self, **asked: object) -> dict[str, Any]:
        reader, writer = await self.connected(asked)
        try:
            return await _told(reader)
        finally:
            writer.close()

    async def connected(
        self, asked: dict[str, object]
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_unix_connection(str(self.socket))
        writer.write(json.dumps(asked).encode() + b"\n")
        return reader, writer


async def _told(reader: asyncio.StreamReader) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(await reader.readline())
    return told


@attrs.frozen
class Conversation:
    """One of them."""

    minds: Minds
    reference: Reference

    async def run(self, turn: Turn, started: Callable[[str], Awaitable[None]]) -> Outcome:
        asked = {"ask": "run", "item": turn.item_id, "turn": turn.proposed_id}
        reader, writer = await self.minds.connected({**asked, **self._own})
        try:
            await started((await _told(reader))["turn"])
            writer.write(b"go\n")
            return Answered((await _told(reader))["text"])
        except ValueError as error:
            raise TurnUnsettled("its mind is silent") from error
        finally:
            writer.close()

    async def fate(self, item_id: str, turn_id: str | None) -> Fate:
        told = await self.minds.ask(ask="fate", item=item_id, turn=turn_id, **self._own)
        if not told["began"]:
            return NeverStarted()
        return Running() if told["text"] is None else Answered(told["text"])

    @property
    def _own(self) -> dict[str, object]:
        return {"conversation": self.reference.conversation_id}

    async def ended(self) -> Ending:
        await asyncio.Event().wait()
        raise AssertionError

    async def end(self) -> Ending:
        raise AssertionError("it was not to be ended")

    async def interrupt(self, turn_id: str) -> bool:
        return False

    def watch(self, tell: Callable[[Any], None]) -> Callable[[], None]:
        return lambda: None

    async def leave(self) -> None:
        """Leave it."""


def main() -> None:
    """Supervise until it is told to end, or ends itself."""
    settings, fault = load(), Fault()
    logs.configure(settings.log, "warning")

    def journal_of(generation: int) -> Supervision:
        journal = SqlSupervision(settings.home / "supervisor.db", generation)
        return MortalJournal(journal, fault) if fault.is_planned else journal

    def announce(generation: int) -> None:
        print(json.dumps({"generation": generation, "edges": fault.passed}), flush=True)

    async def supervise() -> None:
        minds = {"codex": Minds(Path(os.environ["MINDS"]))}
        await process.supervise(
            settings,
            os.environ,
            announce,
            replaces="MORTAL_REPLACES" in os.environ,
            providers=minds,
            journal_of=journal_of,
        )

    anyio.run(supervise)


if __name__ == "__main__":
    main()
