"""What a server is told, by the environment, the file in the home, and the command line."""

from pathlib import Path

import pytest

from letagents.domain.errors import SettingsInvalid
from letagents.server_settings import Github, Serving, load, with_database


def test_nothing_has_to_be_set(tmp_path: Path) -> None:
    assert load(tmp_path, {}) == Serving(str(tmp_path / "server.db"), 3001, None, None)


def test_what_is_set_counts_and_our_own_names_win(tmp_path: Path) -> None:
    older = {"DB_URL": "postgresql://db/old", "PUBLIC_API_URL": "https://old.example/"}
    ours = {
        "LETAGENTS_SERVER_DB": "postgresql://db/new",
        "LETAGENTS_BASE_URL": "https://rooms.example/",
        "PORT": "8080",
    }

    assert load(tmp_path, older) == Serving("postgresql://db/old", 3001, "https://old.example")
    assert load(tmp_path, {**older, **ours}) == Serving(
        "postgresql://db/new", 8080, "https://rooms.example"
    )


def test_the_file_in_the_home_stands_below_the_environment(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('base_url = "http://a.example"\n', "utf-8")

    assert load(tmp_path, {}).base_url == "http://a.example"
    assert load(tmp_path, {"PUBLIC_API_URL": "http://b.example"}).base_url == "http://a.example"
    told = {"LETAGENTS_BASE_URL": "http://c.example"}
    assert load(tmp_path, told).base_url == "http://c.example"


def test_github_admits_those_who_are_named(tmp_path: Path) -> None:
    told = {"GITHUB_CLIENT_ID": "id", "LETAGENTS_GITHUB_LOGINS": "Ada, ben,"}
    everybody = {**told, "LETAGENTS_GITHUB_LOGINS": "*", "GITHUB_OAUTH_SCOPES": "user"}

    assert load(tmp_path, told).github == Github("id", "read:user", frozenset({"ada", "ben"}))
    assert load(tmp_path, everybody).github == Github("id", "user", None)


@pytest.mark.parametrize(
    "told",
    [
        {"PORT": "http"},
        {"PORT": "65536"},
        {"PORT": "-1"},
        {"LETAGENTS_BASE_URL": "rooms.example"},
        {"LETAGENTS_BASE_URL": "https://user@rooms.example"},
        {"LETAGENTS_SERVER_DB": "sqlite:///:memory:"},
        {"GITHUB_CLIENT_ID": "id"},
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(tmp_path: Path, told: dict[str, str]) -> None:
    with pytest.raises(SettingsInvalid):
        load(tmp_path, told)


def test_the_command_line_wins(tmp_path: Path) -> None:
    serving = load(tmp_path, {"LETAGENTS_SERVER_DB": "postgresql://db/rooms"})

    assert with_database(serving, None) == serving
    assert with_database(serving, "other.db").database == "other.db"
    with pytest.raises(SettingsInvalid):
        with_database(serving, str(tmp_path))
