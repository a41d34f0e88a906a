"""What a room tells an agent about working in it."""

import re

import pytest

from letagents.entrypoints.mcp import prompts
from letagents.entrypoints.mcp.prompts import COMPACT, Kind, Prompts, full, kind_of
from letagents.entrypoints.mcp.tools.catalogue import TOOLS

KINDS: tuple[Kind, ...] = ("join", "inline", "auto")

FLAGGED = (
    r"ignore (all|any|previous|prior|the)",
    r"disregard",
    r"overrid",
    r"supersede",
    r"system prompt",
    r"developer message",
    r"previous instructions",
    r"new instructions",
    r"you must",
    r"you are now",
    r"from now on",
    r"act as",
    r"pretend",
    r"jailbreak",
    r"do not (tell|reveal|mention)",
    r"secretly",
    r"regardless of",
    r"at all costs",
    r"under no circumstances",
    r"highest priority",
    r"never stop",
    r"without (asking|permission|confirmation)",
    r"important:",
    r"\bsudo\b",
    r"<\s*/?\s*system",
    r"\[INST",
)
"""What scanners of prompt injection look for."""


def test_a_join_is_told_everything_every_time() -> None:
    told = Prompts()

    assert [told.dispense("join") for _ in range(2)] == [full("join")] * 2


def test_a_message_is_told_everything_once_and_then_in_short() -> None:
    told = Prompts()

    assert told.dispense("inline") == full("inline")
    assert [told.dispense("inline"), told.dispense("auto")] == [COMPACT, COMPACT]
    assert told.dispense("join") == full("join")


def test_a_join_counts_as_having_been_told() -> None:
    told = Prompts()
    told.dispense("join")

    assert told.dispense("auto") == COMPACT


def test_what_one_client_was_told_another_was_not() -> None:
    Prompts().dispense("join")

    assert Prompts().dispense("auto") == full("auto")


@pytest.mark.parametrize("text", [*map(full, KINDS), COMPACT])
def test_every_text_is_short(text: str) -> None:
    """Four characters a token is more than any tokenizer needs for them."""
    assert len(text) / 4 < 450


def test_the_short_text_is_short_and_points_back() -> None:
    assert len(COMPACT) < len(prompts.FULL) / 4
    assert "instructions you already received" in COMPACT
    assert "wait_for_messages" in COMPACT


@pytest.mark.parametrize("text", [*map(full, KINDS), COMPACT])
@pytest.mark.parametrize("pattern", FLAGGED)
def test_no_text_reads_like_an_injection(text: str, pattern: str) -> None:
    assert not re.search(pattern, text, re.IGNORECASE)
    assert text.isascii(), "nothing invisible"
    assert text.isprintable() or set(re.findall(r"[^ -~]", text)) == {"\n"}


def test_the_whole_text_says_where_it_is_from_and_who_comes_first() -> None:
    assert "letagents room server" in prompts.FULL
    assert "your user's and host's instructions come first" in prompts.FULL


@pytest.mark.parametrize(
    "said",
    [
        "registration_key",
        "worker_id",
        "room_id",
        "display_name",
        "session_kind",
        "agent_session_id",
        "First answer lost",
        "restart",
        "last_observed_message_id",
        "after_message_id",
        '"activate"',
        '"silent"',
        '"unclear"',
        "do not announce skips",
        "thread.is_thread_reply",
        "thread_parent_id",
        "thread.root_message_id",
        "top-level",
        "Focus Room",
        "Board Manager",
        "lease expired",
        "a human agrees",
        "register_task_create_intent",
        "ten minutes",
        "list_board_intents",
        "Stop when a human redirects you",
        "supervised",
    ],
)
def test_the_whole_text_holds_what_an_agent_needs(said: str) -> None:
    assert said in prompts.FULL


def test_the_texts_name_parameters_and_tools_as_they_are() -> None:
    tools = {tool.name for tool in TOOLS}
    parameters = {parameter.name for tool in TOOLS for parameter in tool.parameters}

    for name in ("wait_for_messages", "register_agent_session", "list_board_intents"):
        assert name in tools
        assert name in prompts.FULL
    for name in ("registration_key", "worker_id", "after_message_id", "thread_parent_id"):
        assert name in parameters


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("join", "join"),
        (" Inline ", "inline"),
        ("AUTO", "auto"),
        ("other", None),
        ("", None),
        (None, None),
    ],
)
def test_a_kind_is_read_in_any_case(text: str | None, kind: Kind | None) -> None:
    assert kind_of(text) == kind
