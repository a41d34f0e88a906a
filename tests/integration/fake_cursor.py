"""A program that speaks as Cursor's does without a terminal, and plays what a file tells it.

Of the stage `said` is what was said by the tool that says answers.
"""

import json
import os
import signal
import subprocess
import sys
from typing import Any

from tests.integration import plays
from tests.integration.plays import STAGE, die, item_of, next_play


def main() -> None:
    words = plays.words()
    if "--version" in words:
        print("2025.11.06-8fe8a63")
    elif words == ["mcp", "list"]:
        print("letagents: ready")
    elif words == ["create-chat"]:
        begun()
        print(f"chat-{len((STAGE / 'begun').read_text())}")
    else:
        if not any(word.startswith("--resume=chat-") for word in words):
            sys.exit("no such chat")
        turn(words[-1])


def begun() -> None:
    plays.note("begun", ".")


def turn(text: str) -> None:
    play = next_play()
    if play["crash"] == "before the turn has an id":
        die()
    item = item_of(text)
    plays.note("turns", f"{item}\n")
    plays.note("turn_ids", f"{os.environ['LETAGENTS_SUPERVISOR_PROVIDER_TURN_ID']}\n")
    tell({"type": "system", "subtype": "init"})
    if play["crash"] == "after the turn's id was told":
        die()
    if play["hangs"]:
        signal.pause()
    if "FAKE_TOOLS" in os.environ:
        say_by_tool(play["text"])
    elif not play["quota"] and play["text"]:
        plays.note("said", json.dumps({"item": item, "text": play["text"]}) + "\n")
    if play["crash"] == "after the transcript has the answer, before we do":
        die()
    tell({"type": "assistant", "message": {"content": [{"type": "text", "text": "I think."}]}})
    words = "You have reached your usage limit" if play["quota"] else "I think. I am done."
    told = {"type": "result", "subtype": "success", "is_error": play["quota"], "result": words}
    tell(told)


def say_by_tool(text: str) -> None:
    """Say the answer as Cursor does: by the tool of an MCP server that it starts."""
    words = [sys.executable, "-m", "letagents", "mcp"]
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None
    assert server.stdout is not None
    client = {"name": "fake-cursor", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    answer = {"name": "complete_room_turn", "arguments": {"outcome": "reply", "text": text}}
    for line in (
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": answer},
    ):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n")
        server.stdin.flush()
        while "id" in line and json.loads(server.stdout.readline()).get("id") != line["id"]:
            pass
    server.stdin.close()
    server.wait()


def tell(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
