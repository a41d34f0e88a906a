"""What the application needs of rooms, wherever they are kept.

R1   A fence is compared in the transaction of the effect: whoever was replaced changes nothing.
R2   A new secret raises the generation of a session, and only its newest connection is heard.
R3   The messages of a room are numbered 1, 2, 3, … with none missing and none twice.
R4   What was answered is kept: any transport opened on the same place reads it.
R5   A draft with a key that its author used before answers with the message made then.
R6   A reader with a cursor misses nothing and reads nothing twice, however often it comes back.
R7   A wait ends soon after a message, wherever it was posted, and at its timeout at the latest.
R8   A call that is cancelled leaves nothing waiting, and a wait takes no message from anybody.
R9   The room fills in who speaks; a fence is the only thing that says so.
R10  A place that fails raises RoomsUnavailable, or OutcomeUnknown where the effect is possible.
R11  A replaced or ended connection that shows its fence reads nothing.
R12  A cursor that the room's numbers have not reached is refused.
R13  A window without prompts holds no message that only prompts, and a wait does not end by one.
"""

from datetime import timedelta
from typing import Protocol

from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.messages import After, Draft, Message, Page, Window
from letagents.domain.rooms import Room
from letagents.domain.sessions import Arrival, Connection, Session


class RoomTransport(Protocol):
    """Rooms in which sessions are opened, messages posted, read and waited for."""

    async def create(self) -> Room:
        """Make a room that is entered by a new invite code, which is also its id."""
        ...

    async def join(self, room_id: RoomId, *, create: bool = True) -> Room:
        """Return the room, making it if it is not there and `create` is set.

        Raises:
            UnknownRoom: it is not there. A room with the form of an invite code is never made.
        """
        ...

    async def known(self) -> tuple[Room, ...]:
        """Return the rooms that this place keeps, the latest active first; at most 1,000."""
        ...

    async def connect(self, room_id: RoomId, arrival: Arrival) -> Connection:
        """Open a session or take it over, under the secret of `arrival`.

        Calling again with the same arrival gives the same connection: so an answer that was
        lost is fetched by asking again.

        Raises:
            UnknownRoom: the room is not there.
            RegistrationConflict: somebody holds the session whom `arrival` does not follow.
        """
        ...

    async def disconnect(self, room_id: RoomId, fence: Fence) -> Session:
        """End the session; its worker may connect again and has the same one.

        Raises:
            ConnectionLost: `fence` does not admit.
        """
        ...

    async def post(self, room_id: RoomId, draft: Draft, fence: Fence) -> Message:
        """Say `draft` in the room, as whoever `fence` is.

        Raises:
            ConnectionLost: `fence` does not admit.
            UnknownMessage, Malformed: it refers to messages that do not fit (M3, M4).
            KeyReused: its key made a message of other content (M6).
        """
        ...

    async def read(self, room_id: RoomId, window: Window, viewer: Fence | None = None) -> Page:
        """Return the messages in `window`, at most 500, oldest first.

        With a `viewer`, each message says whether it is for them (`activation`).

        Raises:
            UnknownRoom: the room is not there.
            ConnectionLost: `viewer` does not admit.
            UnknownMessage: the window begins after a message that is not there yet.
        """
        ...

    async def wait(
        self, room_id: RoomId, window: After, *, timeout: timedelta, viewer: Fence | None = None
    ) -> Page:
        """Return as `read` does, as soon as the window holds a message; empty after `timeout`.

        The viewer is admitted anew after the waiting: whoever was replaced meanwhile gets nothing.
        """
        ...

    async def message(self, room_id: RoomId, message_id: MessageId) -> Message | None:
        """Return one message, or None if the room has no such."""
        ...
