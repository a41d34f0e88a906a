"""What a person reads of an agent whose work was refused."""

import pytest

from letagents.domain import agent_troubles
from letagents.domain.errors import LetAgentsError, NotSignedIn, RoomsUnavailable, SignInFirst
from letagents.domain.messages import RoomFull
from letagents.domain.surfaces import BY_NAME


@pytest.mark.rule("J158")
@pytest.mark.parametrize("tool", BY_NAME)
def test_a_person_is_told_of_no_tool(tool: str) -> None:
    error = LetAgentsError("It is refused.", remedy=f"Call {tool}() again.")

    shown = agent_troubles.shown(error, "ada")

    assert tool not in shown
    assert shown == "It is refused. `letagents agents logs ada` shows what it did."


@pytest.mark.rule("J158")
@pytest.mark.parametrize(
    ("error", "does"),
    [
        (SignInFirst("workshop"), "`letagents agents grant ada --file FILE`"),
        (NotSignedIn("It is 401.", remedy="Call start_device_auth."), "Set LETAGENTS_TOKEN"),
        (RoomFull("It is full.", remedy="Call create_room()."), "`letagents agents move ada ROOM`"),
    ],
)
def test_a_person_is_told_what_to_do_at_a_shell(error: LetAgentsError, does: str) -> None:
    shown = agent_troubles.shown(error, "ada")

    assert shown.startswith(error.happened)
    assert does in shown


@pytest.mark.rule("J158")
def test_what_a_person_can_do_is_told_as_it_is() -> None:
    error = RoomsUnavailable("It is away.", remedy="Start it: `letagents serve`.")

    assert agent_troubles.shown(error, "ada") == str(error)
