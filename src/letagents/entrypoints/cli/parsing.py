"""What the parsers of commands have in common.

Each module of `commands` names its commands in `COMMANDS`: that is all it takes to be known.
"""

import argparse
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

MOST = 100_000

TASK = "its id, such as task_3"
AGENT = "an agent: its name, its key or its session"


class Parser(argparse.ArgumentParser):
    """One that says of which command it is that something is not understood."""

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]  # its overloads are many
        """Return what is understood, with the parser of the innermost command, and the rest."""
        found, rest = super().parse_known_args(args, namespace)
        if not hasattr(found, "parser"):
            found.parser = self  # a command's is called before that of what it is a command of
        return found, rest


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

Takes = Callable[[argparse.ArgumentParser], None]
"""Says what a command takes."""

Verbs = Sequence[tuple[str, str, Sequence[Takes]]]
"""The verbs of a command: how each is called, what it does, and what it takes."""


def nothing(_parser: argparse.ArgumentParser) -> None:
    """Let a command take nothing."""


class Command(NamedTuple):
    """A command, which `run` in the module of that name carries out."""

    name: str
    module: str
    does: str
    takes: Takes = nothing

    def add(self, commands: Commands, words: Sequence[str]) -> None:
        """Add it; with what it takes, which takes time to set up, if `words` name it."""
        parser = command(commands, self.name, module=self.module, does=self.does)
        if self.name in words:
            self.takes(parser)


def command(commands: Commands, name: str, *, module: str, does: str) -> argparse.ArgumentParser:
    """Add a command, which `run` in the module of that name carries out."""
    parser = add_verb(commands, name, does=does)
    parser.set_defaults(module=module)
    return parser


def add_verb(verbs: Commands, name: str, *, does: str) -> argparse.ArgumentParser:
    """Add a verb of a command, which the command's own module carries out."""
    said = f"{does[0].upper()}{does[1:]}."
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=does, description=said)
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


def count(text: str) -> int:
    """Return the number that `text` is, for argparse."""
    if not text.isascii() or not text.isdigit() or int(text[:9]) > MOST:
        raise argparse.ArgumentTypeError(f"this is no number from 0 to {MOST}: {text!a}")
    return int(text)


def hours(text: str) -> int:
    """Return the number of hours that `text` is, for argparse."""
    if not (number := count(text)):
        raise argparse.ArgumentTypeError("that ends at once: 1 is the shortest")
    return number


def tcp_port(text: str) -> int:
    """Return the port that `text` is, for argparse."""
    if not text.isascii() or not text.isdecimal() or int(text[:6]) > 65_535:
        raise argparse.ArgumentTypeError(f"this is no port from 0 to 65535: {text!a}")
    return int(text)
