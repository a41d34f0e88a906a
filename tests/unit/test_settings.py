from datetime import timedelta
from pathlib import Path

import pytest

from letagents.domain.errors import SettingsInvalid
from letagents.domain.ids import RoomId
from letagents.domain.surfaces import Caller, Profile, Toolset
from letagents.settings import Settings, load


def test_nothing_set_means_local_rooms_under_the_users_home() -> None:
    settings = load({})

    assert settings.home == Path.home() / ".letagents"
    assert settings.state_path == settings.home / "mcp-state.json"
    assert settings.rooms_db == str(settings.home / "rooms.db")
    assert settings.api_url is None
    assert settings.lease_term == timedelta(minutes=15)


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('log_level = "debug"\nlease_term = 60\n')

    settings = load({"LETAGENTS_HOME": str(tmp_path), "LETAGENTS_LOG_LEVEL": "error"})

    assert settings.log_level == "error"
    assert settings.lease_term == timedelta(seconds=60)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STATE", "yaml"),
        ("LOG", "xml"),
        ("LEASE_TERM", "soon"),
        ("LEASE_TERM", "0"),
        ("AUTO_JOIN", "2"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_its_name(
    name: str, value: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsInvalid, match=f"LETAGENTS_{name}") as refused:
        load({"LETAGENTS_HOME": str(tmp_path), f"LETAGENTS_{name}": value})

    assert value in refused.value.happened


@pytest.mark.parametrize("content", ["lease_trem = 5", "log = [1]", "not toml", "\xff"])
def test_a_wrong_file_is_named_and_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(content.encode("latin-1"))

    with pytest.raises(SettingsInvalid, match=r"config\.toml"):
        load({"LETAGENTS_HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("", 180), ("500", 180), ("soon", 180), ("36000000", 36_000), ("999999999", 86_400)],
)
def test_the_cap_on_a_wait_is_read_as_the_original_reads_it(text: str, seconds: int) -> None:
    assert load({"LETAGENTS_POLL_MAX_MS": text}).poll_cap == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("", 30),
        ("120000", 2),
        ("3600000", 60),
        ("119999", 30),
        ("3600001", 30),
        ("soon", 30),
        ("9" * 400, 30),
        ("-1", 30),
    ],
)
def test_when_a_room_tells_of_who_is_gone_is_read_as_the_original_reads_it(
    text: str, minutes: int
) -> None:
    settings = load({"LETAGENTS_LIVENESS_NOTICE_AFTER_MS": text})

    assert settings.notice_after == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("environ", "key"),
    [
        ({"CODEX_THREAD_ID": "t"}, "codex:t"),
        ({"CLAUDECODE_SESSION_ID": "c", "MCP_SESSION_ID": "m"}, "claude:c"),
        ({"ANTIGRAVITY_THREAD_ID": "a"}, "antigravity:a"),
        ({"MCP_SESSION_ID": "m"}, "mcp:m"),
        ({"MCP_SESSION_ID": "m", "LETAGENTS_AGENT_INSTANCE_ID": "mine"}, "mine"),
        ({}, None),
    ],
)
def test_the_first_known_chat_id_is_the_storage_key(
    environ: dict[str, str], key: str | None
) -> None:
    assert load(environ).hints.storage_key == key


def test_a_home_alone_is_a_working_whole(tmp_path: Path) -> None:
    assert Settings(home=tmp_path).run_dir == tmp_path / "run"


@pytest.mark.parametrize(
    ("environ", "hosted"),
    [
        ({}, False),
        ({"LETAGENTS_API_URL": "https://rooms.example/"}, True),
        ({"LETAGENTS_API_URL": "https://rooms.example", "LETAGENTS_CHAT_STORAGE": "Local"}, False),
        ({"LETAGENTS_CHAT_STORAGE": " cloud "}, True),
        ({"LETAGENTS_CHAT_STORAGE": "elsewhere"}, False),
    ],
)
def test_rooms_are_on_a_server_only_if_that_is_asked_for(
    environ: dict[str, str], hosted: bool
) -> None:
    assert load(environ).rooms_are_hosted is hosted


@pytest.mark.parametrize(
    "url",
    [
        "garbage",
        "https://",
        "ftp://rooms.example",
        "http://rooms.example:65536",
        "https://rooms.example/?to=secret",
        "https://ada:secret@rooms.example",
        "letagents-local://other",
    ],
)
def test_what_is_no_server_s_address_is_refused_and_never_repeated(url: str) -> None:
    with pytest.raises(SettingsInvalid, match="LETAGENTS_API_URL cannot be what it is") as raised:
        load({"LETAGENTS_HOME": "/nowhere", "LETAGENTS_API_URL": url})

    assert "secret" not in str(raised.value)


def test_a_server_s_address_may_have_a_port_and_a_path() -> None:
    url = "http://[::1]:3001/team/"

    assert load({"LETAGENTS_HOME": "/nowhere", "LETAGENTS_API_URL": url}).api_url == url[:-1]


def test_a_home_below_a_file_has_no_settings_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")

    assert load({"LETAGENTS_HOME": str(tmp_path / "taken" / "home")}).log_level == "info"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HOME", "~no-such-user/x"),
        ("STATE_PATH", "~no-such-user/x"),
        ("STATE_PATH", "/"),
        ("STATE_PATH", "."),
        ("ROOMS_DB", "~no-such-user/x"),
        ("ROOMS_DB", "/tmp"),
        ("ROOMS_DB", "sqlite://"),
        ("ROOMS_DB", "sqlite:///:memory:"),
        ("ROOMS_DB", "sqlite+aiosqlite:///x.db"),
    ],
)
def test_a_place_that_cannot_be_one_is_refused_by_its_name(name: str, value: str) -> None:
    with pytest.raises(SettingsInvalid, match=f"LETAGENTS_{name}"):
        load({"LETAGENTS_HOME": "/nowhere", f"LETAGENTS_{name}": value})


def test_a_chat_enters_its_folder_s_room_unless_that_is_switched_off(tmp_path: Path) -> None:
    assert load({}).auto_join
    assert load({"LETAGENTS_AUTO_JOIN": "Yes"}).auto_join
    assert not load({"LETAGENTS_AUTO_JOIN": "0"}).auto_join
    (tmp_path / "config.toml").write_text("auto_join = 0\n")
    assert not load({"LETAGENTS_HOME": str(tmp_path)}).auto_join


def test_a_process_learns_from_the_environment_what_it_is_for(tmp_path: Path) -> None:
    caller = load(
        {
            "LETAGENTS_HOME": str(tmp_path),
            "LETAGENTS_EXECUTION_PROFILE": " supervised_room_turn ",
            "LETAGENTS_SUPERVISED_BOUNDED_TURNS": "1",
            "LETAGENTS_SUPERVISOR_PROVIDER": " ",
            "LETAGENTS_AGENT_SESSION_BEARER": "a-secret-bearer",
            "LETAGENTS_TOKEN": "a-secret-token",
            "LETAGENTS_API_URL": "letagents-local://rooms",
            "LETAGENTS_TOOLSET": "core",
        }
    ).caller

    assert caller == Caller(
        Profile.SUPERVISED_ROOM_TURN,
        bounded=True,
        has_bearer=True,
        has_owner_token=True,
        api_url="letagents-local://rooms",
        toolset=Toolset.CORE,
    )
    assert "a-secret" not in repr(caller)


def test_the_toolset_may_be_set_in_the_file_and_credentials_may_not(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('toolset = "core"\n')
    assert load({"LETAGENTS_HOME": str(tmp_path)}).caller.toolset is Toolset.CORE
    (tmp_path / "config.toml").write_text('token = "a-secret-token"\n')

    with pytest.raises(SettingsInvalid) as refused:
        load({"LETAGENTS_HOME": str(tmp_path)})
    assert "a-secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("EXECUTION_PROFILE", "manager"), ("TOOLSET", "some"), ("SUPERVISOR_ENTRY_ID", "entry")],
)
def test_what_no_process_can_be_is_refused_by_its_name(name: str, value: str) -> None:
    with pytest.raises(SettingsInvalid, match="LETAGENTS_"):
        load({"LETAGENTS_HOME": "/nowhere", f"LETAGENTS_{name}": value})


def test_a_file_in_the_home_says_of_each_room_where_it_is(tmp_path: Path) -> None:
    told = '{"mode": "local", "roomOverrides": {"shed": "cloud"}}'
    (tmp_path / "chat-storage.json").write_text(told, "utf-8")
    settings = load({"LETAGENTS_HOME": str(tmp_path), "LETAGENTS_API_URL": "https://rooms.example"})

    assert settings.is_hosted(RoomId("shed"))
    assert not settings.is_hosted(RoomId("harbour"))
    assert (settings.rooms_are_hosted, settings.rooms_are_apart) == (False, True)
    assert settings.has_hosted_rooms


def test_the_file_may_be_elsewhere_and_need_not_be_there(tmp_path: Path) -> None:
    (tmp_path / "chosen.json").write_text('{"mode": "cloud", "roomOverrides": {"shed": "cloud"}}')
    environ = {"LETAGENTS_HOME": str(tmp_path)}
    at = "LETAGENTS_CHAT_STORAGE_SETTINGS_PATH"

    chosen = load({**environ, at: str(tmp_path / "chosen.json")})
    without = load({**environ, at: str(tmp_path / "missing.json")})

    assert (chosen.rooms_are_hosted, chosen.rooms_are_apart) == (True, False)
    assert not without.has_hosted_rooms


@pytest.mark.parametrize("content", ["{", "[]", "\udcff"])
def test_a_file_of_where_rooms_are_that_cannot_be_read_is_refused(
    content: str, tmp_path: Path
) -> None:
    path = tmp_path / "chat-storage.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))

    with pytest.raises(SettingsInvalid) as told:
        load({"LETAGENTS_HOME": str(tmp_path)})

    assert told.value.happened.startswith("LETAGENTS_CHAT_STORAGE_SETTINGS_PATH cannot be")


@pytest.mark.parametrize(
    ("text", "seconds"), [("0", 0), ("500", 0.5), ("-1", 8), ("soon", 8), ("99999999", 30)]
)
def test_how_long_codex_is_looked_at_is_a_number_of_milliseconds(text: str, seconds: float) -> None:
    settings = load({"LETAGENTS_CODEX_STARTUP_OBSERVATION_MS": text})

    assert settings.codex_observed.total_seconds() == seconds
