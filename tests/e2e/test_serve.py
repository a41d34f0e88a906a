"""`letagents serve`: begun, reached, and ended; who may use it, and who may not."""

import contextlib
import http.client
import itertools
import json
import re
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.e2e.chats import posix
from tests.e2e.served import Server, served
from tests.e2e.shell import PATIENCE, run


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_the_machines_owner_is_signed_in_by_a_link_that_works_once(home: Path) -> None:
    with served(home) as server, server.http() as browser:
        link = server.said["sign_in"]
        first = browser.get(link)
        shown = browser.get("/sign-in").text
        who = browser.get("/auth/session").json()
        made = browser.post("/projects", json={})
        out = browser.post("/auth/logout")
        after = browser.get("/auth/session").json()
        with server.http() as another:
            again = another.get(link)
            stranger = another.get("/auth/session").json()

    assert (first.status_code, first.headers["location"]) == (303, "/sign-in")
    assert re.search(r"letagents_session=[\w-]{43}; HttpOnly; .*SameSite=lax", _cookie(first))
    assert "You are signed in as" in shown
    assert who["authenticated"]
    assert made.status_code == 201
    assert out.json() == {"success": True}
    assert (after, stranger) == ({"authenticated": False}, {"authenticated": False})
    assert again.status_code == 403


def _cookie(answer: httpx.Response) -> str:
    return str(answer.headers["set-cookie"])


def test_a_page_of_somebody_else_makes_no_browser_act(home: Path) -> None:
    with served(home) as server, server.http() as browser:
        browser.get(server.said["sign_in"])
        forged = browser.post("/projects", headers={"Origin": "http://127.0.0.1:1"})
        own = browser.post("/projects", headers={"Origin": server.url})

    assert (forged.status_code, own.status_code) == (401, 201)


def test_nothing_is_reached_without_a_token_but_health_and_sign_in(running: Server) -> None:
    with running.http() as nobody, running.http("wrong") as stranger:
        healthy = [nobody.get(path).status_code for path in ("/healthz", "/readyz", "/api/health")]
        for caller in (nobody, stranger):
            refused = {
                caller.post("/rooms/harbour/join").status_code,
                caller.get("/rooms/harbour/messages").status_code,
                caller.get("/rooms").status_code,
                caller.post("/projects").status_code,
                caller.post("/agents", json={"name": "x"}).status_code,
                caller.get("/agents/me").status_code,
            }
            assert refused == {401}

    assert healthy == [200, 200, 200]


def test_programs_of_the_machine_find_their_sign_in_and_others_bring_theirs(
    home: Path, tmp_path: Path
) -> None:
    with served(home) as server:
        token = server.account("bob")
        elsewhere = tmp_path / "elsewhere"
        own = run(home, "send", "--create", "harbour", "from here", settings=server.settings)
        bobs = {**server.settings, "LETAGENTS_TOKEN": token}
        theirs = run(elsewhere, "send", "harbour", "from afar", settings=bobs)
        nobodys = run(elsewhere, "rooms", settings=server.settings)
        tail = run(home, "tail", "harbour", "--once", "--json", settings=server.settings)

    assert (own.stdout, theirs.stdout) == ("msg_1\n", "msg_2\n")
    assert nobodys.returncode == 1
    assert "Set LETAGENTS_TOKEN" in nobodys.stderr
    assert "start_device_auth" not in nobodys.stderr
    said = [json.loads(line) for line in tail.stdout.splitlines()]
    assert [(one["text"], one["sender"]) for one in said][1] == ("from afar", "bob")
    assert not (elsewhere / "rooms.db").exists()


@pytest.mark.skipif(not posix, reason="Windows has no such modes")
def test_what_holds_tokens_is_its_owners_alone(home: Path) -> None:
    with served(home):
        kept = home / "server-owner.json"

        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert stat.S_IMODE((home / "server.db").stat().st_mode) == 0o600


def test_no_token_is_in_any_log(home: Path) -> None:
    with served(home) as server, server.http(server.owner) as owner:
        owner.get("/agents/me")
        owner.get(f"/auth/session?token={server.owner}")
        owner.get(server.said["sign_in"])
        tokens = [server.owner, server.account("bob"), server.said["sign_in"].partition("=")[2]]
        server.stop()
        log = server.running.complaints()

    assert "request.answered" in log
    assert [token for token in tokens if token in log] == []


def test_a_second_server_on_the_same_file_names_the_first_and_leaves(running: Server) -> None:
    second = run(running.home, "serve", "--port", "0")

    assert second.returncode == 1
    assert f"process {running.said['pid']}, at {running.url}" in second.stderr


def test_a_server_that_was_killed_keeps_nobody_from_the_file(home: Path) -> None:
    with served(home) as first:
        owner = first.owner
        first.running.process.kill()
        first.running.ended()
        with served(home) as second, second.http(owner) as client:
            assert client.get("/auth/session").json()["authenticated"]
            assert second.owner == owner


@pytest.mark.parametrize("host", ["0.0.0.0"])  # noqa: S104  # refused, or without anybody's account
def test_others_reach_it_only_if_somebody_has_an_account_or_insists(home: Path, host: str) -> None:
    refused = run(home, "serve", "--host", host, "--port", "0")
    with served(home, "--host", host, "--insecure"):
        pass
    with served(home, "--host", host) as server, server.http() as nobody:
        reached = nobody.get("/api/health")

    assert refused.returncode == 1
    assert "letagents accounts add" in refused.stderr
    assert reached.status_code == 200


def test_what_was_acknowledged_outlasts_a_kill_and_nothing_is_said_twice(home: Path) -> None:
    with served(home) as server, server.http(server.owner) as owner:
        owner.post("/rooms/harbour/join")
        who = owner.post("/rooms/harbour/agent-sessions", json={"session_kind": "person"}).json()
        shown = {
            "agent_session_id": who["session_id"],
            "agent_session_token": who["session_token"],
        }
        killer = threading.Thread(target=server.running.process.kill)
        acknowledged: list[str] = []
        with contextlib.suppress(httpx.TransportError):
            for number in itertools.count():
                said = {"text": str(number), "client_message_id": str(number), **shown}
                answer = owner.post("/rooms/harbour/messages", json=said)
                acknowledged.append(answer.json()["text"])
                if number == 30:
                    killer.start()  # at any moment from now on
        killer.join()
        server.running.ended()
    with served(home) as server, server.http(server.owner) as owner:
        unknown = str(len(acknowledged))
        again = {"text": unknown, "client_message_id": unknown, **shown}
        owner.post("/rooms/harbour/messages", json=again)
        kept: list[str] = []
        after = ""
        while True:
            page = owner.get(f"/rooms/harbour/messages?limit=500{after}").json()
            kept += [one["text"] for one in page["messages"] if one["source"] != "system"]
            if not page["has_more"]:
                break
            after = f"&after={page['messages'][-1]['id']}"

    assert kept == [*acknowledged, unknown]


def test_two_servers_on_one_postgresql_wake_those_who_wait_at_the_other(
    home: Path, tmp_path: Path, postgres: str
) -> None:
    words = ("--database", postgres)
    with served(home, *words) as one, served(tmp_path / "other", *words) as two:
        token = one.owner
        with one.http(token) as here, two.http(token) as there:
            role = here.post("/rooms/harbour/join").json()["role"]
            who = here.post("/rooms/harbour/agent-sessions", json={"session_kind": "person"})
            shown = {
                "agent_session_id": who.json()["session_id"],
                "agent_session_token": who.json()["session_token"],
            }
            waiting = http.client.HTTPConnection(two.url.partition("//")[2], timeout=PATIENCE)
            bearer = {"Authorization": f"Bearer {token}"}
            path = "/rooms/harbour/messages/poll?timeout=60000"
            waiting.request("GET", path, headers=bearer)
            there.get("/auth/session")  # so that the server has taken what came before it
            here.post("/rooms/harbour/messages", json={"text": "ahoy", **shown})
            heard = json.loads(waiting.getresponse().read())
            waiting.close()

    assert (role, two.said["sign_in"]) == ("admin", None)
    assert [one["text"] for one in heard["messages"]] == ["ahoy"]


def test_a_port_that_is_taken_is_told(running: Server, home: Path) -> None:
    port = running.url.rpartition(":")[2]
    second = run(home, "serve", "--port", port)

    assert second.returncode == 1
    assert f"port {port}" in second.stderr


def test_it_ends_in_order_while_somebody_waits(home: Path) -> None:
    with served(home) as server, server.http(server.owner) as owner:
        owner.post("/rooms/harbour/join")
        waiting = http.client.HTTPConnection(server.url.partition("//")[2], timeout=PATIENCE)
        shown = {"Authorization": f"Bearer {server.owner}"}
        waiting.request("GET", "/rooms/harbour/messages/poll?timeout=60000", headers=shown)
        owner.get("/auth/session")  # so that the server has taken what came before it
        code = server.stop()
        answer = json.loads(waiting.getresponse().read())
        waiting.close()

    assert code == 0
    assert answer["messages"] == []


def test_tokens_are_revoked_while_it_runs(running: Server) -> None:
    with running.http(running.account("bob")) as bob:
        before = bob.get("/auth/session").json()["authenticated"]
        revoked = run(running.home, "accounts", "revoke", "BOB")
        listed = run(running.home, "accounts", "list", "--json")
        while bob.get("/auth/session").json()["authenticated"]:  # for two seconds at most
            pass

    assert before
    assert revoked.stdout == "bob: 1 ended.\n"
    accounts = {one["login"]: one for one in map(json.loads, listed.stdout.splitlines())}
    assert accounts["bob"]["tokens"] == 0


def test_of_many_rooms_that_are_entered_at_once_some_have_to_wait(running: Server) -> None:
    with running.http(running.account("eve")) as eve:
        first = [eve.post(f"/rooms/room-{number}/join").status_code for number in range(11)]
        again = eve.post("/rooms/room-0/join")
        refused = eve.post("/rooms/another/join")

    assert first == [200] * 10 + [429]
    assert again.status_code == 200
    assert refused.json()["code"] == "RATE_LIMITED"


def test_who_enters_a_room_first_is_its_admin(running: Server) -> None:
    with running.http(running.owner) as owner, running.http(running.account("ann")) as bob:
        roles = [one.post("/rooms/harbour/join").json()["role"] for one in (bob, owner, bob)]
        rooms = [one.get("/rooms").json()["rooms"] for one in (owner, bob)]
        bob.post("/projects")
        own = owner.get("/rooms").json()["rooms"]

    assert roles == ["admin", "participant", "admin"]
    assert [[one["room_id"] for one in listed] for listed in rooms] == [["harbour"], ["harbour"]]
    assert [one["room_id"] for one in own] == ["harbour"]


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (("POST", "/agents", b"x" * (1024 * 1024 + 1)), 413),
        (("POST", "/agents", b"{"), 400),
        (("POST", "/agents", b"[]"), 400),
        (("POST", "/agents", b"\xff"), 400),
        (("POST", "/agents", b'{"name": 1}'), 400),
        (("GET", "/nowhere", b""), 404),
        (("DELETE", "/rooms", b""), 404),
    ],
)
def test_bad_requests_are_answered(
    running: Server, request_: tuple[str, str, bytes], status: int
) -> None:
    method, path, body = request_
    with running.http(running.owner) as owner:
        answer = owner.request(method, path, content=body)

    assert answer.status_code == status
    assert "error" in answer.json()


@pytest.mark.parametrize("ends", [b"\r\n\r\n", b""])
def test_a_head_that_has_no_end_is_not_read_to_it(running: Server, ends: bytes) -> None:
    host, _, port = running.url.rpartition("/")[2].partition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as line:
        line.sendall(b"GET /api/health HTTP/1.1\r\nHost: x\r\n")
        answer = b""
        with contextlib.suppress(OSError):  # it hangs up while we go on
            for _ in range(1000):
                line.sendall(b"X-Long: " + b"x" * 4096 + b"\r\n")
            line.sendall(ends)
            answer = line.recv(1024)

    assert b" 200 " not in answer


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("running") / "home") as server:
        yield server
