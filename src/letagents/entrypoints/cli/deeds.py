"""The commands with which a person acts on a board, and what they take."""

import argparse
from collections.abc import Callable, Mapping, Sequence

from letagents.entrypoints.cli.parsing import (
    Commands,
    as_json,
    by_name,
    command,
    message_id,
    of_room,
)

MODES = ("off", "manager_optional", "intent_required")
FAILOVERS = ("off", "announce", "auto")
KINDS = ("human_stop", "duplicate", "manager_pause", "revoked", "policy")
MOVES = {
    "accept": "let what was proposed be claimed",
    "cancel": "end it undone; who is on it is told",
    "reopen": "let what is over be claimed again",
    "start": "set it to in_progress",
    "block": "set it to blocked",
    "submit": "set it to in_review",
    "merged": "say that what another agent reviews is merged",
    "done": "say that it is done",
}
VISIBILITIES = ("summary_only", "major_activity", "all_activity", "silent")
SCOPES = ("task_and_branch", "task_only", "room")
ROUTINGS = ("task_and_branch", "focus_owned_only", "task_only", "all_parent_repo", "off")
FACTS = {
    "artifact": "what was made, such as a pull request",
    "review-state": "how far its review is",
    "blocker-state": "what is in the way",
    "parent-task-next": "what is to become of its task",
    "next-owner": "who goes on with that",
}
_TASK = "its id, such as task_3"
_WHO = "an agent: its name, its key or its session"


def add(commands: Commands, words: Sequence[str]) -> None:
    """Add them all; those that `words` name with what they take, which takes time to set up."""
    for name, (module, does, takes) in _COMMANDS.items():
        parser = command(commands, name, module=module, does=does)
        if name in words:
            takes(parser)


def _task(task: argparse.ArgumentParser) -> None:
    verbs = task.add_subparsers(metavar="VERB", dest="command", required=True)
    _add(_verb(verbs, "add", "put one on the board; it can be claimed at once"))
    for name, does in MOVES.items():
        _about_a_task(_verb(verbs, name, does))
    assign = _verb(verbs, "assign", "put an agent on it, in place of who is on it now")
    release = _verb(verbs, "release", "take it from who is on it, for whoever wants it")
    for verb in (assign, release):
        _about_a_task(verb)
        verb.add_argument("--review", action="store_true", help="its review, not the work")
        verb.add_argument("--reason", metavar="TEXT", help="why, in a few words")
    assign.add_argument("who", metavar="AGENT", help=_WHO)


def _verb(verbs: Commands, name: str, does: str) -> argparse.ArgumentParser:
    verb = command(verbs, name, module="tasks", does=does)
    of_room(verb)
    by_name(verb)
    return verb


def _about_a_task(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("task", metavar="TASK", help=_TASK)


def _add(add: argparse.ArgumentParser) -> None:
    add.add_argument("title", metavar="TITLE", nargs="+", help="what is to be done, in one line")
    add.set_defaults(several="title")
    add.add_argument("--description", metavar="TEXT", help="all that matters; - reads it")
    add.add_argument("--source", metavar="msg_N", type=message_id, help="who asks for it there")
    add.add_argument("--key", help="repeating the call with the same key adds it only once")


def _lock(lock: argparse.ArgumentParser) -> None:
    _what(lock, "lock")
    lock.add_argument("--reason", metavar="TEXT", help="why, in a few words")
    lock.add_argument("--kind", choices=KINDS, default=KINDS[0], help=f"({KINDS[0]})")


def _unlock(unlock: argparse.ArgumentParser) -> None:
    _what(unlock, "unlock")


def _what(parser: argparse.ArgumentParser, name: str) -> None:
    parser.set_defaults(command=name)
    of_room(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("task", metavar="TASK", nargs="?", help=_TASK)
    what.add_argument("--board", action="store_true", help="the whole board")
    by_name(parser)


def _approvals(approvals: argparse.ArgumentParser) -> None:
    approvals.set_defaults(command="approvals")
    of_room(approvals)
    approvals.add_argument("--mode", choices=MODES, help="how much has to be approved")
    approvals.add_argument(
        "--failover", choices=FAILOVERS, help="what happens when the manager is gone"
    )
    approvals.add_argument(
        "--history", action="store_true", help="also what was changed and decided, newest first"
    )
    by_name(approvals)
    as_json(approvals)


def _manager(manager: argparse.ArgumentParser) -> None:
    manager.set_defaults(command="manager")
    of_room(manager)
    change = manager.add_mutually_exclusive_group()
    change.add_argument("who", metavar="AGENT", nargs="?", help=_WHO)
    change.add_argument("--release", action="store_true", help="let nobody manage it")
    manager.add_argument("--reason", metavar="TEXT", help="why, in a few words, with --release")
    by_name(manager)
    as_json(manager)


def _focus(focus: argparse.ArgumentParser) -> None:
    verbs = focus.add_subparsers(metavar="VERB", dest="command", required=True)
    listing = command(verbs, "list", module="focus", does="list those beside a room")
    of_room(listing)
    listing.add_argument("--all", action="store_true", help="those that are concluded, too")
    as_json(listing)
    opening = command(verbs, "open", module="focus", does="open one beside a room, or find it")
    of_room(opening)
    opening.add_argument("title", metavar="TITLE", nargs="*", help="what it is about")
    opening.set_defaults(several="title")
    opening.add_argument("--task", metavar="TASK", help=f"the task that it is for: {_TASK}")
    by_name(opening)
    _set_focus(command(verbs, "set", module="focus", does="set how one belongs to its room"))
    concluding = "say what came of one, and let the room beside it know"
    _conclude(command(verbs, "conclude", module="focus", does=concluding))


def _one_focus_room(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("room", metavar="FOCUS", help="its id, such as focus_3, or its locator")
    by_name(parser)


def _set_focus(setting: argparse.ArgumentParser) -> None:
    _one_focus_room(setting)
    setting.add_argument("--tells", choices=VISIBILITIES, help="what its room hears of it")
    setting.add_argument("--scope", choices=SCOPES, help="what those in it work on")
    setting.add_argument("--events", choices=ROUTINGS, help="which events of GitHub are for it")


def _conclude(concluding: argparse.ArgumentParser) -> None:
    _one_focus_room(concluding)
    concluding.add_argument("summary", metavar="SUMMARY", nargs="+", help="what; - reads it")
    concluding.set_defaults(several="summary")
    for name, what in FACTS.items():
        concluding.add_argument(f"--{name}", metavar="TEXT", help=what)


_COMMANDS: Mapping[str, tuple[str, str, Callable[[argparse.ArgumentParser], None]]] = {
    "task": (
        "tasks",
        "put a task on a board, move it, or say who is on it; the room tells whom it concerns",
        _task,
    ),
    "lock": (
        "locks",
        "stop the work on a task, or on the whole board; who is on it is told",
        _lock,
    ),
    "unlock": ("locks", "let the work go on; who is on it is told", _unlock),
    "approvals": (
        "managers",
        "show how much agents of a room have to get approved, and by whom; or change it",
        _approvals,
    ),
    "focus": (
        "focus",
        "list the rooms beside a room, each to settle one thing; open or conclude one",
        _focus,
    ),
    "manager": (
        "managers",
        "list who is in a room and can manage its board; let one do so, or nobody",
        _manager,
    ),
}
