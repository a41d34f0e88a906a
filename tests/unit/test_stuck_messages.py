"""A person's word about a message is taken only by who knows how the agent stands now."""

from datetime import UTC, datetime

import attrs
import pytest

from letagents.domain import bindings, stuck_messages
from letagents.domain.bindings import Claim
from letagents.domain.inbox import InboxRefused

CLAIM = Claim("e1", "workshop", "w1", "x1", "s1", "https://letagents.example")
NOW = datetime(2030, 1, 1, tzinfo=UTC)
BINDING = bindings.bind(CLAIM, None, shows_same_secret=False, highest=0, now=NOW)


@pytest.mark.rule("J110")
@pytest.mark.parametrize("field", ["room_id", "work_attempt_id", "execution_id", "session_id"])
def test_a_word_about_how_it_was_before_is_refused(field: str) -> None:
    stuck_messages.check(CLAIM, 2, BINDING, own=2)

    with pytest.raises(InboxRefused, match="The room delivery binding is stale; refresh"):
        stuck_messages.check(attrs.evolve(CLAIM, **{field: "other"}), 2, BINDING, own=2)
    with pytest.raises(InboxRefused, match="The room delivery binding is stale; refresh"):
        stuck_messages.check(CLAIM, 2, None, own=2)


@pytest.mark.rule("J110")
@pytest.mark.parametrize("generation", [0, 1, 3])
def test_a_word_under_another_supervisor_is_refused(generation: int) -> None:
    with pytest.raises(InboxRefused, match="The supervisor generation changed; refresh"):
        stuck_messages.check(CLAIM, generation, BINDING, own=2)
