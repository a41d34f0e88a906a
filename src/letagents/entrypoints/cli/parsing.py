"""What the parsers of commands have in common."""

import argparse
from typing import TypeAlias


class Parser(argparse.ArgumentParser):
    """One that says of which command it is that something is not understood."""

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]  # its overloads are many
        """Return what is understood, with the parser of the innermost command, and the rest."""
        found, rest = super().parse_known_args(args, namespace)
        if not hasattr(found, "parser"):
            found.parser = self  # a command's is called before that of what it is a command of
        return found, rest


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def command(commands: Commands, name: str, *, module: str, does: str) -> argparse.ArgumentParser:
    """Add a command, which `run` in the module of that name carries out."""
    said = f"{does[0].upper()}{does[1:]}."
    parser: argparse.ArgumentParser = commands.add_parser(name, help=does, description=said)
    parser.set_defaults(module=module)
    return parser


def of_room(parser: argparse.ArgumentParser) -> None:
    """Let the command be about a room."""
    parser.add_argument("room", metavar="ROOM", help="its name or invite code")


def by_name(parser: argparse.ArgumentParser) -> None:
    """Let a person act under another name."""
    parser.add_argument("--as", dest="name", metavar="NAME", help="your name (else as git has it)")


def as_json(parser: argparse.ArgumentParser) -> None:
    """Let what is listed be read by programs."""
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def message_id(text: str) -> object:
    """Return the message's id that `text` is, for argparse."""
    from letagents.domain.errors import Malformed
    from letagents.domain.ids import MessageId

    try:
        return MessageId.parse(text)
    except Malformed:
        wrong = f"this is no message's id, such as msg_3: {text!a}"
        raise argparse.ArgumentTypeError(wrong) from None


def server(text: str) -> str:
    """Return the address of a server that `text` is, for argparse."""
    from letagents.domain.modes import server_of

    try:
        return server_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
