"""What a person can set, checked."""

import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from letagents.domain.absences import GRACE, LONGEST_GRACE, SHORTEST_GRACE
from letagents.domain.errors import SettingsInvalid
from letagents.domain.hints import Hints
from letagents.domain.modes import server_of
from letagents.domain.storage import ChatStorage, is_hosted
from letagents.domain.surfaces import Caller, Profile, Toolset
from letagents.setting_sources import Source, database, file_at, home_in, set_in_file, wrong

if TYPE_CHECKING:  # what only asks for a setting loads nothing more
    from letagents.domain.ids import RoomId

T = TypeVar("T")

POLL_CAP = timedelta(minutes=3)
POLL_CAP_LARGEST = timedelta(days=1)
LEASE_TERM = timedelta(minutes=15)
CODEX_OBSERVED = timedelta(seconds=8)
CODEX_OBSERVED_LONGEST = timedelta(seconds=30)
UNSET_API = "http://localhost:3001"
"""Where a server is that nothing says the address of. (Source: mcp-tools 2.1.)"""

_STORAGE_KEYS = (
    "CODEX_THREAD_ID",
    "ANTIGRAVITY_THREAD_ID",
    "CLAUDECODE_SESSION_ID",
    "MCP_SESSION_ID",
)
_COORDINATES = tuple(
    f"LETAGENTS_SUPERVISOR_{name}"
    for name in ("ENTRY_ID", "DAEMON_SOCKET", "WORK_ATTEMPT_ID", "EXECUTION_GENERATION_ID")
)
"""Where a supervised process finds its supervisor: all of them are set, or none."""
_CODEX = ("CODEX_THREAD_ID", "CODEX_SHELL", "CODEX_CI", "CODEX_INTERNAL_ORIGINATOR_OVERRIDE")


@attrs.frozen
class Settings:
    """Everything that can be set, checked. `Settings(home=...)` alone is a working whole.

    `rooms_db` is a path or an SQLAlchemy URL. `log` is None where it follows the terminal.
    """

    home: Path
    state: str = "json"
    state_path: Path = attrs.field()
    rooms_db: str = attrs.field(repr=False)  # a URL may hold a password
    lease_term: timedelta = LEASE_TERM
    api_url: str | None = None
    chat_storage: str | None = None
    chat_storage_settings_path: Path = attrs.field()
    storage: ChatStorage = attrs.field(factory=ChatStorage)
    """What the file at that path says of where rooms are."""
    log: str | None = None
    log_level: str = "info"
    poll_cap: timedelta = POLL_CAP
    notice_after: timedelta = GRACE
    auto_join: bool = True
    codex_observed: timedelta = CODEX_OBSERVED
    """How long a live session of Codex is looked at before it counts as started."""
    hints: Hints = attrs.field(factory=Hints)
    caller: Caller = attrs.field(factory=Caller)
    token: str | None = attrs.field(default=None, repr=False)
    """The owner token that the environment gives, which wins over a stored sign-in."""
    bearer: str | None = attrs.field(default=None, repr=False)
    """The bearer of a worker that the environment gives."""

    @state_path.default
    def _state_in_home(self) -> Path:
        return self.home / "mcp-state.json"

    @rooms_db.default
    def _rooms_in_home(self) -> str:
        return str(self.home / "rooms.db")

    @chat_storage_settings_path.default
    def _storage_in_home(self) -> Path:
        return self.home / "chat-storage.json"

    def is_hosted(self, room_id: "RoomId | None") -> bool:
        """Whether a room is on a server, or without one any that nothing is said of (K110)."""
        return is_hosted(
            room_id,
            said=self.chat_storage,
            chosen=self.storage,
            has_server=self.api_url is not None,
        )

    @property
    def rooms_are_hosted(self) -> bool:
        """Whether rooms of which nothing else is said are on a server."""
        return self.is_hosted(None)

    @property
    def has_hosted_rooms(self) -> bool:
        """Whether any room is on a server."""
        return self.rooms_are_hosted or self.rooms_are_apart

    @property
    def rooms_are_apart(self) -> bool:
        """Whether some rooms are on a server and others are not."""
        return any(self.is_hosted(one) != self.rooms_are_hosted for one in self.storage.rooms)

    @property
    def rooms_are_on_a_server(self) -> bool:
        """Whether a database server keeps the rooms, and not a file."""
        return "://" in self.rooms_db and not self.rooms_db.startswith("sqlite")

    @property
    def server_url(self) -> str:
        """Where rooms are that are on a server. (Source: mcp-tools 2.1.)"""
        return self.api_url or UNSET_API

    @property
    def supervisor_socket(self) -> Path:
        """Where the supervisor of this home answers. (Source: supervisor 2.1.)"""
        return self.home / "daemon.sock"

    @property
    def run_dir(self) -> Path:
        """Where processes of this machine find each other."""
        return self.home / "run"


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings that `environ` and the file in its home make.

    Raises:
        SettingsInvalid: a value is not one that its setting can have, or the file cannot be read.
    """
    home = home_in(environ.get("LETAGENTS_HOME"))
    source = Source(environ, set_in_file(home))
    given: dict[str, Any] = {
        "state": source.choice("state", ("json", "sqlite")),
        "state_path": source.parsed("state_path", file_at),
        "rooms_db": source.parsed("rooms_db", database),
        "lease_term": source.parsed("lease_term", _lease_term),
        "api_url": source.parsed("api_url", server_of, is_shown=False),
        "chat_storage": source.parsed("chat_storage", _storage),
        "chat_storage_settings_path": source.parsed("chat_storage_settings_path", file_at),
        "log": source.choice("log", ("text", "json")),
        "log_level": source.choice("log_level", ("debug", "info", "warning", "error")),
        "poll_cap": source.parsed("poll_max_ms", _poll_cap),
        "notice_after": source.parsed("liveness_notice_after_ms", _notice_after),
        "auto_join": source.parsed("auto_join", _switch),
        "codex_observed": source.parsed("codex_startup_observation_ms", _observation),
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    at = chosen.get("chat_storage_settings_path", home / "chat-storage.json")
    chosen["storage"] = _chosen_in(at)
    caller = _caller(source, chosen.get("api_url"))
    token = environ.get("LETAGENTS_TOKEN", "").strip() or None
    bearer = environ.get("LETAGENTS_AGENT_SESSION_BEARER", "").strip() or None
    hints = _hints(source)
    return Settings(home=home, hints=hints, caller=caller, token=token, bearer=bearer, **chosen)


def chosen_home(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the home, if it is not the usual one that follows from who one is."""
    text = environ.get("LETAGENTS_HOME")
    return home_in(text) if text else None


def _lease_term(text: str) -> timedelta:
    seconds = int(text[:6]) if text.isascii() and text.isdecimal() else 0
    if not 1 <= seconds <= 86_400:
        raise ValueError("it is a number of seconds from 1 to 86400")
    return timedelta(seconds=seconds)


def _switch(text: str) -> bool:
    if text.lower() in ("1", "true", "yes", "on"):
        return True
    if text.lower() in ("0", "false", "no", "off"):
        return False
    raise ValueError("it is 1 or 0")


def _storage(text: str) -> str | None:
    """Anything but the two known words is ignored. (Source: state-and-rules 4.1.)"""
    return text.lower() if text.lower() in ("local", "cloud") else None


def _chosen_in(path: Path) -> ChatStorage:
    """Return what a file says of where rooms are; nothing, if it is not there.

    One that cannot be read is refused: by its leave a room might be on a server that was not to be.
    """
    if not os.path.lexists(path):
        return ChatStorage()
    import json  # few have that file

    from letagents.domain.storage import chosen

    try:
        document = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise wrong("chat_storage_settings_path", str(path), f"{error}") from error
    if not isinstance(document, dict):
        raise wrong("chat_storage_settings_path", str(path), "it holds no JSON object")
    return chosen(document)


def _poll_cap(text: str) -> timedelta | None:
    """Leading digits count; too small a number is the default. (Source: state-and-rules 10.11.)"""
    digits = text[: len(text) - len(text.lstrip("0123456789"))]
    milliseconds = int(digits[:12] or 0)
    if milliseconds < 1000:
        return None
    return min(timedelta(milliseconds=milliseconds), POLL_CAP_LARGEST)


def _observation(text: str) -> timedelta | None:
    """What is no number is the default. (Source: supervisor 8.4.)"""
    if not text.isdecimal() or len(text) > 9:
        return None
    return min(timedelta(milliseconds=int(text)), CODEX_OBSERVED_LONGEST)


def _notice_after(text: str) -> timedelta | None:
    """What is no number, or out of bounds, is the default. (Source: hosted-api 5.9.)"""
    span = timedelta(milliseconds=int(text)) if text.isdecimal() and len(text) < 10 else None
    return span if span and SHORTEST_GRACE <= span <= LONGEST_GRACE else None


def _caller(source: Source, api_url: str | None) -> Caller:
    """Return what the environment says of this process. (Source: mcp-tools 2.1, 4.)

    Of credentials only whether they are there is kept.
    """
    _check_coordinates(source.environ)
    profile = _profile(source.text("execution_profile"))
    toolset = source.choice("toolset", tuple(one.value for one in Toolset))
    return Caller(
        profile=profile,
        bounded=source.text("supervised_bounded_turns") == "1",
        provider=source.text("supervisor_provider"),
        has_bearer=source.text("agent_session_bearer") is not None,
        has_owner_token=source.text("token") is not None,
        api_url=api_url,
        toolset=Toolset(toolset) if toolset else Toolset.FULL,
    )


def _profile(named: str | None) -> Profile:
    known = {one.value: one for one in Profile}
    if named is None:
        return Profile.AUTONOMOUS_MCP_WORKER
    if named.lower() not in known:
        raise SettingsInvalid(
            f"Invalid LETAGENTS_EXECUTION_PROFILE: {named[:80]}.",
            remedy=f"It is one of {', '.join(known)}; or leave it out.",
        )
    return known[named.lower()]


def _check_coordinates(environ: Mapping[str, str]) -> None:
    missing = [name for name in _COORDINATES if not environ.get(name, "").strip()]
    if missing and len(missing) < len(_COORDINATES):
        raise SettingsInvalid(
            "Supervised worker bridge environment is incomplete.",
            remedy=f"{missing[0]} is not set: set all of {', '.join(_COORDINATES)}, or none.",
        )


def _hints(source: Source) -> Hints:
    env = source.environ
    explicit = env.get("LETAGENTS_AGENT_INSTANCE_ID", "").strip() or None
    kinds = (
        f"{name.split('_')[0].removesuffix('CODE').lower()}:{env[name]}"
        for name in _STORAGE_KEYS
        if env.get(name)
    )
    return Hints(
        name=source.text("agent_name") or env.get("AGENT_NAME", "").strip() or None,
        display_name=source.text("agent_display_name"),
        ide=source.text("agent_ide") or env.get("AGENT_IDE", "").strip() or None,
        owner_label=source.text("agent_owner_label"),
        storage_key=explicit or next(kinds, None),
        in_codex=any(env.get(name) for name in _CODEX),
    )
