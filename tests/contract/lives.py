"""The processes of workers that are connected through a server, as the test lets them live."""

import attrs
import httpx
from tests.contract.served import KeptRooms

from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.kept import links
from letagents.adapters.rooms.kept.links import LINKS
from letagents.domain.errors import UnknownRoom
from letagents.domain.ids import SessionId
from letagents.domain.presence import EXITED
from letagents.testing.contracts.room_callers import ROOM


@attrs.define
class Lives:
    """Each process is connected from its beginning until `kill`, whatever time goes by."""

    _kept: KeptRooms
    _gone: set[SessionId] = attrs.field(factory=set)
    _is_killed: bool = False

    def kill(self) -> None:
        """Let all that live now have exited."""
        self._is_killed = True

    async def before(self, _request: httpx.Request) -> None:
        """Let the room know, before it is asked for anything, who lives."""
        try:
            await self._kept.note(ROOM, self._told)
        except UnknownRoom:
            return
        self._is_killed = False

    def _told(self, book: Book) -> None:
        for session in book.sessions():
            link = links.of(book, session.session_id)
            if link is None or session.session_id in self._gone:
                continue
            if self._is_killed:
                self._gone.add(session.session_id)
                seen = link.seen or session.seen
                over = attrs.evolve(link, connection=EXITED, seen=seen, closed=seen)
                book.put(LINKS, over)
            else:
                links.opened(book, link, "its connection")
