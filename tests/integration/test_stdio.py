"""A real process over real pipes: what goes over the wire, and when the process ends."""

import contextlib
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither")

SERVER = Path(__file__).with_name("shell_server.py")
COMMAND = (sys.executable, str(SERVER))
PATIENCE = 60
"""Seconds until a wait is given up. The machine may be busy; nothing here depends on how busy."""

ERAS = ["2025-11-25", "2026-07-28"]
ENVELOPE: dict[str, object] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


ONE_CALL = [
    {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "steps"}},
]
HOLD = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "freeze", "_meta": {"progressToken": 1}},
}
SCRIPT = b"".join(json.dumps(message).encode() + b"\n" for message in ONE_CALL)


def answered(output: bytes) -> set[object]:
    """Return the ids of the requests that `output` brings results for."""
    messages = [json.loads(line) for line in output.splitlines()]
    return {message["id"] for message in messages if "result" in message}


def popen(command: Sequence[str], pipesize: int = -1) -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, pipesize=pipesize)


@contextlib.contextmanager
def killed_at_last(process: "subprocess.Popen[bytes]") -> Iterator["subprocess.Popen[bytes]"]:
    """Let a process that did not leave by itself fail its test only, and not stay."""
    with process:
        try:
            yield process
        finally:
            process.kill()


class Wire:
    """A server's process, seen line by line. Every line that it writes must be a message."""

    def __init__(self, era: str, command: Sequence[str]) -> None:
        self.process = popen(command)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.meta: dict[str, object] = ENVELOPE if era == ERAS[1] else {}
        self._messages = lines_of(self.process.stdout)
        self._errors = lines_of(self.process.stderr)
        if era == ERAS[0]:
            self.ask("hello", "initialize", HELLO)
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            assert self.receive()["id"] == "hello"

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, message: Mapping[str, Any]) -> None:
        self.write(json.dumps(message).encode())

    def ask(self, request_id: object, method: str, params: Mapping[str, Any]) -> None:
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})

    def call(self, request_id: object, tool: str, **arguments: object) -> None:
        meta = {"progressToken": request_id, **self.meta}
        self.ask(request_id, "tools/call", {"name": tool, "arguments": arguments, "_meta": meta})

    def receive(self) -> dict[str, Any]:
        line = self._messages.get(timeout=PATIENCE)
        assert line is not None, "the server left"
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return dict(message)

    def result(self, tool: str, **arguments: object) -> dict[str, Any]:
        self.call(tool, tool, **arguments)
        answer = self.receive()
        assert answer["id"] == tool
        return dict(answer["result"])

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def left(self) -> int:
        """Return the exit code, once the process has left."""
        return self.process.wait(timeout=PATIENCE)

    def rest(self) -> list[dict[str, Any]]:
        """Return what else was sent, once standard output is closed."""
        return [json.loads(line) for line in until_closed(self._messages)]

    def heard(self) -> bytes | None:
        """Return the next line of standard error."""
        return self._errors.get(timeout=PATIENCE)

    def said(self) -> str:
        """Return all of standard error, once it is closed."""
        return b"".join(until_closed(self._errors)).decode()


def lines_of(stream: IO[bytes]) -> "queue.Queue[bytes | None]":
    lines: queue.Queue[bytes | None] = queue.Queue()

    def read() -> None:
        with stream:
            for line in stream:
                lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def until_closed(lines: "queue.Queue[bytes | None]") -> list[bytes]:
    return list(iter(lambda: lines.get(timeout=PATIENCE), None))


@pytest.fixture(scope="module", params=ERAS)
def wire(request: pytest.FixtureRequest) -> Iterator[Wire]:
    """One process for all tests that leave it as it was."""
    with connected(request.param) as wire:
        yield wire


@pytest.fixture
def own() -> Iterator[Wire]:
    """A process for this test alone."""
    with connected() as own:
        yield own


@contextlib.contextmanager
def connected(era: str = ERAS[0], command: Sequence[str] = COMMAND) -> Iterator[Wire]:
    wire = Wire(era, command)
    try:
        yield wire
    finally:
        wire.close()
        wire.process.kill()
        wire.left()


# --- what a client sees --------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def strict_client(era: str) -> AsyncIterator[Client]:
    """The SDK's own client, which holds results to the schemas that the tools declare."""
    server = StdioServerParameters(command=sys.executable, args=[str(SERVER)])
    with anyio.fail_after(PATIENCE):
        async with Client(server, mode="legacy" if era == ERAS[0] else "auto") as client:
            assert client.protocol_version == era
            yield client


@pytest.mark.parametrize("era", ERAS)
async def test_the_tools_are_listed_with_schemas_and_annotations(era: str) -> None:
    async with strict_client(era) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        echo = tools["echo"]

        assert echo.description == "Do echo."
        assert echo.input_schema["additionalProperties"] is False
        assert echo.output_schema is not None
        assert echo.output_schema["required"] == ["text", "length", "nothing"]
        assert echo.annotations is not None
        assert echo.annotations.read_only_hint is True
        assert echo.annotations.destructive_hint is False
        assert tools["fail"].annotations is not None
        assert tools["fail"].annotations.read_only_hint is False
        assert client.server_info is not None
        assert client.server_info.name == "letagents"
        assert client.instructions == "Test me."


@pytest.mark.parametrize("era", ERAS)
async def test_a_result_comes_as_text_and_as_data_that_keeps_to_its_schema(era: str) -> None:
    async with strict_client(era) as client:
        result = await client.call_tool("echo", {"text": "é"})

        assert not result.is_error
        assert result.structured_content == {"text": "é", "length": 1, "nothing": None}
        assert [getattr(block, "text", None) for block in result.content] == [
            '{"text":"é","length":1,"nothing":null}'
        ]


@pytest.mark.parametrize("era", ERAS)
async def test_an_unknown_tool_is_refused_with_the_names_of_those_there_are(era: str) -> None:
    told = "There is no tool 'ecko'. The tools are: echo, wait"
    async with strict_client(era) as client:
        with pytest.raises(MCPError, match=told):
            await client.call_tool("ecko", {})


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_tells_its_progress_to_whoever_asks_for_it(era: str) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async with strict_client(era) as client:
        await client.call_tool("steps", {}, progress_callback=listen)
        await client.call_tool("steps", {})

        assert told == [(1, 2, "half way")]


def test_the_model_is_told_what_happened_and_what_to_do(wire: Wire) -> None:
    refused = wire.result("refuse")

    assert refused["isError"] is True
    assert "structuredContent" not in refused
    assert refused["content"][0]["text"] == (
        "No room is available: none was named and this chat has joined none. "
        "Call join_room(name=...) or create_room() first, or pass room_id. [no_room]"
    )


def test_a_fault_of_ours_is_logged_in_full_and_told_without_its_details(own: Wire) -> None:
    failed = own.result("fail", key="registration-key")
    own.close()
    log = own.said()

    assert failed["isError"] is True
    text = failed["content"][0]["text"]
    assert text.startswith("letagents failed inside fail: LookupError. It may have taken effect")
    assert text.endswith("[internal_error]")
    assert "details with" not in text
    assert "LookupError: details with …" in log
    assert "registration-key" not in log


def test_a_bad_argument_is_refused_by_name_and_the_server_goes_on(wire: Wire) -> None:
    for arguments in ({}, {"text": 5}, {"text": ""}, {"text": "\x00"}, {"text": "a", "tex": 1}):
        refused = wire.result("echo", **arguments)

        assert refused["isError"] is True
        assert "text" in refused["content"][0]["text"]
        assert refused["content"][0]["text"].endswith("[malformed]")

    assert wire.result("echo", text="still here")["isError"] is False


# --- calls side by side --------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
def test_eight_calls_run_at_the_same_time(era: str) -> None:
    with connected(era) as own:
        for number in range(8):
            own.call(number, "wait", until=8)
        heard = [own.receive() for _ in range(16)]

    assert sorted(answer["id"] for answer in heard if "id" in answer) == list(range(8))


@pytest.mark.parametrize("era", ERAS)
def test_a_cancelled_call_is_freed_at_once_and_never_answered(era: str) -> None:
    with connected(era) as own:
        with_a_call_that_waits(own)
        cancel = {"requestId": 1, "reason": "the user moved on"}
        own.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel})

        assert own.result("freed")["structuredContent"] == {"freed": 1}


# --- what goes over the wire ---------------------------------------------------------------------


def test_stray_output_of_a_tool_stays_off_the_wire(own: Wire) -> None:
    own.result("chatter")
    assert own.result("echo", text="after it")["isError"] is False
    own.close()

    assert own.rest() == []
    said = own.said()
    for stray in ("a stray print", "a stray write", "a stray child on null True"):
        assert stray in said


def test_a_text_of_ten_megabytes_arrives(wire: Wire) -> None:
    result = wire.result("echo", text="é" * 5_000_000)

    assert result["structuredContent"]["length"] == 5_000_000


@pytest.mark.parametrize(
    "text",
    [rb"\u00e9" * 5_000_000, rb",\"" * 2_500_000, rb"\\" * 5_000_000],
    ids=["escaped", "commas and quotes", "backslashes"],
)
def test_a_text_of_ten_megabytes_arrives_however_it_is_written(wire: Wire, text: bytes) -> None:
    wire.write(raw_call(wire, text))

    assert wire.receive()["result"]["structuredContent"]["length"] == 5_000_000


def test_a_line_of_many_values_is_refused_for_its_request(wire: Wire) -> None:
    wire.write(raw_call(wire, b'x","more":[' + b"[1,2],{}," * 100_000 + b'1],"last":"\xff'))
    answer = wire.receive()

    assert answer["id"] == 5
    assert "too many values" in answer["error"]["message"]
    assert wire.result("echo", text="still here")["isError"] is False


def test_lines_that_are_no_messages_are_answered_and_passed_over(wire: Wire) -> None:
    for line in (b"garbage", b'{"jsonrpc":', b"[]", b"\xff\xfe", b"\x00" * 1000):
        wire.write(line)

        assert wire.receive()["id"] is None

    assert wire.result("echo", text="still here")["isError"] is False


def test_blank_lines_and_carriage_returns_are_passed_over(wire: Wire) -> None:
    for line in (b"", b"\r", b"  ", b"\t"):
        wire.write(line)
    wire.write(raw_call(wire, b"hello") + b"\r")

    assert wire.receive()["result"]["structuredContent"]["text"] == "hello"


def raw_call(wire: Wire, text: bytes) -> bytes:
    line = (
        b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","_meta":%b,'
        b'"arguments":{"text":"%b"}}}'
    )
    return line % (json.dumps(wire.meta).encode(), text)


@pytest.mark.parametrize("text", [b"\xff", b"\xed\xa0\x80", rb"\ud800", rb"\udc00\ud800"])
def test_text_that_is_not_valid_unicode_is_refused_by_the_name_of_its_field(
    wire: Wire, text: bytes
) -> None:
    wire.write(raw_call(wire, text))
    answer = wire.receive()

    assert answer["id"] == 5
    assert answer["result"]["content"][0]["text"].startswith("text: the character 1, '\\ud")


def test_a_result_that_utf_8_cannot_hold_is_answered_all_the_same(wire: Wire) -> None:
    assert wire.result("halves")["structuredContent"] == {"path": "half a pair: ?"}


def test_a_line_beyond_the_limit_is_refused_for_its_request(wire: Wire) -> None:
    start = b'{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"arguments":{"text":"'
    wire.write(start + b"x" * 34 * 1024 * 1024 + b'"}}}')
    answer = wire.receive()

    assert answer["id"] == 6
    assert "too long" in answer["error"]["message"]
    assert wire.result("echo", text="still here")["isError"] is False


def test_an_answer_that_nobody_reads_yet_is_not_lost_when_the_input_ends() -> None:
    text = "x" * 25_000  # more than the pipe holds, less than the server waits for
    with popen(COMMAND, pipesize=4096) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        call = {"name": "echo", "arguments": {"text": text}}
        ask = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
        process.stdin.write(SCRIPT + json.dumps(ask).encode() + b"\n")
        process.stdin.close()
        assert process.stderr.readline() == b"closed, 0 freed\n"

        assert answered(process.stdout.read()) == {0, 1, 2}


# --- other things than pipes ---------------------------------------------------------------------


def test_a_script_in_a_pipe_is_answered_whole() -> None:
    ran = subprocess.run(COMMAND, input=SCRIPT, capture_output=True, timeout=PATIENCE, check=True)

    assert answered(ran.stdout) == {0, 1}


def test_a_script_in_a_file_is_answered_whole_into_a_file(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(SCRIPT.removesuffix(b"\n"))
    with (tmp_path / "in").open("rb") as given, (tmp_path / "out").open("wb") as taken:
        subprocess.run(COMMAND, stdin=given, stdout=taken, timeout=PATIENCE, check=True)

    assert answered((tmp_path / "out").read_bytes()) == {0, 1}


@posix
def test_one_socket_may_be_both_standard_input_and_output() -> None:
    ours, theirs = socket.socketpair()
    ours.settimeout(PATIENCE)
    end = theirs.fileno()
    with ours, theirs, subprocess.Popen(COMMAND, stdin=end, stdout=end) as process:
        theirs.close()
        with ours.makefile("rb") as answers:
            for message in ONE_CALL:
                ours.sendall(json.dumps(message).encode() + b"\n")
            got = answered(answers.readline() + answers.readline())
        ours.shutdown(socket.SHUT_WR)

        assert got == {0, 1}
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@posix
def test_a_process_that_is_started_with_closed_streams_leaves_in_order(closed: str) -> None:
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND]
    ran = subprocess.run(shell, check=True, input=SCRIPT, capture_output=True, timeout=PATIENCE)

    assert answered(ran.stdout) == ({0, 1} if closed == "2>&-" else set())


# --- how the process ends ------------------------------------------------------------------------


def with_a_call_that_waits(wire: Wire, tool: str = "wait") -> None:
    arguments = {"until": 2} if tool == "wait" else {}
    wire.call(1, tool, **arguments)
    assert wire.receive()["params"]["message"] == "waiting"


def end_of_input(wire: Wire) -> None:
    wire.close()


def termination(wire: Wire) -> None:
    wire.process.send_signal(signal.SIGTERM)


def interruption(wire: Wire) -> None:
    wire.process.send_signal(signal.SIGINT)


ENDINGS = [end_of_input, termination, interruption] if sys.platform != "win32" else [end_of_input]


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_process_leaves_in_order_and_cancels_what_waits(
    own: Wire, ending: Callable[[Wire], None]
) -> None:
    with_a_call_that_waits(own)
    ending(own)

    assert own.left() == 0
    assert "closed, 1 freed" in own.said()
    assert [answer["error"]["code"] for answer in own.rest()] == [-32000]


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_process_leaves_even_where_a_thread_is_blocked(
    own: Wire, ending: Callable[[Wire], None]
) -> None:
    with_a_call_that_waits(own, "block")
    ending(own)

    assert own.left() == 0


@pytest.mark.parametrize("ending", ENDINGS)
@posix
def test_the_process_leaves_even_where_the_event_loop_is_held(
    own: Wire, ending: Callable[[Wire], None]
) -> None:
    with_a_call_that_waits(own, "freeze")
    ending(own)

    assert own.left() == 0


def hold(wire: IO[bytes], answers: IO[bytes]) -> None:
    """Let the process at the other end hold its event loop; return once it does."""
    asks = [*ONE_CALL[:2], HOLD]
    wire.write(b"".join(json.dumps(message).encode() + b"\n" for message in asks))
    wire.flush()
    assert b'"result"' in answers.readline()
    assert b"waiting" in answers.readline()


@posix
def test_a_held_process_leaves_when_its_client_ends_only_what_it_writes_to_a_socket() -> None:
    ours, theirs = socket.socketpair()
    end = theirs.fileno()
    held = subprocess.Popen(COMMAND, stdin=end, stdout=subprocess.PIPE)
    with ours, theirs, killed_at_last(held) as process:
        theirs.close()
        assert process.stdout is not None
        with ours.makefile("wb") as wire:
            hold(wire, process.stdout)
        ours.shutdown(socket.SHUT_WR)

        assert process.wait(PATIENCE) == 0


@posix
def test_a_held_process_leaves_when_nobody_reads_its_output_any_more() -> None:
    with killed_at_last(popen(COMMAND)) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        hold(process.stdin, process.stdout)
        process.stdout.close()

        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@posix
def test_a_signal_that_was_held_back_when_the_process_was_started_ends_it(number: int) -> None:
    hold = f"import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [{number:d}])"
    go_on = "import os, sys; os.execv(sys.argv[1], sys.argv[1:])"
    with connected(command=(sys.executable, "-c", f"{hold}; {go_on}", *COMMAND)) as wire:
        wire.process.send_signal(number)

        assert wire.left() == 0


A_PARENT = "import subprocess, sys; subprocess.run(sys.argv[1:])"
STARTING = """
import sys, threading
from letagents.entrypoints.mcp.process import serve
def service():
    print("starting", file=sys.stderr)
    threading.Event().wait(60)
serve(service)
"""


@pytest.mark.parametrize("ending", ENDINGS)
@posix
def test_the_process_leaves_even_where_it_hangs_while_it_starts(
    ending: Callable[[Wire], None],
) -> None:
    with connected(ERAS[1], (sys.executable, "-c", STARTING)) as wire:
        assert wire.heard() == b"starting\n"
        ending(wire)

        assert wire.left() == 0


@posix
def test_a_process_that_hangs_while_it_starts_leaves_when_its_parent_dies() -> None:
    with connected(ERAS[1], (sys.executable, "-c", A_PARENT, *COMMAND[:1], "-c", STARTING)) as wire:
        assert wire.heard() == b"starting\n"
        wire.process.kill()

        assert wire.rest() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@posix
def test_a_signal_before_anything_was_said_ends_the_process_quietly(number: int) -> None:
    early = (
        "import os; from letagents.entrypoints.mcp.lifetime import leave_at_once_on_signals; "
        f"leave_at_once_on_signals(); os.kill(os.getpid(), {number:d}); input()"
    )
    command = [sys.executable, "-c", early]
    ran = subprocess.run(command, check=False, capture_output=True, timeout=PATIENCE)

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


UNTOLD = """
import os, runpy, sys
vars(os).pop("pidfd_open", None)
runpy.run_path(sys.argv[1], run_name="__main__")
"""
WAYS = {"told": COMMAND, "looking": (sys.executable, "-c", UNTOLD, str(SERVER))}
"""The kernel tells of the parent's end, or the process has to look by itself."""


@pytest.mark.parametrize("command", WAYS.values(), ids=WAYS)
@posix
def test_the_process_leaves_when_its_parent_dies_though_its_input_stays_open(
    command: Sequence[str],
) -> None:
    with connected(command=(sys.executable, "-c", A_PARENT, *command)) as wire:
        with_a_call_that_waits(wire)
        wire.process.kill()

        assert [answer["error"]["code"] for answer in wire.rest()] == [-32000]
        assert "closed, 1 freed" in wire.said()


@posix
def test_a_held_process_leaves_when_its_parent_dies_though_its_input_stays_open() -> None:
    with connected(command=(sys.executable, "-c", A_PARENT, *COMMAND)) as wire:
        with_a_call_that_waits(wire, "freeze")
        wire.process.kill()

        assert wire.rest() == []


LATE = """
import os, sys, time
while os.getppid() == int(sys.argv[1]):
    time.sleep(0.01)
os.execv(sys.argv[2], sys.argv[2:])
"""
A_PARENT_THAT_IS_GONE = f"""
import os, subprocess, sys
subprocess.Popen([sys.executable, "-c", {LATE!r}, str(os.getpid()), *sys.argv[1:]])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only there can it be told")
def test_the_process_leaves_when_its_parent_died_before_it_could_look() -> None:
    gone = [sys.executable, "-c", A_PARENT_THAT_IS_GONE, *COMMAND]
    readable, writable = os.pipe()
    pipe = subprocess.PIPE
    started = subprocess.Popen(gone, stdin=readable, stdout=pipe, start_new_session=True)
    with started as process, os.fdopen(readable), os.fdopen(writable):
        assert process.wait(PATIENCE) == 0
        assert process.stdout is not None

        assert until_closed(lines_of(process.stdout)) == []


@posix
def test_the_process_leaves_when_nobody_reads_its_output_any_more() -> None:
    readable, writable = os.pipe()
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=writable) as process:
        os.close(writable)
        os.close(readable)

        assert process.wait(PATIENCE) == 0


@posix
def test_the_process_leaves_when_its_client_neither_reads_nor_writes_any_more() -> None:
    readable, writable = os.pipe()
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=writable) as process:
        os.close(writable)
        assert process.stdin is not None
        process.stdin.write(SCRIPT)
        large = {"name": "echo", "arguments": {"text": "x" * 1_000_000}}
        for number in range(10, 20):
            ask = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": large}
            process.stdin.write(json.dumps(ask).encode() + b"\n")
        process.stdin.close()

        assert process.wait(PATIENCE) == 0
    os.close(readable)
