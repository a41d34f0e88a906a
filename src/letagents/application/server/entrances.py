"""Who has entered which room of a server, and who may enter how often."""

import attrs

from letagents.application.server.limits import Rate
from letagents.application.server.recollections import Recollection
from letagents.domain import accounts, locators
from letagents.domain.accounts import Account, Principal, Role
from letagents.domain.ids import RoomId
from letagents.domain.rooms import Room
from letagents.domain.serving import AskedTooOften, JoinedTooOften
from letagents.ports.accounts import Accounts
from letagents.ports.rooms import RoomTransport


@attrs.frozen
class Entrances:
    """The ways into the rooms of a server. `joins` and `misses` count what is done there."""

    rooms: RoomTransport
    accounts: Accounts
    joins: Rate
    misses: Rate
    _entered: Recollection[tuple[str, str], bool] = attrs.field(factory=Recollection)
    _beside: Recollection[RoomId, tuple[RoomId, RoomId]] = attrs.field(factory=Recollection)
    """Of what focus rooms are called their ids, and the rooms beside which they are."""

    async def create(self, account: Account) -> Room:
        """Make a room with an invite code, of which the account is admin."""
        room = await self.rooms.create()
        await self.accounts.enter(account, room.room_id)
        return room

    async def enter(
        self, account: Account, room_id: RoomId, *, address: str, create: bool
    ) -> tuple[Room, Role]:
        """Return the room, and what the account is in it; made if it is not there and may be.

        Who was there before enters as often as they like.

        Raises:
            JoinedTooOften: too many others were entered lately, from that address.
            UnknownRoom: as RoomTransport.join.
        """
        if locators.is_named(room_id):
            return await self._enter_beside(account, room_id, address)
        role = await self.accounts.role(account, room_id)
        if role is None:
            self._count_join(account, address)
        room = await self.rooms.join(room_id, create=create)
        return room, role or await self.accounts.enter(account, room.access_id)

    async def _enter_beside(
        self, account: Account, room_id: RoomId, address: str
    ) -> tuple[Room, Role]:
        """Let an account into a focus room, by way of the room beside it."""
        room = await self.rooms.join(room_id, create=False)
        role = await self.accounts.role(account, room.access_id)
        if role is not None:
            return room, role
        self._count_join(account, address)
        accounts.check_may_enter(room, room_id)
        return room, await self.accounts.enter(account, room.access_id)

    async def meant(self, room_id: RoomId) -> RoomId:
        """Return the id of the room that `room_id` means, which may be a focus room's locator.

        Raises:
            UnknownRoom: there is no such focus room.
        """
        return (await self._place_of(room_id))[0] if locators.is_named(room_id) else room_id

    async def _place_of(self, room_id: RoomId) -> tuple[RoomId, RoomId]:
        """Return the id of a room, and that of the room in which it is known who has entered."""
        if not locators.is_named(room_id):
            return room_id, room_id
        if (known := self._beside.of(room_id)) is None:
            room = await self.rooms.join(room_id, create=False)
            known = self._beside.keep(room_id, (room.room_id, room.access_id))
        return known

    def _count_join(self, account: Account, address: str) -> None:
        try:
            self.joins.count(account.account_id, address)
        except AskedTooOften as error:
            raise JoinedTooOften(
                "Too many join attempts. Please slow down.", remedy=error.remedy
            ) from None

    def missed(self, account: Account) -> None:
        """Count that an account asked for a room that is not there.

        Raises:
            AskedTooOften: it did so too often lately.
        """
        self.misses.count(account.account_id)

    async def known(self, account: Account) -> list[Room]:
        """Return the rooms that the account has entered, the latest active first."""
        own = await self.accounts.entered(account)
        return [room for room in await self.rooms.known() if room.access_id in own]

    async def admit(self, account: Account, room_id: RoomId, address: str) -> None:
        """Let an account enter a room that is there, if it has not: who comes in does so.

        Raises:
            JoinedTooOften, UnknownRoom: as `enter`.
        """
        if not await self._has_entered(account, room_id):
            await self.enter(account, room_id, address=address, create=False)

    async def check_entered(self, principal: Principal, room_id: RoomId) -> None:
        """See that who calls has entered a room.

        Raises:
            NotSignedIn: there is no account.
            UnknownRoom: it has not, or the room is not there.
        """
        account = accounts.signed_in(principal)
        accounts.check_entered(room_id, has_entered=await self._has_entered(account, room_id))

    async def _has_entered(self, account: Account, room_id: RoomId) -> bool:
        """Whether the account has entered; it never leaves again."""
        at = (account.account_id, room_id.value)
        if self._entered.of(at):
            return True
        _, access_id = await self._place_of(room_id)
        if await self.accounts.role(account, access_id) is None:
            return False
        return self._entered.keep(at, True)
