"""Wake rules of rooms on a server, through its HTTP interface. (Source: mcp-tools 9.4.)"""

from typing import Any

import attrs

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.lacking import there
from letagents.adapters.rooms.hosted.meant import about
from letagents.adapters.rooms.hosted.projects import Absent
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, quoted
from letagents.domain.wake_rules import Asked, UnknownWakeRule, WakeRule
from letagents.ports.wakes import Rules
from letagents.wire.http import credentials, rooms
from letagents.wire.http import wakes as wire
from letagents.wire.http.places import part
from letagents.wire.http.reading import Fields

WHAT = "wake rules"


@attrs.frozen
class HostedWakes:
    """The wake rules of rooms on one server, used by one account."""

    _calls: Calls

    async def add(self, room_id: RoomId, asked: Asked, fence: Fence) -> tuple[WakeRule, bool]:
        """Return the rule of who asks, and whether it was made now."""
        sent = self._calls.send(
            "POST",
            _path(room_id),
            {"rule": wire.plain_asked(asked)} | credentials.in_body(fence),
            lambda answer: (_rule(answer), Fields(answer).flag("created")),
        )
        return await there(WHAT, sent)

    async def rules(
        self, room_id: RoomId, *, agent_key: str | None = None, viewer: Fence | None = None
    ) -> Rules:
        """Return the rules of a room, or those of one agent in it."""
        asked = self._calls.get(
            _path(room_id),
            lambda answer: Rules(*wire.rules(answer)),
            query={"agent_key": agent_key},
            headers=credentials.in_headers(viewer),
        )
        return await there(WHAT, asked)

    async def cancel(self, room_id: RoomId, rule_id: str, fence: Fence | None = None) -> WakeRule:
        """Return the rule, cancelled if it waited."""
        path = f"{_path(room_id)}/{part(rule_id)}/cancel"
        try:
            return await self._calls.send(
                "POST",
                path,
                credentials.in_body_of_anybody(fence),
                about(rule_id, lambda rule: rule.rule_id, _rule),
            )
        except Absent as error:
            raise UnknownWakeRule(
                f"rule_id: this room has no wake rule {quoted(rule_id)}.",
                remedy="Call list_wake_rules to see those that there are.",
            ) from error


def _rule(document: Any) -> WakeRule:
    return wire.rule(Fields(document).document.get("rule"))


def _path(room_id: RoomId) -> str:
    return f"{rooms.path(room_id)}/wake-rules"
