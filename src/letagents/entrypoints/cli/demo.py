"""`letagents demo`: two agents' real processes talk in a room, fail, return, and lose nothing."""

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

import attrs

from letagents.entrypoints.cli import printing
from letagents.entrypoints.cli.agent_process import AgentProcess, Answer, NoAnswer, Plain
from letagents.entrypoints.cli.printing import Surface
from letagents.entrypoints.cli.stage import Stage

SERVER = (sys.executable, "-m", "letagents", "mcp")
OWNER = "Demo"
WAIT_MS = 20_000

_OTHERS_SETTINGS = ("LETAGENTS_", "AGENT_", "CODEX_", "CLAUDECODE_", "ANTIGRAVITY_", "MCP_")


def run(_arguments: argparse.Namespace) -> int:
    """Play it; return 0 if everything held, else 1."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    return play(SERVER, printing.output())


def play(server: Sequence[str], surface: Surface) -> int:
    """Play it with processes of the command `server`; return 0 if everything held, else 1."""
    stage = Stage(surface)
    with _home() as home, Troupe(server, home) as troupe:
        try:
            Play(stage, troupe).perform()
        except (NoAnswer, LookupError, TypeError) as error:  # the latter: an answer lacks a part
            stage.check(f"Every process answered, and as it should: {error!r}", held=False)
    return stage.verdict()


@contextmanager
def _home() -> Iterator[Path]:
    # A short name: a path to a socket in it has to fit into the hundred bytes that an address has.
    with tempfile.TemporaryDirectory(prefix="la", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@attrs.define
class Troupe:
    """The processes of the play: all of them have ended when it is over, whatever happens."""

    server: Sequence[str]
    home: Path
    _ended: ExitStack = attrs.field(factory=ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.close()

    def start(self) -> AgentProcess:
        """Start one more process."""
        environ = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(_OTHERS_SETTINGS)
        }
        environ |= {
            "LETAGENTS_HOME": str(self.home),
            "TMPDIR": str(self.home),
            "LETAGENTS_AGENT_OWNER_LABEL": OWNER,
            "LETAGENTS_LOG_LEVEL": "error",
        }
        process = AgentProcess.started(self.server, environ=environ, log=self.home / "log")
        self._ended.callback(process.end)
        return process


@attrs.define
class Agent:
    """An agent: the chat that outlives its processes, and the process that it has now."""

    name: str
    program: str
    process: AgentProcess
    room_id: str = ""
    worker_id: str = ""

    def does(self, tool: str, **arguments: object) -> Plain:
        """Return what a tool answers. Raises: NoAnswer if it refuses."""
        return _granted(self.process.call(tool, **arguments))

    def sends(self, text: str, **arguments: object) -> Plain:
        """Say something in the room, or in a thread of it."""
        tool = "send_thread_message" if "thread_parent_id" in arguments else "send_message"
        return self.does(tool, worker_id=self.worker_id, text=text, **arguments)

    def begins_to_wait(self, **arguments: object) -> int:
        """Wait for messages. Whatever it was asked before it has then begun, too."""
        call = {"worker_id": self.worker_id, "timeout": WAIT_MS, **arguments}
        number = self.process.begin("wait_for_messages", **call)
        self.does("get_current_room")
        return number

    def hears(self, waiting: int) -> list[Plain]:
        """Return the messages that end a wait."""
        messages: list[Plain] = _granted(self.process.answer(waiting))["messages"]
        return messages

    def registers(self, **proof: object) -> Plain:
        """Become a worker of the room, or the same one again."""
        return self.does("register_agent_session", room_id=self.room_id, **proof)


def _granted(answer: Answer) -> Plain:
    if answer.refused:
        raise NoAnswer(answer.text)
    return answer.fields


@attrs.define
class Play:
    """What is played. Those who come later are started early: a start takes most of the time."""

    stage: Stage
    troupe: Troupe
    said: list[Plain] = attrs.field(factory=list)
    _later: list[AgentProcess] = attrs.field(factory=list)

    def perform(self) -> None:
        """Play all of it."""
        ada = Agent("Ada", "claude-code", self.troupe.start())
        ben = Agent("Ben", "codex-mcp-client", self.troupe.start())
        self._meet(ada, ben)
        self._talk(ada, ben)
        self._repeat(ada)
        self._replace(ben)
        self._crash(ada)
        self._compare(ada, ben)

    def _meet(self, ada: Agent, ben: Agent) -> None:
        self.stage.act("Two agents, each with a `letagents mcp` process of its own")
        for agent in (ada, ben):
            agent.process.greet(agent.program)
        self._later = [self.troupe.start(), self.troupe.start()]
        room = ada.does("create_room")
        self.stage.tell(f"Ada, process {ada.process.pid}, makes the room {room['code']}.")
        ben.does("join_code", code=room["code"])
        self.stage.tell(f"Ben, process {ben.process.pid}, joins it by that code.")
        for agent in (ada, ben):
            agent.room_id = room["room_id"]
            key = f"the registration key of {agent.name}'s chat in the demo"
            answer = agent.registers(registration_key=key, display_name=agent.name)
            agent.worker_id = answer["worker_id"]
            label = answer["agent_session"]["actor_label"]
            self.stage.tell(f"{agent.name} registers: {agent.worker_id}, seen as {label!r}.")
        self.stage.check("Each has a handle of its own.", held=ada.worker_id != ben.worker_id)

    def _talk(self, ada: Agent, ben: Agent) -> None:
        self.stage.act("They talk")
        waiting = ben.begins_to_wait()
        was_open = not ben.process.has_answered(waiting)
        self.stage.tell("Ben waits for messages; nothing has been said yet.")
        first = self._say(ada, "@Ben I take the parser. Do you take the tests?")
        heard = ben.hears(waiting)
        self._wakes("Ben", heard)
        self.stage.check(
            "Ben's wait was open, and Ada's send in another process ended it.",
            held=was_open and _ids(heard) == [first["id"]],
        )
        waiting = ada.begins_to_wait(after_message_id=first["id"])
        reply = self._say(ben, "I do.", thread_parent_id=first["id"])
        heard = ada.hears(waiting)
        self._wakes("Ada", heard)
        thread = heard[0]["thread"]["root_message_id"] if heard else None
        self.stage.check(
            "Ada's wait ended with Ben's reply, in the thread of what she said.",
            held=_ids(heard) == [reply["id"]] and thread == first["id"],
        )

    def _repeat(self, ada: Agent) -> None:
        self.stage.act("An answer gets lost, so Ada sends the same again")
        text, key = "The grammar is pushed.", "grammar-pushed"
        first = self._say(ada, text, client_message_id=key)
        again = ada.sends(text, client_message_id=key)
        self.stage.tell(f"Sent again with its client_message_id: it is still {again['id']}.")
        self.stage.check(
            "The repeated send was answered with the message that the first one made.",
            held=again["id"] == first["id"] and again["text"] == first["text"],
        )

    def _replace(self, ben: Agent) -> None:
        self.stage.act("A third process takes Ben over")
        before = ben.process
        self._return(ben)
        refused = before.call("send_message", worker_id=ben.worker_id, text="Who am I?")
        self.stage.tell(f"The old one, process {before.pid}, tries to speak, and is told:")
        self.stage.is_told(refused.text)
        self.stage.check(
            "The replaced process was refused, and told which call helps.",
            held=refused.refused
            and "[connection_replaced]" in refused.text
            and f"register_agent_session(worker_id='{ben.worker_id}'" in refused.text,
        )
        self._say(ben, "My editor was restarted; I am still on the tests.")

    def _crash(self, ada: Agent) -> None:
        self.stage.act("Ada's process is killed (kill -9)")
        before = ada.process
        before.kill()
        self.stage.tell(f"Process {before.pid} is gone, without a word.")
        self._return(ada)
        self._say(ada, "Crashed, and still Ada. Back to the parser.")

    def _return(self, agent: Agent) -> None:
        """Give the agent a new process, which registers with the agent's handle."""
        agent.process = self._later.pop(0)
        agent.process.greet(agent.program)
        answer = agent.registers(worker_id=agent.worker_id)
        name = answer["agent_session"]["display_name"]
        self.stage.tell(
            f"Process {agent.process.pid} registers with {agent.worker_id}: it is {name}."
        )
        self.stage.check(
            f"{agent.name}'s new process is the same worker, by the same name.",
            held=(answer["worker_id"], name) == (agent.worker_id, agent.name),
        )

    def _compare(self, ada: Agent, ben: Agent) -> None:
        acknowledged = [(message["id"], message["text"]) for message in self.said]
        for agent in (ada, ben):
            read = agent.does("read_messages", worker_id=agent.worker_id)["messages"]
            self.stage.check(
                f"{agent.name} reads all that was acknowledged, in order, and nothing else.",
                held=[(message["id"], message["text"]) for message in read] == acknowledged,
            )
        numbers = [f"msg_{number}" for number in range(1, len(acknowledged) + 1)]
        self.stage.check(
            f"The messages are numbered 1 to {len(numbers)}: none is missing, none is there twice.",
            held=[number for number, _ in acknowledged] == numbers,
        )

    def _say(self, agent: Agent, text: str, **arguments: object) -> Plain:
        message = agent.sends(text, **arguments)
        self.said.append(message)
        self.stage.speaks(agent.name, message)
        return message

    def _wakes(self, name: str, heard: Sequence[Plain]) -> None:
        came = " and ".join(_ids(heard)) or "nothing"
        self.stage.tell(f"{name} wakes up: {came} has come.")


def _ids(messages: Sequence[Plain]) -> list[str]:
    return [message["id"] for message in messages]
