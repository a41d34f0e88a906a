"""Commands about the rooms beside a room, and what they take."""

import argparse

from letagents.entrypoints.cli.parsing import (
    TASK,
    Command,
    as_json,
    by_name,
    command,
    of_room,
)

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
    opening.add_argument("--task", metavar="TASK", help=f"the task that it is for: {TASK}")
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


COMMANDS = (
    Command(
        "focus",
        "focus",
        "list the rooms beside a room, each to settle one thing; open or conclude one",
        _focus,
    ),
)
