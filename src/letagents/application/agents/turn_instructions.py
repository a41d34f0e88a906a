"""What a model is told in the place of a tool's result, where the tool was not run.

(Source: supervisor 5.5.)
"""

import json

from letagents.domain import turn_answers

_NOT_KEPT = "The result was too large to be kept. Read what you need of it under a new request."


def uncertain(effect_id: str, detail: str | None) -> dict[str, object]:
    """Say that it may have been done before."""
    return instruction(
        "SUPERVISED_EFFECT_OUTCOME_UNCERTAIN",
        "This may have been done already and is not done again. Look whether it was before you "
        "ask for it under a new request.",
        effect_id=effect_id,
        detail=detail,
    )


def final_answer(message_id: str, provider: str | None) -> dict[str, object]:
    """Say that the turn itself is the answer."""
    give = (
        "Call complete_room_turn with it as the text"
        if turn_answers.is_said_by_tool(provider)
        else "Give this as the final answer of the turn"
    )
    return instruction(
        "USE_FINAL_ANSWER",
        f"Nothing was sent. {give}; it is published for you.",
        source_message_id=message_id,
    )


def move(destination: str | None, provider: str | None) -> dict[str, object]:
    """Say that the move follows the turn."""
    end = "Call complete_room_turn" if turn_answers.is_said_by_tool(provider) else "End this turn"
    return instruction(
        "ROOM_MOVE_PREPARED",
        f"{end}; your answer is published first, and then you are moved.",
        destination_room=destination,
    )


def answer_noted(outcome: object) -> dict[str, object]:
    """Say that the answer of the turn is known."""
    told = "End the turn now: this is its answer, and your last words are not published."
    return shown({"accepted": True, "outcome": outcome, "instruction": told})


def thread_noted() -> dict[str, object]:
    """Say that it is known where the answer of the turn goes."""
    told = "The answer of this turn will open a thread under the message that it answers."
    return shown({"accepted": True, "instruction": told})


def not_retained(size: int, *, is_change: bool) -> dict[str, object]:
    """Return the result that is kept in the place of one that is too large."""
    kind = "EFFECT" if is_change else "READ"
    return instruction(f"SUPERVISED_{kind}_RESULT_NOT_RETAINED", _NOT_KEPT, serialized_bytes=size)


def instruction(code: str, text: str, **facts: object) -> dict[str, object]:
    """Return the result of a tool that says what to do in its place."""
    return shown({"code": code, **facts, "instruction": text})


def shown(said: dict[str, object]) -> dict[str, object]:
    """Return a result that says the same to a model and to a program."""
    text = json.dumps(said, indent=2, ensure_ascii=False)
    return {"content": [{"type": "text", "text": text}], "structuredContent": said}
