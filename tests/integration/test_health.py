"""What the places of letagents say of themselves, sound and broken."""

import os
import socket
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import attrs
import pytest
from tests.postgres_server import with_options

from letagents.adapters.sql.migrations import VERSION
from letagents.domain.errors import RoomsUnavailable
from letagents.domain.ids import RoomId
from letagents.ports.health import Finding
from letagents.settings import Settings
from letagents.wiring.client import open_letagents
from letagents.wiring.health import examine

pytestmark = pytest.mark.anyio

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")


def contents(folder: Path) -> dict[str, object]:
    """Return what the files in a folder hold; what SQLite keeps beside a database is left out."""
    files = [file for file in sorted(folder.rglob("*")) if "-" not in file.suffix]
    return {file.relative_to(folder).as_posix(): _content(file) for file in files}


def _content(file: Path) -> object:
    if not file.is_file():
        return "a folder"
    try:
        with closing(sqlite3.connect(file)) as database:
            form = database.execute("PRAGMA user_version").fetchone()
            return form, list(database.iterdump())
    except sqlite3.DatabaseError:
        return file.read_bytes()


def problems(findings: list[Finding]) -> list[str]:
    return [finding.about for finding in findings if finding.is_problem]


@pytest.fixture
async def used(tmp_path: Path) -> Settings:
    """A home in which a client has joined a room."""
    settings = Settings(home=tmp_path / "home")
    async with open_letagents(settings) as letagents, letagents.client() as client:
        await client.places.join(RoomId("workshop"))
    return settings


@pytest.mark.rule("D1")
async def test_what_was_never_used_is_not_made_by_looking(tmp_path: Path) -> None:
    findings = await examine(Settings(home=tmp_path / "deep" / "home"))

    assert problems(findings) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.rule("D1")
@pytest.mark.parametrize("kind", ["json", "sqlite"])
async def test_a_sound_place_is_found_sound_and_left_as_it_is(kind: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", state=kind)
    async with open_letagents(settings) as letagents, letagents.client() as client:
        await client.places.join(RoomId("workshop"))
        before = contents(settings.home)
        findings = await examine(settings)

    assert problems(findings) == []
    assert contents(settings.home) == before
    assert {finding.about for finding in findings} >= {"home", "state", "rooms", "sqlite"}
    assert any("rooms: 1" in finding.said for finding in findings)


@pytest.mark.rule("D1")
async def test_a_lock_whose_owner_is_gone_is_told_and_cleared(used: Settings) -> None:
    lock = used.state_path.with_name("mcp-state.json.lock")
    lock.write_bytes(b"letagents 4194300\n")

    findings = await examine(used)

    assert problems(findings) == []
    assert any("4194300, which is gone" in finding.said for finding in findings)
    assert not lock.exists()


def _damaged_state(settings: Settings) -> None:
    settings.state_path.write_bytes(b'{"agent_workers": 5')


def _state_is_a_folder(settings: Settings) -> None:
    settings.state_path.unlink()
    settings.state_path.mkdir(mode=0o700)


def _no_database(settings: Settings) -> None:
    Path(settings.rooms_db).write_bytes(b"no database at all" * 1_000)


def _cut_database(settings: Settings) -> None:
    file = Path(settings.rooms_db)
    file.write_bytes(file.read_bytes()[:8_192] + b"\xff" * 4_096)


def _damaged_in_one_place(settings: Settings) -> None:
    file = Path(settings.rooms_db)
    file.write_bytes(file.read_bytes()[:-4_096] + bytes(4_096))


def _newer_database(settings: Settings) -> None:
    with closing(sqlite3.connect(settings.rooms_db)) as database:
        database.execute("PRAGMA user_version = 99")


def _database_is_a_folder(settings: Settings) -> None:
    Path(settings.rooms_db).unlink()
    Path(settings.rooms_db).mkdir(mode=0o700)


def _readable_by_all(settings: Settings) -> None:
    settings.home.chmod(0o755)
    settings.state_path.chmod(0o644)
    Path(settings.rooms_db).chmod(0o640)


@pytest.mark.rule("D1", "D2", "D3")
@pytest.mark.parametrize(
    ("breaking", "about", "told"),
    [
        (_damaged_state, ["state"], "mcp-state.json"),
        (_state_is_a_folder, ["state"], "mcp-state.json"),
        (_no_database, ["rooms"], "damaged"),
        (_cut_database, ["rooms"], "damaged"),
        (_damaged_in_one_place, ["rooms"], "btreeInitPage"),
        (_newer_database, ["rooms"], "newer letagents: its form is 99"),
        (_database_is_a_folder, ["rooms"], "rooms.db"),
        pytest.param(_readable_by_all, ["home", "state", "rooms"], "others", marks=posix),
    ],
)
async def test_a_broken_place_is_a_finding_that_says_how_to_mend_it(
    breaking: Callable[[Settings], None], about: list[str], told: str, used: Settings
) -> None:
    breaking(used)
    before = contents(used.home)
    findings = await examine(used)

    assert problems(findings) == about
    assert all(told in finding.said for finding in findings if finding.is_problem)
    assert all(finding.remedy for finding in findings if finding.is_problem)
    assert contents(used.home) == before


@pytest.mark.rule("D2", "D3")
async def test_a_home_below_a_file_is_a_problem_in_each_of_its_places(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    settings = Settings(home=tmp_path / "file" / "home")

    findings = await examine(settings)

    assert problems(findings) == ["home", "state", "rooms"]
    assert all(str(tmp_path / "file") in one.said for one in findings if one.is_problem)


@pytest.mark.rule("D2")
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that takes no file")
async def test_a_folder_that_takes_no_file_is_a_problem(tmp_path: Path) -> None:
    settings = Settings(
        home=Path("/proc/self"),
        state_path=tmp_path / "mcp-state.json",
        rooms_db=str(tmp_path / "rooms.db"),
    )

    assert problems(await examine(settings)) == ["home"]


@pytest.mark.rule("D2")
@pytest.mark.parametrize(
    "url", ["nonsense://rooms", "postgresql+no_such_driver://u:hidden@localhost/rooms", "://"]
)
async def test_rooms_elsewhere_that_cannot_be_opened_are_a_problem(
    url: str, used: Settings
) -> None:
    findings = await examine(attrs.evolve(used, rooms_db=url))

    assert problems(findings) == ["rooms"]
    assert not any("hidden" in f"{finding}" for finding in findings)


@pytest.mark.rule("D2")
async def test_where_no_socket_can_be_had_waiters_look_by_themselves() -> None:
    with tempfile.TemporaryDirectory() as short:  # beside a long path there is another way
        settings = Settings(home=Path(short))
        [unused] = [one for one in await examine(settings) if one.about == "wake-ups"]
        settings.run_dir.write_text("in place of a folder")
        findings = await examine(settings)
        [slow] = [one for one in findings if one.about == "wake-ups"]

    assert "not used yet" in unused.said
    assert "looks every" in slow.said
    assert "wake-ups" not in problems(findings)


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs sockets in folders")
async def test_where_there_are_sockets_waiters_are_woken_at_once() -> None:
    with tempfile.TemporaryDirectory() as short:
        settings = Settings(home=Path(short))
        settings.run_dir.mkdir(mode=0o700)
        [fast] = [one for one in await examine(settings) if one.about == "wake-ups"]

    assert "at once" in fast.said


@pytest.mark.parametrize(("storage", "about"), [(None, ["server"]), ("local", [])])
async def test_a_server_that_is_away_is_a_problem_where_rooms_are_there(
    storage: str | None, about: list[str], used: Settings
) -> None:
    settings = attrs.evolve(used, api_url="http://127.0.0.1:9", chat_storage=storage)

    assert problems(await examine(settings)) == about


# --- a server -------------------------------------------------------------------------------------


def of_rooms(findings: list[Finding]) -> str:
    [found] = [one for one in findings if one.about == "rooms"]
    return f"{found.said} {found.remedy or ''}"


async def test_a_server_says_what_it_is_and_what_its_answers_mean(
    postgres: str, tmp_path: Path
) -> None:
    settings = Settings(
        home=tmp_path, rooms_db=with_options(postgres, options="-csynchronous_commit=off")
    )
    findings = await examine(settings)

    assert not [one for one in findings if one.is_problem]
    told = of_rooms(findings)
    assert f"can be written and synced (form {VERSION}); PostgreSQL " in told
    assert "synchronous_commit on, which letagents sets for itself: the server has off" in told
    assert any("woken at once, through the server" in one.said for one in findings)


async def test_a_blank_server_is_left_as_it_is(blank_postgres: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, rooms_db=blank_postgres)
    assert "is still empty; PostgreSQL " in of_rooms(await examine(settings))
    assert "is still empty; PostgreSQL " in of_rooms(await examine(settings))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://ada:PASS@127.0.0.1:1/rooms", "cannot be used: connection failed"),
        ("postgresql+psycopg://ada:PASS@127.0.0.1:1/rooms?password=PASS", "cannot be used"),
        ("postgresql://ada:x@PASS@127.0.0.1:1/rooms", "its URL cannot be read"),
        ("postgresql://ada:PASS@127.0.0.1:none/rooms", "its URL cannot be read"),
        ("postgresql://ada:x:PASS/PASS@127.0.0.1:1/rooms", "cannot be used"),
        ("mysql://ada:PASS@127.0.0.1:1/rooms", "only a PostgreSQL can keep them"),
    ],
)
async def test_no_password_of_a_server_is_shown_whatever_is_wrong(
    url: str, said: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(home=tmp_path, rooms_db=url.replace("PASS", "hunter2"))
    told = [repr(settings), of_rooms(await examine(settings)), repr(await examine(settings))]
    async with open_letagents(settings) as letagents:
        told.append(repr(letagents.rooms))
        with pytest.raises(RoomsUnavailable) as refused:
            await letagents.rooms.join(RoomId("workshop"))
        told.append(repr(letagents.rooms))
    told += [str(refused.value), repr(refused.value), refused.value.remedy, caplog.text]

    assert said in told[1]
    assert not [one for one in told if "hunter2" in one]
