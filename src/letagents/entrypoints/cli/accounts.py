"""`letagents accounts`: who may use a server, whether it runs or not."""

import argparse
from datetime import timedelta

import anyio

from letagents import server_settings
from letagents.application.server.serving import Doorkeeper
from letagents.domain.accounts import Account, Known, UnknownLogin
from letagents.domain.host_grants import GENERATION
from letagents.entrypoints import logs
from letagents.entrypoints.cli import printing
from letagents.settings import load
from letagents.wire import moments
from letagents.wiring.accounts import open_accounts


def run(arguments: argparse.Namespace) -> int:
    """Do what is asked for; return the exit code."""
    settings = load()
    serving = server_settings.with_database(server_settings.load(settings.home), arguments.database)
    printing.output()
    logs.configure(settings.log, "warning" if settings.log_level == "info" else settings.log_level)

    async def act() -> None:
        async with open_accounts(serving) as keeper:
            await _VERBS[arguments.command](keeper, arguments)

    anyio.run(act)
    return 0


async def _add(keeper: Doorkeeper, arguments: argparse.Namespace) -> None:
    account, token = await keeper.add(arguments.login, arguments.name)
    _say_token(account, token, as_json=arguments.json)


async def _token(keeper: Doorkeeper, arguments: argparse.Namespace) -> None:
    account = await _called(keeper, arguments.login)
    _say_token(account, await keeper.token(account), as_json=arguments.json)


def _say_token(account: Account, token: str, *, as_json: bool) -> None:
    """Print the token alone, so that it can be sent where it belongs."""
    if as_json:
        printing.say_json({"login": account.login, "token": token})
    else:
        printing.say(token)


async def _revoke(keeper: Doorkeeper, arguments: argparse.Namespace) -> None:
    account = await _called(keeper, arguments.login)
    ended = await keeper.accounts.revoke(account)
    if arguments.json:
        printing.say_json({"login": account.login, "ended": ended})
    else:
        printing.say(f"{account.login}: {ended} ended.")


async def _list(keeper: Doorkeeper, arguments: argparse.Namespace) -> None:
    known = await keeper.accounts.known()
    if arguments.json:
        for one in known:
            printing.say_json(_plain(one))
        return
    if not known:
        printing.say("There is no account yet: `letagents accounts add LOGIN` makes one.")
        return
    rows = [("LOGIN", "NAME", "TOKENS", "LAST USED"), *map(_row, known)]
    printing.say("\n".join(printing.columns(rows)))


async def _called(keeper: Doorkeeper, login: str) -> Account:
    account = await keeper.accounts.of_login(login.strip())
    if account is None:
        raise UnknownLogin(
            f"There is no account {printing.one_line(login.strip())!r} here.",
            remedy="`letagents accounts list` shows those that are there.",
        )
    return account


def _plain(one: Known) -> dict[str, object]:
    return {
        "login": one.account.login,
        "name": one.account.display_name,
        "provider": one.account.provider,
        "tokens": one.tokens,
        "created_at": moments.to_text(one.created_at),
        "last_used_at": one.last_used_at and moments.to_text(one.last_used_at),
    }


def _row(one: Known) -> tuple[str, str, str, str]:
    used = moments.to_text(one.last_used_at) if one.last_used_at else "-"
    name = printing.one_line(one.account.display_name or "-")
    return one.account.login, name, str(one.tokens), used


async def _grant(keeper: Doorkeeper, arguments: argparse.Namespace) -> None:
    """Print the grant as `letagents agents grant` reads it."""
    account = await _called(keeper, arguments.login)
    given, secret = await keeper.grant(account, timedelta(hours=arguments.hours))
    printing.say_json(
        {
            "grant_id": given.grant_id,
            "supervisor_grant": secret,
            "grant_generation": GENERATION,
            "grant_expires_at": moments.to_text(given.expires_at),
            "owner_account_id": account.account_id,
            "owner_login": account.login,
        }
    )


async def _take_grant(keeper: Doorkeeper, arguments: argparse.Namespace) -> None:
    await keeper.take_grant(arguments.grant_id)
    if arguments.json:
        printing.say_json({"grant_id": arguments.grant_id, "ended": 1})
    else:
        printing.say(f"{printing.one_line(arguments.grant_id)} is ended.")


_VERBS = {
    "add": _add,
    "token": _token,
    "revoke": _revoke,
    "list": _list,
    "grant": _grant,
    "end-grant": _take_grant,
}
