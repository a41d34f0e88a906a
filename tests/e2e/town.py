"""Two servers on one database, and those who speak and listen through whichever is there.

They are clients without any of our own code: who does not know what became of a message says it
again under the same key, to the other server.
"""

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import attrs
import httpx
from tests.e2e.served import QUIETLY, Plain, Server, served
from tests.e2e.shell import PATIENCE

ROOM = "/rooms/harbour"
AWAY = frozenset({500, 503})
"""Answers of a server that cannot say what became of it, or that nothing did."""
TRIES = 3_000
PAUSE = 0.02


@attrs.frozen(eq=False)
class Town:
    """Two servers, and a person who is known to both."""

    servers: list[Server]
    token: str
    shown: Plain

    @contextmanager
    def clients(self, first: int) -> Iterator[Iterator[httpx.Client]]:
        """Give clients of the servers in turns, without an end."""
        one, other = self.servers[first], self.servers[1 - first]
        with one.http(self.token) as here, other.http(self.token) as there:
            yield itertools.cycle([here, there])

    def say(self, clients: Iterator[httpx.Client], client: httpx.Client, text: str) -> httpx.Client:
        """Have it said, whatever happens; return the client by which that was acknowledged."""
        said = {"text": text, "client_message_id": text, **self.shown}
        for _ in range(TRIES):
            try:
                answer = client.post(f"{ROOM}/messages", json=said)
            except httpx.TransportError:
                client = _next(clients)
                continue
            if answer.status_code == 201:
                assert answer.json()["text"] == text
                return client
            assert answer.status_code in AWAY, answer.text
            client = _next(clients)
        raise AssertionError("no server has acknowledged it")

    def kept(self, server: Server) -> list[str]:
        """Return the texts of all messages, in their order, as a server reads them."""
        texts: list[str] = []
        after = ""
        with server.http(self.token) as client:
            while True:
                page = client.get(f"{ROOM}/messages?limit=500{after}").json()
                texts += [one["text"] for one in page["messages"]]
                if not page["has_more"]:
                    return texts
                after = f"&after={page['messages'][-1]['id']}"


def _next(clients: Iterator[httpx.Client]) -> httpx.Client:
    threading.Event().wait(PAUSE)
    return next(clients)


@contextmanager
def town(home: Path, database: str) -> Iterator[Town]:
    """Serve one database twice, with a person in the room."""
    with ExitStack() as opened:
        servers = [
            opened.enter_context(served(home / name, "--database", database, settings=QUIETLY))
            for name in ("one", "two")
        ]
        token = servers[0].owner
        with servers[0].http(token) as owner:
            owner.post(f"{ROOM}/join")
            who = owner.post(f"{ROOM}/agent-sessions", json={"session_kind": "person"}).json()
        shown = {
            "agent_session_id": who["session_id"],
            "agent_session_token": who["session_token"],
        }
        yield Town(servers, token, shown)


@attrs.define(eq=False)
class Speakers:
    """Those who say `each` messages one after another, half of them at each server at first."""

    town: Town
    many: int
    each: int
    acknowledged: list[str] = attrs.field(factory=list)
    _threads: list[threading.Thread] = attrs.field(factory=list)
    _moved: threading.Condition = attrs.field(factory=threading.Condition)
    _failed: list[BaseException] = attrs.field(factory=list)

    def begin(self) -> None:
        """Let them speak."""
        for number in range(self.many):
            thread = threading.Thread(target=self._speak, args=[number], daemon=True)
            self._threads.append(thread)
            thread.start()

    def reach(self, count: int) -> None:
        """Return once so many messages were acknowledged."""
        with self._moved:
            reached = self._moved.wait_for(
                lambda: len(self.acknowledged) >= count or bool(self._failed), PATIENCE
            )
        assert reached, len(self.acknowledged)
        assert not self._failed

    def end(self) -> None:
        """Return once all have said everything."""
        self.reach(self.many * self.each)
        for thread in self._threads:
            thread.join(PATIENCE)

    def _speak(self, number: int) -> None:
        try:
            with self.town.clients(number % 2) as clients:
                client = next(clients)
                for at in range(self.each):
                    text = f"{number}:{at}"
                    client = self.town.say(clients, client, text)
                    with self._moved:
                        self.acknowledged.append(text)
                        self._moved.notify_all()
        except BaseException as error:  # noqa: BLE001  # it is told where the end is waited for
            with self._moved:
                self._failed.append(error)
                self._moved.notify_all()


@attrs.define(eq=False)
class Listener:
    """Who hears all that is said, by long polls at one server, or at the other if that is away."""

    town: Town
    first: int
    heard: list[str] = attrs.field(factory=list)
    empty: int = 0
    """How many polls ended with nothing."""
    _thread: threading.Thread | None = None

    def begin(self, is_enough: Callable[[list[str]], bool]) -> None:
        """Listen until that."""
        self._thread = threading.Thread(target=self._listen, args=[is_enough], daemon=True)
        self._thread.start()

    def end(self) -> list[str]:
        """Return what was heard, once it is enough."""
        assert self._thread is not None
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), len(self.heard)
        return self.heard

    def _listen(self, is_enough: Callable[[list[str]], bool]) -> None:
        with self.town.clients(self.first) as clients:
            client, after = next(clients), ""
            while not is_enough(self.heard):
                try:
                    answer = client.get(f"{ROOM}/messages/poll?timeout=20000&limit=7{after}")
                except httpx.TransportError:
                    client = _next(clients)
                    continue
                if answer.status_code != 200:
                    client = _next(clients)
                    continue
                messages = answer.json()["messages"]
                self.heard += [one["text"] for one in messages]
                self.empty += not messages
                if messages:
                    after = f"&after={messages[-1]['id']}"
