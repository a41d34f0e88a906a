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
    from letagents.domain.errors import LetAgentsError
    from letagents.domain.ids import ClientKey, MessageId, RegistrationKey, RoomId, WorkerId
    from letagents.domain.messages import After, Before, Latest
    from letagents.ports.rooms import RoomTransport
    from letagents.ports.state import StateStore
    from letagents.settings import Settings
    from letagents.wiring import open_letagents

_HOMES = {
    "After": "letagents.domain.messages",
    "Before": "letagents.domain.messages",
    "Client": "letagents.application.client",
    "ClientKey": "letagents.domain.ids",
    "Latest": "letagents.domain.messages",
    "LetAgents": "letagents.application.client",
    "LetAgentsError": "letagents.domain.errors",
    "MemoryRooms": "letagents.adapters.rooms.memory",
    "MemoryState": "letagents.adapters.state.memory",
    "MessageId": "letagents.domain.ids",
    "RegistrationKey": "letagents.domain.ids",
    "RoomId": "letagents.domain.ids",
    "RoomTransport": "letagents.ports.rooms",
    "Settings": "letagents.settings",
    "StateStore": "letagents.ports.state",
    "Wish": "letagents.application.registration",
    "WorkerId": "letagents.domain.ids",
    "open_letagents": "letagents.wiring",
}

__all__ = [
    "After",
    "Before",
    "Client",
    "ClientKey",
    "Latest",
    "LetAgents",
    "LetAgentsError",
    "MemoryRooms",
    "MemoryState",
    "MessageId",
    "RegistrationKey",
    "RoomId",
    "RoomTransport",
    "Settings",
    "StateStore",
    "Wish",
    "WorkerId",
    "open_letagents",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'letagents' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
