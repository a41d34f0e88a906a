"""A program that speaks as Claude Code does without a terminal, and plays what a file tells it."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.integration import plays
from tests.integration.plays import die, item_of, next_play


def main() -> None:
    words = plays.words()
    if "--version" in words:
        print("2.1.0 (Fake Claude)")
        return
    plays.note("begun", ".")
    session = next(w.split("=", 1)[1] for w in words if w.startswith(("--session-id", "--resume")))
    print("[" * 200_000, flush=True)  # what cannot be read
    for line in sys.stdin:
        answer(json.loads(line), session)


def answer(said: dict[str, Any], session: str) -> None:
    if said["type"] == "user":
        turn(said, session)
        return
    request = said["request"]["subtype"]
    told = {"mcpServers": [{"name": "letagents", "status": "connected"}]}
    response = {"subtype": "success", "request_id": said["request_id"], "response": told}
    tell({"type": "control_response", "response": response})
    if request == "interrupt":
        note(session, {"type": "user", "message": {"content": "[Request interrupted by user]"}})
        tell({"type": "result", "subtype": "error_during_execution", "session_id": session})


def turn(said: dict[str, Any], session: str) -> None:
    play = next_play()
    if play["crash"] == "before the turn has an id":
        die()
    text = said["message"]["content"][0]["text"]
    item = item_of(text)
    note(session, {"type": "user", "uuid": said["uuid"], "message": {"content": text}})
    plays.note("turns", f"{item}\n")
    if play["crash"] == "after the turn's id was told":
        die()
    if play["hangs"]:
        return
    message = {"content": [{"type": "text", "text": play["text"]}], "stop_reason": "end_turn"}
    limit = {"content": [{"type": "text", "text": "Claude usage limit reached"}]}
    line = {"type": "assistant", "message": limit if play["quota"] else message}
    note(session, {**line, "isApiErrorMessage": play["quota"]})
    if play["crash"] == "after the transcript has the answer, before we do":
        die()
    tell({**line, "session_id": session})
    result = "Claude usage limit reached" if play["quota"] else play["text"]
    end = {"type": "result", "subtype": "success", "is_error": play["quota"], "result": result}
    tell({**end, "session_id": session, "user_message_uuid": said["uuid"]})


def note(session: str, line: dict[str, Any]) -> None:
    folder = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / "stage"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{session}.jsonl").open("a") as file:
        file.write(json.dumps({**line, "sessionId": session}) + "\n")


def tell(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
