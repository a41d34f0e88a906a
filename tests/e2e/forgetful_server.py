"""`letagents mcp` behind a line that loses one field, for the tests of what the demo notices.

Run as `python forgetful_server.py FIELD`.
"""

import json
import subprocess
import sys
from typing import IO


def main() -> int:
    [_, field] = sys.argv
    command = [sys.executable, "-m", "letagents", "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as server:
        assert server.stdin is not None
        _forward(server.stdin, field)
    return 0


def _forward(stream: IO[bytes], field: str) -> None:
    for line in sys.stdin.buffer:
        message = json.loads(line)
        message.get("params", {}).get("arguments", {}).pop(field, None)
        stream.write(json.dumps(message).encode() + b"\n")
        stream.flush()


if __name__ == "__main__":
    raise SystemExit(main())
