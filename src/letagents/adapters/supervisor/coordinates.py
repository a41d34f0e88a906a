"""Where a process finds its supervisor: in its environment, or in two files of its workspace.

(Source: supervisor 4.1 to 4.3.) The files say who the process is, and never where a secret may be
sent: with them the socket is the one in the home, whatever else they name.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import attrs

from letagents.adapters import marks
from letagents.adapters.marks import CONTEXT, MARKER
from letagents.domain.supervised import CoordinatesWrong, OwnSession

_PREFIX = "LETAGENTS_SUPERVISOR_"
_NEEDED = ("ENTRY_ID", "DAEMON_SOCKET", "WORK_ATTEMPT_ID", "EXECUTION_GENERATION_ID")
_CODEX = re.compile(r"codex(:|\Z)", re.IGNORECASE)
_REMEDY = "Have the supervisor start this process anew, in the folder that it made for it."
_BRIDGE = "Codex supervisor bridge context"
_MARKER = "Daemon work-attempt marker"
_FIELDS = {
    "entry_id": "entryId",
    "room_id": "roomId",
    "work_attempt_id": "workAttemptId",
    "execution_generation_id": "executionGenerationId",
}


@attrs.frozen
class Coordinates:
    """Which supervisor, and which of its agents and processes this one is of."""

    socket: Path
    entry_id: str
    work_attempt_id: str
    execution_id: str
    room_id: str | None = None
    session_id: str | None = None
    display_name: str | None = None
    turn_id: str | None = None
    context_folder: str | None = None
    """Where they were found, if in files."""


def resolve(
    environ: Mapping[str, str],
    *,
    home_socket: Path,
    here: Path,
    session: OwnSession | None = None,
) -> Coordinates | None:
    """Return the coordinates of this process, or None if it is not supervised.

    Raises:
        CoordinatesWrong: there are some, and they are not as they have to be.
    """
    found = _from_environment(environ)
    if found is not None:
        return found
    remembered = session.context_folder if session is not None else None
    folder = Path(remembered) if remembered is not None else here
    context = _document(folder / CONTEXT, _BRIDGE)
    if context is None:
        if remembered is not None:
            raise _wrong("The persisted supervised worker context is missing.")
        return None
    return _from_files(context, folder, home_socket, session)


def _from_environment(environ: Mapping[str, str]) -> Coordinates | None:
    given = {name: environ.get(f"{_PREFIX}{name}", "").strip() for name in _NEEDED}
    if not any(given.values()):
        return None
    if not all(given.values()):
        raise _wrong("Supervised worker bridge environment is incomplete.")

    def optional(name: str) -> str | None:
        return environ.get(f"{_PREFIX}{name}", "").strip() or None

    return Coordinates(
        socket=Path(given["DAEMON_SOCKET"]),
        entry_id=given["ENTRY_ID"],
        work_attempt_id=given["WORK_ATTEMPT_ID"],
        execution_id=given["EXECUTION_GENERATION_ID"],
        room_id=optional("ROOM_ID"),
        session_id=optional("AGENT_SESSION_ID"),
        display_name=optional("AGENT_DISPLAY_NAME"),
        turn_id=optional("PROVIDER_TURN_ID"),
    )


def _from_files(
    context: Mapping[str, object], folder: Path, home_socket: Path, session: OwnSession | None
) -> Coordinates:
    if not _is_first(context) or context.get("provider") != "codex":
        raise _wrong(f"{_BRIDGE} has an unsupported identity.")
    named = {name: _text(context, name) for name in _FIELDS}
    for name, shown in _FIELDS.items():
        if not named[name]:
            raise _wrong(f"{_BRIDGE} {shown} is required.")
    marker = _document(folder / MARKER, _MARKER)
    if marker is None:
        raise _wrong(f"{_BRIDGE} is outside a daemon-owned worktree.")
    if not _is_first(marker) or _text(marker, "work_attempt_id") != named["work_attempt_id"]:
        raise _wrong(f"{_BRIDGE} does not match the daemon-owned worktree.")
    if session is not None:
        _check_session(session, named["room_id"])
    return Coordinates(
        socket=home_socket,
        entry_id=named["entry_id"],
        work_attempt_id=named["work_attempt_id"],
        execution_id=named["execution_generation_id"],
        room_id=named["room_id"],
        session_id=_text(context, "agent_session_id") or None,
        display_name=_text(context, "agent_display_name") or None,
        context_folder=str(folder.resolve()),
    )


def _check_session(session: OwnSession, room_id: str) -> None:
    if not _CODEX.match(session.runtime):
        raise _wrong(f"{_BRIDGE} cannot bind a non-Codex worker session.")
    if session.room_id != room_id:
        raise _wrong(f"{_BRIDGE} does not match the worker room.")


def _document(file: Path, called: str) -> Mapping[str, object] | None:
    """Return the object in a file; None if there is no file."""
    try:
        content = marks.content(file)
    except marks.NotSmall as error:
        raise _wrong(f"{called} must be a small regular file.") from error
    if content is None:
        return None
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _wrong(f"{called} is not valid JSON.") from error
    if not isinstance(document, Mapping):
        raise _wrong(f"{called} is malformed.")
    return document


def _is_first(document: Mapping[str, object]) -> bool:
    """Whether it is of version 1, which true is not."""
    version = document.get("version")
    return version == 1 and not isinstance(version, bool)


def _text(document: Mapping[str, object], name: str) -> str:
    value = document.get(name)
    return value.strip() if isinstance(value, str) else ""


def _wrong(happened: str) -> CoordinatesWrong:
    return CoordinatesWrong(happened, remedy=_REMEDY)
