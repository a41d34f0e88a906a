"""Who is in a room on a server, and what they say they do."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from tests.contract.served import KeptRooms, Served, client, hosting
from tests.contract.served_room import Room

from letagents.testing.determinism import ManualClock

pytestmark = pytest.mark.anyio


async def present(room: Room) -> list[tuple[str, str, str]]:
    """Return who is there, with what they say they do and whether that is fresh."""
    _, found = await room.call("GET", "/presence")
    return [(one["display_name"], one["status"], one["freshness"]) for one in found["presence"]]


class TestPresence(Served):
    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    async def room(self, kept: KeptRooms, clock: ManualClock) -> AsyncIterator[Room]:
        async with client(hosting(kept, clock)) as http:
            opened = Room(http)
            await opened.call("POST", "/join")
            yield opened

    @pytest.mark.rule("X20", "X22")
    async def test_what_a_worker_says_it_does_is_shown_until_it_ends(self, room: Room) -> None:
        ada, _bob = await room.worker("Ada"), await room.worker("Bob")
        said = {"status": "working", "status_text": "on the roof"}
        status, noted = await room.call("POST", "/presence", ada | said)
        seen = await present(room)
        await room.call("POST", "/presence", ada | {"status": "blocked"})
        later = await present(room)
        path = f"/agent-sessions/{ada['agent_session_id']}/disconnect"
        await room.call("POST", path, ada)

        assert (status, noted["status"], noted["status_text"]) == (200, "working", "on the roof")
        assert noted["agent_session_id"] == ada["agent_session_id"]
        assert seen == [("Ada", "working", "active"), ("Bob", "idle", "active")]
        assert later[0] == ("Ada", "blocked", "active")
        assert await present(room) == [("Bob", "idle", "active")]

    @pytest.mark.rule("X20")
    async def test_what_is_said_of_the_machine_is_shown(self, room: Room) -> None:
        ada = await room.worker("Ada")
        host = {"host_id": "quay", "host_kind": "laptop", "tool_bridge_id": None}
        said = {"status": "idle", "liveness_observation": host}
        _, before = await room.call("POST", "/presence", ada | {"status": "idle"})
        _, noted = await room.call("POST", "/presence", ada | said)
        wrong = await room.call(
            "POST", "/presence", ada | said | {"liveness_observation": {"host_id": 7}}
        )

        assert before["liveness_observation"] is None
        assert noted["liveness_observation"] == noted["liveness_observation"] | host
        assert noted["liveness_observation"]["source"] == "agent_session"
        assert (wrong[0], wrong[1]["error"][:36]) == (400, "liveness_observation.host_id must be")

    @pytest.mark.rule("X40")
    async def test_what_a_worker_observed_is_kept_once(self, room: Room) -> None:
        ada, bob = await room.worker("Ada"), await room.worker("Bob")
        path = "/agents/self/observation"
        _, said = await room.call("POST", "/messages", bob | {"text": "@Ada look"})
        seen = {"first_message_id": said["id"], "last_message_id": said["id"]}
        told = [await room.call("PUT", path, ada | seen) for _ in range(2)]
        _, info = await room.call("GET", f"/messages/{said['id']}/info")
        wrong = await room.call("PUT", path, ada | seen | {"last_message_id": "msg_0"})
        nobody = await room.call("PUT", path, seen)

        assert [(status, one["recorded"]) for status, one in told] == [(200, True), (200, False)]
        assert [one["receipt_state"] for one in info["receipts"]] == ["responding"]
        assert (wrong[0], nobody[0]) == (400, 403)

    @pytest.mark.rule("X21")
    async def test_who_gives_no_sign_is_away_after_a_while(
        self, room: Room, clock: ManualClock
    ) -> None:
        await room.worker("Ada")
        clock.pass_by(timedelta(seconds=90))

        assert await present(room) == [("Ada", "idle", "stale")]

    @pytest.mark.rule("X23")
    async def test_only_a_session_says_what_it_does(self, room: Room) -> None:
        ada = await room.worker("Ada")
        wrong = ada | {"agent_session_token": "x" * 43, "status": "idle"}
        refused = [
            await room.call("POST", "/presence", {"status": "idle"}),
            await room.call("POST", "/presence", wrong),
            await room.call("POST", "/presence", ada | {"status": "away"}),
            await room.call("POST", "/presence", ada),
        ]

        assert [status for status, _ in refused] == [403, 401, 400, 400]
        assert await present(room) == [("Ada", "idle", "active")]

    async def test_people_and_agents_take_part(self, room: Room) -> None:
        ada = await room.worker("Ada")
        await room.call("POST", "/messages", ada | {"text": "hello"})
        await room.call("POST", "/tasks", {"title": "mend", "desktop_human_client": True})
        _, found = await room.call("GET", "/participants")
        _, one = await room.call("GET", "/participants?limit=1")

        seen = {one["kind"]: one for one in found["participants"]}
        assert sorted(one["kind"] for one in found["participants"]) == ["agent", "human"]
        assert (seen["agent"]["github_login"], seen["human"]["github_login"]) == (None, "ada")
        assert seen["agent"]["participant_key"].startswith("agent:ada")
        assert len(one["participants"]) == 1

    @pytest.mark.rule("X26", "X27", "X28")
    async def test_a_program_reports_of_its_own_agent_in_the_order_of_its_numbers(
        self, room: Room, clock: ManualClock
    ) -> None:
        ada, bob = await room.worker("Ada"), await room.worker("Bob")
        clock.pass_by(timedelta(seconds=80))
        path = f"/agent-sessions/{ada['agent_session_id']}/native-activity"
        said = {"observed_at": clock.now().isoformat(), "method": "turn/started"}
        first = await room.call("POST", path, ada | said | {"sequence": 2, "status": "working"})
        late = await room.call("POST", path, ada | said | {"sequence": 1, "status": "blocked"})
        refused = [
            await room.call("POST", path, bob | said | {"sequence": 3}),
            await room.call("POST", path, said | {"sequence": 3}),
            await room.call(
                "POST", path, ada | said | {"sequence": 3, "agent_session_token": "x" * 43}
            ),
            await room.call("POST", path, ada | said | {"sequence": 0}),
        ]
        clock.pass_by(timedelta(seconds=80))

        assert (first[0], first[1]["recorded"], first[1]["axis"]) == (
            200,
            True,
            "execution_activity",
        )
        assert (late[0], late[1]["recorded"], late[1]["status"]) == (200, False, "working")
        assert [status for status, _ in refused] == [403, 401, 401, 400]
        fresh = {name: freshness for name, _, freshness in await present(room)}
        assert fresh == {"Ada": "active", "Bob": "stale"}, "a report is a sign"

    @pytest.mark.rule("X29")
    async def test_who_ever_was_there_is_told_page_by_page(
        self, room: Room, clock: ManualClock
    ) -> None:
        workers = []
        for name in ("Ada", "Bob", "Carl"):
            workers.append(await room.worker(name))
            clock.pass_by(timedelta(seconds=1))
        bob = workers[1]
        await room.call("POST", f"/agent-sessions/{bob['agent_session_id']}/disconnect", bob)
        _, newest = await room.call("GET", "/activity-history?limit=2")
        last = newest["history"][-1]["agent_session_id"]
        _, rest = await room.call("GET", f"/activity-history?limit=2&before={last}")
        wrong, _ = await room.call("GET", "/activity-history?before=%20x%20y")

        assert [one["display_name"] for one in newest["history"]] == ["Carl", "Bob"]
        assert [one["ended_at"] is None for one in newest["history"]] == [True, False]
        assert newest["has_more"] is True
        assert [one["display_name"] for one in rest["history"]] == ["Ada"]
        assert rest["has_more"] is False
        assert wrong == 400
