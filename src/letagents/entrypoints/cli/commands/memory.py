"""Commands about what a room remembers, and what its agents ask; and what they take."""

import argparse

from letagents.entrypoints.cli.parsing import Command, as_json, by_name, of_room


def _requests(requests: argparse.ArgumentParser) -> None:
    requests.set_defaults(command="requests")
    of_room(requests)
    requests.add_argument("--all", action="store_true", help="those that were answered, too")
    as_json(requests)


def _answer(answer: argparse.ArgumentParser) -> None:
    answer.set_defaults(command="answer")
    of_room(answer)
    answer.add_argument("request", metavar="REQUEST", help="which: `letagents requests ROOM`")
    answer.add_argument("text", metavar="TEXT", nargs="+", help="the answer; - reads it")
    answer.set_defaults(several="text")
    by_name(answer)


def _memory(memory: argparse.ArgumentParser) -> None:
    memory.set_defaults(command="memory")
    of_room(memory)
    memory.add_argument("--all", action="store_true", help="those that are archived, too")
    one = memory.add_mutually_exclusive_group()
    one.add_argument("--history", metavar="ID", help="every version of one, the newest first")
    one.add_argument("--revise", metavar="ID", help="let one say something else")
    one.add_argument("--archive", metavar="ID", help="put one away")
    one.add_argument("--restore", metavar="ID", help="take one out again")
    memory.add_argument("--title", metavar="TEXT", help="the title to --revise it to; - reads it")
    memory.add_argument("--body", metavar="TEXT", help="the body to --revise it to; - reads it")
    as_json(memory)


def _guidelines(guidelines: argparse.ArgumentParser) -> None:
    guidelines.set_defaults(command="guidelines")
    of_room(guidelines)
    setting = guidelines.add_mutually_exclusive_group()
    setting.add_argument(
        "--set", metavar="FILE", help="set them to what is in it; - reads; nothing takes them away"
    )
    setting.add_argument(
        "--replies",
        choices=("parallel", "sequential"),
        help="how agents answer that are called together: at once, or one after another",
    )
    by_name(guidelines)
    as_json(guidelines)


COMMANDS = (
    Command("requests", "memory", "list what agents of a room ask its people", _requests),
    Command(
        "answer",
        "memory",
        "answer what an agent asked; the room tells it, and nobody else",
        _answer,
    ),
    Command(
        "memory",
        "memory",
        "list the facts that a room keeps; revise, archive or restore one",
        _memory,
    ),
    Command(
        "guidelines",
        "memory",
        "show what a room's people wish from agents in it, or set it",
        _guidelines,
    ),
)
