"""Commands about what agents may do, and who decides that; and what they take."""

import argparse

from letagents.entrypoints.cli.parsing import AGENT, Command, as_json, by_name, of_room

MODES = ("off", "manager_optional", "intent_required")
FAILOVERS = ("off", "announce", "auto")


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
    change.add_argument("who", metavar="AGENT", nargs="?", help=AGENT)
    change.add_argument("--release", action="store_true", help="let nobody manage it")
    manager.add_argument("--reason", metavar="TEXT", help="why, in a few words, with --release")
    by_name(manager)
    as_json(manager)


def _intents(intents: argparse.ArgumentParser) -> None:
    intents.set_defaults(command="intents")
    of_room(intents)
    intents.add_argument("--all", action="store_true", help="those that were decided, too")
    as_json(intents)


def _approve(approve: argparse.ArgumentParser) -> None:
    _deciding(approve, "approve")


def _deny(deny: argparse.ArgumentParser) -> None:
    _deciding(deny, "deny")


def _deciding(deciding: argparse.ArgumentParser, name: str) -> None:
    deciding.set_defaults(command=name)
    of_room(deciding)
    deciding.add_argument("intent", metavar="INTENT", help="which: `letagents intents ROOM`")
    deciding.add_argument("--reason", help="why, in a few words")


COMMANDS = (
    Command(
        "approvals",
        "managers",
        "show how much agents of a room have to get approved, and by whom; or change it",
        _approvals,
    ),
    Command(
        "manager",
        "managers",
        "list who is in a room and can manage its board; let one do so, or nobody",
        _manager,
    ),
    Command(
        "intents",
        "governance",
        "list what agents of a room want to be allowed, the oldest first",
        _intents,
    ),
    Command(
        "approve",
        "governance",
        "allow what an agent wants; the room tells it, with your reason",
        _approve,
    ),
    Command(
        "deny",
        "governance",
        "refuse what an agent wants; the room tells it, with your reason",
        _deny,
    ),
)
