"""A kept agent whose room is on a server of ours, in this process."""

import attrs
from tests.contract.keeping import World
from tests.contract.served import TOKEN, client, hosting

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.application.agents.servers import Lodging
from letagents.domain.manifest import Entry
from letagents.wire import kept

SERVER = "https://rooms.test"


@attrs.define(eq=False)
class ServedWorld(World):
    """Its rooms are behind a server; what calls it shows `token`."""

    token: str | None = TOKEN
    hosted: HostedRooms | None = None

    async def open(self) -> None:
        await super().open()
        http = client(hosting(self.rooms, self.clock))  # in this process: there is nothing to close
        self.hosted = HostedRooms(Calls(http, lambda: self.token))

    def fresh(self) -> Entry:
        return attrs.evolve(super().fresh(), api_url=SERVER)

    async def lodging(self, api_url: str) -> Lodging:
        assert (api_url, self.hosted is None) == (SERVER, False)
        assert self.hosted is not None
        return Lodging(self.hosted, owner_label="Ada")

    def written(self) -> str:
        """Return all that the journal keeps."""
        journal = self.place.journal
        values = [*journal.entries(), journal.binding("e1"), *journal._items.values()]
        return "".join(kept.written(one) for one in values if one is not None)
