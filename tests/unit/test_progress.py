"""What an agent is doing, as it can be shown."""

import pytest

from letagents.domain.progress import DETAIL, Streams, status

PLACE = {"threadId": "thread-1", "turnId": "turn-1"}
ITEM = {**PLACE, "itemId": "item-1"}


@pytest.mark.rule("Y33")
@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("turn/started", "working"),
        ("turn/completed", "idle"),
        ("turn/interrupted", "idle"),
        ("turn/failed", "blocked"),
        ("error", "blocked"),
        ("item/agentMessage/delta", "working"),
    ],
)
def test_what_happened_tells_who_works(method: str, expected: str) -> None:
    assert status(method) == expected


def test_a_turn_that_begins_with_a_tool_is_told_of() -> None:
    item = {"type": "commandExecution", "command": "ls"}
    told = Streams().activity("turn/started", {**PLACE, "item": item})

    assert told.status == "working"
    assert told.summary.startswith("Codex turn started")
    assert told.checking == "codex_app_server: turn/started"


@pytest.mark.rule("Y49")
def test_a_thing_is_named_without_secrets_and_an_error_by_what_it_says() -> None:
    streams, key = Streams(), "sk-abcdefghijkl0123456789"
    ran = {"type": "commandExecution", "command": f"curl -H 'x: {key}' {'y' * 5_000}"}
    told = streams.activity("item/started", {**PLACE, "item": ran})
    failed = streams.activity("error", {**PLACE, "error": {"message": f"401 for {key}"}})

    assert told.summary.startswith("Codex item started (commandExecution: curl -H 'x: [hidden]' yy")
    assert len(told.summary) < 2 * DETAIL
    assert failed.summary == "Codex runtime event: error (401 for [hidden])"
    assert failed.status == "blocked"
    told = streams.activity("item/reasoning/summaryTextDelta", {**ITEM, "delta": f"It is {key}."})
    assert told.summary == "It is [hidden]."


@pytest.mark.rule("Y32")
def test_a_summary_grows_by_its_parts_in_their_order() -> None:
    streams = Streams()
    streams.activity("item/reasoning/summaryTextDelta", {**ITEM, "delta": "Looking at "})
    told = streams.activity("item/reasoning/summaryTextDelta", {**ITEM, "delta": "the tests"})
    later = streams.activity("item/reasoning/summaryPartAdded", {**ITEM, "summaryIndex": 1})
    both = streams.activity(
        "item/reasoning/summaryTextDelta", {**ITEM, "summaryIndex": 1, "delta": "Then the code"}
    )

    assert told.summary == "Looking at the tests"
    assert later.summary == "Looking at the tests"
    assert later.checking == "Reasoning summary section 2."
    assert both.summary == "Looking at the tests\n\nThen the code"


@pytest.mark.rule("Y32")
def test_a_section_that_begins_with_nothing_before_it_says_so() -> None:
    told = Streams().activity("item/reasoning/summaryPartAdded", ITEM)

    assert told.summary == "Codex started a new reasoning summary section."
    assert told.checking == "Reasoning summary section 1."


@pytest.mark.rule("Y32")
def test_a_complete_summary_is_let_go() -> None:
    streams = Streams()
    item = {"type": "reasoning", "id": "item-1", "summary": ["First", {"text": "Second"}]}
    told = streams.activity("item/completed", {**PLACE, "item": item})
    anew = streams.activity("item/reasoning/summaryTextDelta", {**ITEM, "delta": "New"})

    assert (told.summary, told.status) == ("First\n\nSecond", "idle")
    assert anew.summary == "New"


@pytest.mark.rule("Y31")
def test_raw_reasoning_is_never_shown() -> None:
    told = Streams().activity("item/reasoning/textDelta", {**ITEM, "delta": "the hidden thought"})

    assert told.summary == "Codex raw reasoning text is streaming."
    assert "hidden thought" not in repr(told)
