"""On which connections a process calls its supervisor, and that it is the one that is there now."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import attrs
import pytest

from letagents.adapters.supervisor.socket import SocketSupervisor
from letagents.adapters.system import SystemIds
from letagents.domain.supervised import Answered, SupervisorSilent
from letagents.testing.contracts.supervisor import change
from letagents.wire import supervisor as wire
from letagents.wire.supervisor import Response

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets"),
]
AGENT = {
    "LETAGENTS_SUPERVISOR_ENTRY_ID": "e1",
    "LETAGENTS_SUPERVISOR_WORK_ATTEMPT_ID": "w1",
    "LETAGENTS_SUPERVISOR_EXECUTION_GENERATION_ID": "x1",
}


@attrs.define(eq=False)
class Other:
    """A supervisor that answers all lines of a connection, and knows where it was called.

    `lets_keep` is what it says of keeping connections; `after` is written after each answer, and
    `instead` in the place of one.
    """

    socket: Path
    name: str = "one"
    lets_keep: bool = True
    after: bytes = b""
    instead: bytes | None = None
    called: list[asyncio.StreamWriter] = attrs.field(factory=list)
    listening: asyncio.Server | None = None

    async def start(self) -> None:
        self.socket.unlink(missing_ok=True)
        self.listening = await asyncio.start_unix_server(self._answer, str(self.socket))

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            request = wire.read_request(line)
            if request.method == wire.EXECUTE:
                self.called.append(writer)
            response = Response(2, request.id, ok=True, result=self._said(request.method))
            writer.write(self.instead or response.line() + self.after)
        writer.close()

    def _said(self, method: str) -> object:
        if method == wire.EXECUTE:
            return {"state": "completed", "room_id": "workshop", "result": self.name}
        identity = {"protocol_version": 2, "generation": 7, "pid": 4242, "started_at": "2030-01-01"}
        return identity | {"capabilities": {wire.KEEPS: self.lets_keep}}

    async def stop(self) -> None:
        """End, with all connections."""
        if self.listening is not None:
            self.listening.close()
        for writer in self.called:
            writer.close()
            await writer.wait_closed()


@pytest.fixture
async def other(anyio_backend: str, tmp_path: Path) -> AsyncIterator[Other]:
    other = Other(tmp_path / "daemon.sock")
    await other.start()
    yield other
    await other.stop()


@pytest.fixture
async def ours(other: Other) -> AsyncIterator[SocketSupervisor]:
    environ = AGENT | {"LETAGENTS_SUPERVISOR_DAEMON_SOCKET": str(other.socket)}
    ours = SocketSupervisor(environ, other.socket, other.socket.parent, SystemIds(), gap=0.0)
    yield ours
    await ours.aclose()


async def call(ours: SocketSupervisor) -> object:
    answered = await ours.execute(change())
    assert isinstance(answered, Answered)
    return answered.result


@pytest.mark.parametrize("lets_keep", [True, False])
async def test_a_connection_is_kept_where_the_supervisor_lets(
    ours: SocketSupervisor, other: Other, lets_keep: bool
) -> None:
    other.lets_keep = lets_keep
    for _ in range(3):
        await call(ours)

    assert len(set(other.called)) == (1 if lets_keep else 3)


async def test_no_connection_is_left_open_to_a_supervisor_that_lets_none_be_kept(
    ours: SocketSupervisor, other: Other
) -> None:
    await call(ours)
    other.lets_keep, ours._known = False, None
    await call(ours)

    assert ours._kept._connection is None


async def test_calls_at_once_each_have_a_connection(ours: SocketSupervisor, other: Other) -> None:
    await call(ours)
    await asyncio.gather(*(call(ours) for _ in range(4)))

    assert len(set(other.called)) >= 4
    assert await call(ours) == "one"


async def test_one_that_was_closed_meanwhile_is_made_anew(
    ours: SocketSupervisor, other: Other
) -> None:
    await call(ours)
    await other.stop()
    await other.start()

    assert await call(ours) == "one"
    assert len(set(other.called)) == 2


async def test_who_has_taken_the_place_is_asked_though_the_other_one_lives(
    ours: SocketSupervisor, other: Other
) -> None:
    await call(ours)
    successor = Other(other.socket, "two")
    await successor.start()

    assert await call(ours) == "two"
    await successor.stop()


async def test_nothing_more_is_asked_where_something_came_unasked(
    ours: SocketSupervisor, other: Other
) -> None:
    other.after = b'{"version":2,"id":"another","ok":true}\n'
    answers = [await call(ours) for _ in range(3)]

    assert answers == ["one"] * 3
    assert len(set(other.called)) == 3


@pytest.mark.parametrize("answer", [b"not JSON\n", b'{"version":2,"id":"another","ok":true}\n'])
async def test_nothing_more_is_asked_where_an_answer_made_no_sense(
    ours: SocketSupervisor, other: Other, answer: bytes
) -> None:
    await call(ours)
    other.instead = answer
    with pytest.raises(SupervisorSilent):
        await call(ours)
    other.instead = None

    assert await call(ours) == "one"
    assert len(set(other.called)) == 2
