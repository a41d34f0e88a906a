"""What the tools of a room's memory spell out is what the domain has."""

import pytest

from letagents.domain import artifacts, knowledge, reasoning, room_events, wake_rules
from letagents.domain.errors import Malformed
from letagents.domain.knowledge import CATEGORIES, Section
from letagents.domain.tasks import ArtifactKind, Provider
from letagents.domain.wake_arguments import Event
from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tools import artifacts as artifact_tools
from letagents.entrypoints.mcp.tools import knowledge as knowledge_tools
from letagents.entrypoints.mcp.tools import memory_calls
from letagents.entrypoints.mcp.tools import reasoning as reasoning_tools
from letagents.entrypoints.mcp.tools import wakes as wake_tools
from letagents.ports.artifacts import LIMIT, MOST

TABLES = (
    *knowledge_tools.KNOWLEDGE,
    *wake_tools.WAKES,
    *reasoning_tools.REASONING,
    *artifact_tools.EVENTS_AND_ARTIFACTS,
)


def parameter(tool: str, name: str) -> Parameter:
    [found] = [one for one in TABLES if one.name == tool]
    return next(one for one in found.parameters if one.name == name)


def test_every_tool_has_its_call() -> None:
    assert all(callable(getattr(memory_calls, tool.name)) for tool in TABLES)


def test_a_wake_rule_that_is_over_is_no_place_to_go_on_from_among_the_active() -> None:
    rules = [{"id": f"wake_{number}", "status": "active"} for number in range(3)]
    assert memory_calls._behind(rules, "active.wake_0") == rules[1:]

    over = [*rules[1:], {"id": "wake_0", "status": "fired"}]
    assert memory_calls._behind(over, "recent.wake_0") == []
    for cursor in ("active.wake_0", "wake_0", "active.wake_9"):
        with pytest.raises(Malformed, match="cursor"):
            memory_calls._behind(over, cursor)


def test_the_words_that_may_be_chosen_are_those_of_the_domain() -> None:
    assert parameter("remember_room_fact", "category").enum == CATEGORIES[Section.MEMORY]
    assert parameter("request_human_input", "category").enum == CATEGORIES[Section.ATTENTION]
    assert parameter("add_wake_rule", "event").enum == tuple(one.value for one in Event)
    assert parameter("post_reasoning", "status").enum == reasoning.STATUSES
    fields = {one.name: one for one in parameter("publish_room_artifact", "artifact").fields}
    assert fields["provider"].enum == tuple(one.value for one in Provider)
    assert fields["kind"].enum == tuple(one.value for one in ArtifactKind)


def test_the_bounds_that_a_model_is_told_are_those_of_the_domain() -> None:
    request = "request_human_input"
    assert parameter(request, "title").max_length == knowledge.TITLE_LIMIT
    assert parameter(request, "body").max_length == knowledge.BODY_LIMIT
    assert parameter(request, "recommendation").max_length == knowledge.RECOMMENDATION_LIMIT
    assert parameter(request, "unblocks").max_length == knowledge.UNBLOCKS_LIMIT
    assert parameter("add_wake_rule", "note").max_length == wake_rules.NOTE_LIMIT
    assert parameter("get_room_events", "limit").maximum == room_events.MOST
    assert parameter("get_room_artifacts", "limit").maximum == MOST
    assert str(LIMIT) in parameter("get_room_artifacts", "limit").doc
    linked = parameter("publish_room_artifact", "linked_task_ids")
    assert linked.max_items == artifacts.MOST_LINKED
