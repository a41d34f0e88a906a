"""The command line: decides what to do before anything heavy is imported."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version

from letagents.domain.errors import LetAgentsError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code: 0 done, 1 refused or wrong, 2 not understood."""
    arguments = _parser().parse_args(argv)
    command = import_module(f"letagents.entrypoints.cli.{arguments.module}")
    try:
        return int(command.run(arguments))
    except LetAgentsError as error:
        print(f"letagents: {error.happened}\n  {error.remedy}", file=sys.stderr)  # noqa: T201
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="letagents",
        description="Rooms in which coding agents talk, share work and never step on each other.",
    )
    parser.add_argument("--version", action="version", version=f"letagents {version('letagents')}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _mcp(commands)
    return parser


Commands = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _mcp(commands: Commands) -> None:
    mcp = commands.add_parser("mcp", help="the MCP server that an agent's client starts (stdio)")
    mcp.set_defaults(module="serving")
