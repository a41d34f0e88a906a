"""A program that speaks as a Codex app-server does, and plays what a file tells it.

Of the stage `threads` keeps what was said in threads.
"""

import asyncio
import http
import json
import os
import signal
from typing import Any
from urllib.parse import urlsplit

import websockets.asyncio.server as websockets
from tests.integration import plays
from tests.integration.plays import STAGE, die, item_of, next_play
from websockets.http11 import Request, Response

THREADS = STAGE / "threads"


def main() -> None:
    words = plays.words()
    if "--version" in words:
        print("codex-cli 0.171.0")
        return
    plays.note("begun", ".")
    asyncio.run(serve(urlsplit(words[words.index("--listen") + 1]).port))


async def serve(port: int | None) -> None:
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, over.set)
    async with websockets.serve(converse, "127.0.0.1", port, process_request=ready):
        await over.wait()


def ready(connection: websockets.ServerConnection, request: Request) -> Response | None:
    if request.path == "/readyz":
        return connection.respond(http.HTTPStatus.OK, "ready\n")
    return None


async def converse(socket: websockets.ServerConnection) -> None:
    told_of: set[str] = set()
    await socket.send("[" * 200_000)  # what cannot be read
    async for text in socket:
        said = json.loads(text)
        if "id" in said:
            await answer(socket, said, told_of)


async def answer(  # noqa: C901  a table
    socket: websockets.ServerConnection, said: dict[str, Any], told_of: set[str]
) -> None:
    """Answer; a connection is told of the threads that it has started or resumed, and no others."""

    async def tell(**message: object) -> None:
        await socket.send(json.dumps(message))

    async def over(turn: dict[str, Any]) -> None:
        if thread_id not in told_of:
            return
        params = {"threadId": thread_id, "turn": {"id": turn["id"], "status": turn["status"]}}
        await tell(method="turn/completed", params=params)

    params, threads = said.get("params") or {}, read()
    thread_id = str(params.get("threadId"))
    match said["method"]:
        case "initialize":
            await tell(id=said["id"], result={"userAgent": "fake"})
        case "mcpServerStatus/list":
            await tell(id=said["id"], result={"data": [{"name": "letagents", "tools": {}}]})
        case "thread/start":
            thread_id = f"thread-{len(threads) + 1}"
            write({**threads, thread_id: []})
            told_of.add(thread_id)
            await tell(id=said["id"], result={"thread": {"id": thread_id}})
        case "thread/resume" | "thread/read" if thread_id not in threads:
            await tell(id=said["id"], error={"code": -32600, "message": "no rollout found"})
        case "thread/resume":
            for turn in threads[thread_id]:
                if turn["status"] == "inProgress":
                    turn["status"] = "interrupted"
            write(threads)
            told_of.add(thread_id)
            await tell(id=said["id"], result={"thread": {"id": thread_id}})
        case "thread/read":
            is_active = any(turn["status"] == "inProgress" for turn in threads[thread_id])
            status = {"type": "active" if is_active else "idle"}
            thread = {"id": thread_id, "status": status, "turns": threads[thread_id]}
            await tell(id=said["id"], result={"thread": thread})
        case "turn/interrupt":
            await tell(id=said["id"], result={})
            for turn in threads[thread_id]:
                if turn["id"] == params["turnId"] and turn["status"] == "inProgress":
                    turn["status"] = "interrupted"
                    write(threads)
                    await over(turn)
        case "turn/start":
            play = next_play()
            if play["crash"] == "before the turn has an id":
                die()
            text = params["input"][0]["text"]
            asked = {"type": "userMessage", "content": [{"type": "text", "text": text}]}
            turn = {"id": f"turn-{os.getpid()}-{len(threads[thread_id])}", "items": [asked]}
            turn["status"] = "inProgress"
            threads[thread_id].append(turn)
            write(threads)
            began(text)
            await tell(id=said["id"], result={"turn": {"id": turn["id"]}})
            await tell(method="turn/started", params={"threadId": thread_id, "turn": turn})
            if play["crash"] == "after the turn's id was told":
                die()
            if play["hangs"]:
                return
            end(turn, play)
            write(threads)
            if play["crash"] == "after the transcript has the answer, before we do":
                die()
            await over(turn)


def end(turn: dict[str, Any], play: dict[str, Any]) -> None:
    if play["quota"]:
        turn["status"] = "failed"
        turn["error"] = {"message": "You ran out.", "codexErrorInfo": "usageLimitExceeded"}
        return
    turn["status"] = "completed"
    said = {"type": "agentMessage", "text": "I am looking.", "phase": "commentary"}
    final = {"type": "agentMessage", "text": play["text"], "phase": "final_answer"}
    turn["items"] += [said, final]


def began(text: str) -> None:
    item = item_of(text) or "live"
    plays.note("turns", f"{item}\n")


def read() -> dict[str, Any]:
    threads: dict[str, Any] = json.loads(THREADS.read_text()) if THREADS.exists() else {}
    return threads


def write(threads: dict[str, Any]) -> None:
    THREADS.write_text(json.dumps(threads))


if __name__ == "__main__":
    main()
