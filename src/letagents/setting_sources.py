"""Where settings come from: the environment and, below it, `<home>/config.toml`."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import attrs

from letagents.domain.errors import SettingsInvalid

T = TypeVar("T")

_FILE_KEYS = (
    "state", "state_path", "rooms_db", "lease_term", "api_url", "log", "log_level", "poll_max_ms",
    "chat_storage", "chat_storage_settings_path", "agent_name", "agent_display_name", "agent_ide",
    "agent_owner_label", "toolset",
    "liveness_notice_after_ms",
    "agent_session_bearer_enabled",
    "auto_join", "server_db", "base_url", "github_logins", "server_joins", "server_misses",
    "server_sign_ins", "server_at_once", "server_connections", "server_body",
    "codex_startup_observation_ms",
)  # fmt: skip


@attrs.frozen
class Source:
    """Where settings come from: the environment and, below it, the file in the home."""

    environ: Mapping[str, str]
    file: Mapping[str, str]

    def text(self, name: str) -> str | None:
        """The setting's value; a blank one counts as none."""
        value = self.environ.get(f"LETAGENTS_{name.upper()}", "").strip()
        return value or self.file.get(name, "").strip() or None

    def parsed(self, name: str, parse: Callable[[str], T], *, is_shown: bool = True) -> T | None:
        """Return what `parse` makes of the setting's value; None for none."""
        value = self.text(name)
        if value is None:
            return None
        try:
            return parse(value)
        except (ValueError, RuntimeError) as error:
            raise wrong(name, value if is_shown else None, str(error)) from error

    def choice(self, name: str, allowed: tuple[str, ...]) -> str | None:
        """Return the setting's value, which is one of those allowed; None for none."""
        value = self.text(name)
        if value is not None and value.lower() not in allowed:
            raise wrong(name, value, f"it is one of {', '.join(allowed)}")
        return value and value.lower()


def wrong(name: str, value: str | None, why: str) -> SettingsInvalid:
    """Return the error that says why a value cannot be; None stands for one not to be shown."""
    shown = "what it is" if value is None else repr(value[:80])
    return SettingsInvalid(
        f"LETAGENTS_{name.upper()} cannot be {shown}: {why}.",
        remedy=f"Correct it in the environment, or {name} in config.toml; `letagents doctor` "
        "shows what is set.",
    )


def set_in_file(home: Path) -> Mapping[str, str]:
    """Return what `config.toml` in `home` sets, by the settings' names; nothing without one.

    Raises:
        SettingsInvalid: it cannot be read, or sets what is no setting.
    """
    path = home / "config.toml"
    if not os.path.lexists(path):
        return {}
    import tomllib  # nearly nobody has that file

    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsInvalid(
            f"{path} cannot be read: {error}.", remedy="Correct or remove that file."
        ) from error
    for key, value in content.items():
        if key not in _FILE_KEYS:
            import difflib

            near = difflib.get_close_matches(key, _FILE_KEYS, 1)
            hint = f"; did you mean {near[0]}?" if near else "."
            raise SettingsInvalid(
                f"{path}: there is no setting {key!r}{hint}",
                remedy=f"The settings are {', '.join(_FILE_KEYS)}.",
            )
        if not isinstance(value, str | int):
            raise SettingsInvalid(f"{path}: {key} is not a text or number.", remedy="Correct it.")
    return {key: str(value) for key, value in content.items()}


def home_in(text: str | None) -> Path:
    """Return the home that `text` is, or the usual one. Raises SettingsInvalid."""
    try:
        return Path(text or "~/.letagents").expanduser().absolute()
    except RuntimeError as error:
        raise wrong("home", text or "~/.letagents", str(error)) from error


def file_at(text: str) -> Path:
    """Return the file that `text` is the path of. Raises ValueError, RuntimeError."""
    path = Path(text).expanduser()
    if not path.name or path.is_dir():
        raise ValueError("it is a folder, and a file is needed")
    return path


def database(text: str) -> str:
    """Return the path or URL of a database that `text` is. Raises ValueError."""
    if "://" not in text:
        return str(file_at(text))
    kind, _, place = text.partition("://")
    names_no_file = place.strip("/") in ("", ":memory:")
    if kind.startswith("sqlite") and ("+" in kind or names_no_file):
        raise ValueError("a SQLite URL here is sqlite:/// and the path of a file")
    return text
