"""What a person's page, or a program that runs agents, asks a server for beside a room's words."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from tests.contract.served import TOKEN, KeptRooms, Served, client, hosting
from tests.contract.served_room import Room

from letagents.testing.determinism import ManualClock

pytestmark = pytest.mark.anyio

PERSON: dict[str, Any] = {"desktop_human_client": True}
PULL = {"provider": "github", "kind": "pull_request", "url": "https://github.com/o/r/pull/7"}


class TestRoutesOfPages(Served):
    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    async def http(self, kept: KeptRooms, clock: ManualClock) -> AsyncIterator[httpx.AsyncClient]:
        async with client(hosting(kept, clock)) as opened:
            opened.headers["Authorization"] = f"Bearer {TOKEN}"
            yield opened

    @pytest.fixture
    async def room(self, http: httpx.AsyncClient) -> Room:
        opened = Room(http)
        await opened.call("POST", "/join")
        return opened

    @pytest.mark.rule("X41", "X42")
    async def test_why_an_agent_cannot_go_on_is_said_once_and_wakes_nobody(
        self, room: Room
    ) -> None:
        ada, bob = await room.worker("Ada"), await room.worker("Bob")
        path = f"/agent-sessions/{ada['agent_session_id']}/failures"
        told = ada | {"code": "quota_exhausted", "origin_event_id": "msg_7"}
        said = [(await room.call("POST", path, told))[1]["message"] for _ in range(2)]
        other = await room.call("POST", path, ada | {"code": "provider_error"})
        wrong = await room.call("POST", path, ada | {"code": "bored"})
        long = await room.call("POST", path, told | {"origin_event_id": "x" * 129})
        another = await room.call("POST", path, bob | {"code": "provider_error"})
        headers = {
            "X-LetAgents-Agent-Session-Id": bob["agent_session_id"],
            "X-LetAgents-Agent-Session-Token": bob["agent_session_token"],
        }
        read = await room.http.get("/rooms/shed/messages", headers=headers)

        assert said[0]["id"] == said[1]["id"]
        assert said[0]["source"] == "managed_agent_failure"
        assert said[0]["text"] == "[status] Ada cannot go on: what it may use is used up."
        assert (other[0], wrong[0], long[0], another[0]) == (201, 400, 400, 403)
        heard = [one["activation"]["for_current_agent"] for one in read.json()["messages"]]
        assert [one["decision"] for one in heard] == ["silent", "silent"]

    @pytest.mark.rule("K140", "K141", "K142")
    async def test_a_person_chooses_of_which_events_a_room_hears(self, room: Room) -> None:
        ada, path = await room.worker("Ada"), "/github-event-filter"
        _, before = await room.call("GET", path)
        chosen = PERSON | {"kinds": ["review", "comment", "review"]}
        status, after = await room.call("PUT", path, chosen)
        again = await room.call("PUT", path, chosen)
        wrong = await room.call("PUT", path, PERSON | {"kinds": ["gossip"]})
        agent = await room.call("PUT", path, ada | {"kinds": []})

        assert before["kinds"] == before["available_kinds"]
        assert (len(before["kinds"]), before["updated_by"], before["can_manage"]) == (6, None, True)
        assert (status, after["kinds"], after["updated_by"]) == (200, ["review", "comment"], "Ada")
        assert again[1] == after == (await room.call("GET", path))[1]
        assert (wrong[0], agent[0], agent[1]["code"]) == (400, 403, "humans_only")

    async def test_what_was_said_of_the_pull_requests_of_open_tasks_is_listed(
        self, room: Room
    ) -> None:
        ada = await room.worker("Ada")
        for title in ("Mend the roof", "Oil the gate"):
            await room.call("POST", "/tasks", PERSON | {"title": title})
            await room.call("PATCH", "/tasks/task_1", PERSON | {"status": "accepted"})
        await room.call("PATCH", "/tasks/task_1", ada | {"status": "assigned"})
        published = {"pr_url": PULL["url"], "workflow_artifacts": [PULL]}
        await room.call("PATCH", "/tasks/task_1", ada | published)
        status, found = await room.call("GET", "/tasks/github-status?limit=1")
        _, rest = await room.call("GET", "/tasks/github-status?after=task_1")

        assert (status, found["is_connected"], found["has_more"]) == (200, False, True)
        [task] = found["tasks"]
        assert (task["task_id"], task["pr_url"]) == ("task_1", PULL["url"])
        assert task["workflow_artifacts"] == [PULL]
        assert [one["task_id"] for one in rest["tasks"]] == ["task_2"]

    async def test_a_room_says_of_which_repository_and_branch_it_is(
        self, http: httpx.AsyncClient
    ) -> None:
        told = {}
        for name in ("shed", "github.com/O/R", "git-room:github.com:o/r:branch:dG9waWM"):
            told[name] = (await http.post(f"/rooms/{name}/join")).json()["git_room"]

        assert told["shed"] is None
        repository, branch = list(told.values())[1:]
        assert repository["repository"]["full_name"] == "o/r"
        assert (repository["provider"], repository["ref"]["is_default"]) == ("github", True)
        assert branch["repository"] == repository["repository"]
        assert (branch["ref"]["name"], branch["ref"]["is_default"]) == ("topic", False)

    async def test_who_says_something_is_told_under_which_key(self, room: Room) -> None:
        ada = await room.worker("Ada")
        said = [
            (await room.call("POST", "/messages", ada | {"text": "ahoy"} | key))[1]
            for key in ({"client_message_id": "k1"}, {"client_message_id": "k1"}, {})
        ]

        assert [one["client_message_id"] for one in said] == ["k1", "k1", None]
        assert said[0]["id"] == said[1]["id"] != said[2]["id"]
