"""What a server counts of its requests, its waiters and its rooms."""

import re
from datetime import timedelta

import anyio
import anyio.lowlevel
import httpx
import pytest
from tests.contract.served import TOKEN, KeptRooms, Served, client, hosting

from letagents.adapters.rooms.local import LocalRooms
from letagents.domain.ids import RoomId
from letagents.domain.messages import After
from letagents.entrypoints.server import metrics
from letagents.testing.contracts.room_callers import arrival, draft
from letagents.testing.determinism import ManualClock

pytestmark = pytest.mark.anyio

STAGES = ("queued", "responding", "blocked", "unavailable")
OWN = {"Authorization": f"Bearer {TOKEN}"}
LINE = re.compile(r'(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)+\})? [0-9.e+]+)')


async def counted(http: httpx.AsyncClient) -> dict[str, float]:
    """Return what the server says it counted."""
    answer = await http.get("/metrics", headers=OWN)
    assert answer.headers["content-type"] == metrics.MEDIA
    lines = answer.text.splitlines()
    assert all(LINE.fullmatch(line) for line in lines), lines
    found = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in found}


class TestMetrics(Served):
    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.mark.rule("X30")
    async def test_requests_sessions_and_holders_are_counted(
        self, kept: KeptRooms, clock: ManualClock
    ) -> None:
        async with client(hosting(kept, clock)) as http:
            await http.post("/rooms/shed/join", headers=OWN)
            await http.get("/rooms/shed/messages")
            before = await counted(http)
            made = await http.post("/agents", json={"name": "ada"}, headers=OWN)
            asked = {"actor_key": made.json()["canonical_key"]}
            path = "/rooms/shed/agent-sessions"
            session = (await http.post(path, json=asked, headers=OWN)).json()
            title = {"title": "mend", "desktop_human_client": True}
            await http.post("/rooms/shed/tasks", json=title, headers=OWN)
            claim = {
                "status": "assigned",
                "assignee": session["actor_label"],
                "assignee_agent_key": session["agent_key"],
                "agent_session_id": session["session_id"],
                "agent_session_token": session["session_token"],
            }
            claimed = await http.patch("/rooms/shed/tasks/task_1", json=claim, headers=OWN)
            clock.pass_by(timedelta(minutes=1))
            after = await counted(http)

        assert claimed.status_code == 200, claimed.text
        joins = 'letagents_requests_total{route="POST /rooms/{room_id:path}/join",status="200"}'
        reads = 'letagents_requests_total{route="GET /rooms/{room_id:path}/messages",status="401"}'
        assert (before[joins], before[reads], before["letagents_rooms_up"]) == (1, 1, 1)
        assert (before["letagents_live_sessions"], before["letagents_lease_holders"]) == (0, 0)
        assert (after["letagents_live_sessions"], after["letagents_lease_holders"]) == (2, 1)

    @pytest.mark.rule("X30")
    async def test_messages_are_counted_that_wait_for_whom_they_are_for(
        self, kept: KeptRooms, clock: ManualClock
    ) -> None:
        room = RoomId("workshop")
        await kept.join(room)
        ada, bob = [await kept.connect(room, arrival(one, one)) for one in (1, 2)]
        await kept.post(room, draft("@Worker2 look"), ada.fence)
        clock.pass_by(timedelta(minutes=2))
        await kept.post(room, draft("@Worker1 and you"), bob.fence)
        await kept.disconnect(room, ada.fence)
        async with client(hosting(kept, clock)) as http:
            found = await counted(http)

        by_stage = [found[f'letagents_deliveries{{stage="{one}"}}'] for one in STAGES]
        assert by_stage == [1, 0, 0, 1]
        assert found["letagents_oldest_undelivered_seconds"] == 120

    async def test_waiters_are_counted_while_they_wait(
        self, kept: KeptRooms, clock: ManualClock
    ) -> None:
        await kept.join(RoomId("shed"))
        async with client(hosting(kept, clock)) as http, anyio.create_task_group() as waiting:
            for _ in range(3):
                waiting.start_soon(
                    lambda: kept.wait(RoomId("shed"), After(None), timeout=timedelta(seconds=60))
                )
            with anyio.fail_after(5):
                while (await counted(http))["letagents_waiters"] < 3:
                    await anyio.lowlevel.checkpoint()
            waiting.cancel_scope.cancel()
            assert (await counted(http))["letagents_nudges_lost_total"] == 0

    async def test_nobody_is_told_who_shows_no_token(
        self, kept: KeptRooms, clock: ManualClock
    ) -> None:
        async with client(hosting(kept, clock)) as http:
            assert (await http.get("/metrics")).status_code == 401

    async def test_rooms_that_cannot_be_asked_are_told_to_be_down(
        self, kept: KeptRooms, clock: ManualClock
    ) -> None:
        async with client(hosting(kept, clock)) as http:
            if isinstance(kept, LocalRooms):
                await kept.aclose()
                assert (await counted(http))["letagents_rooms_up"] == 0
