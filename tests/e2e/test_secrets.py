"""Nothing secret travels: a day's work with real processes, and then a search for every secret."""

import json
from collections.abc import Iterator
from pathlib import Path

import attrs
import psutil  # type: ignore[import-untyped]  # it ships no types
import pytest
from tests.e2e.chats import ERAS, Plain, Served, posix
from tests.e2e.shell import begun_anew

SIGNED_IN = "owner-token-0123456789abcdef"
KEYS = ("registration key of one chat", "registration key of another chat")
LOUD = {"LETAGENTS_LOG": "json", "LETAGENTS_LOG_LEVEL": "debug"}
WITH_SECRETS = {"session_token", "connection_token", "predecessor_token", "token"}


@attrs.frozen
class Day:
    """All that was said, complained, shown and kept in one day."""

    home: Path
    secrets: frozenset[str]
    said: bytes
    complained: bytes
    arguments: str


def secrets_in(value: object) -> Iterator[str]:
    """Give every secret that a state file holds."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key in WITH_SECRETS and isinstance(part, str):
                yield part
            yield from secrets_in(part)


def signed_in(home: Path) -> None:
    """Leave a sign-in in the state file, as the npm package does."""
    auth = {
        "token": SIGNED_IN,
        "account": {"id": "1", "login": "ada", "display_name": "Ada"},
        "stored_at": "2026-01-01T00:00:00.000Z",
        "source": "device_flow",
    }
    home.mkdir(mode=0o700)
    (home / "mcp-state.json").write_text(json.dumps({"auth": auth}))
    (home / "mcp-state.json").chmod(0o600)


class Overseen(Served):
    """A process whose every answer is followed by a look at the secrets that there are then."""

    begun = staticmethod(begun_anew)

    def __init__(self, home: Path, era: str, found: set[str]) -> None:
        self.home, self.found = home, found
        super().__init__(home, era, LOUD)

    def answer(self, number: object) -> Plain:
        answer = super().answer(number)
        self.found |= set(secrets_in(json.loads((self.home / "mcp-state.json").read_bytes())))
        return answer


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Day:
    home = tmp_path_factory.mktemp("machine") / "home"
    signed_in(home)
    found: set[str] = {SIGNED_IN, *KEYS}
    with Overseen(home, ERAS[0], found) as one, Overseen(home, ERAS[1], found) as other:
        for work in (everything, mistakes, takeovers):
            work(one, other)
        arguments = "\n".join(map(_command_line, (one, other)))
        one.close()
        other.close()
    return Day(
        home,
        frozenset(found),
        said=b"".join(one.said + other.said),
        complained=b"".join(one.complained + other.complained),
        arguments=arguments,
    )


def _command_line(served: Served) -> str:
    return "\n".join(psutil.Process(served.process.pid).cmdline())


def register(served: Served, key: str, **more: object) -> str:
    registered = served.call(
        "register_agent_session", registration_key=key, room_id="workshop", **more
    )
    return str(registered["worker_id"])


def everything(one: Served, other: Served) -> None:
    """Use every tool once."""
    made = one.call("create_room")
    one.call("create_project")
    other.call("join_code", code=made["code"])
    other.call("join_project", code=made["code"])
    for served in (one, other):
        served.call("join_room", name="workshop")
    me = {"worker_id": register(one, KEYS[0], display_name="Juniper")}
    one.call("send_message", text="root", client_message_id="mine", **me)
    one.call("send_thread_message", text="reply", thread_parent_id="msg_1", **me)
    one.call("post_status", status="busy", **me)
    one.call("read_messages", **me)
    one.call("wait_for_messages", after_message_id="msg_1", **me, timeout=1000)
    one.call("get_current_room")
    one.call("set_agent_name", name="Sage")
    plain = one.call("register_agent_session")
    one.call("send_message", text="as the chat itself")
    one.call("resume_room_session", **me)
    one.call("disconnect_agent_session", agent_session_id=plain["agent_session_id"])


def mistakes(one: Served, _other: Served) -> None:
    """Pass a key in ways that are refused."""
    for wrong in ([KEYS[0]], {"key": KEYS[0]}, KEYS[0] + "\x00", KEYS[0] * 10):
        one.refused("register_agent_session", registration_key=wrong, room_id="workshop")
    one.refused("register_agent_session", registration_key=KEYS[0], room_id="nowhere")
    one.refused("register_agent_session", registration_key=KEYS[0], worker_id="worker_x")
    one.refused("register_agent_session", registration_key=KEYS[0], session_kind="controller")


def takeovers(one: Served, other: Served) -> None:
    """Let a worker change hands, leave and come back."""
    worker_id = register(other, KEYS[0])
    one.refused("send_message", worker_id=worker_id, text="still me?")
    one.refused("wait_for_messages", worker_id=worker_id)
    register(one, KEYS[1], display_name="Juniper")
    register(other, KEYS[1], display_name="Juniper")
    one.call("register_agent_session", worker_id=worker_id, room_id="workshop")
    one.call("disconnect_agent_session", worker_id=worker_id)
    one.call("disconnect_agent_session", worker_id=worker_id)
    one.call("register_agent_session", worker_id=worker_id, room_id="workshop")
    one.call(
        "register_agent_session",
        recover_lost_worker=True,
        room_id="workshop",
        display_name="Juniper",
    )


def test_there_were_secrets_to_be_found_and_logs_to_find_them_in(day: Day) -> None:
    assert len(day.secrets) >= 10
    events = [json.loads(line)["event"] for line in day.complained.splitlines() if line[:1] == b"{"]

    assert {"worker.registered", "connection.opened", "message.sent", "session.ended"} <= set(
        events
    )
    assert b"Traceback" not in day.complained


def test_no_secret_is_in_any_result_or_error(day: Day) -> None:
    assert [secret for secret in day.secrets if secret.encode() in day.said] == []


def test_no_secret_is_in_any_log_line(day: Day) -> None:
    assert [secret for secret in day.secrets if secret.encode() in day.complained] == []


def test_no_secret_is_among_the_arguments_of_a_process(day: Day) -> None:
    assert "letagents" in day.arguments
    assert [secret for secret in day.secrets if secret in day.arguments] == []


def test_no_secret_is_kept_anywhere_but_in_the_state_file(day: Day) -> None:
    """Nor in a room's database, nor in what belongs to it."""
    kept = {
        file: file.read_bytes()
        for file in day.home.rglob("*")
        if file.is_file() and file.name != "mcp-state.json"
    }
    found = [
        f"{file.name}: {secret[:6]}"
        for file, content in kept.items()
        for secret in day.secrets
        if secret.encode() in content
    ]

    assert any(file.name == "rooms.db" for file in kept)
    assert found == []


def test_the_state_file_holds_tokens_for_its_owner_alone_and_no_key_at_all(day: Day) -> None:
    state = day.home / "mcp-state.json"

    assert SIGNED_IN in state.read_text("utf-8"), "the sign-in is kept as it was"
    assert not any(key in state.read_text("utf-8") for key in KEYS)
    if posix:
        assert state.stat().st_mode & 0o777 == 0o600
        assert day.home.stat().st_mode & 0o777 == 0o700
        for file in day.home.glob("rooms.db*"):
            assert file.stat().st_mode & 0o077 == 0, file
