"""`letagents supervise` as a service of this user: a unit of systemd, or an agent of launchd.

Both leave the programs of agents alone when the supervisor ends: the next one finds them again.
Nothing secret is written into either; everybody on the machine may read them.
"""

import os
import plistlib
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

import attrs

from letagents.adapters import private
from letagents.domain.errors import NotAvailable, StateUnavailable

NAME = "letagents-supervisor"
LABEL = "chat.letagents.supervisor"
MARK = "Written by `letagents supervise install`; `letagents supervise uninstall` removes it."
_HANDED_ON = (
    "PATH",
    "LETAGENTS_HOME",
    "LETAGENTS_API_URL",
    "LETAGENTS_CLAUDE_BIN",
    "LETAGENTS_CODEX_BIN",
    "LETAGENTS_OPENCODE_BIN",
    "LETAGENTS_CURSOR_BIN",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
)
"""What a service is given of the environment in which it was installed."""
_SUPERVISE = ("-m", "letagents", "supervise", "--foreground")


@attrs.frozen
class Service:
    """What is written where, and how it is started and ended."""

    file: Path
    home: Path
    text: str
    start: tuple[str, ...]
    end: tuple[str, ...]

    def install(self) -> None:
        """Write it.

        Raises:
            NotAvailable: there is a file of somebody else.
            StateUnavailable: it cannot be written.
        """
        self._check()
        fresh = self.file.with_name(f"{self.file.name}.{os.getpid()}")
        try:
            private.make_folder(self.home)  # launchd starts nothing whose log has no folder
            self.file.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(self.text, "utf-8")
            fresh.replace(self.file)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise self._unavailable(error) from error

    def uninstall(self) -> bool:
        """Remove it; return whether it was there.

        Raises: as `install`.
        """
        is_there = self._check()
        try:
            self.file.unlink(missing_ok=True)
        except OSError as error:
            raise self._unavailable(error) from error
        return is_there

    def _check(self) -> bool:
        """Return whether there is one of ours."""
        try:
            there = self.file.read_text("utf-8", "replace")
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._unavailable(error) from error
        if MARK not in there:
            raise NotAvailable(
                f"{self.file} was written by somebody else.", remedy="Move it away first."
            )
        return True

    def _unavailable(self, error: OSError) -> StateUnavailable:
        return StateUnavailable(
            f"{self.file} cannot be used: {error.strerror or error}.",
            remedy="Let this user write there.",
        )


def service(home: Path, environ: Mapping[str, str], platform: str = sys.platform) -> Service:
    """Return the service that supervises the agents of a home on this system.

    Raises:
        NotAvailable: no kind of service is known for it.
    """
    given = {name: environ[name] for name in _HANDED_ON if environ.get(name)}
    given["LETAGENTS_HOME"] = str(home)
    if platform == "darwin":
        return _launchd(given)
    if platform == "linux":
        return _systemd(given, environ)
    raise NotAvailable(
        "There are no services for supervisors on this system.",
        remedy="Run `letagents supervise --foreground` on Linux or macOS.",
    )


# --- systemd --------------------------------------------------------------------------------------


def _systemd(given: Mapping[str, str], environ: Mapping[str, str]) -> Service:
    folder = Path(environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd" / "user"
    command = " ".join(_quoted(word).replace("$", "$$") for word in (sys.executable, *_SUPERVISE))
    lines = (
        f"# {MARK}",
        "[Unit]",
        "Description=Runs coding agents as workers in rooms of letagents",
        "",
        "[Service]",
        f"ExecStart={command}",
        *(f"Environment={_quoted(f'{name}={value}')}" for name, value in given.items()),
        "Restart=on-failure",
        "RestartSec=1",
        "# The programs of agents live on, and the next supervisor finds them.",
        "KillMode=process",
        "",
        "[Install]",
        "WantedBy=default.target",
        "",
    )
    unit = f"{NAME}.service"
    return Service(
        folder / unit,
        Path(given["LETAGENTS_HOME"]),
        "\n".join(lines),
        ("systemctl --user daemon-reload", f"systemctl --user enable --now {unit}"),
        (f"systemctl --user disable --now {unit}", "systemctl --user daemon-reload"),
    )


def _quoted(word: str) -> str:
    """Return one word as systemd reads it: its percent signs stand for nothing."""
    spelt = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{spelt}"'.replace("%", "%%")


# --- launchd --------------------------------------------------------------------------------------


def _launchd(given: Mapping[str, str]) -> Service:
    home = Path(given["LETAGENTS_HOME"])
    file = Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    told = {
        "Label": LABEL,
        "ProgramArguments": [sys.executable, *_SUPERVISE],
        "EnvironmentVariables": dict(given),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "AbandonProcessGroup": True,
        "StandardErrorPath": str(home / "supervisor.log"),
    }
    head, _, rest = plistlib.dumps(told).decode().partition("\n")
    return Service(
        file,
        home,
        f"{head}\n<!-- {MARK} -->\n{rest}",
        (f"launchctl bootstrap gui/$(id -u) {shlex.quote(str(file))}",),
        (f"launchctl bootout gui/$(id -u)/{LABEL}",),
    )
