"""Where a process finds its supervisor, and everything that is wrong with what it finds."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import attrs
import pytest

from letagents.adapters.marks import CONTEXT, LARGEST, MARKER
from letagents.adapters.supervisor.coordinates import Coordinates, resolve
from letagents.domain.supervised import CoordinatesWrong, OwnSession
from letagents.testing.contracts.supervisor import ROOM, SESSION

ENVIRON = {
    "LETAGENTS_SUPERVISOR_ENTRY_ID": "e1",
    "LETAGENTS_SUPERVISOR_DAEMON_SOCKET": "/run/daemon.sock",
    "LETAGENTS_SUPERVISOR_WORK_ATTEMPT_ID": "w1",
    "LETAGENTS_SUPERVISOR_EXECUTION_GENERATION_ID": " x1 ",
}
WORDS = {
    "version": 1,
    "provider": "codex",
    "entry_id": "e1",
    "room_id": ROOM,
    "work_attempt_id": "w1",
    "execution_generation_id": "x1",
}
TRUSTED = Path("/home/daemon.sock")
BRIDGE = "Codex supervisor bridge context"


def found(
    folder: Path, environ: Mapping[str, str] | None = None, session: OwnSession | None = SESSION
) -> Coordinates | None:
    return resolve(environ or {}, home_socket=TRUSTED, here=folder, session=session)


def write(folder: Path, context: object = WORDS, marker: object = None) -> Path:
    for name, content in ((CONTEXT, context), (MARKER, marker or _marker())):
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name).write_text(text, "utf-8")
    return folder


def _marker(attempt: str = "w1") -> dict[str, object]:
    return {"version": 1, "work_attempt_id": attempt, "repo": "letagents"}


def test_a_process_without_either_is_not_supervised(tmp_path: Path) -> None:
    assert found(tmp_path) is None
    assert found(tmp_path / "not there") is None


def test_the_environment_names_all_of_it(tmp_path: Path) -> None:
    more = {
        "LETAGENTS_SUPERVISOR_ROOM_ID": ROOM,
        "LETAGENTS_SUPERVISOR_AGENT_SESSION_ID": "s1",
        "LETAGENTS_SUPERVISOR_AGENT_DISPLAY_NAME": " ",
        "LETAGENTS_SUPERVISOR_PROVIDER_TURN_ID": "t1",
    }

    assert found(tmp_path, ENVIRON | more) == Coordinates(
        Path("/run/daemon.sock"), "e1", "w1", "x1", room_id=ROOM, session_id="s1", turn_id="t1"
    )


@pytest.mark.parametrize("missing", ENVIRON)
def test_a_part_of_it_never_falls_through_to_the_files(missing: str, tmp_path: Path) -> None:
    with pytest.raises(CoordinatesWrong) as wrong:
        found(write(tmp_path), ENVIRON | {missing: " "})

    assert wrong.value.happened == "Supervised worker bridge environment is incomplete."


def test_the_environment_wins_over_files_that_are_wrong(tmp_path: Path) -> None:
    assert found(write(tmp_path, "{"), ENVIRON) is not None


def test_files_name_all_but_where_secrets_may_go(tmp_path: Path) -> None:
    context = WORDS | {"socket_path": "/tmp/evil.sock", "agent_session_id": "s1"}  # never opened
    at = found(write(tmp_path, context))

    assert at == Coordinates(
        TRUSTED,
        "e1",
        "w1",
        "x1",
        room_id=ROOM,
        session_id="s1",
        context_folder=str(tmp_path.resolve()),
    )


def test_they_are_found_again_where_they_were(tmp_path: Path) -> None:
    session = attrs.evolve(SESSION, context_folder=str(write(tmp_path)))

    assert found(tmp_path / "elsewhere", session=session) is not None
    (tmp_path / CONTEXT).unlink()
    with pytest.raises(CoordinatesWrong) as wrong:
        found(tmp_path / "elsewhere", session=session)
    assert wrong.value.happened == "The persisted supervised worker context is missing."


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ("{", "is not valid JSON."),
        ("[" * 2000, "is not valid JSON."),
        ("[]", "is malformed."),
        (WORDS | {"version": 2}, "has an unsupported identity."),
        (WORDS | {"version": True}, "has an unsupported identity."),
        (WORDS | {"provider": "cursor"}, "has an unsupported identity."),
        (WORDS | {"entry_id": " "}, "entryId is required."),
        (WORDS | {"room_id": 7}, "roomId is required."),
        (WORDS | {"work_attempt_id": ""}, "workAttemptId is required."),
        (WORDS | {"execution_generation_id": None}, "executionGenerationId is required."),
        (WORDS | {"room_id": "another"}, "does not match the worker room."),
        (WORDS | {"work_attempt_id": "w2"}, "does not match the daemon-owned worktree."),
        (json.dumps(WORDS).ljust(LARGEST + 1), "must be a small regular file."),
    ],
)
def test_what_is_wrong_with_the_context_is_told(context: object, said: str, tmp_path: Path) -> None:
    with pytest.raises(CoordinatesWrong) as wrong:
        found(write(tmp_path, context))

    assert wrong.value.happened == f"{BRIDGE} {said}"


@pytest.mark.parametrize(
    ("marker", "said"),
    [
        ("{", "Daemon work-attempt marker is not valid JSON."),
        ("7", "Daemon work-attempt marker is malformed."),
        (_marker("w2"), f"{BRIDGE} does not match the daemon-owned worktree."),
        (_marker() | {"version": 2}, f"{BRIDGE} does not match the daemon-owned worktree."),
        (" " * 5000, "Daemon work-attempt marker must be a small regular file."),
    ],
)
def test_what_is_wrong_with_the_marker_is_told(marker: object, said: str, tmp_path: Path) -> None:
    with pytest.raises(CoordinatesWrong) as wrong:
        found(write(tmp_path, marker=marker))

    assert wrong.value.happened == said


def test_a_context_without_its_marker_is_nobodys(tmp_path: Path) -> None:
    (write(tmp_path) / MARKER).unlink()

    with pytest.raises(CoordinatesWrong, match="is outside a daemon-owned worktree"):
        found(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
@pytest.mark.parametrize("name", [CONTEXT, MARKER])
def test_no_link_is_followed(name: str, tmp_path: Path) -> None:
    file = write(tmp_path) / name
    file.rename(tmp_path / "real")
    file.symlink_to(tmp_path / "real")

    with pytest.raises(CoordinatesWrong, match="must be a small regular file"):
        found(tmp_path)


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root gives files away"
)
@pytest.mark.parametrize("name", [CONTEXT, MARKER])
def test_a_file_of_another_user_is_none(name: str, tmp_path: Path) -> None:
    os.chown(write(tmp_path) / name, 12345, -1)

    with pytest.raises(CoordinatesWrong, match="must be a small regular file"):
        found(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    (write(tmp_path) / CONTEXT).unlink()
    os.mkfifo(tmp_path / CONTEXT)

    with pytest.raises(CoordinatesWrong, match="must be a small regular file"):
        found(tmp_path)


def test_only_codex_is_found_by_files(tmp_path: Path) -> None:
    with pytest.raises(CoordinatesWrong, match="cannot bind a non-Codex worker session"):
        found(write(tmp_path), session=attrs.evolve(SESSION, runtime="claude-code"))
    assert found(tmp_path, session=attrs.evolve(SESSION, runtime="Codex:app")) is not None
