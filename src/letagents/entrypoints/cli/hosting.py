"""`letagents serve`: a room server, as a process in the foreground."""

import argparse
import os
from importlib.util import find_spec

import anyio
import attrs

from letagents import server_settings
from letagents.application.server.serving import check_reach
from letagents.domain.accounts import Account
from letagents.domain.serving import is_loopback
from letagents.entrypoints import logs
from letagents.entrypoints.cli import printing
from letagents.entrypoints.server import process
from letagents.server_settings import Serving
from letagents.settings import Settings, load
from letagents.wiring.server import Served, open_server


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal comes; return the exit code."""
    settings = load()
    serving = server_settings.with_database(server_settings.load(settings.home), arguments.database)
    if arguments.port is not None:
        serving = attrs.evolve(serving, port=arguments.port)
    printing.output()
    logs.configure(settings.log, settings.log_level)
    # The extra `server` brings an event loop in C.
    options = {"use_uvloop": find_spec("uvloop") is not None}
    anyio.run(_served, settings, serving, arguments, backend_options=options)
    return 0


async def _served(settings: Settings, serving: Serving, arguments: argparse.Namespace) -> None:
    async with open_server(settings, serving) as served:
        host = arguments.host
        await check_reach(served.hosting.accounts, host, insists=arguments.insecure)
        with process.listen(host, serving.port) as listening:
            address = process.address_of(listening, host)
            served.tell(address)
            base_url = serving.base_url or address
            owner = await served.owner.settle(address, served.database)
            await _announce(served, base_url, owner, arguments)
            hosting = attrs.evolve(served.hosting, base_url=base_url, addresses=(address,))
            await process.serve(hosting, served.elsewhere, listening)


async def _announce(
    served: Served, url: str, owner: Account | None, arguments: argparse.Namespace
) -> None:
    code = await served.hosting.keeper.code(owner) if owner is not None else None
    link = f"{url}/sign-in?code={code}" if code is not None else None
    if arguments.json:
        told = {"event": "serving", "url": url, "pid": os.getpid(), "sign_in": link}
        printing.say_json({**told, "database": served.database})
        return
    printing.say(f"Rooms are served at {url}, and kept in {served.database}.")
    if owner is None:
        printing.say("Who has an account uses it with LETAGENTS_API_URL and LETAGENTS_TOKEN.")
        return
    printing.say(f"On this machine set LETAGENTS_API_URL={url}; it signs in as {owner.login}.")
    printing.say(f"A browser signs in once, within the hour, at {link}")
    if not is_loopback(arguments.host):
        printing.say("Others can reach it: give each an account, `letagents accounts add LOGIN`.")
