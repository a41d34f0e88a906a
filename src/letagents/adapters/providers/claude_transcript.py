"""What Claude Code writes down of a conversation, and what that tells of a turn.

(Source: supervisor 6.14.) A file has a line for each thing said; a turn begins with the line that
has its id. An answer counts once the model said that it was at its end: what stops before that may
have been followed by something that was not written down any more.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from letagents.domain import redaction, turn_prompts, turns
from letagents.domain.turns import Failed, Fate, Interrupted, Unknowable

Raw = Mapping[str, Any]

_BROKEN_OFF = "[Request interrupted by user"
_ENDS = ("end_turn", "stop_sequence", "max_tokens", "refusal")
_LIMITS = ("error_max_turns", "error_max_budget_usd", "error_max_structured_output_retries")
_QUOTA = ("usage limit", "rate_limit", "rate limit", "quota", "credit balance", "limit reached")


def folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return where all transcripts are."""
    set_to = environ.get("CLAUDE_CONFIG_DIR", "").strip()
    home = Path(set_to) if set_to else Path(environ.get("HOME") or Path.home()) / ".claude"
    return home / "projects"


def files_of(session_id: str, environ: Mapping[str, str] = os.environ) -> list[Path]:
    """Return the transcripts of that session; more than one cannot be told apart."""
    return sorted(folder(environ).glob(f"*/{session_id}.jsonl"))


def fate(files: list[Path], item_id: str, turn_id: str | None) -> Fate:
    """Return what is written down of a turn of a conversation whose process is not in it."""
    if len(files) != 1:
        return Unknowable(f"there are {len(files)} transcripts of its conversation")
    try:
        lines = list(_lines(files[0]))
    except OSError as error:
        return Unknowable(f"its transcript cannot be read: {error.strerror}")
    begun = [at for at, line in enumerate(lines) if _begins(line, item_id, turn_id)]
    if not begun:
        return Unknowable("its transcript lacks it")
    return _fate(lines[begun[-1] + 1 :])


def result(told: Raw, *, is_broken_off: bool = False) -> turns.Outcome:
    """Return the outcome that a `result` of the program tells; we may have broken the turn off."""
    kind = told.get("subtype")
    text = told.get("result")
    words = text if isinstance(text, str) else ""
    if kind == "interrupted" or (is_broken_off and kind == "error_during_execution"):
        return Interrupted()
    if kind == "success" and not told.get("is_error"):
        return turns.said(words)
    errors = told.get("errors")
    listed = " ".join(map(str, errors)) if isinstance(errors, list) else ""
    why = words or listed or str(kind)
    if kind in _LIMITS:
        return Failed(f"it reached a limit that was set for it: {kind}")
    return failed(why)


def failed(why: str) -> Failed:
    """Return that it gave up."""
    is_quota = any(word in why.lower() for word in _QUOTA)
    return Failed(redaction.shown(why, 400), is_quota=is_quota)


def _fate(after: list[Raw]) -> Fate:
    own = _until_the_next_turn(after)
    if any(_text(line).startswith(_BROKEN_OFF) for line in own if line.get("type") == "user"):
        return Interrupted()
    spoken = [line for line in own if line.get("type") in ("assistant", "user")]
    if not spoken or spoken[-1].get("type") != "assistant":
        return Unknowable("its process ended before the turn did")
    last = spoken[-1]
    if last.get("isApiErrorMessage"):
        return failed(_text(last))
    message = last.get("message")
    reason = message.get("stop_reason") if isinstance(message, Mapping) else None
    if reason not in _ENDS:
        return Unknowable("its process ended before the turn did")
    return turns.said(_text(last))


def _until_the_next_turn(lines: list[Raw]) -> list[Raw]:
    own: list[Raw] = []
    for line in lines:
        if line.get("type") == "user" and _is_prompt(line):
            break
        own.append(line)
    return own


def _is_prompt(line: Raw) -> bool:
    words = _text(line)
    return bool(words) and not words.startswith(_BROKEN_OFF) and not line.get("isMeta")


def _begins(line: Raw, item_id: str, turn_id: str | None) -> bool:
    if line.get("type") != "user":
        return False
    if turn_id is not None:
        return line.get("uuid") == turn_id
    return turn_prompts.is_about(_text(line), item_id)


def _text(line: Raw) -> str:
    message = line.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def _lines(file: Path) -> Iterator[Raw]:
    with file.open("rb") as opened:
        for text in opened:
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):
                continue  # a kill cut it off
            if isinstance(line, Mapping):
                yield line
