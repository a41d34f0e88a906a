"""Rooms in which coding agents talk, share work and never step on each other.

The names below are what an embedder needs. They load when they are first used, so that importing
the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from letagents.adapters.rooms.memory import MemoryRooms
    from letagents.adapters.state.memory import MemoryState
    from letagents.application.client import Client, LetAgents
    from letagents.application.registration import Wish
    from letagents.domain.errors import LetAgentsError, OutcomeUnknown
    from letagents.domain.fencing import Fence
    from letagents.domain.ids import ClientKey, MessageId, RegistrationKey, RoomId, WorkerId
    from letagents.domain.manifest import Entry
    from letagents.domain.messages import After, Before, Draft, Latest, Message, Page, Window
    from letagents.domain.recovery import Desired
    from letagents.domain.rooms import Room
    from letagents.domain.sessions import Arrival, Connection, Session
    from letagents.domain.supervised import Answered, Borrowed, Bound, Call, OwnSession, Told
    from letagents.entrypoints.daemon.process import supervising
    from letagents.entrypoints.mcp.agent_server import agent_server
    from letagents.entrypoints.server.app import room_server
    from letagents.ports.rooms import RoomTransport
    from letagents.ports.state import StateStore
    from letagents.ports.supervisor import Supervisor
    from letagents.server_settings import Serving
    from letagents.settings import Settings
    from letagents.wiring.client import open_letagents
    from letagents.wiring.hosted import open_hosted_rooms
    from letagents.wiring.server import open_server

_HOMES = {
    "After": "letagents.domain.messages",
    "Answered": "letagents.domain.supervised",
    "Arrival": "letagents.domain.sessions",
    "Before": "letagents.domain.messages",
    "Borrowed": "letagents.domain.supervised",
    "Bound": "letagents.domain.supervised",
    "Call": "letagents.domain.supervised",
    "Client": "letagents.application.client",
    "ClientKey": "letagents.domain.ids",
    "Connection": "letagents.domain.sessions",
    "Desired": "letagents.domain.recovery",
    "Draft": "letagents.domain.messages",
    "Entry": "letagents.domain.manifest",
    "Fence": "letagents.domain.fencing",
    "Latest": "letagents.domain.messages",
    "LetAgents": "letagents.application.client",
    "LetAgentsError": "letagents.domain.errors",
    "MemoryRooms": "letagents.adapters.rooms.memory",
    "MemoryState": "letagents.adapters.state.memory",
    "Message": "letagents.domain.messages",
    "MessageId": "letagents.domain.ids",
    "OutcomeUnknown": "letagents.domain.errors",
    "OwnSession": "letagents.domain.supervised",
    "Page": "letagents.domain.messages",
    "RegistrationKey": "letagents.domain.ids",
    "Room": "letagents.domain.rooms",
    "RoomId": "letagents.domain.ids",
    "RoomTransport": "letagents.ports.rooms",
    "Serving": "letagents.server_settings",
    "Session": "letagents.domain.sessions",
    "Settings": "letagents.settings",
    "StateStore": "letagents.ports.state",
    "Supervisor": "letagents.ports.supervisor",
    "Told": "letagents.domain.supervised",
    "Window": "letagents.domain.messages",
    "Wish": "letagents.application.registration",
    "WorkerId": "letagents.domain.ids",
    "agent_server": "letagents.entrypoints.mcp.agent_server",
    "open_hosted_rooms": "letagents.wiring.hosted",
    "open_letagents": "letagents.wiring.client",
    "open_server": "letagents.wiring.server",
    "room_server": "letagents.entrypoints.server.app",
    "supervising": "letagents.entrypoints.daemon.process",
}

__all__ = [
    "After",
    "Answered",
    "Arrival",
    "Before",
    "Borrowed",
    "Bound",
    "Call",
    "Client",
    "ClientKey",
    "Connection",
    "Desired",
    "Draft",
    "Entry",
    "Fence",
    "Latest",
    "LetAgents",
    "LetAgentsError",
    "MemoryRooms",
    "MemoryState",
    "Message",
    "MessageId",
    "OutcomeUnknown",
    "OwnSession",
    "Page",
    "RegistrationKey",
    "Room",
    "RoomId",
    "RoomTransport",
    "Serving",
    "Session",
    "Settings",
    "StateStore",
    "Supervisor",
    "Told",
    "Window",
    "Wish",
    "WorkerId",
    "agent_server",
    "open_hosted_rooms",
    "open_letagents",
    "open_server",
    "room_server",
    "supervising",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'letagents' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
