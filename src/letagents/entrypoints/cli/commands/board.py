"""Commands about a board and its tasks, and what they take."""

import argparse

from letagents.entrypoints.cli.parsing import (
    AGENT,
    TASK,
    Command,
    Commands,
    as_json,
    by_name,
    command,
    message_id,
    of_room,
)

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


def _board(board: argparse.ArgumentParser) -> None:
    of_room(board)
    board.add_argument("--all", action="store_true", help="those that are over, too")
    board.set_defaults(command="board")
    as_json(board)


def _why(why: argparse.ArgumentParser) -> None:
    of_room(why)
    why.add_argument("task", metavar="TASK", help=TASK)
    why.set_defaults(command="why")
    as_json(why)


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
    assign.add_argument("who", metavar="AGENT", help=AGENT)


def _verb(verbs: Commands, name: str, does: str) -> argparse.ArgumentParser:
    verb = command(verbs, name, module="tasks", does=does)
    of_room(verb)
    by_name(verb)
    return verb


def _about_a_task(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("task", metavar="TASK", help=TASK)


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
    what.add_argument("task", metavar="TASK", nargs="?", help=TASK)
    what.add_argument("--board", action="store_true", help="the whole board")
    by_name(parser)


COMMANDS = (
    Command(
        "board", "board", "list the tasks of a room: where they stand and who is on them", _board
    ),
    Command(
        "why", "board", "say why a task stands as it does, who holds it and what can follow", _why
    ),
    Command(
        "task",
        "tasks",
        "put a task on a board, move it, or say who is on it; the room tells whom it concerns",
        _task,
    ),
    Command(
        "lock",
        "locks",
        "stop the work on a task, or on the whole board; who is on it is told",
        _lock,
    ),
    Command("unlock", "locks", "let the work go on; who is on it is told", _unlock),
)
