"""Commands with which one begins, and what they take."""

import argparse

from letagents.entrypoints.cli.parsing import Command


def _mcp(mcp: argparse.ArgumentParser) -> None:
    mcp.add_argument(
        "--letagents-runtime-contract",
        dest="contract",
        action="store_true",
        help="print what supervisors can rely on as one line of JSON, and end",
    )


COMMANDS = (
    Command(
        "mcp",
        "serving",
        "serve one chat's tools over standard input and output; an agent's client starts this",
        _mcp,
    ),
    Command(
        "demo",
        "demo",
        "watch two agents' processes talk in a room, in a temporary home; 1 if anything fails",
    ),
)
