"""Commands about the guard of commits, and what they take."""

import argparse

from letagents.entrypoints.cli.parsing import Command, as_json


def _guard(guard: argparse.ArgumentParser) -> None:
    verbs = guard.add_subparsers(metavar="VERB", dest="command", required=True)
    for name, what in (
        ("install", "put it among the hooks of a repository; earlier hooks are kept and called"),
        ("uninstall", "take it away, and put earlier hooks back"),
        ("status", "say whether it is there"),
    ):
        verb = verbs.add_parser(name, help=what)
        verb.add_argument("--repo", metavar="DIR", default=".", help="a folder in it (this one)")
        as_json(verb)
    check = verbs.add_parser("check", help="check what is to be committed or pushed now")
    check.set_defaults(module="guarding")
    check.add_argument("--hook", choices=("pre-commit", "pre-push"), default="pre-commit")
    check.add_argument("words", metavar="WORD", nargs="*", help="what git passes to its hook")


COMMANDS = (
    Command(
        "guard", "guard", "let git refuse commits to files that another agent has claimed", _guard
    ),
)
