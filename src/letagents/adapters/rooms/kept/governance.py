"""Who decides about the board of a room that is kept in books, and what they decide."""

import attrs

from letagents.adapters.rooms.book import Book, Keeping, Where
from letagents.adapters.rooms.kept import board_records, doing, links, origins
from letagents.adapters.rooms.kept import decisions as kept_decisions
from letagents.adapters.rooms.kept import governance_acts as kept_acts
from letagents.adapters.rooms.kept import intents as kept_intents
from letagents.adapters.rooms.kept import managers as kept_managers
from letagents.adapters.rooms.kept import notices as kept_notices
from letagents.adapters.rooms.kept.intents import INTENTS, SETTINGS
from letagents.domain import (
    approvals,
    denials,
    governance,
    governance_acts,
    moves,
    prospects,
    tasks,
)
from letagents.domain.approvals import OPEN_LIMIT, Intent, IntentStatus, Standing
from letagents.domain.fencing import Fence
from letagents.domain.governance import (
    BoardSettings,
    Candidate,
    Failover,
    Manager,
    ManagerMode,
    RuntimeSource,
)
from letagents.domain.governance_acts import MOST, Act, ActType
from letagents.domain.ids import RoomId, SessionId, quoted
from letagents.domain.intents import Action, Payload, checked_payload
from letagents.domain.leases import LeaseKind
from letagents.domain.sessions import Session, SessionKind
from letagents.domain.tasks import UnknownTask
from letagents.ports.governance import Decided, Governed, Intents, Proposed

_FOR_ADMINS = frozenset(status.value for status in moves.FOR_ADMINS)


@attrs.frozen
class KeptGovernance:
    """The governance of rooms that are kept in books."""

    _rooms: Keeping

    async def governed(self, room_id: RoomId, viewer: Fence | None = None) -> Governed:
        """Return how the board is governed. What is due in the room is done first."""
        await doing.done(self._rooms, room_id)

        def governed(book: Book) -> Governed:
            manager = kept_managers.live(book)
            session = book.session(manager.session_id) if manager else None
            return Governed(
                kept_intents.settings(book),
                manager,
                len(kept_decisions.waiting(book)),
                session.last_seen_at if session else None,
            )

        return await self._rooms.look(room_id, governed, viewer)

    async def acts(
        self, room_id: RoomId, *, limit: int = MOST, viewer: Fence | None = None
    ) -> tuple[Act, ...]:
        """Return what was done last. What is due in the room is done first."""
        await doing.done(self._rooms, room_id)
        return await self._rooms.look(room_id, lambda book: kept_acts.newest(book, limit), viewer)

    async def candidates(
        self, room_id: RoomId, viewer: Fence | None = None
    ) -> tuple[Candidate, ...]:
        """Return the workers that are in the room."""

        def candidates(book: Book) -> tuple[Candidate, ...]:
            workers = [one for one in book.sessions() if one.kind is SessionKind.WORKER]
            return tuple(Candidate(one, links.is_alive(book, one)) for one in workers)

        return await self._rooms.look(room_id, candidates, viewer)

    async def set_mode(
        self,
        room_id: RoomId,
        mode: ManagerMode | None = None,
        failover: Failover | None = None,
        *,
        fence: Fence | None = None,
    ) -> BoardSettings:
        """Change what is given; another mode makes all open intents void."""

        def change(book: Book) -> BoardSettings:
            _check_admin(book, "change how its board is governed")
            before = kept_intents.settings(book)
            after = governance.changed(
                before, mode=mode, failover=failover, by=kept_decisions.actor(book), now=book.now
            )
            if after == before:
                return before
            book.put(SETTINGS, after)
            who, told = kept_decisions.actor(book), governance_acts.changed(before, after)
            kept_acts.note(book, ActType.SET, who, **told)
            kept_managers.look_soon(book)
            if after.manager_mode is not before.manager_mode:
                kept_notices.mode_changed(book, before, after, kept_decisions.void_all(book))
            if after.manager_failover is not before.manager_failover:
                kept_notices.failover_changed(book, before, after)
            return after

        return await self._rooms.change(room_id, change, fence)

    async def assign_manager(
        self,
        room_id: RoomId,
        session_id: SessionId,
        runtime_source: RuntimeSource = RuntimeSource.UNKNOWN,
        *,
        fence: Fence | None = None,
    ) -> Manager:
        """Let that worker manage the board, in place of who does now."""

        def assign(book: Book) -> Manager:
            _check_admin(book, "assign its Board Manager")
            session = governance.candidate(book.session(session_id), session_id)
            before = kept_intents.manager(book)
            if before is not None and before.session_id == session_id:
                return before
            after = kept_managers.assign(
                book, session, runtime_source, by=kept_decisions.actor(book), before=before
            )
            kept_notices.assigned(book, after, kept_decisions.waiting(book))
            return after

        return await self._rooms.change(room_id, assign, fence)

    async def release_manager(
        self, room_id: RoomId, reason: str | None = None, *, fence: Fence | None = None
    ) -> Manager | None:
        """End the assignment."""

        def release(book: Book) -> Manager | None:
            _check_admin(book, "release its Board Manager")
            before = kept_intents.manager(book)
            if before is None:
                return None
            why = tasks.reason_of(reason)
            who = kept_decisions.actor(book)
            after = governance.release(before, by=who, reason=why, now=book.now)
            kept_managers.released(book, after, by=who)
            kept_notices.released(book, after)
            return after

        return await self._rooms.change(room_id, release, fence)

    async def propose(
        self, room_id: RoomId, action: Action, payload: Payload, *, fence: Fence | None = None
    ) -> Proposed:
        """Ask for an approval, or return what was asked already."""

        def propose(book: Book) -> Proposed:
            given = checked_payload(action, payload)
            if action is Action.TASK_CREATE:
                origins.check(book)
            standing = _checked_standing(book, given.get("task_id"))
            by = _worker(book)
            prospects.check_form(action, given, by)
            own = kept_decisions.open_of(book, by)
            found = approvals.repeated(own, action, given, by)
            intent = found or kept_decisions.proposed(book, action, given, by, standing, own)
            is_needed = _is_needed(book, action, given, by)
            manager = kept_managers.live(book)
            notice = kept_notices.asked(book, intent, manager, is_needed=is_needed)
            return Proposed(intent, is_needed, notice)

        return await self._rooms.change(room_id, propose, fence)

    async def intents(
        self,
        room_id: RoomId,
        status: IntentStatus | None = None,
        *,
        after: str | None = None,
        limit: int = OPEN_LIMIT,
        viewer: Fence | None = None,
    ) -> Intents:
        """Return the intents of that status; what has become of some by time is kept first."""
        await doing.done(self._rooms, room_id)
        if await self._rooms.look(room_id, kept_decisions.is_unsettled, viewer):
            await self._rooms.change(room_id, kept_decisions.settled, viewer)
        most = max(1, min(limit, OPEN_LIMIT))

        def listed(book: Book) -> Intents:
            where = Where(
                state=status.value if status else None,
                after=_known(book, after, "cursor").number if after else None,
                limit=most + 1,
            )
            found = book.find(INTENTS, where)
            return Intents(tuple(found[:most]), more=len(found) > most)

        return await self._rooms.look(room_id, listed, viewer)

    async def intent(self, room_id: RoomId, intent_id: str, viewer: Fence | None = None) -> Intent:
        """Return one intent, as it stands."""

        def one(book: Book) -> Intent:
            return kept_decisions.as_it_stands(book, _known(book, intent_id, "intent_id"))

        return await self._rooms.look(room_id, one, viewer)

    async def approve(
        self,
        room_id: RoomId,
        intent_id: str,
        reason: str | None = None,
        *,
        fence: Fence | None = None,
    ) -> Decided:
        """Approve it: a new task is created, for all else a token is made."""

        def approve(book: Book) -> Decided:
            why, intent = tasks.reason_of(reason), _to_decide(book, intent_id)
            pending = approvals.to_decide(intent, intent_id, approving=True)
            if pending is None:
                return kept_decisions.again(book, intent)
            return kept_decisions.approved(book, pending, reason=why)

        return await self._rooms.change(room_id, approve, fence)

    async def deny(
        self,
        room_id: RoomId,
        intent_id: str,
        reason: str | None = None,
        *,
        fence: Fence | None = None,
    ) -> Decided:
        """Deny it."""

        def deny(book: Book) -> Decided:
            why, intent = tasks.reason_of(reason), _to_decide(book, intent_id)
            pending = approvals.to_decide(intent, intent_id, approving=False)
            if pending is None:
                return kept_decisions.again(book, intent)
            return kept_decisions.denied(book, pending, reason=why)

        return await self._rooms.change(room_id, deny, fence)


# --- who ----------------------------------------------------------------------------------------


def _worker(book: Book) -> Session | None:
    caller = book.caller
    return caller if caller and caller.kind is SessionKind.WORKER else None


def _check_admin(book: Book, what: str) -> None:
    governance.check_admin(is_admin=book.is_admin, what=what)


def _is_needed(book: Book, action: Action, payload: Payload, by: Session | None) -> bool:
    """Whether a call with that payload needs an approval now."""
    if payload.get("action") == "release":
        lease = board_records.active(book, LeaseKind.WORK, payload["task_id"] or "")
        return lease is not None and (by is None or lease.session_id != by.session_id)
    if action is Action.TASK_UPDATE:
        return False
    if by is not None and not book.is_admin and payload.get("status") in _FOR_ADMINS:
        return True
    return payload.get("action") == "handoff" or kept_intents.needs_intent(book)


def _checked_standing(book: Book, task_id: str | None) -> Standing | None:
    standing = kept_decisions.task_standing(book, task_id)
    if task_id is not None and standing is None:
        raise UnknownTask(task_id)
    return standing


def _known(book: Book, intent_id: str, field: str) -> Intent:
    intent = book.get(INTENTS, intent_id)
    if intent is None:
        raise denials.IntentNotFound(
            f"{field}: there is no intent {quoted(intent_id)} in this room.",
            remedy="list_board_intents() shows those that are there.",
        )
    return intent


def _to_decide(book: Book, intent_id: str) -> Intent | None:
    """Return the intent as it stands, if the caller may decide about intents."""
    approvals.check_decider(book.caller, kept_managers.live(book), is_admin=book.is_admin)
    intent = book.get(INTENTS, intent_id)
    return kept_decisions.as_it_stands(book, intent) if intent else None
