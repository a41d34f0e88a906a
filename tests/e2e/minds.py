"""Agents that outlive their supervisor, who is killed again and again; and what they have done.

The mind of each is in the process of the test, at a socket. In a turn it calls tools through the
real client, as an agent's own process does, until it is told what became of them; and it counts how
often each of its turns was begun.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import attrs

from letagents.adapters.supervisor.socket import SocketSupervisor
from letagents.adapters.system import SystemIds
from letagents.domain.effects import UNKNOWN
from letagents.domain.supervised import (
    Call,
    SupervisorRefused,
    SupervisorSilent,
    SupervisorUnavailable,
)

PAUSE = 0.01
LONGEST = 1800.0
"""Seconds in which a call is answered, however often its supervisor is killed meanwhile."""
_NOT_YET = ("unavailable for this supervised tool execution", "stale daemon generation", "handoff")
Plain = dict[str, Any]
Act = Callable[[Mapping[str, str], str, str, Plain], Awaitable[Any]]
"""Calls a tool, under a request id, as an agent with those coordinates; returns its result."""


async def by_socket(
    coordinates: Mapping[str, str], request_id: str, tool: str, arguments: Plain
) -> Any:
    """Call a tool until there is an answer, whoever supervises meanwhile."""
    socket = Path(coordinates["LETAGENTS_SUPERVISOR_DAEMON_SOCKET"])
    ours = SocketSupervisor(coordinates, socket, socket.parent, SystemIds(), patience=30.0, gap=0.0)
    with anyio.fail_after(LONGEST):
        async with aclosing(ours):
            return await _answered(ours, Call(request_id, tool, arguments, is_change=True))


async def _answered(ours: SocketSupervisor, call: Call) -> Any:
    while True:
        try:
            answered = await ours.execute(call)
        except (SupervisorUnavailable, SupervisorSilent):
            await anyio.sleep(PAUSE)
        except SupervisorRefused as error:
            if not any(words in error.happened for words in _NOT_YET):
                return error.happened
            await anyio.sleep(PAUSE)
        else:
            assert answered is not None
            return answered.result


@attrs.define(eq=False)
class Minds:
    """All conversations, their turns, and what their tools answered."""

    socket: Path
    act: Act = by_socket
    begun: Counter[str] = attrs.field(factory=Counter)
    """How often a turn about each message was."""
    told: dict[str, str] = attrs.field(factory=dict)
    """What came of the message that each turn posts: done, uncertain, or the refusal."""
    texts: dict[str, str | None] = attrs.field(factory=dict)
    lost: list[BaseException] = attrs.field(factory=list)
    """What ended a turn before its end."""
    _coordinates: dict[str, Mapping[str, str]] = attrs.field(factory=dict)
    _turns: set["asyncio.Task[None]"] = attrs.field(factory=set)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Answer supervisors meanwhile."""
        server = await asyncio.start_unix_server(self._answer, str(self.socket))
        try:
            yield
        finally:
            server.close()
            for task in self._turns:
                task.cancel()
            await asyncio.gather(*self._turns, return_exceptions=True)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = json.loads(await reader.readline() or "{}")
            if not asked:
                return  # whoever came was killed before a word
            if asked["ask"] == "run":
                await self._run(asked, reader, writer)
            else:
                _tell(writer, self._said(asked))
        except ConnectionError:
            pass
        finally:
            writer.close()

    def _said(self, asked: Plain) -> Plain:
        conversation = asked.get("conversation") or f"c{len(self._coordinates) + 1}"
        if asked["ask"] in ("start", "resume"):
            self._coordinates[conversation] = asked["coordinates"]
            return {"conversation": conversation}
        if asked["ask"] == "attach":
            return {"is_there": conversation in self._coordinates}
        about = _message(asked["item"])
        return {"began": about in self.begun, "text": self.texts.get(about)}

    async def _run(
        self, asked: Plain, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        about = _message(asked["item"])
        self.begun[about] += 1
        _tell(writer, {"turn": asked["turn"]})
        with suppress(ConnectionError):  # killed or not, the turn goes on by itself
            await reader.readline()
        coordinates = self._coordinates[asked["conversation"]]
        task = asyncio.create_task(self._play(about, coordinates))
        self._turns.add(task)
        task.add_done_callback(self._over)
        await asyncio.shield(task)
        _tell(writer, {"text": self.texts[about]})

    def _over(self, task: "asyncio.Task[None]") -> None:
        self._turns.discard(task)
        why = None if task.cancelled() else task.exception()
        if why is not None:
            self.lost.append(why)

    async def _play(self, about: str, coordinates: Mapping[str, str]) -> None:
        arguments = {"text": f"did {about}"}
        result = await self.act(coordinates, "1", "send_message", arguments)
        self.told[about] = _outcome(result)
        reply = {"text": "I answer.", "reply_to": about}
        await self.act(coordinates, "2", "send_message", reply)
        self.texts[about] = f"answer {about}"


def _outcome(result: Any) -> str:
    if isinstance(result, str):
        return result
    code = result["structuredContent"].get("code")
    return {"SUPERVISED_EFFECT_OUTCOME_UNCERTAIN": UNCERTAIN, None: DONE}[code]


DONE, UNCERTAIN = "done", UNKNOWN


def _message(item_id: str) -> str:
    return item_id.rsplit(":", 1)[1]


def _tell(writer: asyncio.StreamWriter, told: Plain) -> None:
    writer.write(json.dumps(told).encode() + b"\n")
