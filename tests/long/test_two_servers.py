"""Two servers on one PostgreSQL, of which one goes, or the database, while much is being said."""

import re
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from tests.e2e.served import Server, served
from tests.e2e.shell import PATIENCE
from tests.e2e.town import PAUSE, ROOM, Listener, Speakers, Town, town
from tests.own_postgres import OwnServer, plain, text_of

pytestmark = pytest.mark.long

MANY, EACH = 4, 250
ALL = {f"{number}:{at}" for number in range(MANY) for at in range(EACH)}


def kill(server: Server) -> None:
    """End it in the middle of whatever it does."""
    server.running.process.kill()
    server.running.ended()


def stop(server: Server) -> None:
    """Ask it to end, and see that it ends in order."""
    assert server.stop() == 0


def is_all(texts: list[str]) -> bool:
    return len(texts) >= len(ALL)


def in_order(texts: list[str]) -> bool:
    """Whether each speaker's messages stand in the order in which they were said."""
    return all(
        [one for one in texts if one.startswith(f"{number}:")]
        == [f"{number}:{at}" for at in range(EACH)]
        for number in range(MANY)
    )


@pytest.mark.parametrize("leave", [kill, stop])
@pytest.mark.parametrize("which", [0, 1])
def test_a_server_that_goes_amid_a_thousand_sends_loses_and_doubles_none(
    leave: Callable[[Server], None], which: int, tmp_path: Path, postgres: str
) -> None:
    with town(tmp_path, postgres) as both:
        speakers = Speakers(both, MANY, EACH)
        listeners = [Listener(both, first) for first in (0, 1)]
        for one in listeners:
            one.begin(is_all)
        speakers.begin()
        speakers.reach(350)
        leave(both.servers[which])
        speakers.end()
        heard = [one.end() for one in listeners]
        kept = both.kept(both.servers[1 - which])

    assert Counter(kept) == Counter(ALL)
    assert in_order(kept)
    assert heard == [kept, kept]


def test_a_database_that_breaks_down_amid_a_thousand_sends_loses_and_doubles_none(
    tmp_path: Path, own_server: OwnServer
) -> None:
    place = text_of(own_server.url)
    with town(tmp_path, place) as both:
        speakers = Speakers(both, MANY, EACH)
        listeners = [Listener(both, first) for first in (0, 1)]
        for one in listeners:
            one.begin(is_all)
        speakers.begin()
        speakers.reach(200)
        own_server.stop_as_if_killed_and_start()
        speakers.reach(400)
        cut_all_off(place)
        speakers.reach(600)
        own_server.stop_as_if_killed()
        for server in both.servers:
            becomes(server, 503)
        own_server.start_again()
        for server in both.servers:
            becomes(server, 200)
        speakers.end()
        heard = [one.end() for one in listeners]
        kept = both.kept(both.servers[0])
        for first in (0, 1):
            is_woken_across(both, first)
        alive = [server.running.process.poll() for server in both.servers]

    assert Counter(kept) == Counter(ALL)
    assert in_order(kept)
    assert heard == [kept, kept]
    assert alive == [None, None]


def becomes(server: Server, status: int) -> None:
    """Return once its health is told with that status."""
    with server.http() as nobody:
        for _ in range(round(PATIENCE / PAUSE)):
            told = nobody.get("/healthz")
            if told.status_code == status:
                return
            assert told.status_code in (200, 503), told.text
            threading.Event().wait(PAUSE)
    raise AssertionError(f"{server.url} does not answer {status}")


def is_woken_across(both: Town, first: int) -> None:
    """See that a waiter at one server is nudged by what is said at the other, before long.

    One that began when its server was not yet listening again looks by itself.
    """
    waiting, speaking = both.servers[first], both.servers[1 - first]
    with ThreadPoolExecutor(1) as threads, speaking.http(both.token) as client:
        for attempt in range(20):
            before, text = nudges_lost(waiting, both.token), f"to {first}, attempt {attempt}"
            last = client.get(f"{ROOM}/messages?before=latest&limit=1").json()["messages"][0]
            answer = threads.submit(polled, waiting, both.token, last["id"])
            waits(waiting, both.token)
            said = {"text": text, "client_message_id": text, **both.shown}
            assert client.post(f"{ROOM}/messages", json=said).status_code == 201
            assert answer.result(PATIENCE) == text
            if nudges_lost(waiting, both.token) == before:
                return
    raise AssertionError("nobody is woken: all look by themselves")


def polled(server: Server, token: str, after: str) -> str:
    with server.http(token) as client:
        page = client.get(f"{ROOM}/messages/poll?timeout=60000&after={after}").json()
    return str(page["messages"][0]["text"])


def metric(server: Server, token: str, name: str) -> float:
    with server.http(token) as client:
        found = re.search(rf"^letagents_{name} (\S+)$", client.get("/metrics").text, re.MULTILINE)
    assert found is not None
    return float(found[1])


def nudges_lost(server: Server, token: str) -> float:
    return metric(server, token, "nudges_lost_total")


def waits(server: Server, token: str) -> None:
    """Return once somebody waits there."""
    for _ in range(round(PATIENCE / PAUSE)):
        if metric(server, token, "waiters") > 0:
            return
        threading.Event().wait(PAUSE)
    raise AssertionError("nobody waits")


def cut_all_off(place: str) -> None:
    """End the sessions of both servers with the database, those that listen too."""
    with psycopg.connect(plain(place), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'letagents'"
        )


def test_servers_that_begin_at_once_on_an_empty_database_all_serve_and_one_has_the_owner(
    tmp_path: Path, own_server: OwnServer
) -> None:
    words = ("--database", text_of(own_server.url))
    with ExitStack() as opened, ThreadPoolExecutor(4) as threads:
        homes = [tmp_path / f"home {at}" for at in range(4)]
        begun = [threads.submit(opened.enter_context, served(home, *words)) for home in homes]
        servers = [one.result(PATIENCE) for one in begun]
        for server in servers:
            becomes(server, 200)
        owned = [server for server in servers if (server.home / "server-owner.json").exists()]
        with servers[0].http(owned[0].owner) as owner:
            who = owner.get("/auth/session").json()

    assert len(owned) == 1
    assert who["authenticated"]
