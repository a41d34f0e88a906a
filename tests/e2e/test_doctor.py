"""`letagents doctor`, as somebody runs it for whom something may be wrong."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.shell import run

SETTING = {"kind", "name", "value", "origin"}
CHECK = {"kind", "check", "ok", "said", "remedy"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def told(home: Path, **settings: str) -> tuple[int, dict[str, Any], list[dict[str, Any]]]:
    """Return the exit code, the settings by name, and the checks."""
    done = run(home, "doctor", "--json", settings=settings)
    assert done.stderr == ""
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    listed = {line["name"]: line for line in lines if line["kind"] == "setting"}
    checks = [line for line in lines if line["kind"] == "check"]
    assert all(set(setting) == SETTING for setting in listed.values())
    assert all(set(check) == CHECK for check in checks)
    assert all(bool(check["remedy"]) != check["ok"] for check in checks)
    return done.returncode, listed, checks


def wrong(checks: list[dict[str, Any]]) -> list[str]:
    return [check["check"] for check in checks if not check["ok"]]


def test_where_nothing_was_used_yet_all_is_well_and_nothing_is_made(home: Path) -> None:
    done = run(home, "doctor")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("\nAll is well.\n")
    assert f"{home} is not used yet" in done.stdout
    assert not home.exists()


def test_a_home_in_use_is_found_sound(home: Path) -> None:
    run(home, "send", "--create", "workshop", "Hello")
    code, listed, checks = told(home)
    said = {check["check"]: check["said"] for check in checks}

    assert (code, wrong(checks)) == (0, [])
    assert listed["home"] == {
        "kind": "setting",
        "name": "home",
        "value": str(home),
        "origin": "environment",
    }
    assert said["home"] == f"{home} can be written and synced"
    assert said["rooms"].startswith(f"{home / 'rooms.db'} is whole, can be written and synced")
    assert "mcp 2." in said["version"]
    assert "SQLite 3." in said["sqlite"]
    assert "not used yet" in said["processes"] or "the system tells" in said["processes"]
    assert run(home, "send", "workshop", "Still here").stdout == "msg_2\n"


def test_each_setting_is_told_with_where_it_comes_from(home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text('lease_term = 60\nlog_level = "debug"\n')
    url = "postgresql+nothing://grace:hidden@db/rooms"
    _, listed, checks = told(home, LETAGENTS_LOG_LEVEL="error", LETAGENTS_ROOMS_DB=url)
    short = {name: (one["value"], one["origin"]) for name, one in listed.items()}

    assert short["lease_term"] == ("60", "config.toml")
    assert short["log_level"] == ("error", "environment")
    assert short["state"] == ("json", "default")
    assert short["api_url"] == (None, "default")
    assert short["agent_owner_label"] == ("Grace", "environment")
    assert short["rooms_db"] == ("postgresql+nothing://grace:***@db/rooms", "environment")
    assert "hidden" not in json.dumps(checks)


def test_every_setting_that_cannot_be_is_told_at_once(home: Path) -> None:
    code, listed, checks = told(home, LETAGENTS_LOG="xml", LETAGENTS_LEASE_TERM="soon")

    assert code == 1
    assert wrong(checks) == ["settings", "settings"]
    assert "LETAGENTS_LEASE_TERM" in json.dumps(checks)
    assert (listed["log"]["value"], listed["log"]["origin"]) == (None, "default")


def test_a_wrong_file_does_not_keep_the_rest_from_being_looked_at(home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text("lease_trem = 60")
    (home / "mcp-state.json").write_bytes(b"{")
    code, _, checks = told(home)

    assert code == 1
    assert wrong(checks) == ["settings", "state"]
    assert "did you mean lease_term?" in json.dumps(checks)


def test_a_damaged_state_is_told_with_its_path_and_left_as_it_is(home: Path) -> None:
    home.mkdir(mode=0o700)
    state = home / "mcp-state.json"
    state.write_bytes(b'{"agent_workers": ')
    state.chmod(0o600)
    done = run(home, "doctor")
    lines = done.stdout.splitlines()
    [problem] = [number for number, line in enumerate(lines) if line.startswith("  problem")]

    assert done.returncode == 1
    assert str(state) in lines[problem]
    assert "bring back a copy" in lines[problem + 1]
    assert lines[-1] == "Problems: 1."
    assert state.read_bytes() == b'{"agent_workers": '


def test_a_home_that_cannot_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    code, _, checks = told(tmp_path / "file" / "home")

    assert code == 1
    assert {"home", "state", "rooms"} <= set(wrong(checks))


def test_a_server_that_is_not_there_is_a_problem(home: Path) -> None:
    code, _, checks = told(home, LETAGENTS_API_URL="http://127.0.0.1:1")
    local, _, _ = told(home, LETAGENTS_API_URL="http://127.0.0.1:1", LETAGENTS_CHAT_STORAGE="local")

    assert (code, wrong(checks)) == (1, ["server"])
    assert local == 0
