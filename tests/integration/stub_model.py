"""A model that answers everything with the same words, over the wires that agents speak."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

WORDS = "hello from the stub"

_ANTHROPIC: tuple[tuple[str, dict[str, object]], ...] = (
    (
        "message_start",
        {
            "message": {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "stub",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }
        },
    ),
    ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
    ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": WORDS}}),
    ("content_block_stop", {"index": 0}),
    (
        "message_delta",
        {
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 3},
        },
    ),
    ("message_stop", {}),
)
_USED = {
    "input_tokens": 1,
    "input_tokens_details": None,
    "output_tokens": 1,
    "output_tokens_details": None,
    "total_tokens": 2,
}
_SAID = {
    "type": "message",
    "role": "assistant",
    "id": "m1",
    "status": "completed",
    "content": [{"type": "output_text", "text": WORDS, "annotations": []}],
}
_OPENAI: tuple[tuple[str, dict[str, object]], ...] = (
    ("response.created", {"response": {"id": "r1"}}),
    ("response.output_item.done", {"output_index": 0, "item": _SAID}),
    ("response.completed", {"response": {"id": "r1", "usage": _USED}}),
)

_CHAT: dict[str, object] = {"id": "c1", "object": "chat.completion.chunk", "created": 1}
_CHUNKS: tuple[dict[str, object], ...] = (
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": WORDS}}]},
    {
        "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    },
)


def _said(path: str) -> str:
    """Return what a model of that interface streams."""
    if "chat/completions" in path:
        chunks = (json.dumps({**_CHAT, "model": "stub", **chunk}) for chunk in _CHUNKS)
        return "".join(f"data: {chunk}\n\n" for chunk in (*chunks, "[DONE]"))
    events = _ANTHROPIC if "messages" in path else _OPENAI
    return "".join(
        f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n" for kind, more in events
    )


class _Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer(b"{}", "application/json")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self._answer(_said(self.path).encode(), "text/event-stream")

    def _answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def stub_model() -> Iterator[str]:
    """Serve the model for as long as it is used; yield its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
