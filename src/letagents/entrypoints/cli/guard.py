"""`letagents guard`: hooks of git that refuse commits to what another worker has claimed."""

import argparse
from pathlib import Path

from letagents import settings
from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.printing import one_line, say
from letagents.ports.guard import HookState, HookStatus
from letagents.wiring.guard import git_hooks

_STANDS = {
    HookStatus.ABSENT: "not installed",
    HookStatus.OURS: "installed",
    HookStatus.CHANGED: "changed since it was installed; left alone",
    HookStatus.FOREIGN: "not installed; another hook is there",
}
_APART = """\
core.hooksPath leads there: every repository that uses that folder has these hooks. They name this
machine's Python, so leave them out of what you commit."""


def run(arguments: argparse.Namespace) -> int:
    """Carry out one command; 1 if the guard is not wholly there then, or not wholly gone."""
    hooks = git_hooks(Path(arguments.repo), settings.chosen_home())
    states: list[HookState] = getattr(hooks, arguments.command)()
    for state in states:
        _show(state, as_json=arguments.json)
    found = {state.status for state in states}
    if HookStatus.OURS in found and states[0].is_apart and not arguments.json:
        say(_APART)
    if arguments.command == "uninstall":
        return int(not found.isdisjoint({HookStatus.OURS, HookStatus.CHANGED}))
    return int(found != {HookStatus.OURS})


def _show(state: HookState, *, as_json: bool) -> None:
    if as_json:
        facts: dict[str, object] = {"hook": state.name, "status": state.status.value}
        facts |= {"path": state.path, "calls_earlier_hook": state.has_kept}
        printing.say_json(facts | {"is_shared": state.is_apart})
        return
    first = "; what was there before is called first" if state.has_kept else ""
    say(f"{state.name}: {_STANDS[state.status]}{first} ({one_line(state.path)})")
