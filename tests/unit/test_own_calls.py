"""What a call of a supervised agent may name."""

import pytest

from letagents.domain import own_calls
from letagents.domain.errors import NotAvailable

OWN = "agent_session_7"


@pytest.mark.rule("J170")
def test_an_agent_calls_for_its_own_room() -> None:
    for asked in ({}, {"room_id": " "}, {"room_id": None}, {"room_id": "workshop"}):
        own_calls.check_stays("send_message", asked, "workshop")

    with pytest.raises(NotAvailable, match="registered for workshop, not another"):
        own_calls.check_stays("send_message", {"room_id": "another"}, "workshop")


@pytest.mark.rule("J170")
@pytest.mark.parametrize("tool", own_calls.ENTERING)
def test_an_agent_goes_into_no_room_by_itself(tool: str) -> None:
    with pytest.raises(NotAvailable, match="joins and creation are disabled"):
        own_calls.check_stays(tool, {"room_id": "workshop"}, "workshop")


@pytest.mark.rule("J171")
def test_an_agent_names_its_own_session_or_none() -> None:
    for asked in ({}, {"agent_session_id": OWN}, {"agent_session_id": "worker_bearer"}):
        assert own_calls.as_itself("send_message", {"text": "hi", **asked}, OWN) == {"text": "hi"}

    with pytest.raises(NotAvailable, match="is agent_session_7, not agent_session_8"):
        own_calls.as_itself("send_message", {"agent_session_id": "agent_session_8"}, OWN)


@pytest.mark.rule("J171")
def test_another_may_be_made_manager_of_a_board() -> None:
    given = {"agent_session_id": "agent_session_8"}

    assert own_calls.as_itself("assign_board_manager", given, OWN) == given
