"""Rooms from a repository, as chats have them that are started in one, with a real git."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from tests import own_git
from tests.e2e.chats import ERAS, Chat, Served, living_in
from tests.e2e.shell import run

from letagents.domain.git_rooms import branch_room
from letagents.domain.room_config import FILE

REMOTE = "git@github.com:Ada/Engine.git"
REPOSITORY = "github.com/ada/engine"
TOPIC = str(branch_room(REPOSITORY, "topic/one"))
SECRET = "s3cret-of-ada"

Begin = Callable[..., Served]

needs_scripts = pytest.mark.skipif(sys.platform == "win32", reason="stand-ins are shell scripts")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def _nobody_s_git(monkeypatch: pytest.MonkeyPatch) -> None:
    own_git.set_nothing_up(monkeypatch)


@pytest.fixture
def begin(home: Path, monkeypatch: pytest.MonkeyPatch) -> Begin:
    """Begin a chat in a folder, which may enter a room by itself."""

    def begun(folder: Path, era: str = ERAS[0], **settings: str) -> Served:
        folder.mkdir(parents=True, exist_ok=True)
        with monkeypatch.context() as there:
            there.chdir(folder)
            return Served(home, era, {"LETAGENTS_AUTO_JOIN": "1", **settings})

    return begun


@pytest.fixture
async def chat(home: Path) -> AsyncIterator[Chat]:
    """A chat of this process, which enters no room by itself."""
    async with living_in(home) as house:
        yield await house.chat()


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, timeout=20, capture_output=True)


def checkout(folder: Path, *, remote: str | None = REMOTE, branch: str = "main") -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch", branch)
    if remote is not None:
        git(folder, "remote", "add", "origin", remote)
    return folder.resolve()


def rooms(home: Path) -> list[str]:
    lines = run(home, "rooms", "--json").stdout.splitlines()
    return [json.loads(line)["room_id"] for line in lines]


# --- where a chat begins ------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
def test_a_chat_in_a_checkout_begins_in_the_repository_s_room(
    begin: Begin, home: Path, tmp_path: Path, era: str
) -> None:
    with begin(checkout(tmp_path / "engine"), era) as chat:
        here = chat.call("get_current_room")
        status = chat.call("check_repo")

        assert chat.close() == 0

    assert here["connected"] is True
    assert here["room_id"] == REPOSITORY
    assert here["joined_via"] == "git-remote"
    assert status["current_room_scope"] == "matches_detected_repo_context"
    assert status["join_hint"] is None
    assert rooms(home) == [REPOSITORY]


def test_a_chat_that_calls_no_tool_is_in_the_room_all_the_same(
    begin: Begin, home: Path, tmp_path: Path
) -> None:
    with begin(checkout(tmp_path / "engine")) as chat:
        chat.answer(chat.ask("tools/list", {}))
        for _ in range(10_000):
            if any(b"room.joined" in line for line in chat.complained):
                break
            chat.answer(chat.ask("ping", {}))

    assert rooms(home) == [REPOSITORY]


def test_what_the_people_of_a_folder_chose_comes_before_what_git_tells(
    begin: Begin, tmp_path: Path
) -> None:
    root = checkout(tmp_path / "engine")
    (tmp_path / FILE).write_text('{"room": "Workshop"}')
    with begin(root) as chat:
        here = chat.call("get_current_room")
        status = chat.call("check_repo")

    assert (here["room_id"], here["joined_via"]) == ("Workshop", "config")
    assert status["config_file"] == str(tmp_path.resolve() / FILE)
    assert status["configured_room_from_file"] == "Workshop"
    assert status["derived_repo_room_from_git"] == REPOSITORY


def test_on_a_branch_a_chat_begins_in_the_branch_s_room_if_somebody_made_it(
    begin: Begin, home: Path, tmp_path: Path
) -> None:
    root = checkout(tmp_path / "engine", branch="topic/one")
    with begin(root) as first:
        assert first.call("get_current_room")["room_id"] == REPOSITORY
        assert first.call("check_repo")["derived_branch_room_from_git"] == TOPIC
        assert rooms(home) == [REPOSITORY]

        locator = f"GitHub.com/Ada/Engine/focus/git:branch:{TOPIC.rpartition(':')[2]}"
        assert first.call("join_room", name=locator)["room_id"] == TOPIC
    with begin(root) as second:
        assert second.call("get_current_room")["room_id"] == TOPIC
    with begin(tmp_path / "elsewhere") as third:
        assert third.call("get_current_room")["room_id"] == TOPIC

    assert set(rooms(home)) == {REPOSITORY, TOPIC}


def test_a_branch_s_room_that_is_gone_is_not_made_anew(
    begin: Begin, home: Path, tmp_path: Path
) -> None:
    with begin(tmp_path / "elsewhere") as first:
        first.call("join_room", name=TOPIC)
    (home / "rooms.db").unlink()
    with begin(tmp_path / "elsewhere") as second:
        assert second.call("get_current_room")["room_id"] == REPOSITORY
        assert second.call("resume_room_session")["room"]["room_id"] == REPOSITORY

    assert rooms(home) == [REPOSITORY]


def test_elsewhere_a_chat_begins_where_this_machine_was_last(begin: Begin, tmp_path: Path) -> None:
    with begin(tmp_path / "elsewhere") as first:
        code = first.call("create_room")["code"]
    with begin(tmp_path / "elsewhere") as second:
        here = second.call("get_current_room")

    assert (here["room_id"], here["joined_via"]) == (code, "join_code")


def test_where_nothing_tells_of_a_room_nothing_is_made(
    begin: Begin, home: Path, tmp_path: Path
) -> None:
    with begin(tmp_path / "elsewhere") as chat:
        assert chat.call("get_current_room")["connected"] is False

    assert not (home / "rooms.db").exists()


def test_a_chat_enters_no_room_by_itself_where_that_is_switched_off(
    begin: Begin, home: Path, tmp_path: Path
) -> None:
    with begin(checkout(tmp_path / "engine"), LETAGENTS_AUTO_JOIN="0") as chat:
        assert chat.call("get_current_room")["connected"] is False
        assert "join_room(name='github.com/ada/engine')" in chat.call("check_repo")["join_hint"]

    assert not (home / "rooms.db").exists()


def test_the_room_that_a_chat_enters_first_is_the_one_it_is_in(
    begin: Begin, tmp_path: Path
) -> None:
    with begin(checkout(tmp_path / "engine")) as chat:
        chat.call("join_room", name="workshop")
        status = chat.call("check_repo")

    scope = "existing_joined_session_not_derived_from_inspected_cwd"
    assert status["current_room"]["room_id"] == "workshop"
    assert status["current_room_scope"] == scope
    assert "workshop" in status["warning"]


# --- what can go wrong --------------------------------------------------------------------------


def test_a_damaged_state_keeps_a_chat_out_of_rooms_and_not_from_being_served(
    begin: Begin, home: Path, tmp_path: Path
) -> None:
    home.mkdir()
    (home / "mcp-state.json").write_text("{")
    with begin(checkout(tmp_path / "engine")) as chat:
        assert chat.call("check_repo")["derived_repo_room_from_git"] == REPOSITORY
        assert chat.call("get_current_room")["connected"] is False
        assert chat.close() == 0

    [line] = [line for line in chat.complained if b"room.not_joined" in line]
    assert json.loads(line)["code"] == "state_damaged"


def test_a_config_that_names_no_room_is_told_of_and_passed_over(
    begin: Begin, tmp_path: Path
) -> None:
    root = checkout(tmp_path / "engine")
    (root / FILE).write_text("{room: x}")
    with begin(root) as chat:
        assert chat.call("get_current_room")["room_id"] == REPOSITORY
        status = chat.call("check_repo")
        chat.close()

    assert status["config_contents"] == "<parse error>"
    assert "not JSON" in status["warning"]
    assert any(b"room_config.ignored" in line for line in chat.complained)


@needs_scripts
def test_a_git_that_hangs_delays_neither_the_list_of_tools_nor_a_call_for_long(
    begin: Begin, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text("#!/bin/sh\nexec sleep 600\n")
    (tmp_path / "bin" / "git").chmod(0o700)
    path = f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}"
    with begin(checkout(tmp_path / "engine"), PATH=path) as chat:
        assert chat.answer(chat.ask("tools/list", {}))["result"]["tools"]
        assert chat.call("get_current_room")["connected"] is False
        assert chat.call("join_room", name="workshop")["room_id"] == "workshop"
        assert chat.close() == 0


def test_without_a_git_a_chat_begins_in_no_room(begin: Begin, tmp_path: Path) -> None:
    root = checkout(tmp_path / "engine")
    with begin(root, PATH=str(tmp_path / "nothing")) as chat:
        assert chat.call("get_current_room")["connected"] is False
        assert chat.call("initialize_repo", room="workshop")["success"] is False
        assert "not installed" in chat.call("check_repo")["warning"]


def test_a_secret_in_a_remote_is_shown_and_kept_nowhere(
    begin: Begin, home: Path, tmp_path: Path
) -> None:
    root = checkout(tmp_path / "engine", remote=f"https://ada:{SECRET}@git.example/Ada/Engine.git")
    odd = checkout(tmp_path / "odd", remote=f"https://ada:{SECRET}/@git.example/Ada/Engine.git")
    (root / "sub").mkdir()
    with begin(root / "sub", LETAGENTS_LOG_LEVEL="debug") as chat:
        chat.call("get_current_room")
        for tool in ("check_repo", "get_onboarding_status", "check_repo_visibility"):
            chat.call(tool)
            chat.call(tool, cwd=str(odd))
        chat.call("initialize_repo", cwd=str(odd))
        chat.call("initialize_repo")
        chat.call("initialize_repo", room="git.example/Ada/Engine")
        chat.refused("join_room", name=f"https://ada:{SECRET}/@git.example/Ada/Engine")
        chat.call("join_room", name=f"https://ada:{SECRET}@git.example/Ada/Engine")
        chat.call("resume_room_session")
        assert chat.close() == 0

    told = b"".join([*chat.said, *chat.complained])
    kept = b"".join(file.read_bytes() for file in home.rglob("*") if file.is_file())
    assert SECRET.encode() not in told + kept + (root / FILE).read_bytes()
    assert set(rooms(home)) == {"git.example/Ada/Engine"}


# --- choosing a room for others -----------------------------------------------------------------


def test_a_room_that_was_chosen_for_a_checkout_is_where_the_next_chat_begins(
    begin: Begin, tmp_path: Path
) -> None:
    root = checkout(tmp_path / "engine")
    (root / "below").mkdir()
    with begin(root, LETAGENTS_AUTO_JOIN="0") as first:
        done = first.call("initialize_repo", cwd=str(root / "below"))
        again = first.call("initialize_repo", room="other")
    with begin(root / "below") as second:
        here = second.call("get_current_room")

    assert done["success"] is True
    assert done["created"] == again["path"] == str(root / FILE)
    assert (done["room_id"], done["joined"], done["code"]) == (REPOSITORY, True, None)
    assert again["success"] is False
    assert again["hint"]
    assert json.loads((root / FILE).read_text()) == {"room": REPOSITORY}
    assert (here["room_id"], here["joined_via"]) == (REPOSITORY, "config")


async def test_a_room_is_chosen_only_inside_a_checkout_and_only_if_there_is_one_to_choose(
    chat: Chat, tmp_path: Path
) -> None:
    root = checkout(tmp_path / "engine", remote=None)
    outside = await chat.call("initialize_repo", room="workshop", cwd=str(tmp_path))
    without = await chat.call("initialize_repo", cwd=str(root))
    named = await chat.call("initialize_repo", cwd=str(root), room=" Workshop ")

    assert (outside["success"], without["success"], named["success"]) == (False, False, True)
    assert "git init" in outside["hint"]
    assert without["hint"] == "Pass room."
    assert named["room_id"] == "Workshop"


async def test_a_file_that_chooses_a_room_which_cannot_be_entered_now_is_kept_and_that_is_told(
    chat: Chat, home: Path, tmp_path: Path
) -> None:
    root = checkout(tmp_path / "engine")
    home.mkdir(exist_ok=True)
    (home / "mcp-state.json").write_text("{")
    done = await chat.call("initialize_repo", cwd=str(root))

    assert (done["success"], done["joined"], done["room_id"]) == (True, False, REPOSITORY)
    assert done["error"]
    assert done["hint"]
    assert (root / FILE).exists()


async def test_a_code_that_no_room_has_is_chosen_for_nobody(chat: Chat, tmp_path: Path) -> None:
    root = checkout(tmp_path / "engine")
    unknown = await chat.call("initialize_repo", room="abcd-efgh", cwd=str(root))
    assert unknown["success"] is False
    assert "ABCD-EFGH" in unknown["error"]
    assert unknown["hint"]
    assert not (root / FILE).exists()

    code = (await chat.call("create_room"))["code"]
    known = await chat.call("initialize_repo", room=code, cwd=str(root))
    assert (known["success"], known["joined"], known["code"]) == (True, True, code)


@pytest.mark.parametrize("content", ["{", "[]", '{"room": 5}', '{"room": " "}'])
async def test_a_file_that_is_ignored_is_not_said_to_choose_a_room(
    chat: Chat, tmp_path: Path, content: str
) -> None:
    root = checkout(tmp_path / "engine")
    (root / FILE).write_text(content)
    done = await chat.call("initialize_repo", cwd=str(root))
    warning = (await chat.call("check_repo", cwd=str(root)))["warning"]

    assert done["success"] is False
    assert "ignored" in done["error"]
    assert warning.rpartition(": ")[2] in done["error"]
    assert "remove" in done["hint"]
    assert (root / FILE).read_text() == content


async def test_a_file_that_cannot_be_written_is_told_of(chat: Chat, tmp_path: Path) -> None:
    root = checkout(tmp_path / "engine")
    (root / FILE).symlink_to(tmp_path / "nowhere")
    done = await chat.call("initialize_repo", cwd=str(root))

    assert done["success"] is False
    assert done["path"] == str(root / FILE)
    assert not (tmp_path / "nowhere").exists()


async def test_a_repository_that_nobody_can_be_asked_about_is_unknown(
    chat: Chat, tmp_path: Path
) -> None:
    root = checkout(tmp_path / "engine", remote="https://git.example/Ada/Engine")
    asked = await chat.call("check_repo_visibility", cwd=str(root))
    nothing = await chat.call("check_repo_visibility", cwd=str(tmp_path))

    assert asked.pop("error")
    assert asked == {
        "canonicalKey": "git.example/Ada/Engine",
        "provider": "unknown",
        "visibility": "unknown",
        "accessMode": "unknown",
        "roomType": "invite",
    }
    assert nothing["error"]
    assert nothing["suggestion"]


async def test_a_folder_that_is_not_there_is_told_of(chat: Chat, tmp_path: Path) -> None:
    told = await chat.call("check_repo", cwd=str(tmp_path / "nowhere"))

    assert told["repo_context_status"] == "not_inside_git_repo"
    assert "nowhere is no folder" in told["warning"]
    assert told["current_room_scope"] == "none"


# --- signing in ---------------------------------------------------------------------------------


STORED = {
    "auth": {"token": SECRET, "account": {"id": "1", "login": "ada"}, "stored_at": "2030-01-01"},
    "pending_device_auth": {"request_id": f"{SECRET}-2", "user_code": "AB-12"},
    "something_newer": {"kept": True},
}
FIELDS = {
    "api_url", "api_health", "api_url_hint", "local_state_path", "authenticated", "auth_source",
    "auth_hint", "account", "token_expires_at", "pending_device_auth", "agent_identity",
    "current_room", "saved_current_room", "detected_room_from_context",
    "configured_room_from_file", "configured_active_room_from_context",
    "derived_repo_room_from_git", "derived_active_git_room", "derived_branch_room_from_git",
    "git_current_branch", "git_default_branch", "repo_root", "next_step",
}  # fmt: skip


def test_who_is_signed_in_is_forgotten_and_nothing_else(
    begin: Begin, home: Path, tmp_path: Path
) -> None:
    home.mkdir()
    (home / "mcp-state.json").write_text(json.dumps(STORED))
    with begin(tmp_path / "elsewhere", LETAGENTS_TOKEN="another") as chat:
        before = chat.call("get_onboarding_status")
        cleared = chat.call("clear_saved_auth")
        after = chat.call("get_onboarding_status")
        assert chat.call("clear_saved_auth")["success"] is True
        assert chat.close() == 0

    assert before["account"]["login"] == "ada"
    assert before["pending_device_auth"] == {"user_code": "AB-12"}
    assert cleared == {"success": True, "env_token_still_present": True}
    assert after["account"] is None
    assert after["pending_device_auth"] is None
    kept = json.loads((home / "mcp-state.json").read_text())
    assert kept["something_newer"] == {"kept": True}
    assert not {"auth", "pending_device_auth"} & set(kept)
    assert SECRET.encode() not in b"".join([*chat.said, *chat.complained])


async def test_without_a_server_everything_says_what_to_do_next(
    chat: Chat, home: Path, tmp_path: Path
) -> None:
    root = str(checkout(tmp_path / "engine", branch="topic/one"))
    status = await chat.call("get_onboarding_status", cwd=root)
    for call in (
        await chat.call("start_device_auth", force=True, room_id="workshop"),
        await chat.call("poll_device_auth"),
        await chat.call("poll_device_auth", request_id="a request", auto_join=True),
    ):
        assert call["success"] is False
        assert call["error"]
        assert "join_room" in call["hint"]
    await chat.call("join_room", name="workshop")
    joined = await chat.call("get_onboarding_status", cwd=root)
    chat.visit.client.places.current = None
    later = await chat.call("get_onboarding_status", cwd=root)

    assert set(status) == FIELDS
    assert (status["authenticated"], status["auth_source"]) == (False, "none")
    assert status["api_health"]["reachable"] is False
    assert status["local_state_path"] == str(home / "mcp-state.json")
    assert status["derived_active_git_room"] == TOPIC
    assert status["git_current_branch"] == "topic/one"
    assert status["next_step"] == "join_room"
    assert joined["current_room"]["room_id"] == "workshop"
    assert joined["next_step"] == "join_room"
    assert later["saved_current_room"]["room_id"] == "workshop"
    assert later["saved_current_room"]["room_path"] == "/in/workshop"
    assert later["next_step"] == "resume_room_session"
