"""`letagents supervise`: the supervisor of this home, in the foreground or as a service."""

import argparse
import os

import anyio

from letagents.domain.errors import Malformed
from letagents.entrypoints import logs
from letagents.entrypoints.cli import printing
from letagents.settings import Settings, load


def run(arguments: argparse.Namespace) -> int:
    """Supervise until a signal comes, or see to the service; return the exit code."""
    _check(arguments)
    settings = load()
    printing.output()
    if arguments.service is not None:
        return _service(arguments, settings)
    from letagents.entrypoints.daemon import process

    logs.configure(settings.log, settings.log_level)
    place = str(settings.supervisor_socket)

    def announce(generation: int) -> None:
        if arguments.json:
            told = {"event": "supervising", "generation": generation, "pid": os.getpid()}
            printing.say_json({**told, "socket": place})
        else:
            printing.say(f"Supervising as generation {generation}, at {place}.")

    async def supervise() -> None:
        await process.supervise(settings, os.environ, announce, replaces=arguments.replace)

    anyio.run(supervise)
    return 0


def _check(arguments: argparse.Namespace) -> None:
    if arguments.show and arguments.service != "install":
        raise Malformed(
            "--show shows what would be written as a service.",
            remedy="Run `letagents supervise install --show`.",
        )
    if arguments.replace and not arguments.foreground:
        raise Malformed(
            "--replace says how a supervisor starts.",
            remedy="Run `letagents supervise --foreground --replace`.",
        )


def _service(arguments: argparse.Namespace, settings: Settings) -> int:
    from letagents.wiring.supervisor import supervisor_service

    service = supervisor_service(settings, os.environ)
    if arguments.show:
        printing.say(service.text.rstrip("\n"))
    elif arguments.service == "install":
        service.install()
        _say(f"Written: {service.file}. Start it with:", service.start)
    elif service.uninstall():
        _say(f"Removed: {service.file}. End what it started with:", service.end)
    else:
        printing.say(f"There is no {service.file}.")
    return 0


def _say(what: str, commands: tuple[str, ...]) -> None:
    printing.say(what)
    for command in commands:
        printing.say(f"  {command}")
