"""What a process loads before it is needed is what everybody who starts one waits for."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.shell import PATIENCE

SAY = "import sys; print(*sys.modules)"


def loaded(code: str) -> set[str]:
    """Return what a new process has loaded once it has run `code`."""
    command = [sys.executable, "-c", f"{code}\n{SAY}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    return set(done.stdout.split())


def test_rooms_in_a_file_load_no_part_of_another_database() -> None:
    modules = loaded("import letagents.adapters.rooms.local_store")

    assert "sqlalchemy.dialects.sqlite" in modules
    assert not any(name.startswith("sqlalchemy.dialects.postgresql") for name in modules)


def test_once_a_sound_sqlite_is_found_no_other_is_loaded() -> None:
    code = "from letagents.adapters.sql import sqlite_library; used = sqlite_library.library()\n"
    sound = loaded(f"{code}print('sound' * (not used.checkpoints_apart))")
    if "sound" not in sound or "pysqlite3" not in sound:
        pytest.skip("there is but one SQLite here")

    assert "sqlite3" not in sound


def test_the_tools_are_listed_before_anything_is_loaded_that_acts() -> None:
    """The rooms, and all that is done in them, are loaded once the client knows its tools."""
    code = (
        "from letagents.entrypoints.cli import serving\n"
        "from letagents.entrypoints.mcp import extras, opening, process, server, stdio, surface\n"
        "from letagents.settings import Settings\n"
        "settings = serving.load()\n"
        "serving._service(settings, serving.modes.mode(settings.caller))\n"
    )

    modules = loaded(code)

    assert "letagents.entrypoints.mcp.tools.catalogue" in modules
    idle = {"letagents.application", "letagents.adapters", "letagents.domain.messages"}
    assert not modules & {*idle, "letagents.domain.ids", "structlog", "sqlalchemy", "tomllib"}


def test_who_enters_a_room_loads_nothing_of_what_is_said_there(tmp_path: Path) -> None:
    """An agent's first call waits for what it needs, and for no other verb of rooms."""
    code = (
        "import asyncio\n"
        "from letagents.settings import load\n"
        "from letagents.wiring.client import open_letagents\n"
        "async def enter():\n"
        f"    settings = load({{'LETAGENTS_HOME': {str(tmp_path / 'home')!r}}})\n"
        "    async with open_letagents(settings) as opened, opened.client() as client:\n"
        "        await client.places.create()\n"
        "asyncio.run(enter())\n"
    )

    modules = loaded(code)

    assert "letagents.adapters.rooms.local_seats" in modules
    parts = ("domain", "adapters.rooms", "adapters.sql", "application")
    verbs = ("activation", "focus_rooms", "search", "receipts", "local_posts", "local_book",
             "postgres", "postgres_search", "board", "memory", "searching")  # fmt: skip
    assert not modules & {f"letagents.{part}.{verb}" for part in parts for verb in verbs}
