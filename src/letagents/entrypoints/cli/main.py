"""The command line: decides what to do before anything heavy is imported.

Exit codes: 0 done, 1 refused or wrong, 2 not understood, 130 interrupted.
"""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module

from letagents.domain.errors import LetAgentsError
from letagents.entrypoints.cli import deeds
from letagents.entrypoints.cli.parsing import Commands, Parser
from letagents.entrypoints.cli.parsing import as_json as _json
from letagents.entrypoints.cli.parsing import command as _command
from letagents.entrypoints.cli.parsing import message_id as _message_id
from letagents.entrypoints.cli.parsing import server as _server

INTERRUPTED = 130

_WITHOUT_OUTPUT = ("guarding",)
"""Git's hooks print to standard error alone."""

_OPTION = re.compile(r"-[^\d\s.][^\s]*$")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    has_output = _fill_in_streams()
    parser = _parser(sys.argv[1:] if argv is None else argv)
    arguments = _parsed(parser, argv)
    if arguments.module is None:
        parser.print_help()
        return 0
    try:
        if not has_output and arguments.module not in _WITHOUT_OUTPUT:
            raise _no_output()
        command = import_module(f"letagents.entrypoints.cli.{arguments.module}")
        return int(command.run(arguments))
    except LetAgentsError as error:
        from letagents.entrypoints.cli import printing

        printing.complain(error, getattr(arguments, "room", None))
        if error.code == printing.OutputLost.code:
            _let_go_of_output()
        return 1
    except BrokenPipeError:
        _let_go_of_output()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED


def _fill_in_streams() -> bool:
    """Put nothing in the place of standard streams that are closed; return whether output is open.

    The next file that is opened would come to stand there, and be written to.
    """
    has_output = sys.stdout is not None
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8"))
    return has_output


def _no_output() -> LetAgentsError:
    from letagents.entrypoints.cli.printing import OutputLost

    return OutputLost(
        "Standard output is closed, so nothing was done.",
        remedy="Send it to a file, or to /dev/null if nobody wants it.",
    )


def _parsed(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    """Return what is asked for. The words of a command may stand among its options.

    The library takes them from one side of an option only, and calls the others unrecognized.
    """
    arguments, rest = parser.parse_known_args(argv)
    at = rest.index("--") if "--" in rest else len(rest)
    unknown = [word for word in rest[:at] if _OPTION.match(word)]
    several: str | None = getattr(arguments, "several", None)
    if unknown or (rest and several is None):
        arguments.parser.error(f"unrecognized arguments: {' '.join(unknown or rest)}")
    if rest and several is not None:
        setattr(arguments, several, [*getattr(arguments, several), *rest[:at], *rest[at + 1 :]])
    return arguments


def _let_go_of_output() -> None:
    """Send what is still to come nowhere: who read it has left, which is no fault of anybody."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _parser(argv: Sequence[str] = ()) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = Parser(
        prog="letagents",
        description="Rooms in which coding agents talk, share work and never step on each other.",
        epilog="`letagents COMMAND --help` says more about one command.",
    )
    parser.add_argument("--version", action=_Version, help="say which version this is, and end")
    parser.set_defaults(module=None)
    commands = parser.add_subparsers(metavar="COMMAND")
    _mcp(commands)
    _demo(commands)
    _rooms(commands)
    _tail(commands)
    _send(commands)
    _search(commands)
    _receipts(commands)
    _attachment(commands)
    _board(commands)
    _why(commands)
    deeds.add(commands, argv)
    _intents(commands)
    _deciding(commands)
    _requests(commands)
    _answer(commands)
    _memory(commands)
    _guidelines(commands)
    _guard(commands)
    _serve(commands)
    _accounts(commands)
    _supervise(commands)
    _agents(commands)
    _effects(commands)
    _doctor(commands)
    return parser


def _mcp(commands: Commands) -> None:
    does = "serve one chat's tools over standard input and output; an agent's client starts this"
    mcp = _command(commands, "mcp", module="serving", does=does)
    mcp.add_argument(
        "--letagents-runtime-contract",
        dest="contract",
        action="store_true",
        help="print what supervisors can rely on as one line of JSON, and end",
    )


def _demo(commands: Commands) -> None:
    does = "watch two agents' processes talk in a room, in a temporary home; 1 if anything fails"
    _command(commands, "demo", module="demo", does=does)


def _rooms(commands: Commands) -> None:
    does = "list the rooms that this machine keeps, the latest active first"
    _json(_command(commands, "rooms", module="rooms", does=does))


def _tail(commands: Commands) -> None:
    does = "show the newest messages of a room and follow it live, until Ctrl-C"
    tail = _command(commands, "tail", module="tail", does=does)
    tail.add_argument("room", metavar="ROOM", help="its name or invite code")
    tail.add_argument(
        "-n",
        dest="newest",
        metavar="N",
        type=_count,
        default=20,
        help="so many of the newest messages first (20)",
    )
    tail.add_argument("--once", action="store_true", help="end after those")
    _json(tail)


def _send(commands: Commands) -> None:
    does = "say something in a room, as the person that you are"
    send = _command(commands, "send", module="send", does=does)
    send.add_argument("room", metavar="ROOM", help="its name or invite code")
    send.add_argument("text", metavar="TEXT", help="what to say; - reads standard input")
    send.add_argument(
        "--reply-to", metavar="msg_N", type=_message_id, help="the message that you quote"
    )
    send.add_argument(
        "--thread", metavar="msg_N", type=_message_id, help="a message of the thread to answer in"
    )
    send.add_argument(
        "--attach", metavar="FILE", action="append", default=[], help="a file to go with it"
    )
    send.add_argument("--as", dest="name", metavar="NAME", help="your name (else as git has it)")
    send.add_argument("--key", help="repeating the call with the same key says it only once")
    send.add_argument("--create", action="store_true", help="make the room if it is not there")


def _search(commands: Commands) -> None:
    does = "find what was said in a room, newest first"
    search = _command(commands, "search", module="search", does=does)
    search.add_argument("room", metavar="ROOM", help="its name or invite code")
    words = "whole words that must all be there; 'a phrase' in quotes; begin*"
    search.add_argument("words", metavar="WORD", nargs="*", help=words)
    search.set_defaults(several="words")
    search.add_argument("--author", metavar="NAME", help="only what they said")
    search.add_argument(
        "--thread", metavar="msg_N", type=_message_id, help="only the thread of that message"
    )
    search.add_argument("--since", metavar="TIME", help="only from then on, in UTC")
    search.add_argument("--until", metavar="TIME", help="only before then, in UTC")
    search.add_argument(
        "-n", dest="most", metavar="N", type=_count, default=20, help="so many at most (20)"
    )
    _json(search)


def _receipts(commands: Commands) -> None:
    does = "show whom a message woke, and whether they have had it"
    receipts = _command(commands, "receipts", module="receipts", does=does)
    receipts.add_argument("room", metavar="ROOM", help="its name or invite code")
    receipts.add_argument("message", metavar="msg_N", type=_message_id, help="which message")
    _json(receipts)


def _attachment(commands: Commands) -> None:
    does = "have a file that goes with a message"
    attachment = _command(commands, "attachment", module="attachments", does=does)
    attachment.add_argument("room", metavar="ROOM", help="its name or invite code")
    attachment.add_argument("message", metavar="msg_N", type=_message_id, help="which message")
    attachment.add_argument(
        "attachment", metavar="att_N", nargs="?", default="att_1", help="which of its files"
    )
    attachment.add_argument("--to", metavar="PLACE", help="where to write it, else under its name")


def _board(commands: Commands) -> None:
    does = "list the tasks of a room: where they stand and who is on them"
    board = _command(commands, "board", module="board", does=does)
    board.add_argument("room", metavar="ROOM", help="its name or invite code")
    board.add_argument("--all", action="store_true", help="those that are over, too")
    board.set_defaults(command="board")
    _json(board)


def _why(commands: Commands) -> None:
    does = "say why a task stands as it does, who holds it and what can follow"
    why = _command(commands, "why", module="board", does=does)
    why.add_argument("room", metavar="ROOM", help="its name or invite code")
    why.add_argument("task", metavar="TASK", help="its id, such as task_3")
    why.set_defaults(command="why")
    _json(why)


def _intents(commands: Commands) -> None:
    does = "list what agents of a room want to be allowed, the oldest first"
    intents = _command(commands, "intents", module="governance", does=does)
    intents.set_defaults(command="intents")
    intents.add_argument("room", metavar="ROOM", help="its name or invite code")
    intents.add_argument("--all", action="store_true", help="those that were decided, too")
    _json(intents)


def _deciding(commands: Commands) -> None:
    for name, what in (("approve", "allow"), ("deny", "refuse")):
        does = f"{what} what an agent wants; the room tells it, with your reason"
        deciding = _command(commands, name, module="governance", does=does)
        deciding.set_defaults(command=name)
        deciding.add_argument("room", metavar="ROOM", help="its name or invite code")
        deciding.add_argument("intent", metavar="INTENT", help="which: `letagents intents ROOM`")
        deciding.add_argument("--reason", help="why, in a few words")


def _requests(commands: Commands) -> None:
    does = "list what agents of a room ask its people"
    requests = _command(commands, "requests", module="memory", does=does)
    requests.set_defaults(command="requests")
    requests.add_argument("room", metavar="ROOM", help="its name or invite code")
    requests.add_argument("--all", action="store_true", help="those that were answered, too")
    _json(requests)


def _answer(commands: Commands) -> None:
    does = "answer what an agent asked; the room tells it, and nobody else"
    answer = _command(commands, "answer", module="memory", does=does)
    answer.set_defaults(command="answer")
    answer.add_argument("room", metavar="ROOM", help="its name or invite code")
    answer.add_argument("request", metavar="REQUEST", help="which: `letagents requests ROOM`")
    answer.add_argument("text", metavar="TEXT", nargs="+", help="the answer; - reads it")
    answer.set_defaults(several="text")
    answer.add_argument("--as", dest="name", metavar="NAME", help="your name (else as git has it)")


def _memory(commands: Commands) -> None:
    does = "list the facts that a room keeps; revise, archive or restore one"
    memory = _command(commands, "memory", module="memory", does=does)
    memory.set_defaults(command="memory")
    memory.add_argument("room", metavar="ROOM", help="its name or invite code")
    memory.add_argument("--all", action="store_true", help="those that are archived, too")
    one = memory.add_mutually_exclusive_group()
    one.add_argument("--history", metavar="ID", help="every version of one, the newest first")
    one.add_argument("--revise", metavar="ID", help="let one say something else")
    one.add_argument("--archive", metavar="ID", help="put one away")
    one.add_argument("--restore", metavar="ID", help="take one out again")
    memory.add_argument("--title", metavar="TEXT", help="the title to --revise it to; - reads it")
    memory.add_argument("--body", metavar="TEXT", help="the body to --revise it to; - reads it")
    _json(memory)


def _guidelines(commands: Commands) -> None:
    does = "show what a room's people wish from agents in it, or set it"
    guidelines = _command(commands, "guidelines", module="memory", does=does)
    guidelines.set_defaults(command="guidelines")
    guidelines.add_argument("room", metavar="ROOM", help="its name or invite code")
    setting = guidelines.add_mutually_exclusive_group()
    setting.add_argument(
        "--set", metavar="FILE", help="set them to what is in it; - reads; nothing takes them away"
    )
    setting.add_argument(
        "--replies",
        choices=("parallel", "sequential"),
        help="how agents answer that are called together: at once, or one after another",
    )
    guidelines.add_argument(
        "--as", dest="name", metavar="NAME", help="your name (else as git has it)"
    )
    _json(guidelines)


def _guard(commands: Commands) -> None:
    does = "let git refuse commits to files that another agent has claimed"
    guard = _command(commands, "guard", module="guard", does=does)
    verbs = guard.add_subparsers(metavar="VERB", dest="command", required=True)
    for name, what in (
        ("install", "put it among the hooks of a repository; earlier hooks are kept and called"),
        ("uninstall", "take it away, and put earlier hooks back"),
        ("status", "say whether it is there"),
    ):
        verb = verbs.add_parser(name, help=what)
        verb.add_argument("--repo", metavar="DIR", default=".", help="a folder in it (this one)")
        _json(verb)
    check = verbs.add_parser("check", help="check what is to be committed or pushed now")
    check.set_defaults(module="guarding")
    check.add_argument("--hook", choices=("pre-commit", "pre-push"), default="pre-commit")
    check.add_argument("words", metavar="WORD", nargs="*", help="what git passes to its hook")


def _serve(commands: Commands) -> None:
    does = "serve rooms that agents on many machines share, until Ctrl-C"
    serve = _command(commands, "serve", module="hosting", does=does)
    _database(serve)
    serve.add_argument("--host", default="127.0.0.1", help="where to listen (127.0.0.1)")
    serve.add_argument("--port", type=_tcp_port, help="the port (3001, or PORT); 0 is any")
    insecure = "let others reach a server in which nobody has an account yet"
    serve.add_argument("--insecure", action="store_true", help=insecure)
    _json(serve)


def _accounts(commands: Commands) -> None:
    does = "say who may use the server whose database this is"
    accounts = _command(commands, "accounts", module="accounts", does=does)
    verbs = accounts.add_subparsers(metavar="VERB", dest="command", required=True)
    for name, what in (
        ("add", "make an account, and print its token, which is shown nowhere again"),
        ("token", "print one more token of an account"),
        ("revoke", "end all tokens and sign-ins of an account"),
        ("list", "list the accounts"),
        ("grant", "print what a supervisor opens sessions of the account's agents with"),
        ("end-grant", "end such a grant, and all that was opened with it"),
    ):
        verb = verbs.add_parser(name, help=what)
        if name == "end-grant":
            verb.add_argument("grant_id", metavar="GRANT", help="its id, as it was printed")
        elif name != "list":
            verb.add_argument("login", metavar="LOGIN", help="what the account is called")
        if name == "add":
            verb.add_argument("--name", help="what people read in its place")
        if name == "grant":
            lasts = "how long it lasts unless it is renewed, which a supervisor does (24)"
            verb.add_argument("--hours", type=_count, default=24, help=lasts)
        _database(verb)
        _json(verb)


def _supervise(commands: Commands) -> None:
    does = "answer the processes of supervised agents, and keep the journal of what they do"
    supervise = _command(commands, "supervise", module="supervising", does=does)
    ways = supervise.add_mutually_exclusive_group(required=True)
    foreground = "do it in this process, until Ctrl-C"
    ways.add_argument("--foreground", action="store_true", help=foreground)
    service = "write, or remove, a service of yours that does it whenever you are signed in"
    ways.add_argument("service", nargs="?", choices=("install", "uninstall"), help=service)
    replace = "let the supervisor that runs hand over to this one"
    supervise.add_argument("--replace", action="store_true", help=replace)
    show = "only show what would be written"
    supervise.add_argument("--show", action="store_true", help=show)
    _json(supervise)


def _agents(commands: Commands) -> None:
    does = "run agents as workers in rooms, which a supervisor looks after"
    agents = _command(commands, "agents", module="agents", does=does)
    verbs = agents.add_subparsers(metavar="VERB", dest="command", required=True)
    for name, what in (
        ("list", "list the agents, and how each is"),
        ("add", "add an agent, and start it"),
        ("start", "start an agent, also one that was left alone"),
        ("pause", "stop an agent for now"),
        ("stop", "stop an agent"),
        ("rename", "have others call an agent by another name"),
        ("remove", "forget an agent that is stopped"),
        ("grant", "let an agent into its server's room by a host grant"),
        ("status", "show what each agent is at, and what it is stuck with"),
        ("logs", "show what an agent does"),
        ("processes", "show the processes that an agent has had, and how each ended"),
        ("move", "move an agent to another room, once it is in no turn"),
        ("stop-turn", "stop the turn that an agent is in, or have it begun anew with your words"),
        ("retry", "have a message tried again that an agent is stuck with"),
        ("skip", "have a message passed over of which no turn can have begun"),
    ):
        verb = verbs.add_parser(name, help=what)
        if name != "list":
            whole = "?" if name == "status" else None
            called = "its name: letters, digits, - and _"
            verb.add_argument("agent", metavar="AGENT", nargs=whole, help=called)
        if name == "add":
            _new_agent(verb)
        _of_an_agent(name, verb)
        if name in ("retry", "skip"):
            which = "which one, as msg_7 (the first that is blocked)"
            verb.add_argument("message", metavar="MESSAGE", nargs="?", help=which)
        if name in ("logs", "list"):
            verb.add_argument("--follow", action="store_true", help="go on as it happens")
        if name == "logs":
            verb.add_argument("-n", dest="number", type=_count, default=50, help="how many (50)")
        _json(verb)


def _of_an_agent(name: str, verb: argparse.ArgumentParser) -> None:
    if name == "rename":
        verb.add_argument("name", metavar="NAME", help="what others in the room call it")
    if name == "grant":
        which = "what `letagents accounts grant` printed (- is standard input)"
        verb.add_argument("--file", metavar="FILE", default="-", help=which)
    if name == "move":
        verb.add_argument("room", metavar="ROOM", help="to which room")
    if name == "stop-turn":
        _stopped_turn(verb)


def _stopped_turn(stop: argparse.ArgumentParser) -> None:
    one = stop.add_mutually_exclusive_group()
    words = "what the agent is told as it begins anew with the same message"
    one.add_argument("--correct", metavar="TEXT", help=words)
    known = "a stop that is uncertain did stop its turn, as you have seen"
    one.add_argument("--stopped", action="store_true", help=known)
    one.add_argument("--not-stopped", action="store_true", help="it did not")


def _new_agent(add: argparse.ArgumentParser) -> None:
    providers = ("codex", "claude-code", "open-model", "cursor")
    add.add_argument("--room", metavar="ROOM", required=True, help="in which room it works")
    server = "whose room it is (as your own commands: LETAGENTS_API_URL, or this machine)"
    add.add_argument("--server", metavar="URL", type=_server, help=server)
    add.add_argument("--provider", choices=providers, required=True, help="which program runs it")
    polling = "it waits for messages by itself, instead of being handed each (Codex, on a server)"
    add.add_argument("--polling", action="store_true", help=polling)
    where = add.add_mutually_exclusive_group()
    where.add_argument("--workspace", metavar="DIR", default=".", help="its folder (this one)")
    own = "make it a folder of its own: a worktree of the git repository in DIR"
    where.add_argument("--repo", metavar="DIR", help=own)
    named = "on which branch there (letagents/AGENT); one that exists is gone on with"
    add.add_argument("--branch", help=named)
    add.add_argument("--base", metavar="REVISION", help="from where on there (HEAD)")
    add.add_argument("--model", help="which model (the program's own choice)")
    served = "where an open model is served, under OpenAI's interface"
    add.add_argument("--base-url", metavar="URL", help=served)
    key = add.add_mutually_exclusive_group()
    variable = "the variable of the supervisor's environment that has its key"
    key.add_argument("--key-env", metavar="NAME", help=variable)
    file = "the file that has its key, which only you may read"
    key.add_argument("--key-file", metavar="FILE", help=file)
    add.add_argument("--charter", metavar="TEXT", default="", help="what it is told each time")
    add.add_argument("--name", help="what others in the room call it")


def _effects(commands: Commands) -> None:
    does = "list what supervised agents may have done before a crash, and say whether they did"
    effects = _command(commands, "effects", module="effects", does=does)
    effects.add_argument("agent", metavar="AGENT", nargs="?", help="only that agent's")
    one = effects.add_mutually_exclusive_group()
    one.add_argument("--happened", metavar="ID", help="one of them was done, as you have seen")
    one.add_argument("--not-done", metavar="ID", help="one of them was not done")
    _json(effects)


def _database(parser: argparse.ArgumentParser) -> None:
    database = "its file or SQLAlchemy URL (server.db in the home)"
    parser.add_argument("--database", metavar="PLACE", help=database)


def _doctor(commands: Commands) -> None:
    does = "say what is configured, where files are, what is wrong and how to mend it"
    _json(_command(commands, "doctor", module="doctor", does=does))


MOST = 100_000


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text[:9]) > MOST:
        raise argparse.ArgumentTypeError(f"this is no number from 0 to {MOST}: {text!a}")
    return int(text)


def _tcp_port(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text[:6]) > 65_535:
        raise argparse.ArgumentTypeError(f"this is no port from 0 to 65535: {text!a}")
    return int(text)


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:  # noqa: A002  argparse calls it so
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"letagents {version('letagents')}")
        parser.exit()
