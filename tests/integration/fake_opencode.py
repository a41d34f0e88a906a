"""A program that speaks as an OpenCode server does, and plays what a file tells it.

Of the stage `sessions` keeps what was said.
"""

import base64
import http.server
import json
import os
import signal
import threading
from typing import Any

from tests.integration import plays
from tests.integration.plays import STAGE, die, item_of, next_play

SESSIONS = STAGE / "sessions"
PASSWORD = os.environ.get("OPENCODE_SERVER_PASSWORD", "")
NEVER = threading.Event()
BUSY: dict[str, str] = {}
ABORTED: dict[str, list[str]] = {}
"""What is told to be broken off to who looks at its session often enough: it is idle before."""


def main() -> None:
    words = plays.words()
    if "--version" in words:
        print("1.18.33")
        return
    plays.note("begun", ".")
    port = next(word.split("=")[1] for word in words if word.startswith("--port="))
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Server).serve_forever()


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        sessions, parts = read(), self.path.strip("/").split("/")
        if not self.may():
            self.say(401, {})
        elif self.path == "/event":
            self.stay_silent()
        elif self.path == "/mcp":
            self.say(200, {"letagents": {"status": "connected"}})
        elif self.path == "/session/status":
            self.say(200, {one: {"type": "busy"} for one in BUSY})
        elif parts[0] == "session" and parts[1] not in sessions:
            self.say(404, {"name": "NotFoundError"})
        elif parts[0] == "session":
            if parts[2:] == ["message"]:
                tell_of_aborted(parts[1])
            self.say(200, sessions[parts[1]] if len(parts) > 2 else {"id": parts[1]})
        else:
            self.say(200, {"healthy": True})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or b"{}")
        sessions, parts = read(), self.path.strip("/").split("/")
        if parts == ["session"]:
            made = f"ses_{len(sessions) + 1}"
            write({**sessions, made: []})
            self.say(200, {"id": made})
        elif parts[2] == "abort":
            abort(parts[1])
            self.say(200, True)
        else:
            play = next_play()
            if play["crash"] == "before the turn has an id":
                die()
            begin(parts[1], body)
            if play["crash"] == "after the turn's id was told":
                die()
            if not play["hangs"]:
                end(parts[1], body["messageID"], play)
            if play["crash"]:
                die()
            self.say(204, None)

    def may(self) -> bool:
        shown = base64.b64encode(f"opencode:{PASSWORD}".encode()).decode()
        return self.headers.get("authorization") == f"Basic {shown}"

    def say(self, status: int, answer: object) -> None:
        body = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        if answer is not None:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stay_silent(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        try:
            self.wfile.write(b"data: " + b"[" * 200_000 + b"\n\n")  # what cannot be read
            while True:
                self.wfile.write(b'data: {"type": "server.heartbeat", "properties": {}}\n\n')
                self.wfile.flush()
                NEVER.wait(0.05)
        except OSError:
            self.close_connection = True


def begin(session: str, body: dict[str, Any]) -> None:
    text = body["parts"][0]["text"]
    item = item_of(text)
    said = {"info": {"id": body["messageID"], "role": "user"}, "parts": body["parts"]}
    add(session, said)
    BUSY[session] = body["messageID"]
    plays.note("turns", f"{item}\n")


def end(session: str, began: str, play: dict[str, Any]) -> None:
    info: dict[str, Any] = {"id": "msg_a", "role": "assistant", "parentID": began}
    if play["quota"]:
        data = {"message": "You ran out of quota.", "statusCode": 429}
        add(session, {"info": {**info, "error": {"name": "APIError", "data": data}}, "parts": []})
    else:
        parts = [{"type": "step-start"}, {"type": "text", "text": play["text"]}]
        add(session, {"info": {**info, "finish": "stop"}, "parts": parts})
    BUSY.pop(session, None)


def abort(session: str) -> None:
    if (began := BUSY.pop(session, None)) is not None:
        ABORTED[session] = 3 * [began]


def tell_of_aborted(session: str) -> None:
    looks = ABORTED.get(session)
    if looks and (began := looks.pop()) and not looks:
        error = {"name": "MessageAbortedError", "data": {"message": "aborted"}}
        info = {"id": "msg_a", "role": "assistant", "parentID": began, "error": error}
        add(session, {"info": info, "parts": []})


def add(session: str, message: dict[str, Any]) -> None:
    sessions = read()
    sessions[session].append(message)
    write(sessions)


def read() -> dict[str, Any]:
    sessions: dict[str, Any] = json.loads(SESSIONS.read_text()) if SESSIONS.exists() else {}
    return sessions


def write(sessions: dict[str, Any]) -> None:
    new = SESSIONS.with_suffix(".new")
    new.write_text(json.dumps(sessions))
    new.replace(SESSIONS)


if __name__ == "__main__":
    main()
