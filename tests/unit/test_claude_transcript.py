"""What a transcript of Claude Code tells of a turn whose process is gone."""

import json
from pathlib import Path
from typing import Any

import pytest

from letagents.adapters.providers import claude_transcript
from letagents.domain import turn_prompts
from letagents.domain.turn_prompts import Item
from letagents.domain.turns import Answered, Failed, Fate, Interrupted, Unknowable


def user(text: str, uuid: str = "u") -> dict[str, Any]:
    return {"type": "user", "uuid": uuid, "message": {"content": text}}


def assistant(reason: str | None, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": list(parts), "stop_reason": reason}}


SAID = {"type": "text", "text": "It is done."}
TOOL = {"type": "tool_use", "name": "Bash"}
RESULT = {"type": "user", "message": {"content": [{"type": "tool_result", "content": "x"}]}}
PROMPT = user(turn_prompts.prompt(Item(item_id="item-1", message="{}")), "turn-1")


@pytest.mark.rule("Y12", "Y24")
@pytest.mark.parametrize(
    ("after", "fate"),
    [
        ([assistant("end_turn", SAID)], Answered("It is done.")),
        ([assistant("tool_use", TOOL), RESULT, assistant("end_turn", SAID)], Answered),
        ([assistant("end_turn", SAID), user("next"), assistant("tool_use", TOOL)], Answered),
        ([assistant("tool_use", SAID, TOOL)], Unknowable),
        ([assistant("tool_use", TOOL), RESULT], Unknowable),
        ([assistant(None, SAID)], Unknowable),
        ([], Unknowable),
        ([user("[Request interrupted by user]")], Interrupted),
        ([{**assistant(None, {"text": "API Error"}), "isApiErrorMessage": True}], Failed),
    ],
)
def test_an_answer_counts_once_the_model_was_at_its_end(
    after: list[dict[str, Any]], fate: Any, tmp_path: Path
) -> None:
    by_id, by_item = told(tmp_path, PROMPT, *after)

    assert by_id == by_item
    assert by_id == fate if isinstance(fate, Answered) else isinstance(by_id, fate)


@pytest.mark.rule("Y12")
def test_a_line_that_a_kill_cut_off_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text(f'{json.dumps(PROMPT)}\n{"[" * 200_000}\n{{"type": "assis')

    assert isinstance(claude_transcript.fate([file], "item-1", "turn-1"), Unknowable)
    assert isinstance(claude_transcript.fate([file], "item-2", None), Unknowable)


@pytest.mark.parametrize("errors", [7, "no", None, {}, ["it broke", 1]])
def test_a_failure_is_one_in_whatever_form_its_errors_are(errors: object) -> None:
    outcome = claude_transcript.result({"subtype": "error_during_execution", "errors": errors})

    assert isinstance(outcome, Failed)


def told(folder: Path, *lines: dict[str, Any]) -> tuple[Fate, Fate]:
    file = folder / "session.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    by_id = claude_transcript.fate([file], "item-1", "turn-1")
    return by_id, claude_transcript.fate([file], "item-1", None)
