"""How a session of OpenCode is followed, and what is written for its program."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import attrs
import httpx
import pytest

from letagents.adapters.providers import opencode_server
from letagents.adapters.providers.opencode_conversation import OpenModelConversation
from letagents.adapters.providers.opencode_server import OpenCode
from letagents.adapters.system import SystemClock
from letagents.domain.open_models import Endpoint
from letagents.domain.turns import Answered
from letagents.ports.providers import Connection, Reference
from letagents.testing.contracts.providers import PATIENCE, Notes, turn

pytestmark = pytest.mark.anyio
WORDS = 100


@attrs.define(eq=False)
class Talkative(OpenCode):
    """A server that tells each word of its turn, and how often its session was read."""

    turn_id: str = ""
    is_over: bool = False
    reads: int = 0
    lines: int = 0
    asked: anyio.Event = attrs.field(factory=anyio.Event)

    async def call(self, method: str, path: str, body: object = None) -> Any:
        """Answer as OpenCode does."""
        if isinstance(body, Mapping):
            self.turn_id = body["messageID"]
            self.asked.set()
            return None
        if path == "/session/status":
            return {} if self.is_over else {"ses_1": {"type": "busy"}}
        self.reads += 1
        said = {"info": {"id": "msg_a", "parentID": self.turn_id, "finish": "stop"}}
        text = {"type": "text", "text": "Done."}
        return [
            {"info": {"id": self.turn_id, "role": "user"}, "parts": []},
            *([said | {"parts": [text]}] if self.is_over else []),
        ]

    async def events(self) -> AsyncIterator[Mapping[str, Any]]:
        """Tell of each word, and of the end."""
        self.lines += 1
        await self.asked.wait()
        of = {"sessionID": "ses_1"}
        for _ in range(WORDS):
            yield {"type": "message.part.updated", "properties": {**of, "part": {"type": "text"}}}
            for _ in range(10):
                await anyio.lowlevel.checkpoint()
        self.is_over = True
        yield {"type": "session.idle", "properties": of}


@pytest.fixture
async def server(anyio_backend: str) -> AsyncIterator[Talkative]:
    async with httpx.AsyncClient() as client:
        yield Talkative("http://nowhere", "", None, None, client)


@pytest.fixture
def conversation(server: Talkative) -> OpenModelConversation:
    reference = Reference("ses_1", Connection("opencode_server", 1, "birth"))
    endpoint = Endpoint("http://model/v1", "m", None)
    return OpenModelConversation(server, reference, endpoint, SystemClock())


async def test_a_session_is_not_read_for_each_word_of_its_turn(
    server: Talkative, conversation: OpenModelConversation
) -> None:
    with anyio.fail_after(PATIENCE):
        outcome = await conversation.run(turn(), Notes().write)
        await conversation.leave()

    assert outcome == Answered("Done.")
    assert server.reads < WORDS / 10


async def test_a_server_whose_line_has_ended_is_listened_to_again_in_the_next_turn(
    server: Talkative, conversation: OpenModelConversation
) -> None:
    with anyio.fail_after(PATIENCE):
        for number in (1, 2):
            await conversation.run(turn(number), Notes().write)
            await anyio.wait_all_tasks_blocked()
        await conversation.leave()

    assert server.lines == 2


def test_what_an_opencode_is_reading_is_not_emptied_by_the_next_one(tmp_path: Path) -> None:
    plugin = tmp_path / "letagents.mjs"
    opencode_server._write(plugin, "the first")
    with plugin.open() as reading:
        opencode_server._write(plugin, "the second")
        assert reading.read() == "the first"

    assert plugin.read_text() == "the second"
    assert plugin.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == [plugin]
