"""A room on a server in this process, as clients see it that know nothing of our own additions."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import attrs
import httpx
from tests.contract.served import ADA, TOKEN, client, hosting

from letagents.adapters.accounts.memory import MemoryAccounts
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.accounts import Account
from letagents.domain.ids import RoomId
from letagents.domain.sessions import Session
from letagents.testing.determinism import CountingIds, ManualClock

Plain = dict[str, Any]

BOBS = "b" * 64
BOB = Account(account_id="account_2", login="bob")


@attrs.frozen
class Room:
    """A room on a server, and what its clients send."""

    http: httpx.AsyncClient

    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str | None = TOKEN,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, Plain]:
        """Return the status and the body of the answer."""
        shown = {"Authorization": f"Bearer {token}"} if token else {}
        answer = await self.http.request(
            method, f"/rooms/shed{path}", json=body, headers=shown | (headers or {})
        )
        return answer.status_code, answer.json()

    async def worker(self, name: str, token: str = TOKEN) -> Plain:
        """Let an agent come in; return its credentials, with its key and its label."""
        headers = {"Authorization": f"Bearer {token}"}
        made = await self.http.post("/agents", json={"name": name}, headers=headers)
        key = made.json()["canonical_key"]
        _, session = await self.call(
            "POST",
            "/agent-sessions",
            {"actor_key": key, "display_name": name, "agent_instance_id": f"process-{name}"},
            token=token,
        )
        return {
            "agent_session_id": session["session_id"],
            "agent_session_token": session["session_token"],
            "actor_key": session["agent_key"],
            "actor_label": session["actor_label"],
        }

    async def task(self, title: str = "mend the roof") -> Plain:
        """Put a task on the board as a person does, so that it can be claimed."""
        status, task = await self.call(
            "POST", "/tasks", {"title": title, "desktop_human_client": True}
        )
        assert (status, task["status"]) == (201, "accepted")
        return task

    async def claimed(self, by: Plain, title: str = "mend the roof") -> Plain:
        """Let a worker claim a new task; return it."""
        task = await self.task(title)
        asked = {
            "status": "assigned",
            "assignee": by["actor_label"],
            "assignee_agent_key": by["actor_key"],
        }
        status, claimed = await self.call("PATCH", f"/tasks/{task['id']}", by | asked)
        assert status == 200, claimed
        return claimed


@asynccontextmanager
async def opened() -> AsyncIterator[Room]:
    """Open the room, which Ada has entered and looks after, on a server that knows Bob too."""
    clock = ManualClock()
    accounts = MemoryAccounts.of(clock, {TOKEN: ADA, BOBS: BOB})
    await accounts.enter(ADA, RoomId("shed"))

    def is_admin(caller: Session | None) -> bool:
        return caller is not None and accounts.is_admin(caller.agent_key, caller.room_id)

    kept = MemoryRooms(CountingIds(), clock, admins=is_admin)
    async with client(attrs.evolve(hosting(kept, clock), accounts=accounts)) as http:
        room = Room(http)
        await room.call("POST", "/join")
        yield room


def told(answered: tuple[int, Plain]) -> tuple[int, object, object]:
    """Return the status, the code and the text of a refusal."""
    status, body = answered
    return status, body.get("code"), body["error"]
