"""What a client asks of the server of its rooms besides what is in them."""

from typing import Protocol

from letagents.domain.ids import RoomId
from letagents.domain.local_state import Account
from letagents.domain.sign_in import Begun, Polled


class Server(Protocol):
    """The server, as whoever this client is signed in as sees it."""

    async def whoami(self) -> Account:
        """Return the account of the token that is shown.

        Raises:
            NotSignedIn: it is of none.
            RoomsUnavailable: that cannot be told now.
        """
        ...

    async def begin_sign_in(self, room_id: RoomId | None, start: str | None = None) -> Begun:
        """Begin to sign somebody in, at `start` if the server named that and it is its own.

        Raises:
            RoomsUnavailable, OutcomeUnknown: it cannot be begun now.
        """
        ...

    async def poll_sign_in(self, request_id: str) -> Polled:
        """Return how a sign-in stands that was begun.

        Raises:
            UnknownSignIn: there is none of that id any more.
            RoomsUnavailable: that cannot be told now.
        """
        ...

    async def health(self) -> tuple[int | None, str | None]:
        """Return the status with which the server answers, or else why it does not."""
        ...

    async def register_agent(self, name: str, display_name: str, owner_label: str) -> None:
        """Let the account have an agent of that name.

        Raises: as RoomTransport.connect.
        """
        ...
