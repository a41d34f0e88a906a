"""What the application needs to let people and managers decide what agents do to a board.

P30  What was answered is kept: whoever opens the room next finds it so.
P31  An approval is used in the transaction of what it lets through: of all who use it at once, one.
P32  Approving the creation of a task creates it, both or neither.
P33  The token of an approval is in the answer to who approved, once, and nowhere else.
P34  The manager is told of an intent and the proposer of its decision, once each.
P35  Where nobody can decide for ten minutes, a new task creates itself if the mode is
     manager_optional, five an hour for one proposer; of all else the people are told, once.
P36  A dead manager is succeeded, or it is said that it is away, once, as the settings have it.
P37  Changing the mode makes all open intents void; changing the manager does not.
P38  Each change of how the board is governed is told in the room, with who made it.
P39  Each of these changes, and each decision of an intent, is an act with who did it and why; acts
     are kept in the transaction that does what they tell, and shown the newest first.
"""

from datetime import datetime
from typing import Protocol

import attrs

from letagents.domain.approvals import Intent, IntentStatus
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
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.intents import Action, ApprovalToken, Payload
from letagents.domain.tasks import Task


@attrs.frozen
class Governed:
    """How a board is governed now."""

    settings: BoardSettings
    manager: Manager | None
    pending: int
    manager_seen_at: datetime | None = None
    """When the manager's session was there last."""


@attrs.frozen
class Notice:
    """What was said about an intent: whom it reached, if anybody, and in which message."""

    to: SessionId | None = None
    message_id: MessageId | None = None


@attrs.frozen
class Proposed:
    """An intent, whether the board asks for it now, and what its manager was told."""

    intent: Intent
    is_needed: bool
    notice: Notice


@attrs.frozen
class Decided:
    """An intent that was decided. The token is there once, the task where one was created."""

    intent: Intent
    notice: Notice
    token: ApprovalToken | None = None
    task: Task | None = None


@attrs.frozen
class Intents:
    """Some intents, oldest first; `more` says that others follow."""

    intents: tuple[Intent, ...]
    more: bool = False


class Governance(Protocol):
    """Who decides about the boards of rooms, and what they decided.

    Without a fence the owner of the rooms acts. All raise UnknownRoom, ConnectionLost,
    RoomsUnavailable and OutcomeUnknown as every verb of rooms does.
    """

    async def governed(self, room_id: RoomId, viewer: Fence | None = None) -> Governed:
        """Return how the board is governed."""
        ...

    async def acts(
        self, room_id: RoomId, *, limit: int = MOST, viewer: Fence | None = None
    ) -> tuple[Act, ...]:
        """Return what was done last to how the board is governed, at most 50 acts."""
        ...

    async def candidates(
        self, room_id: RoomId, viewer: Fence | None = None
    ) -> tuple[Candidate, ...]:
        """Return the workers that are in the room, and so could manage its board."""
        ...

    async def set_mode(
        self,
        room_id: RoomId,
        mode: ManagerMode | None = None,
        failover: Failover | None = None,
        *,
        fence: Fence | None = None,
    ) -> BoardSettings:
        """Change what is given.

        Raises:
            AdminRequired: the caller is no admin of the room.
        """
        ...

    async def assign_manager(
        self,
        room_id: RoomId,
        session_id: SessionId,
        runtime_source: RuntimeSource = RuntimeSource.UNKNOWN,
        *,
        fence: Fence | None = None,
    ) -> Manager:
        """Let that worker manage the board, in place of who does now.

        Raises:
            AdminRequired: the caller is no admin of the room.
            NoSuchSession: the session is no live worker's in the room.
        """
        ...

    async def release_manager(
        self, room_id: RoomId, reason: str | None = None, *, fence: Fence | None = None
    ) -> Manager | None:
        """End the assignment; return it, or None if there is none.

        Raises:
            AdminRequired: the caller is no admin of the room.
        """
        ...

    async def propose(
        self, room_id: RoomId, action: Action, payload: Payload, *, fence: Fence | None = None
    ) -> Proposed:
        """Ask for an approval, or return what was asked already.

        Raises:
            Malformed: the payload has not the form of its kind.
            UnknownTask: it is about none.
            InvalidTransition, WrongStatus: it does not follow where the task stands (P21).
            TooManyIntents: too many are open.
        """
        ...

    async def intents(
        self,
        room_id: RoomId,
        status: IntentStatus | None = None,
        *,
        after: str | None = None,
        limit: int = 200,
        viewer: Fence | None = None,
    ) -> Intents:
        """Return the intents of that status, oldest first, at most 200, from after that one on.

        Raises:
            IntentNotFound: there is none to begin after.
        """
        ...

    async def intent(self, room_id: RoomId, intent_id: str, viewer: Fence | None = None) -> Intent:
        """Return one intent, as it stands.

        Raises:
            IntentNotFound: there is none of that id.
        """
        ...

    async def approve(
        self,
        room_id: RoomId,
        intent_id: str,
        reason: str | None = None,
        *,
        fence: Fence | None = None,
    ) -> Decided:
        """Approve it; again, the answer is the same but for the token.

        Raises:
            NotTheManager, AdminRequired: it is not the caller's to decide.
            IntentNotFound: there is none of that id to approve.
            IntentNotPossible: it does not follow where its task stands any more.
            LetAgentsError: the task cannot be created, for the reason that the board gives.
        """
        ...

    async def deny(
        self,
        room_id: RoomId,
        intent_id: str,
        reason: str | None = None,
        *,
        fence: Fence | None = None,
    ) -> Decided:
        """Deny it; again, the answer is the same.

        Raises:
            NotTheManager, AdminRequired: it is not the caller's to decide.
            IntentNotFound: there is none of that id to deny.
        """
        ...
