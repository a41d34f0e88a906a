"""Commands about agents that a supervisor runs, and what they take."""

import argparse

from letagents.entrypoints.cli.parsing import Command, Verbs, add_verb, as_json, count, server

_NAME = "its name: letters, digits, - and _"


def _supervise(supervise: argparse.ArgumentParser) -> None:
    ways = supervise.add_mutually_exclusive_group(required=True)
    foreground = "do it in this process, until Ctrl-C"
    ways.add_argument("--foreground", action="store_true", help=foreground)
    service = "write, or remove, a service of yours that does it whenever you are signed in"
    verbs = ("install", "uninstall")
    ways.add_argument("service", nargs="?", choices=verbs, metavar="|".join(verbs), help=service)
    replace = "let the supervisor that runs hand over to this one"
    supervise.add_argument("--replace", action="store_true", help=replace)
    show = "only show what would be written"
    supervise.add_argument("--show", action="store_true", help=show)
    as_json(supervise)


def _agents(agents: argparse.ArgumentParser) -> None:
    verbs = agents.add_subparsers(metavar="VERB", dest="command", required=True)
    for name, what, takes in _VERBS:
        parser = add_verb(verbs, name, does=what)
        for taking in (*takes, as_json):
            taking(parser)


def _called(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("agent", metavar="AGENT", help=_NAME)


def _called_or_all(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("agent", metavar="AGENT", nargs="?", help=_NAME)


def _new_name(rename: argparse.ArgumentParser) -> None:
    rename.add_argument("name", metavar="NAME", help="what others in the room call it")


def _file(grant: argparse.ArgumentParser) -> None:
    which = "what `letagents accounts grant` printed (- is standard input)"
    one = grant.add_mutually_exclusive_group()
    one.add_argument("--file", metavar="FILE", default="-", help=which)
    does = "forget the agent's grant: it is let in by this machine's sign-in again"
    one.add_argument("--give-up", action="store_true", help=does)


def _to_room(move: argparse.ArgumentParser) -> None:
    move.add_argument("room", metavar="ROOM", help="to which room")


def _message(verb: argparse.ArgumentParser) -> None:
    which = "which one, as msg_7 (the first that is blocked)"
    verb.add_argument("message", metavar="MESSAGE", nargs="?", help=which)


def _follow(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--follow", action="store_true", help="go on as it happens")


def _newest(logs: argparse.ArgumentParser) -> None:
    logs.add_argument("-n", dest="number", type=count, default=50, help="how many (50)")


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
    whose = "whose room it is (as your own commands: LETAGENTS_API_URL, or this machine)"
    add.add_argument("--server", metavar="URL", type=server, help=whose)
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


def _effects(effects: argparse.ArgumentParser) -> None:
    effects.add_argument("agent", metavar="AGENT", nargs="?", help="only that agent's")
    one = effects.add_mutually_exclusive_group()
    one.add_argument("--happened", metavar="ID", help="one of them was done, as you have seen")
    one.add_argument("--not-done", metavar="ID", help="one of them was not done")
    as_json(effects)


_VERBS: Verbs = (
    ("list", "list the agents, and how each is", (_follow,)),
    ("add", "add an agent, and start it", (_called, _new_agent)),
    ("start", "start an agent, also one that was left alone", (_called,)),
    ("pause", "stop an agent for now", (_called,)),
    ("stop", "stop an agent", (_called,)),
    ("rename", "have others call an agent by another name", (_called, _new_name)),
    ("remove", "forget an agent that is stopped", (_called,)),
    ("grant", "let an agent into its server's room by a host grant", (_called, _file)),
    ("status", "show what each agent is at, and what it is stuck with", (_called_or_all,)),
    ("logs", "show what an agent does", (_called, _follow, _newest)),
    (
        "processes",
        "show the processes that an agent has had, and how each ended",
        (_called,),
    ),
    (
        "history",
        "show what people and programs changed of agents: when, what, and from which process",
        (_called_or_all, _newest),
    ),
    ("move", "move an agent to another room, once it is in no turn", (_called, _to_room)),
    (
        "stop-turn",
        "stop the turn that an agent is in, or have it begun anew with your words",
        (_called, _stopped_turn),
    ),
    ("retry", "have a message tried again that an agent is stuck with", (_called, _message)),
    (
        "skip",
        "have a message passed over of which no turn can have begun",
        (_called, _message),
    ),
)


COMMANDS = (
    Command(
        "supervise",
        "supervising",
        "answer the processes of supervised agents, and keep the journal of what they do",
        _supervise,
    ),
    Command(
        "agents",
        "agents",
        "run agents as workers in rooms, which a supervisor looks after",
        _agents,
    ),
    Command(
        "effects",
        "effects",
        "list what supervised agents may have done before a crash, and say whether they did",
        _effects,
    ),
)
