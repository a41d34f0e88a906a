"""Where an agent that is new in its room begins: at its end, before anybody can speak to it."""

from letagents.domain import ingress
from letagents.domain.ids import RoomId
from letagents.domain.ingress import Ingress
from letagents.domain.messages import Latest
from letagents.ports.rooms import RoomTransport
from letagents.ports.supervision import Journal, Supervision


async def admitted(
    journal: Supervision, rooms: RoomTransport, entry_id: str, room_id: RoomId
) -> Ingress:
    """Return up to where an agent has been told of its room; one that is new there begins now.

    Raises:
        LetAgentsError: it is in another room, or the room or the journal cannot be had.
    """
    known = await journal.look(lambda journal: journal.ingress(entry_id))
    if known is not None and known.room_id == str(room_id):
        return known
    page = await rooms.read(room_id, Latest(1))
    newest = page.messages[-1].id if page.messages else None

    def admit(journal: Journal) -> Ingress:
        check_room(journal, entry_id, room_id)
        there = journal.ingress(entry_id)
        if there is None or there.room_id != str(room_id):
            there = ingress.begun(entry_id, str(room_id), newest)
            journal.put_ingress(there)
        return there

    return await journal.change(admit)


def check_room(journal: Journal, entry_id: str, room_id: RoomId) -> None:
    """Let an agent be told of a room that is its own.

    Raises:
        RoomChanged: it is in another one meanwhile.
    """
    entry = journal.entry(entry_id)
    if entry is not None:
        ingress.check_room(entry.room_id, str(room_id))
