"""A process that polls by itself, while one supervisor follows another: nothing is lost by that."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.supervised import SERVER
from tests.integration.test_supervisor_client import IDENTITY, Fake

from letagents.adapters.supervisor.custody import SocketCustody
from letagents.adapters.system import SystemIds
from letagents.domain.custody import WAIT, Invocation, PollDeferred, PollRefused
from letagents.domain.ids import MessageId
from letagents.domain.surfaces import Caller, Profile
from letagents.wire import supervisor as wire
from letagents.wire.supervisor import Request

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets"),
]
ADMITS = IDENTITY | {"capabilities": {"custodialPollingV1": True, "custodialPollingOffersV1": True}}
ADMITTED = {
    "status": "authorized", "contract": "custodial_polling_v1", "room_id": "r",
    "agent_session_id": "s1", "room_cursor": "msg_3", "configuration_revision": 1,
    "activation_id": "a1", "binding_epoch": 1,
}  # fmt: skip
INVOCATION = Invocation("f3b5c1f2-0000-4000-8000-000000000000", 7, "msg_3")
FENCED = "Supervisor handoff has fenced new daemon mutations."
REFUSED = "Custodial polling authority is stale or unsupported."


@pytest.fixture
async def fake(anyio_backend: str, tmp_path: Path) -> AsyncIterator[Fake]:
    fake = Fake(tmp_path / "daemon.sock")
    fake.said |= {wire.NEGOTIATE: ADMITS, wire.AUTHORIZE: ADMITTED}
    await fake.start()
    yield fake
    await fake.stop()


async def at_once(_seconds: float) -> None:
    await asyncio.sleep(0)


def process(fake: Fake) -> SocketCustody:
    environ = {
        "LETAGENTS_SUPERVISOR_ENTRY_ID": "e1",
        "LETAGENTS_SUPERVISOR_DAEMON_SOCKET": str(fake.socket),
        "LETAGENTS_SUPERVISOR_WORK_ATTEMPT_ID": "w1",
        "LETAGENTS_SUPERVISOR_EXECUTION_GENERATION_ID": "x1",
        "LETAGENTS_SUPERVISOR_ROOM_ID": "r",
        "LETAGENTS_SUPERVISOR_AGENT_SESSION_ID": "s1",
    }
    caller = Caller(Profile.SUPERVISED_MCP_POLLING, provider="codex", api_url=SERVER)
    home = fake.socket.parent
    return SocketCustody(
        environ, caller, fake.socket, home, SystemIds(), patience=30.0, gap=30.0, pause=at_once
    )


def saying(fake: Fake, phase: str, said: Any) -> None:
    """Have one phase answered so, and the other one admitted."""

    def answer(request: Request) -> Any:
        assert isinstance(request.params, dict)
        return said if request.params["phase"] == phase else ADMITTED

    fake.said[wire.AUTHORIZE] = answer


async def polled(fake: Fake) -> None:
    custody = process(fake)
    async with asyncio.timeout(30):
        admission = await custody.admit(WAIT, INVOCATION)
        await custody.release(WAIT, admission, MessageId(4))


@pytest.mark.parametrize("phase", ["before", "release"])
async def test_one_that_hands_over_defers_a_poll(fake: Fake, phase: str) -> None:
    saying(fake, phase, FENCED)

    with pytest.raises(PollDeferred, match="handoff"):
        await polled(fake)


@pytest.mark.parametrize("phase", ["before", "release"])
async def test_what_the_next_one_refuses_is_asked_of_it_anew(fake: Fake, phase: str) -> None:
    saying(fake, phase, REFUSED)
    whose = iter([ADMITS, ADMITS | {"generation": 8}])
    fake.said[wire.NEGOTIATE] = lambda _: next(whose)

    with pytest.raises(PollDeferred):
        await polled(fake)


@pytest.mark.parametrize("phase", ["before", "release"])
async def test_what_the_same_one_refuses_is_refused(fake: Fake, phase: str) -> None:
    saying(fake, phase, REFUSED)

    with pytest.raises(PollRefused) as raised:
        await polled(fake)
    assert not isinstance(raised.value, PollDeferred)
    assert ("Call it again" in raised.value.remedy) is (phase == "release")


async def test_an_offer_of_which_nothing_was_heard_is_made_again_as_it_was(fake: Fake) -> None:
    answers = iter([ADMITTED, None, ADMITTED])
    fake.said[wire.AUTHORIZE] = lambda _: next(answers)
    await polled(fake)

    _, first, second = fake.params(wire.AUTHORIZE)
    assert first == second
    assert first["offered_frontier"] == "msg_4"
    assert fake.methods().count(wire.NEGOTIATE) == 1
