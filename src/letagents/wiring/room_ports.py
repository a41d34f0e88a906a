"""What plays the ports of rooms: it depends on where they are, and is loaded when asked for."""

import sys
from typing import TYPE_CHECKING, TypeVar, cast

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta
    from typing import TypeGuard

    from letagents.adapters.rooms.book import Keeping, Noting
    from letagents.adapters.rooms.hosted.calls import Calls
    from letagents.adapters.rooms.hosted.rooms import HostedRooms
    from letagents.adapters.rooms.routed import RoutedRooms
    from letagents.application.memory import Stores
    from letagents.ports.activity import Reports
    from letagents.ports.attachments import Attachments
    from letagents.ports.board import Board
    from letagents.ports.clock import Clock
    from letagents.ports.focus_rooms import FocusRooms
    from letagents.ports.governance import Governance
    from letagents.ports.path_claims import PathClaims
    from letagents.ports.receipts import Receipts
    from letagents.ports.rooms import RoomTransport
    from letagents.ports.whereabouts import Noticeboard

T = TypeVar("T")


def board(rooms: "RoomTransport", term: "timedelta") -> "Board | None":
    """Return the board of `rooms`."""

    def hosted(calls: "Calls") -> "Board":
        from letagents.adapters.rooms.hosted.board import HostedBoard

        return HostedBoard(calls)

    def kept(rooms: "Keeping") -> "Board":
        from letagents.adapters.rooms.kept.board import KeptBoard

        return KeptBoard(rooms, term)

    return _played(rooms, hosted, kept)


def governance(rooms: "RoomTransport") -> "Governance | None":
    """Return what governs the boards of `rooms`."""

    def hosted(calls: "Calls") -> "Governance":
        from letagents.adapters.rooms.hosted.governance import HostedGovernance

        return HostedGovernance(calls)

    def kept(rooms: "Keeping") -> "Governance":
        from letagents.adapters.rooms.kept.governance import KeptGovernance

        return KeptGovernance(rooms)

    return _played(rooms, hosted, kept)


def paths(rooms: "RoomTransport", term: "timedelta") -> "PathClaims | None":
    """Return the claimed paths of `rooms`."""

    def hosted(calls: "Calls") -> "PathClaims":
        from letagents.adapters.rooms.hosted.paths import HostedPaths

        return HostedPaths(calls)

    def kept(rooms: "Keeping") -> "PathClaims":
        from letagents.adapters.rooms.kept.paths import KeptPaths

        return KeptPaths(rooms, term)

    return _played(rooms, hosted, kept)


def focus(rooms: "RoomTransport", term: "timedelta") -> "FocusRooms | None":
    """Return what keeps the rooms beside `rooms`."""

    def hosted(calls: "Calls") -> "FocusRooms":
        from letagents.adapters.rooms.hosted.focus_rooms import HostedFocusRooms

        return HostedFocusRooms(calls)

    def kept(rooms: "Keeping") -> "FocusRooms":
        from letagents.adapters.rooms.kept.focus_rooms import KeptFocusRooms

        return KeptFocusRooms(rooms, term)

    return _played(rooms, hosted, kept)


def receipts(rooms: "RoomTransport") -> "Receipts | None":
    """Return the receipts of `rooms`."""

    def hosted(calls: "Calls") -> "Receipts":
        from letagents.adapters.rooms.hosted.receipts import HostedReceipts

        return HostedReceipts(calls)

    def kept(rooms: "Keeping") -> "Receipts":
        from letagents.adapters.rooms.kept.receipts import KeptReceipts

        return KeptReceipts(rooms)

    return _played(rooms, hosted, kept)


def attachments(rooms: "RoomTransport") -> "Attachments | None":
    """Return the files of `rooms`."""

    def hosted(calls: "Calls") -> "Attachments":
        from letagents.adapters.rooms.hosted.attachments import HostedAttachments

        return HostedAttachments(calls)

    def kept(rooms: "Keeping") -> "Attachments":
        from letagents.adapters.rooms.kept.attachments import KeptAttachments

        return KeptAttachments(rooms)

    return _played(rooms, hosted, kept)


def reports(rooms: "RoomTransport") -> "Reports | None":
    """Return where it is reported what programs do for their agents."""

    def hosted(calls: "Calls") -> "Reports | None":
        from letagents.adapters.rooms.hosted.reports import HostedReports

        return HostedReports(calls)

    def kept(rooms: "Keeping") -> "Reports | None":
        if not _take_notes(rooms):
            return None
        from letagents.adapters.rooms.kept.activities import KeptActivities

        return KeptActivities(rooms)

    return _played(rooms, hosted, kept)


def presence(rooms: "RoomTransport") -> "Noticeboard | None":
    """Return where agents say what they do; on one machine nobody asks."""
    if _are_apart(rooms):
        from letagents.adapters.rooms.routed import Unasked

        return _in_both(rooms, lambda one: presence(one) or Unasked())
    if not _are_on_a_server(rooms):
        return None
    from letagents.adapters.rooms.hosted.presence import HostedPresence

    return HostedPresence(rooms.calls)


def memory(rooms: "RoomTransport", clock: "Clock") -> "Stores | None":
    """Return what keeps the memory of `rooms`."""
    if _are_apart(rooms):
        return _memory_of_both(rooms, clock)

    def hosted(calls: "Calls") -> "Stores":
        return _memory_on_a_server(calls, clock)

    return _played(rooms, hosted, _memory_in_books)


def _memory_of_both(rooms: "RoutedRooms", clock: "Clock") -> "Stores":
    from letagents.adapters.rooms.routed import ByRoom
    from letagents.application.memory import Stores

    here, there = memory(rooms.here, clock), memory(rooms.there, clock)
    parts = (one.name for one in attrs.fields(Stores))
    return Stores(
        **{
            part: ByRoom(getattr(here, part), getattr(there, part), rooms.is_hosted)
            for part in parts
        }
    )


def _memory_on_a_server(calls: "Calls", clock: "Clock") -> "Stores":
    from letagents.adapters.rooms.hosted.artifacts import HostedArtifacts
    from letagents.adapters.rooms.hosted.guidelines import HostedGuidelines
    from letagents.adapters.rooms.hosted.knowledge import HostedKnowledge
    from letagents.adapters.rooms.hosted.reasoning import HostedReasonings
    from letagents.adapters.rooms.hosted.wakes import HostedWakes
    from letagents.application.memory import Stores

    return Stores(
        knowledge=HostedKnowledge(calls),
        guidelines=HostedGuidelines(calls),
        artifacts=HostedArtifacts(calls),
        wakes=HostedWakes(calls),
        reasonings=HostedReasonings(calls, clock),
    )


def _memory_in_books(rooms: "Keeping") -> "Stores":
    from letagents.adapters.rooms.kept import board_records
    from letagents.adapters.rooms.kept.artifacts import KeptArtifacts
    from letagents.adapters.rooms.kept.guidelines import KeptGuidelines
    from letagents.adapters.rooms.kept.knowledge import KeptKnowledge
    from letagents.adapters.rooms.kept.reasoning import KeptReasonings
    from letagents.adapters.rooms.kept.wakes import KeptWakes
    from letagents.application.memory import Stores

    return Stores(
        knowledge=KeptKnowledge(rooms),
        guidelines=KeptGuidelines(rooms),
        artifacts=KeptArtifacts(rooms, board_records.task),
        wakes=KeptWakes(rooms, board_records.status_of),
        reasonings=KeptReasonings(rooms, board_records.task),
    )


def _played(
    rooms: "RoomTransport", hosted: "Callable[[Calls], T]", kept: "Callable[[Keeping], T]"
) -> "T | None":
    """Return what plays a port where `rooms` are; None where they keep nothing but messages."""
    if _are_apart(rooms):
        return _in_both(rooms, lambda one: _played(one, hosted, kept))
    if _are_on_a_server(rooms):
        return hosted(rooms.calls)
    return kept(rooms) if _keep_books(rooms) else None


def _are_apart(rooms: object) -> "TypeGuard[RoutedRooms]":
    """Whether some of the rooms are on this machine and others on a server."""
    loaded = sys.modules.get("letagents.adapters.rooms.routed")
    return loaded is not None and isinstance(rooms, loaded.RoutedRooms)


def _are_on_a_server(rooms: object) -> "TypeGuard[HostedRooms]":
    """Whether rooms are on a server, which then keeps all that is kept in them."""
    loaded = sys.modules.get("letagents.adapters.rooms.hosted.rooms")
    return loaded is not None and isinstance(rooms, loaded.HostedRooms)


def _keep_books(rooms: object) -> "TypeGuard[Keeping]":
    """Whether what is kept in rooms can be kept in these; those that were passed in may not."""
    return hasattr(rooms, "change") and hasattr(rooms, "look")


def _take_notes(rooms: object) -> "TypeGuard[Noting]":
    """Whether what programs report can be kept in these rooms."""
    return hasattr(rooms, "note") and hasattr(rooms, "listen_for")


def _in_both(rooms: "RoutedRooms", port: "Callable[[RoomTransport], T | None]") -> "T":
    """Return what plays a port in the rooms of both places."""
    from letagents.adapters.rooms.routed import ByRoom

    return cast("T", ByRoom(port(rooms.here), port(rooms.there), rooms.is_hosted))
