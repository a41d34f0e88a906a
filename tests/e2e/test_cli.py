"""The command line as people use it: listing, following and joining rooms."""

import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.shell import COMMAND, PATIENCE, Running, environment, run

from letagents.entrypoints.cli.main import _parsed, _parser, main

ROOT = Path(__file__).parents[2]
EXAMPLE = re.compile(r"^```(?:sh|bash|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
HEAVY = ("mcp", "mcp_types", "sqlalchemy", "structlog", "anyio", "attr", "httpx", "pysqlite3")
PROFILED = {"PYTHONPROFILEIMPORTTIME": "1"}
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such thing")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a room in which one thing was said; whoever wants it takes a copy."""
    home = tmp_path_factory.mktemp("made") / "home"
    assert run(home, "send", "--create", "workshop", "Hello").stdout == "msg_1\n"
    return home


@pytest.fixture
def workshop(home: Path, made: Path) -> Path:
    """A home with a room in which one thing was said."""
    return Path(shutil.copytree(made, home))


def objects(lines: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.splitlines()]


def stored(home: Path, question: str = "SELECT text FROM messages ORDER BY number") -> list[Any]:
    """Return what stands in the store itself."""
    with closing(sqlite3.connect(home / "rooms.db")) as database:
        return database.execute(question).fetchall()


def newest(home: Path, *words: str) -> list[dict[str, Any]]:
    return objects(run(home, "tail", "workshop", "--once", "--json", *words).stdout)


# --- the whole ----------------------------------------------------------------------------------


def test_alone_it_prints_the_help_with_every_command(home: Path) -> None:
    alone = run(home)

    assert alone.returncode == 0
    for command in ("mcp", "demo", "rooms", "tail", "send", "doctor"):
        assert f"\n    {command} " in alone.stdout


def test_every_command_line_that_the_documents_show_is_understood() -> None:
    lines = list(shown_in_documents())
    for line in lines:
        try:
            _parsed(_parser(line), line)
        except SystemExit:
            pytest.fail(f"letagents {shlex.join(line)}")

    assert len(lines) > 40


def shown_in_documents() -> Iterator[list[str]]:
    """Yield the words of each line of an example for a shell that calls letagents."""
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for example in EXAMPLE.findall(page.read_text("utf-8")):
            for line in example.replace("\\\n", "").splitlines():
                words = shlex.split(line, comments=True)
                if words[:1] == ["letagents"]:
                    yield list(takewhile(lambda word: word not in ("|", ">", "&"), words[1:]))


@pytest.mark.parametrize("command", ["mcp", "demo", "rooms", "tail", "send", "doctor"])
def test_the_help_of_a_command_fits_on_a_screen(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])

    assert ended.value.code == 0
    assert 4 < len(capsys.readouterr().out.splitlines()) < 24


@pytest.mark.parametrize(
    "words",
    [
        ["dance"],
        ["tail"],
        ["send", "workshop"],
        ["tail", "workshop", "-n", "-3"],
        ["tail", "workshop", "-n", "many"],
        ["send", "workshop", "Hello", "--reply-to", "3"],
        ["rooms", "--yaml"],
        ["agents", "add", "ada", "--room", "x", "--provider", "codex", "--server", "rooms.example"],
    ],
)
def test_what_is_not_understood_ends_with_2(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    shown = capsys.readouterr()

    assert ended.value.code == 2
    assert shown.out == ""
    assert "usage: letagents" in shown.err


@pytest.mark.parametrize(
    "words",
    [
        ("task", "add"),
        ("focus", "open"),
        ("guard", "install"),
        ("guard", "check"),
        ("accounts", "grant"),
        ("agents", "skip"),
    ],
    ids=" ".join,
)
def test_the_help_of_a_verb_says_what_it_does(
    words: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])

    before, _, _ = capsys.readouterr().out.partition("options:")
    assert ended.value.code == 0
    assert re.search(r"^[A-Z][^:]*[.]$", before, re.MULTILINE), before


def test_a_grant_that_would_end_at_once_is_not_understood(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["accounts", "grant", "ada", "--hours", "0"])

    assert ended.value.code == 2
    assert "1 is the shortest" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_a_question_about_itself_loads_nothing_heavy(word: str, home: Path) -> None:
    asked = run(home, word, settings=PROFILED)
    loaded = {line.rpartition("|")[2].strip() for line in asked.stderr.splitlines()}

    assert asked.returncode == 0
    assert loaded & set(HEAVY) == set()


def test_only_the_server_loads_the_mcp_library(home: Path) -> None:
    listed = run(home, "rooms", settings=PROFILED)
    loaded = {line.rpartition("|")[2].strip() for line in listed.stderr.splitlines()}

    assert listed.returncode == 0
    assert loaded & {"mcp", "mcp_types", "httpx"} == set()


# --- rooms --------------------------------------------------------------------------------------


def test_where_no_room_is_there_yet_it_says_what_to_do(home: Path) -> None:
    listed = run(home, "rooms")

    assert listed.returncode == 0
    assert "letagents send --create" in listed.stdout
    assert run(home, "rooms", "--json").stdout == ""


def test_rooms_are_listed_the_latest_active_first(workshop: Path) -> None:
    run(workshop, "send", "--create", "garden", "Hello")
    run(workshop, "send", "workshop", "Hello again")
    head, first, second = run(workshop, "rooms").stdout.splitlines()
    plain = objects(run(workshop, "rooms", "--json").stdout)

    assert head.split()[:2] == ["ROOM", "MESSAGES"]
    assert first.split()[:2] == ["workshop", "2"]
    assert second.split()[:2] == ["garden", "1"]
    assert [(room["room_id"], room["messages"]) for room in plain] == [
        ("workshop", 2),
        ("garden", 1),
    ]
    assert plain[0]["last_activity_at"] == newest(workshop, "-n", "1")[0]["timestamp"]


# --- send ---------------------------------------------------------------------------------------


def test_a_person_speaks_under_their_own_name_and_leaves_nobody_behind(workshop: Path) -> None:
    sent = run(workshop, "send", "workshop", "Second", "--as", "Linus")
    first, second = newest(workshop)

    assert (sent.returncode, sent.stdout, sent.stderr) == (0, "msg_2\n", "")
    assert (first["sender"], first["source"], first["agent_identity"]) == ("Grace", "browser", None)
    assert (second["sender"], second["text"]) == ("Linus", "Second")
    sessions = stored(workshop, "SELECT kind, agent_key, ended_at FROM sessions")
    assert sorted(key for _, key, _ in sessions) == ["human:name:grace", "human:name:linus"]
    assert all(kind == "person" and ended_at for kind, _, ended_at in sessions)


def test_a_mistyped_room_is_refused_and_the_nearest_are_named(workshop: Path) -> None:
    for words in (["send", "workshp", "Hello"], ["tail", "WORK"]):
        refused = run(workshop, *words)
        happened, remedy = refused.stderr.splitlines()

        assert refused.returncode == 1
        assert happened == f"letagents: There is no room {words[1]} here; the nearest are workshop."
        assert "--create" in remedy
    assert stored(workshop, "SELECT room_id FROM rooms") == [("workshop",)]


def test_an_invite_code_that_opens_nothing_makes_nothing(home: Path) -> None:
    refused = run(home, "send", "--create", "ab12-cd34", "Hello")

    assert refused.returncode == 1
    assert "invite code" in refused.stderr
    assert stored(home, "SELECT room_id FROM rooms") == []


def test_a_dash_reads_what_comes_in(workshop: Path) -> None:
    text = "one\n\ttwo: ÄÖ 日本\n"
    sent = run(workshop, "send", "workshop", "-", given=text.encode())

    assert sent.stdout == "msg_2\n"
    assert stored(workshop)[1] == (text.removesuffix("\n"),)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (b"", "blank"),
        (b" \n", "blank"),
        (b"\xff\xfe", "UTF-8"),
        (b"x" * 65_537, "65,536"),
        (b"\xe2\x82\xac" * 200_000, "65,536"),
        (b"bell\x07", "U+0007"),
    ],
)
def test_what_a_room_cannot_keep_is_refused(given: bytes, told: str, workshop: Path) -> None:
    refused = run(workshop, "send", "workshop", "-", given=given)

    assert refused.returncode == 1
    assert told in refused.stderr
    assert len(refused.stderr.splitlines()) == 2
    assert stored(workshop) == [("Hello",)]


def test_the_same_key_says_it_once(workshop: Path) -> None:
    first = run(workshop, "send", "workshop", "Ready", "--key", "k")
    again = run(workshop, "send", "workshop", "Ready", "--key", "k")
    other = run(workshop, "send", "workshop", "Not ready", "--key", "k")

    assert (first.stdout, again.stdout) == ("msg_2\n", "msg_2\n")
    assert other.returncode == 1
    assert "--key" in other.stderr
    assert stored(workshop) == [("Hello",), ("Ready",)]


@pytest.mark.parametrize("words", [["--as", "a|b"], ["--as", " "], ["--key", ""]])
def test_a_name_or_key_that_cannot_be_is_refused(words: list[str], workshop: Path) -> None:
    refused = run(workshop, "send", "workshop", "Hello", *words)

    assert refused.returncode == 1
    assert words[0] in refused.stderr
    assert stored(workshop) == [("Hello",)]


def test_a_reply_and_a_thread_are_shown_as_such(workshop: Path) -> None:
    run(workshop, "send", "workshop", "I quote", "--reply-to", "msg_1")
    run(workshop, "send", "workshop", "I go on", "--thread", "msg_1", "--as", "Linus")
    quoting, going_on = newest(workshop, "-n", "2")
    shown = run(workshop, "tail", "workshop", "--once").stdout.splitlines()

    assert (quoting["reply_to"]["id"], quoting["thread_root_id"]) == ("msg_1", "msg_2")
    assert going_on["thread_root_id"] == "msg_1"
    assert shown[3:5] == ["    > msg_1 Grace: Hello", "    I quote"]
    assert shown[5].endswith(" msg_3 [thread msg_1] Linus")


def test_a_message_that_is_not_there_cannot_be_quoted(workshop: Path) -> None:
    refused = run(workshop, "send", "workshop", "What?", "--reply-to", "msg_9")

    assert refused.returncode == 1
    assert "msg_9" in refused.stderr
    assert "letagents tail" in refused.stderr


# --- tail ---------------------------------------------------------------------------------------


def test_the_newest_are_shown_oldest_first(workshop: Path) -> None:
    run(workshop, "send", "workshop", "Second")
    run(workshop, "send", "workshop", "Third")

    assert [message["id"] for message in newest(workshop, "-n", "2")] == ["msg_2", "msg_3"]
    assert newest(workshop, "-n", "0") == []


def test_a_room_is_followed_live(workshop: Path) -> None:
    with Running(workshop, ["tail", "workshop"]) as tail:
        assert tail.line().endswith(" msg_1 Grace")
        assert tail.line() == "    Hello"
        run(workshop, "send", "workshop", "And now?")

        assert tail.line().endswith(" msg_2 Grace")
        assert tail.line() == "    And now?"


@posix
def test_an_interrupt_ends_it_with_130_and_without_a_word(workshop: Path) -> None:
    with Running(workshop, ["tail", "workshop"]) as tail:
        tail.line()
        tail.process.send_signal(signal.SIGINT)

        assert tail.ended() == 130
        assert tail.complaints() == ""


@posix
@pytest.mark.parametrize("speaks", [False, True])
def test_it_ends_when_its_reader_leaves(speaks: bool, workshop: Path) -> None:
    reading, writing = os.pipe()
    with Running(
        workshop, ["tail", "workshop", *(() if speaks else ("-n", "0"))], out=writing
    ) as tail:
        os.close(writing)
        if speaks:
            os.read(reading, 1)
        os.close(reading)

        assert tail.ended() == 0
        assert tail.complaints() == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has such a device")
def test_output_that_cannot_be_written_is_an_error(workshop: Path) -> None:
    with Path("/dev/full").open("wb") as full, Running(workshop, ["rooms"], out=full) as rooms:
        assert rooms.ended() == 1
        assert "Standard output cannot be written" in rooms.complaints()


# --- on a terminal ------------------------------------------------------------------------------


def closing_streams(home: Path, closed: str, *words: str) -> "subprocess.CompletedProcess[bytes]":
    """Run a command for which standard streams are closed, as a shell closes them."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(home),
        timeout=PATIENCE,
        check=False,
    )


@posix
@pytest.mark.parametrize(
    "words",
    [
        *(["rooms"], ["doctor", "--json"], ["tail", "workshop", "--once"], ["guard", "status"]),
        *(["send", "workshop", "again"], ["mcp"], ["answer", "workshop", "request_1", "yes"]),
    ],
)
def test_without_an_output_nothing_is_done_and_that_is_told(
    words: list[str], workshop: Path
) -> None:
    done = closing_streams(workshop, ">&-", *words)

    assert done.returncode == 1
    happened, remedy = done.stderr.decode().splitlines()
    assert "Standard output is closed" in happened
    assert "/dev/null" in remedy
    assert stored(workshop) == [("Hello",)]


@posix
def test_a_closed_input_is_empty_and_closed_errors_are_told_to_nobody(workshop: Path) -> None:
    unread = closing_streams(workshop, "<&-", "send", "workshop", "-")
    untold = closing_streams(workshop, "2>&-", "tail", "nowhere")
    nothing = closing_streams(workshop, "<&- >&- 2>&-", "send", "workshop", "again")
    listed = closing_streams(workshop, "<&- 2>&-", "rooms")

    assert unread.returncode == untold.returncode == nothing.returncode == 1
    assert b"TEXT" in unread.stderr
    assert untold.stdout == b""
    assert (listed.returncode, listed.stdout[:4]) == (0, b"ROOM")
    assert stored(workshop) == [("Hello",)]


def poisoned(home: Path) -> None:
    """Put into the store what no room accepts, as another program might."""
    with closing(sqlite3.connect(home / "rooms.db")) as database, database:
        database.execute(
            "UPDATE messages SET text = ?, sender = ?", ("\x1b[2Jgone", "Eve\x1b]0;x\x07")
        )


def on_terminal(home: Path, *words: str, **settings: str) -> str:
    """Return what a command shows on a terminal."""
    import pty
    import subprocess

    ours, theirs = pty.openpty()
    settings = {"TERM": "xterm", **settings}
    command = [sys.executable, "-m", "letagents", *words]
    with subprocess.Popen(command, stdout=theirs, env=environment(home, settings)) as process:
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b""))
        assert process.wait(PATIENCE) == 0
    os.close(ours)
    return shown.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux says so when nobody holds the other end any more
        return b""


@posix
def test_a_terminal_shows_colours_and_local_time(workshop: Path) -> None:
    shown = on_terminal(workshop, "tail", "workshop", "--once")

    assert "\x1b[1;" in shown
    assert "-- " in shown.splitlines()[0]
    assert "\x1b[" not in on_terminal(workshop, "tail", "workshop", "--once", NO_COLOR="1")
    assert "\x1b[" not in run(workshop, "tail", "workshop", "--once").stdout


@posix
def test_nothing_that_was_said_steers_a_terminal(workshop: Path) -> None:
    poisoned(workshop)
    shown = on_terminal(workshop, "tail", "workshop", "--once", NO_COLOR="1")

    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\\x1b[2Jgone" in shown
    assert "Eve\\x1b]0;x\\x07" in shown


# --- what stands in the way ---------------------------------------------------------------------


def test_a_state_that_is_damaged_is_told_and_left_alone(workshop: Path) -> None:
    state = workshop / "mcp-state.json"
    state.write_bytes(b"{")
    refused = run(workshop, "send", "workshop", "Hello")

    assert refused.returncode == 1
    assert str(state) in refused.stderr
    assert "letagents doctor" in refused.stderr
    assert state.read_bytes() == b"{"


def test_rooms_that_cannot_be_read_are_told_in_two_lines(workshop: Path) -> None:
    (workshop / "rooms.db").write_bytes(b"this is no database" * 100)
    refused = run(workshop, "rooms")

    assert refused.returncode == 1
    assert str(workshop / "rooms.db") in refused.stderr
    assert len(refused.stderr.splitlines()) == 2


def test_a_server_that_is_not_there_is_told(home: Path) -> None:
    refused = run(home, "rooms", settings={"LETAGENTS_API_URL": "http://127.0.0.1:1"})

    assert refused.returncode == 1
    assert "The room server cannot be used now" in refused.stderr
