"""An agent's `letagents mcp` process, spoken to as its client does: one JSON message a line.

Every wait is bounded, and `end` ends the process however it hangs.
"""

import itertools
import json
import os
import queue
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import attrs

PATIENCE = 30.0
"""Seconds until an answer is given up."""
LEAVING = 5.0
"""Seconds that a process has for leaving by itself."""
PROTOCOL = "2025-11-25"

Plain = dict[str, Any]


class NoAnswer(Exception):
    """The process did not answer, or not as the protocol has it."""


@attrs.frozen
class Answer:
    """What a tool returned; `text` is what the model is shown."""

    refused: bool
    text: str
    fields: Plain


@attrs.define(eq=False)
class AgentProcess:
    """One process. Calls may overlap: each answer is kept until it is asked for."""

    _process: subprocess.Popen[bytes]
    _lines: queue.SimpleQueue[bytes | None] = attrs.field(factory=queue.SimpleQueue)
    _numbers: Iterator[int] = attrs.field(factory=lambda: itertools.count(1))
    _answered: dict[int, Plain] = attrs.field(factory=dict)

    @classmethod
    def started(
        cls, command: Sequence[str], *, environ: Mapping[str, str], log: Path
    ) -> "AgentProcess":
        """Start it; what it logs goes to the end of the file `log`."""
        with log.open("ab") as errors:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=dict(environ),
                # Ctrl-C reaches whoever started it, who then ends it in order.
                start_new_session=os.name != "nt",
            )
        agent = cls(process)
        threading.Thread(target=agent._read, args=(process.stdout,), daemon=True).start()
        return agent

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    def greet(self, program: str) -> None:
        """Begin the protocol as the client called `program`."""
        hello = self._ask(
            "initialize",
            protocolVersion=PROTOCOL,
            capabilities={},
            clientInfo={"name": program, "version": "1"},
        )
        self._result(hello)
        self._write({"method": "notifications/initialized"})

    def call(self, tool: str, **arguments: object) -> Answer:
        """Return what `tool` answers. Raises: NoAnswer."""
        return self.answer(self.begin(tool, **arguments))

    def begin(self, tool: str, **arguments: object) -> int:
        """Call `tool` and do not wait; return the call's number, for `answer`."""
        return self._ask("tools/call", name=tool, arguments=arguments)

    def has_answered(self, number: int) -> bool:
        """Whether the answer to a call is there already."""
        while not self._lines.empty() and number not in self._answered:
            self._keep(self._lines.get())
        return number in self._answered

    def answer(self, number: int) -> Answer:
        """Return the answer to the call of that number. Raises: NoAnswer."""
        result = self._result(number)
        [content] = result["content"]
        return Answer(
            bool(result.get("isError")), content["text"], result.get("structuredContent", {})
        )

    def kill(self) -> None:
        """End it as a crash would: at once and without a word."""
        self._process.kill()
        self._process.wait(LEAVING)

    def end(self) -> None:
        """Let it leave by itself; end it if it does not."""
        assert self._process.stdin is not None  # noqa: S101  for the type checker
        with suppress(OSError):  # it left before it read all
            self._process.stdin.close()
        try:
            self._process.wait(LEAVING)
        except subprocess.TimeoutExpired:
            self.kill()

    def _ask(self, method: str, **params: object) -> int:
        number = next(self._numbers)
        self._write({"id": number, "method": method, "params": params})
        return number

    def _write(self, message: Plain) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode()
        try:
            assert self._process.stdin is not None  # noqa: S101  for the type checker
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise NoAnswer(f"process {self.pid} does not listen: {error}") from error

    def _result(self, number: int) -> Plain:
        while number not in self._answered:
            try:
                self._keep(self._lines.get(timeout=PATIENCE))
            except queue.Empty:
                raise NoAnswer(f"process {self.pid} was silent for {PATIENCE:.0f} s") from None
        message = self._answered.pop(number)
        if "result" not in message:
            raise NoAnswer(f"process {self.pid} answered {message.get('error')}")
        return dict(message["result"])

    def _keep(self, line: bytes | None) -> None:
        if line is None:
            raise NoAnswer(f"process {self.pid} has left")
        try:
            message = json.loads(line)
        except ValueError:
            raise NoAnswer(f"process {self.pid} says what is no JSON: {line[:40]!r}") from None
        if "method" not in message:
            self._answered[message.get("id", 0)] = message

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            for line in stream:
                self._lines.put(line)
        self._lines.put(None)
