"""What a person asks about the room that an agent is in: to move it to another one.

(Source: supervisor 3.7, 6.11.)
"""

from collections.abc import Callable
from datetime import datetime

import attrs

from letagents.application.agents import deeds, entries
from letagents.application.agents.household import Household
from letagents.application.agents.supervising import Supervising
from letagents.domain import generations, room_moves, rooms
from letagents.domain.deeds import Act
from letagents.domain.manifest import Entry, RoomMove
from letagents.domain.room_moves import RoomMoveRefused
from letagents.entrypoints.daemon import callers
from letagents.entrypoints.daemon.table import Table
from letagents.ports.supervision import Journal
from letagents.wire import supervisor as wire
from letagents.wire.moments import to_text
from letagents.wire.supervisor import Params, Request

_Change = Callable[[Journal, Entry, datetime], Entry]


@attrs.frozen
class Moves:
    """The methods about moves."""

    household: Household
    sessions: Supervising

    def table(self) -> Table:
        """Return the methods by their names."""
        return {
            wire.PREPARE_MOVE: self._prepare,
            wire.COMMIT_MOVE: self._commit,
            wire.ROLL_BACK_MOVE: self._roll_back,
            wire.GET_MOVE: self._get,
            wire.ACKNOWLEDGE_MOVE: self._get,  # the session in the old room is ended here
            wire.GET_CURRENT_MOVE: self._current,
        }

    async def _prepare(self, request: Request) -> object:
        params = Params.of(request)
        wanted, request_id = params.text("destination_room_id"), params.text("request_id")

        def prepare(journal: Journal, entry: Entry, now: datetime) -> Entry:
            destination = str(rooms.canonical(wanted)) if wanted.strip() else entry.room_id
            first = next(iter(journal.unfinished(entry.entry_id)), None)
            return room_moves.prepared(entry, first, request_id, destination, now=now)

        return await self._changed(request, prepare)

    async def _commit(self, request: Request) -> object:
        params = Params.of(request)
        operation_id = params.text("operation_id")
        told = await self._changed(
            request,
            lambda _, entry, now: room_moves.committed(entry, operation_id, now=now),
            Act.MOVED,
        )
        self.household.look_again(params.text("entry_id"))
        return told

    async def _roll_back(self, request: Request) -> object:
        params = Params.of(request)
        operation_id, why = params.text("operation_id"), params.text("error")
        return await self._changed(
            request,
            lambda _, entry, now: room_moves.rolled_back(entry, operation_id, why, now=now),
            Act.MOVE_TAKEN_BACK,
        )

    async def _get(self, request: Request) -> object:
        params = Params.of(request)
        entry = await self._entry(params)
        return _shown(entry, room_moves.named(entry, params.text("operation_id")))

    async def _current(self, request: Request) -> object:
        entry = await self._entry(Params.of(request))
        return _shown(entry, entry.room_move)

    async def _entry(self, params: Params) -> Entry:
        entry_id = params.text("entry_id")
        self._check(params)
        return await entries.look(self.sessions.journal, entry_id)

    async def _changed(self, request: Request, change: _Change, act: Act | None = None) -> object:
        params, now = Params.of(request), self.sessions.clock.now()
        entry_id = params.text("entry_id")
        by = callers.doer(request, now, self.sessions.hold.generation)
        self._check(params)

        def move(journal: Journal) -> Entry:
            moved = entries.changed(journal, entry_id, lambda known: change(journal, known, now))
            if act is not None and (there := moved.room_move) is not None:
                deeds.put(journal, by, entry_id, act, f"{there.source} → {there.destination}")
            return moved

        moved = await self.sessions.journal.change(move)
        return _shown(moved, moved.room_move)

    def _check(self, params: Params) -> None:
        """Take a word only under the generation of this supervisor."""
        own = self.sessions.hold.generation
        if not generations.is_current(params.number("daemon_generation"), own):
            raise RoomMoveRefused(
                "The supervisor generation changed; refresh before moving an agent.",
                remedy="Look again: `letagents agents status AGENT`.",
            )


def _shown(entry: Entry, move: RoomMove | None) -> dict[str, object] | None:
    if move is None:
        return None
    return {
        "operation_id": move.operation_id,
        "request_id": move.request_id,
        "entry_id": entry.entry_id,
        "source_room_id": move.source,
        "destination_room_id": move.destination,
        "phase": move.phase.value,
        "error": move.error,
        "created_at": to_text(move.created_at),
        "updated_at": to_text(move.updated_at),
    }
