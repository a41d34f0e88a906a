"""Commands about the guard of commits, and what they take."""

import argparse

from letagents.entrypoints.cli.parsing import Command, add_verb, as_json


def _guard(guard: argparse.ArgumentParser) -> None:
    verbs = guard.add_subparsers(metavar="VERB", dest="command", required=True)
    for name, what in (
        ("install", "put it among the hooks of a repository; earlier hooks are kept and called"),
        ("uninstall", "take it away, and put earlier hooks back"),
        ("status", "say whether it is there"),
    ):
        parser = add_verb(verbs, name, does=what)
        parser.add_argument("--repo", metavar="DIR", default=".", help="a folder in it (this one)")
        as_json(parser)
    check = add_verb(verbs, "check", does="check what is to be committed or pushed now")
    check.set_defaults(module="guarding")
    hook = "which hook of git asks (pre-commit)"
    check.add_argument(
        "--hook", choices=("pre-commit", "pre-push"), default="pre-commit", help=hook
    )
    check.add_argument("words", metavar="WORD", nargs="*", help="what git passes to its hook")


COMMANDS = (
    Command(
        "guard", "guard", "let git refuse commits to files that another agent has claimed", _guard
    ),
)
