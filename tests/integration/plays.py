"""What programs have in common that play other makers' ones, as a file tells them.

FAKE_STAGE is a folder: `plays` has one turn a line, `played` counts those that began, `begun` the
programs that did, and `turns` has of which items turns were.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

STAGE = Path(os.environ["FAKE_STAGE"])


def words() -> list[str]:
    """Return the words that the program is called with; note them, and its environment."""
    said = sys.argv[1:]
    (STAGE / "argv").write_text(json.dumps(said))
    (STAGE / "environ").write_text(json.dumps(dict(os.environ)))
    return said


def note(name: str, text: str) -> None:
    """Add a text to a file of the stage."""
    with (STAGE / name).open("a") as file:
        file.write(text)


def item_of(text: str) -> str | None:
    """Return of which item a turn is, as it tells its agent."""
    marked = [line for line in text.splitlines() if line.startswith("letagents item: ")]
    return marked[0].split(": ")[1] if marked else None


def next_play() -> dict[str, Any]:
    """Return how the next turn is to go."""
    count = STAGE / "played"
    number = int(count.read_text()) if count.exists() else 0
    count.write_text(str(number + 1))
    plays = (STAGE / "plays").read_text().splitlines() if (STAGE / "plays").exists() else []
    plain = {"text": "ok", "crash": None, "hangs": False, "quota": False}
    return {**plain, **(json.loads(plays[number]) if number < len(plays) else {})}


def die() -> None:
    """End as a program does that fails, which tells more than it should."""
    print("it failed with token=sk-ant-very-secret-0123456789", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
