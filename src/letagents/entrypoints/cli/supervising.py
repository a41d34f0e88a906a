"""`letagents supervise`: the supervisor of this home, as a process in the foreground."""

import argparse
import os

import anyio

from letagents.entrypoints import logs
from letagents.entrypoints.cli import printing
from letagents.entrypoints.daemon import process
from letagents.settings import load


def run(arguments: argparse.Namespace) -> int:
    """Supervise until a signal comes; return the exit code."""
    settings = load()
    printing.output()
    logs.configure(settings.log, settings.log_level)
    place = str(settings.supervisor_socket)

    def announce(generation: int) -> None:
        if arguments.json:
            told = {"event": "supervising", "generation": generation, "pid": os.getpid()}
            printing.say_json({**told, "socket": place})
        else:
            printing.say(f"Supervising as generation {generation}, at {place}.")

    anyio.run(process.supervise, settings, os.environ, announce)
    return 0
