"""`letagents doctor`: what is configured, where files are, what is wrong and how to mend it."""

import argparse
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import anyio
import attrs

from letagents.domain.errors import SettingsInvalid
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.printing import BOLD, DIM, GREEN, RED, Surface, one_line
from letagents.ports.health import Finding
from letagents.setting_sources import set_in_file
from letagents.settings import Settings, load
from letagents.wiring.health import examine

_PASSWORD = re.compile(r"://([^/@:]*):.*@")
_PASSWORD_IN_QUERY = re.compile(r"(?i)((?:^|[?&])[a-z_]*password=)[^&]*")
_OLD_NAMES = {"agent_name": "AGENT_NAME", "agent_ide": "AGENT_IDE"}


@attrs.frozen
class Setting:
    """A setting that is in force, and where its value comes from."""

    name: str
    value: str | None
    origin: str


@attrs.frozen
class Configured:
    """What is in force. What cannot be is told, and counts as not set."""

    settings: Settings
    listed: Sequence[Setting]
    wrong: Sequence[Finding] = ()


def run(arguments: argparse.Namespace) -> int:
    """Look at everything, and say it; return 1 if anything is wrong, else 0."""
    surface = printing.output()
    found = configured(os.environ)
    findings = [*_versions(), *found.wrong, *anyio.run(examine, found.settings)]
    if arguments.json:
        _say_json(found.listed, findings)
    else:
        _say(found.listed, findings, surface)
    return 1 if any(finding.is_problem for finding in findings) else 0


def configured(environ: Mapping[str, str]) -> Configured:
    """Return what `environ` and the file in its home make, whatever is wrong with them."""
    sound, wrong = dict(environ), list[Finding]()
    while True:
        try:
            settings = load(sound)
        except SettingsInvalid as error:
            wrong.append(Finding("settings", error.happened, error.remedy))
            culprit = next((name for name in sound if error.happened.startswith(f"{name} ")), None)
            if culprit is None:
                break
            del sound[culprit]
        else:
            return Configured(settings, list(_in_force(settings, sound)), wrong)
    wrong.append(Finding("settings", "What follows is looked at as if nothing else were set"))
    home = environ.get("LETAGENTS_HOME") or Path.home() / ".letagents"
    return Configured(Settings(home=Path(home).expanduser().absolute()), (), wrong)


def _in_force(settings: Settings, environ: Mapping[str, str]) -> Iterator[Setting]:
    file = set_in_file(settings.home)
    for name, value in _values(settings).items():
        variables = (f"LETAGENTS_{name.upper()}", _OLD_NAMES.get(name, ""))
        is_set = any(environ.get(variable, "").strip() for variable in variables)
        origin = "environment" if is_set else "config.toml" if name in file else "default"
        yield Setting(name, value and _without_password(value), origin)


def _without_password(value: str) -> str:
    return _PASSWORD_IN_QUERY.sub(r"\1***", _PASSWORD.sub(r"://\1:***@", value))


def _values(settings: Settings) -> dict[str, str | None]:
    hints = settings.hints
    return {
        "home": str(settings.home),
        "state": settings.state,
        "state_path": str(settings.state_path),
        "rooms_db": settings.rooms_db,
        "lease_term": f"{settings.lease_term.total_seconds():.0f}",
        "api_url": settings.api_url,
        "chat_storage": settings.chat_storage,
        "chat_storage_settings_path": str(settings.chat_storage_settings_path),
        "log": settings.log,
        "log_level": settings.log_level,
        "execution_profile": settings.caller.profile.value,
        "toolset": settings.caller.toolset.value,
        "poll_max_ms": f"{1000 * settings.poll_cap.total_seconds():.0f}",
        "liveness_notice_after_ms": f"{1000 * settings.notice_after.total_seconds():.0f}",
        "agent_name": hints.name,
        "agent_display_name": hints.display_name,
        "agent_ide": hints.ide,
        "agent_owner_label": hints.owner_label,
    }


def _versions() -> Iterator[Finding]:
    number = ".".join(map(str, sys.version_info[:3]))
    yield Finding("version", f"letagents {version('letagents')}, mcp {version('mcp')}")
    yield Finding("python", f"{number} at {sys.executable}")


def _say_json(listed: Sequence[Setting], findings: Sequence[Finding]) -> None:
    for setting in listed:
        printing.say_json({"kind": "setting", **attrs.asdict(setting)})
    for finding in findings:
        fields = {"check": finding.about, "ok": not finding.is_problem}
        told = {"said": finding.said, "remedy": finding.remedy}
        printing.say_json({"kind": "check", **fields, **told})


def _say(listed: Sequence[Setting], findings: Sequence[Finding], surface: Surface) -> None:
    if listed:
        printing.say(surface.painted("Settings", BOLD))
        rows = [(one.name, one_line(one.value or "-"), one.origin) for one in listed]
        for line in printing.columns(rows):
            printing.say(f"  {line}")
        printing.say()
    printing.say(surface.painted("Checks", BOLD))
    for finding in findings:
        _say_finding(finding, surface)
    problems = sum(finding.is_problem for finding in findings)
    printing.say()
    printing.say(f"Problems: {problems}." if problems else "All is well.")


def _say_finding(finding: Finding, surface: Surface) -> None:
    colour = RED if finding.is_problem else GREEN
    mark = surface.painted(f"{'problem' if finding.is_problem else 'ok':7}", colour)
    printing.say(f"  {mark}  {finding.about}: {one_line(finding.said)}")
    if finding.remedy is not None:
        printing.say(f"           {surface.painted(one_line(finding.remedy), DIM)}")
