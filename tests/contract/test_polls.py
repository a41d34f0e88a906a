"""A poll of a worker is its delivery: that is seen by others, and how it ends when it is lost."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import anyio
import attrs
import httpx
import pytest
from tests.contract.served import TOKEN, KeptRooms, Served, client, hosting

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.domain.errors import ConnectionReplaced, SessionEnded
from letagents.domain.messages import After
from letagents.domain.sessions import Connection
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival
from letagents.testing.determinism import ManualClock
from letagents.wire.http import credentials

pytestmark = pytest.mark.anyio

Plain = dict[str, Any]
LONG = {"timeout": "60000"}
_MINUTE = timedelta(minutes=1)


@attrs.define
class Waiting:
    """A poll under way, and what it brought."""

    http: httpx.AsyncClient
    who: Connection
    status: int = 0
    found: Plain = attrs.field(factory=dict)

    async def wait(self) -> None:
        answer = await self.http.get(
            "/rooms/workshop/messages/poll",
            params=LONG,
            headers=credentials.in_headers(self.who.fence),
        )
        self.status, self.found = answer.status_code, answer.json()

    async def until_seen(self) -> None:
        """Return once others see that it waits."""
        with anyio.fail_after(30):
            while True:
                answer = await self.http.get("/rooms/workshop/presence")
                if any("delivery" in one["source_flags"] for one in answer.json()["presence"]):
                    return
                await anyio.sleep(0.002)


class TestPolls(Served):
    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    async def http(self, kept: KeptRooms, clock: ManualClock) -> AsyncIterator[httpx.AsyncClient]:
        async with client(hosting(kept, clock)) as http:
            http.headers["Authorization"] = f"Bearer {TOKEN}"
            yield http

    @pytest.fixture
    def calls(self, http: httpx.AsyncClient) -> Calls:
        return Calls(http, lambda: TOKEN)

    @pytest.fixture
    async def ada(self, rooms: HostedRooms) -> Connection:
        await rooms.join(ROOM)
        return await rooms.connect(ROOM, arrival(ADA, 1))

    @pytest.mark.rule("E55")
    async def test_a_poll_ends_empty_when_its_session_is_over_and_the_next_is_refused(
        self, http: httpx.AsyncClient, rooms: HostedRooms, ada: Connection
    ) -> None:
        first, second = Waiting(http, ada), Waiting(http, ada)
        async with anyio.create_task_group() as waiting:
            waiting.start_soon(first.wait)
            await first.until_seen()
            await rooms.disconnect(ROOM, ada.fence)
        await second.wait()

        assert (first.status, first.found["messages"], first.found["has_more"]) == (200, [], False)
        assert first.found["problem"]["code"] == SessionEnded.code
        assert second.status == 401
        assert second.found["error"].startswith("This agent session has ended.")

    @pytest.mark.rule("E55", "R11")
    async def test_our_client_says_at_once_that_another_process_took_over(
        self, http: httpx.AsyncClient, rooms: HostedRooms, ada: Connection
    ) -> None:
        lost: list[ConnectionReplaced] = []

        async def wait() -> None:
            with pytest.raises(ConnectionReplaced) as found:
                await rooms.wait(ROOM, After(), timeout=_MINUTE, viewer=ada.fence)
            lost.append(found.value)

        async with anyio.create_task_group() as waiting:
            waiting.start_soon(wait)
            await Waiting(http, ada).until_seen()
            await rooms.connect(ROOM, arrival(ADA, 2, after=ada))

        assert [one.about[1] for one in lost] == [str(ROOM)]
