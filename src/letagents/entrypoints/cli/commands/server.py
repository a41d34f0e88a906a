"""Commands of who looks after a server, and what they take."""

import argparse

from letagents.entrypoints.cli.parsing import Command, Verbs, add_verb, as_json, hours, tcp_port


def _serve(serve: argparse.ArgumentParser) -> None:
    _database(serve)
    serve.add_argument("--host", default="127.0.0.1", help="where to listen (127.0.0.1)")
    serve.add_argument("--port", type=tcp_port, help="the port (3001, or PORT); 0 is any")
    insecure = "let others reach a server in which nobody has an account yet"
    serve.add_argument("--insecure", action="store_true", help=insecure)
    as_json(serve)


def _accounts(accounts: argparse.ArgumentParser) -> None:
    verbs = accounts.add_subparsers(metavar="VERB", dest="command", required=True)
    for name, what, takes in _VERBS:
        parser = add_verb(verbs, name, does=what)
        for taking in (*takes, _database, as_json):
            taking(parser)


def _login(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("login", metavar="LOGIN", help="what the account is called")


def _name(add: argparse.ArgumentParser) -> None:
    add.add_argument("--name", help="what people read in its place")


def _hours(grant: argparse.ArgumentParser) -> None:
    lasts = "how long it lasts unless it is renewed, which a supervisor does (24)"
    grant.add_argument("--hours", type=hours, default=24, help=lasts)


def _grant_id(end: argparse.ArgumentParser) -> None:
    end.add_argument("grant_id", metavar="GRANT", help="its id, as it was printed")


def _database(parser: argparse.ArgumentParser) -> None:
    database = "its file or SQLAlchemy URL (server.db in the home)"
    parser.add_argument("--database", metavar="PLACE", help=database)


_VERBS: Verbs = (
    ("add", "make an account, and print its token, which is shown nowhere again", (_login, _name)),
    ("token", "print one more token of an account", (_login,)),
    ("revoke", "end all tokens and sign-ins of an account", (_login,)),
    ("list", "list the accounts", ()),
    (
        "grant",
        "print what a supervisor opens sessions of the account's agents with",
        (_login, _hours),
    ),
    ("end-grant", "end such a grant, and all that was opened with it", (_grant_id,)),
)

COMMANDS = (
    Command(
        "serve", "hosting", "serve rooms that agents on many machines share, until Ctrl-C", _serve
    ),
    Command("accounts", "accounts", "say who may use the server whose database this is", _accounts),
)
