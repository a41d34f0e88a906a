"""Letting one agent into its room, under a new secret each time, which only we know."""

import attrs

from letagents.application.agents.admission import admitted
from letagents.application.agents.agent_records import AgentRecord
from letagents.application.agents.servers import Lodging, LodgingOf
from letagents.application.receipts import Reached
from letagents.domain import custody, names
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.ingress import Ingress
from letagents.domain.manifest import Delivery, Entry, Execution
from letagents.domain.sessions import Arrival
from letagents.ports.rooms import RoomTransport


@attrs.frozen
class InRoom:
    """An agent as it is in its room now, and the rooms of that server."""

    entry: Entry
    rooms: RoomTransport
    fence: Fence
    reached: Reached | None = None
    name: str | None = None
    """What it is called there, if its own name is somebody's."""


@attrs.define(eq=False)
class Entering:
    """How one agent comes into its room, which `lodging` opens where its entry says that it is."""

    record: AgentRecord
    lodging: LodgingOf

    async def enter(self, entry: Entry, execution: Execution) -> InRoom:
        """Let the agent's process be in its room, and bind it to the session that it has there."""
        lodging = await self.lodging(entry.api_url)
        entry = await self._entered(entry, lodging.rooms)
        await self._admitted(entry, lodging.rooms)  # whoever sees that it is there may speak to it
        made = await lodging.rooms.connect(RoomId(entry.room_id), self._arrival(entry, lodging))
        if entry.delivery is Delivery.POLLING:
            custody.check_bearer(made.bearer)
        await self.record.sessions.bind_opened(entry, execution, made)
        called = made.session.display_name
        name = called if called != entry.display_name else None
        return InRoom(entry, lodging.rooms, made.fence, lodging.reached, name)

    async def admit(self) -> Ingress:
        """Return up to where the agent has been told of its room; one that is new begins now."""
        known = await self.record.entry()
        rooms = (await self.lodging(known.api_url)).rooms
        return await self._admitted(await self._entered(known, rooms), rooms)

    async def _admitted(self, entry: Entry, rooms: RoomTransport) -> Ingress:
        journal = self.record.sessions.journal
        return await admitted(journal, rooms, entry.entry_id, RoomId(entry.room_id))

    async def _entered(self, entry: Entry, rooms: RoomTransport) -> Entry:
        """Enter the room, and note its own name where it was called by another."""
        room_id = str((await rooms.join(RoomId(entry.room_id))).room_id)
        if room_id == entry.room_id:
            return entry
        return await self.record.change(lambda known: attrs.evolve(known, room_id=room_id))

    def _arrival(self, entry: Entry, lodging: Lodging) -> Arrival:
        return Arrival(
            token=self.record.ids.token(),
            agent_key=f"{lodging.owner}/{entry.entry_id}",
            instance_id=f"daemon:{entry.entry_id}",
            display_name=entry.display_name,
            owner_label=lodging.owner_label,
            ide_label=names.ide_label(entry.provider) or entry.provider,
            runtime=entry.provider,
            insists=True,
        )
