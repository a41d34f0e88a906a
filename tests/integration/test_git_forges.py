"""Services that keep repositories, played on this machine: what they are asked, and what goes."""

import os
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anyio
import attrs
import pytest

from letagents.adapters.forges import WebForges
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.adapters.state.memory import MemoryState
from letagents.application.places import Places
from letagents.application.repository import Repository
from letagents.domain.forges import Answer, Question, Verdict, Visibility
from letagents.domain.git_rooms import Checkout
from letagents.domain.ids import RoomId
from letagents.ports.surroundings import Place, Written
from letagents.testing.determinism import CountingIds, ManualClock

ENGINE = Question("github", "/repos/ada/engine")


@attrs.define
class Service:
    """What a service answers, and what it was asked."""

    address: str
    status: int = 200
    body: bytes = b"{}"
    moved_to: str | None = None
    asked: list[tuple[str, dict[str, str]]] = attrs.field(factory=list)


@contextmanager
def serving() -> Iterator[Service]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            played.asked.append((self.path, dict(self.headers.items())))
            self.send_response(played.status)
            if played.moved_to is not None:
                self.send_header("Location", played.moved_to)
            self.send_header("Set-Cookie", "who=you")
            self.send_header("Content-Length", str(len(played.body)))
            self.end_headers()
            with suppress(OSError):  # whoever asked has heard enough
                self.wfile.write(played.body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    played = Service(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    try:
        yield played
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as served:
        yield served


@pytest.fixture(autouse=True)
async def _bounded() -> AsyncIterator[None]:
    with anyio.fail_after(20):
        yield


def asking(service: Service, limit: float = 10) -> WebForges:
    return WebForges(service.address, service.address, service.address, limit)


@pytest.mark.rule("G14")
async def test_a_stranger_asks_and_nothing_of_ours_goes_along(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".netrc").write_text("default login ada password s3cret\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://ada:s3cret@127.0.0.1:9")
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "LETAGENTS_TOKEN"):
        monkeypatch.setenv(name, "s3cret")
    forges = asking(service)

    for _ in range(2):
        assert await forges.ask(ENGINE) == Answer(200)
    for path, headers in service.asked:
        assert path == "/repos/ada/engine"
        assert headers["User-Agent"] == "letagents-mcp/1.0"
        assert not {"Authorization", "Proxy-Authorization", "Cookie"} & set(headers)
        assert "s3cret" not in str(headers)


async def test_a_path_inside_a_path_is_asked_for_as_one(service: Service) -> None:
    service.body = b'{"visibility": "internal"}'

    answer = await asking(service).ask(Question("gitlab", "/api/v4/projects/Org%2FEngine"))

    assert answer == Answer(200, {"visibility": "internal"})
    assert service.asked[0][0] == "/api/v4/projects/Org%2FEngine"


@pytest.mark.rule("G14")
async def test_nobody_is_sent_elsewhere(service: Service) -> None:
    with serving() as other:
        service.status, service.moved_to = 301, f"{other.address}/repos/ada/engine"

        assert await asking(service).ask(ENGINE) == Answer(301)
        assert other.asked == []


@pytest.mark.parametrize("body", [b"", b"[]", b"<html>", b"\xff", b"[" * 10_000, b"x" * 2_000_000])
async def test_what_is_no_object_says_nothing(service: Service, body: bytes) -> None:
    service.body = body

    assert await asking(service).ask(ENGINE) == Answer(200)


@pytest.mark.rule("G15")
async def test_nobody_at_home_is_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"http://127.0.0.1:{closed.getsockname()[1]}"

    assert await WebForges(address).ask(ENGINE) is None


@pytest.mark.rule("G15")
@pytest.mark.parametrize("address", ["http://nowhere.invalid", "http://", "ftp://127.0.0.1", "x"])
async def test_an_address_that_leads_nowhere_is_no_answer(address: str) -> None:
    assert await WebForges(address).ask(ENGINE) is None


@pytest.mark.rule("G14", "G15")
@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", b"\0"])
async def test_who_says_too_little_in_time_is_no_answer(said: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(said)
                while connection.recv(1000):
                    pass

        silent = threading.Thread(target=answer)
        silent.start()
        forges = WebForges(f"http://127.0.0.1:{server.getsockname()[1]}", limit=0.3)

        assert await forges.ask(ENGINE) is None
        silent.join(10)


# --- what becomes of an answer ------------------------------------------------------------------


@attrs.define
class OneCheckout:
    """A checkout of one repository."""

    repository: str | None

    async def look(self, cwd: str | None = None) -> Place:
        return Place(cwd or os.curdir, checkout=Checkout("/work", self.repository, "main"))

    async def choose(self, root: str, _room_id: RoomId) -> Written:
        return Written(root, "it is not asked for")


def repository(name: str | None, forges: WebForges) -> Repository:
    clock = ManualClock()
    places = Places(MemoryState(), MemoryRooms(CountingIds(), clock), clock)
    return Repository(OneCheckout(name), forges, places)


@pytest.mark.rule("G13")
@pytest.mark.parametrize(
    ("status", "visibility"), [(200, Visibility.PUBLIC), (404, Visibility.PRIVATE)]
)
async def test_a_repository_is_as_visible_as_its_service_says(
    service: Service, status: int, visibility: Visibility
) -> None:
    service.status = status
    asked = await repository("github.com/ada/engine", asking(service)).visibility()

    assert asked is not None
    assert asked.repository == "github.com/ada/engine"
    assert asked.verdict == Verdict("github", visibility)


@pytest.mark.rule("G13")
async def test_offline_a_repository_s_visibility_is_unknown() -> None:
    asked = await repository(
        "github.com/ada/engine", WebForges("http://nowhere.invalid")
    ).visibility()

    assert asked is not None
    assert asked.verdict == Verdict("github", wrong="github could not be reached.")


@pytest.mark.rule("G12")
async def test_about_other_repositories_nobody_is_asked(service: Service) -> None:
    elsewhere = await repository("git.example/ada/engine", asking(service)).visibility()

    assert elsewhere is not None
    assert elsewhere.verdict.provider == "unknown"
    assert elsewhere.verdict.wrong
    assert await repository(None, asking(service)).visibility() is None
    assert service.asked == []
