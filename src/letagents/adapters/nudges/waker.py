"""What a thread rests on that other threads can wake, and that watches a connection as well."""

import contextlib
import selectors
import socket
from collections.abc import Callable, Iterator
from typing import Any


class Waker:
    """What a thread rests on that waits for its connection as well. Any thread may wake it."""

    def __init__(self) -> None:
        self._here, self._there = socket.socketpair()
        self._here.setblocking(False)
        self._there.setblocking(False)

    def wake(self) -> None:
        """End the rest of now, or else the next."""
        with contextlib.suppress(OSError):  # it has been woken often, or is closed
            self._there.send(b"!")

    def rest(self, seconds: float) -> None:
        """Rest so long, or until it is woken."""
        with _watching(self._here) as selector:
            selector.select(seconds)
        self._calm_down()

    @contextlib.contextmanager
    def beside(self, connection: Any) -> Iterator[Callable[[], None]]:
        """Give what rests until it is woken, or `connection` has something to say."""
        with _watching(self._here, connection) as selector:

            def rest() -> None:
                selector.select()
                self._calm_down()

            yield rest

    def _calm_down(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._here.recv(4096):
                pass

    def close(self) -> None:
        """Be of no more use."""
        self._here.close()
        self._there.close()


@contextlib.contextmanager
def _watching(*places: Any) -> Iterator[selectors.BaseSelector]:
    with selectors.DefaultSelector() as selector:
        for place in places:
            selector.register(place, selectors.EVENT_READ)
        yield selector
