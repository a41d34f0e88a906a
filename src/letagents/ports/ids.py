"""Names that were never used before, and secrets that nobody can guess."""

from typing import Protocol

from letagents.domain.ids import ClientKey, Token, WorkerId


class Ids(Protocol):
    """Makes names and secrets.

    Y2  Each is well formed, and none is made twice.
    Y3  A token, a client key and an invite code cannot be guessed, whatever was seen before.
    """

    def token(self) -> Token:
        """Return a connection's secret."""
        ...

    def worker_id(self) -> WorkerId:
        """Return a handle for a new worker."""
        ...

    def uuid(self) -> str:
        """Return a version 4 UUID with dashes, in lower case."""
        ...

    def client_key(self) -> ClientKey:
        """Return an idempotency key for one message."""
        ...

    def invite_code(self) -> str:
        """Return a room's invite code, such as `7QHM-0K2P-XX4T`."""
        ...
