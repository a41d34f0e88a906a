"""What a program tells of another turn than the one that goes on, or of one that nobody awaits."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import anyio
import attrs
import pytest

from letagents.adapters.processes.children import Child
from letagents.adapters.providers.claude_conversation import ClaudeConversation
from letagents.adapters.providers.claude_process import ClaudeProcess
from letagents.adapters.providers.codex_conversation import CodexConversation
from letagents.adapters.providers.codex_link import CodexLink
from letagents.adapters.providers.cursor_conversation import CursorConversation
from letagents.adapters.providers.cursor_shell import EXIT
from letagents.adapters.providers.lines import LineProcess
from letagents.adapters.providers.lives import Life
from letagents.adapters.providers.programs import Output
from letagents.domain.turns import Answered, Fate, Running, Silent, Unknowable
from letagents.ports.providers import Connection, Reference
from letagents.testing.contracts.providers import PATIENCE, Notes, turn

pytestmark = pytest.mark.anyio
NOBODY = Child(None, 1, "birth")  # type: ignore[arg-type]  # none is started
DONE = {"type": "result", "subtype": "success"}


@attrs.define(eq=False)
class Claude(ClaudeProcess):
    """A process that a test speaks for."""

    asked: anyio.Event = attrs.field(factory=anyio.Event)

    async def send(self, line: bytes) -> None:
        """Take a line."""
        self.asked.set()


@attrs.define(eq=False)
class Cursor(LineProcess):
    """A shell that a test speaks for."""

    asked: anyio.Event = attrs.field(factory=anyio.Event)

    async def send(self, line: bytes) -> None:
        """Take a line."""
        self.asked.set()


@attrs.define(eq=False)
class Codex(CodexLink):
    """A server whose thread has one turn that is under way."""

    async def call(self, method: str, params: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """Answer each question with the thread."""
        return {"thread": {"turns": [{"id": "t1", "status": "inProgress"}]}}


@pytest.fixture
def output() -> Iterator[Output]:
    output = Output()
    yield output
    output.close()


async def test_a_result_of_another_turn_or_session_is_not_the_turn_s(output: Output) -> None:
    process = Claude(NOBODY, output)
    conversation = ClaudeConversation(process, "s1", {})
    running = asyncio.create_task(conversation.run(turn(), Notes().write))
    with anyio.fail_after(PATIENCE):
        await process.asked.wait()
        process.heard(DONE | {"result": "Of another.", "user_message_uuid": "another"})
        process.heard(DONE | {"result": "Elsewhere.", "session_id": "s2"})
        process.heard(DONE | {"result": "Its own.", "session_id": "s1"})
        outcome = await running

    assert outcome == Answered("Its own.")


async def test_a_turn_that_ended_when_nobody_waited_any_more_keeps_no_other_out(
    output: Output,
) -> None:
    async def said(item_id: str) -> Answered | Silent | None:
        return Answered(f"Of {item_id}.")

    process = Cursor(NOBODY, output)
    conversation = CursorConversation(process, "chat", said)
    with anyio.fail_after(PATIENCE):
        for number in (1, 2):
            process.asked = anyio.Event()
            running = asyncio.create_task(conversation.run(turn(number), Notes().write))
            await process.asked.wait()
            if number == 1:
                running.cancel()
                await asyncio.wait([running])
            process.heard(DONE)
            process.heard({"type": EXIT, "code": 0})
        outcome = await running
        fate = await conversation.fate("item-1", turn(1).proposed_id)

    assert (fate, outcome) == (Answered("Of item-1."), Answered("Of item-2."))


@pytest.mark.parametrize(
    ("child", "fate"),
    [(NOBODY, Unknowable("its process ended before the turn did")), (None, Running())],
)
async def test_a_turn_of_an_earlier_codex_does_not_go_on_in_the_next_one(
    child: Child | None, fate: Fate
) -> None:
    link = Codex(None)  # type: ignore[arg-type]  # nothing is sent
    reference = Reference("thread", Connection("codex", 1, "birth"))
    conversation = CodexConversation(link, reference, child, Life())

    assert await conversation.fate("item-1", "t1") == fate
