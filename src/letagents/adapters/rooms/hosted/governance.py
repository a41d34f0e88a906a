"""Who decides about boards on a server, through its HTTP interface. (Source: hosted-api 3.9.)"""

from collections.abc import Callable
from typing import Any, TypeVar

import attrs

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.meant import about
from letagents.adapters.rooms.hosted.projects import Absent
from letagents.domain.approvals import Intent, IntentStatus
from letagents.domain.denials import IntentNotFound
from letagents.domain.errors import NotAvailable
from letagents.domain.fencing import Fence
from letagents.domain.governance import (
    BoardSettings,
    Candidate,
    Failover,
    Manager,
    ManagerMode,
    RuntimeSource,
)
from letagents.domain.governance_acts import MOST, Act
from letagents.domain.ids import RoomId, SessionId, quoted
from letagents.domain.intents import Action, ApprovalToken, Payload
from letagents.ports.governance import Decided, Governed, Intents, Notice, Proposed
from letagents.wire.http import credentials, rooms
from letagents.wire.http import governance as wire
from letagents.wire.http.places import part
from letagents.wire.http.reading import Fields

LONGEST_LIST = 200
T = TypeVar("T")


@attrs.frozen
class HostedGovernance:
    """The governance of rooms on one server, used by one account."""

    _calls: Calls

    async def governed(self, room_id: RoomId, viewer: Fence | None = None) -> Governed:
        """Return how the board is governed."""
        return await self._calls.get(
            f"{rooms.path(room_id)}/board-settings",
            _governed,
            headers=credentials.in_headers(viewer),
        )

    async def acts(
        self, room_id: RoomId, *, limit: int = MOST, viewer: Fence | None = None
    ) -> tuple[Act, ...]:
        """Return what was done last."""
        what = "does not tell what was done to how a board is governed"
        found = await self._told_whole(
            room_id, wire.acts, viewer, what, "Read the room: it tells of each change."
        )
        return found[: max(1, limit)]

    async def candidates(
        self, room_id: RoomId, viewer: Fence | None = None
    ) -> tuple[Candidate, ...]:
        """Return the workers that are in the room."""
        what = "does not say who could manage a board"
        return await self._told_whole(
            room_id,
            lambda told: tuple(map(wire.candidate, Fields(told).list("candidates"))),
            viewer,
            what,
            "Pass the agent_session_id of the worker that is to manage it.",
        )

    async def _told_whole(
        self,
        room_id: RoomId,
        read: Callable[[Any], T],
        viewer: Fence | None,
        what: str,
        remedy: str,
    ) -> T:
        """Return a part of all that is told of how a board is governed."""
        path = f"{rooms.path(room_id)}/board-governance"
        try:
            return await self._calls.get(path, read, headers=credentials.in_headers(viewer))
        except Absent as error:
            raise NotAvailable(f"The server of these rooms {what}.", remedy=remedy) from error

    async def set_mode(
        self,
        room_id: RoomId,
        mode: ManagerMode | None = None,
        failover: Failover | None = None,
        *,
        fence: Fence | None = None,
    ) -> BoardSettings:
        """Change what is given."""
        asked = {
            "manager_mode": mode and mode.value,
            "manager_failover": failover and failover.value,
        }
        given = {name: value for name, value in asked.items() if value is not None}
        return await self._calls.send(
            "PATCH",
            f"{rooms.path(room_id)}/board-settings",
            given | credentials.in_body(fence),
            lambda answer: wire.settings(Fields(answer).document.get("settings")),
        )

    async def assign_manager(
        self,
        room_id: RoomId,
        session_id: SessionId,
        runtime_source: RuntimeSource = RuntimeSource.UNKNOWN,
        *,
        fence: Fence | None = None,
    ) -> Manager:
        """Let that worker manage the board, in place of who does now."""
        return await self._calls.send(
            "POST",
            f"{rooms.path(room_id)}/board-managers",
            {"agent_session_id": str(session_id), "runtime_source": runtime_source.value},
            lambda answer: wire.manager(Fields(answer).document.get("manager")),
            headers=credentials.in_headers(fence),
        )

    async def release_manager(
        self, room_id: RoomId, reason: str | None = None, *, fence: Fence | None = None
    ) -> Manager | None:
        """End the assignment; return it, or None if there is none."""
        return await self._calls.send(
            "DELETE",
            f"{rooms.path(room_id)}/board-managers/active",
            {"reason": reason} | credentials.in_body(fence),
            lambda answer: _manager(Fields(answer), "manager"),
        )

    async def propose(
        self, room_id: RoomId, action: Action, payload: Payload, *, fence: Fence | None = None
    ) -> Proposed:
        """Ask for an approval, or return what was asked already."""
        return await self._calls.send(
            "POST",
            f"{rooms.path(room_id)}/board-intents",
            wire.plain_asked(action, payload) | credentials.in_body(fence),
            _proposed,
            headers=credentials.origin(fence),
        )

    async def intents(
        self,
        room_id: RoomId,
        status: IntentStatus | None = None,
        *,
        after: str | None = None,
        limit: int = LONGEST_LIST,
        viewer: Fence | None = None,
    ) -> Intents:
        """Return the intents of that status, oldest first."""
        most = max(1, min(limit, LONGEST_LIST))
        return await self._calls.get(
            f"{rooms.path(room_id)}/board-intents",
            _intents,
            query={"status": status and status.value, "after": after, "limit": most},
            headers=credentials.in_headers(viewer),
        )

    async def intent(self, room_id: RoomId, intent_id: str, viewer: Fence | None = None) -> Intent:
        """Return one intent, as it stands."""
        try:
            return await self._calls.get(
                _path(room_id, intent_id),
                about(
                    intent_id,
                    lambda intent: intent.intent_id,
                    lambda answer: wire.intent(Fields(answer).document.get("intent")),
                ),
                headers=credentials.in_headers(viewer),
            )
        except Absent:
            return await self._listed(room_id, intent_id, viewer)

    async def _listed(self, room_id: RoomId, intent_id: str, viewer: Fence | None) -> Intent:
        """Return one intent of a server that shows intents in its list alone."""
        for one in (await self.intents(room_id, viewer=viewer)).intents:
            if one.intent_id == intent_id:
                return one
        raise IntentNotFound(
            f"intent_id: there is no intent {quoted(intent_id)} in this room.",
            remedy="list_board_intents() shows those that are there.",
        )

    async def approve(
        self,
        room_id: RoomId,
        intent_id: str,
        reason: str | None = None,
        *,
        fence: Fence | None = None,
    ) -> Decided:
        """Approve it."""
        return await self._decide(room_id, intent_id, "approve", reason, fence)

    async def deny(
        self,
        room_id: RoomId,
        intent_id: str,
        reason: str | None = None,
        *,
        fence: Fence | None = None,
    ) -> Decided:
        """Deny it."""
        return await self._decide(room_id, intent_id, "deny", reason, fence)

    async def _decide(
        self, room_id: RoomId, intent_id: str, verb: str, reason: str | None, fence: Fence | None
    ) -> Decided:
        return await self._calls.send(
            "POST",
            f"{_path(room_id, intent_id)}/{verb}",
            {"reason": reason} | credentials.in_body(fence),
            about(intent_id, lambda decided: decided.intent.intent_id, _decided),
        )


def _path(room_id: RoomId, intent_id: str) -> str:
    return f"{rooms.path(room_id)}/board-intents/{part(intent_id)}"


def _governed(document: Any) -> Governed:
    fields = Fields(document)
    manager = fields.part("active_manager")
    return Governed(
        wire.settings(fields.document.get("settings")),
        _manager(fields, "active_manager"),
        fields.integer_or_none("pending_intent_count") or 0,
        manager.moment_or_none("last_heartbeat_at") if manager else None,
    )


def _manager(fields: Fields, name: str) -> Manager | None:
    told = fields.part(name)
    return wire.manager(told.document) if told else None


def _proposed(document: Any) -> Proposed:
    fields = Fields(document)
    is_told = fields.document.get("is_needed") is not None
    reached = fields.part("manager_notification")
    return Proposed(
        wire.intent(fields.document.get("intent")),
        fields.flag("is_needed") if is_told else True,
        Notice(*wire.told(reached, reaches="target_manager_agent_session_id")),
    )


def _intents(document: Any) -> Intents:
    fields = Fields(document)
    return Intents(tuple(map(wire.intent, fields.list("intents"))), more=fields.flag("has_more"))


def _decided(document: Any) -> Decided:
    fields = Fields(document)
    return Decided(
        wire.intent(fields.document.get("intent")),
        Notice(*wire.told(fields.part("proposer_notification"), reaches="target_agent_session_id")),
        fields.parsed_or_none("approval_token", ApprovalToken),
        wire.created(fields),
    )
