"""Who is in a room, and whom a label or a mention means there."""

import pytest

from letagents.domain.ids import SessionId
from letagents.domain.mentions import read
from letagents.domain.names import actor_label
from letagents.domain.roster import Listener, Roster, label_rows
from letagents.domain.sessions import SessionKind


def worker(key: str, name: str, session: str | None = None, owner: str = "Emmy") -> Listener:
    return Listener(key, SessionId(session or f"s-{name}"), actor_label(name, owner, "Codex"), name)


def mentioned(roster: Roster, text: str) -> set[str]:
    return set(roster.mentioned(read(text)))


ALICES = worker("alice/oak", "Oak", "s1", owner="Alice")
BOBS = worker("bob/oak", "Oak", "s2", owner="Bob")
ELM = worker("emmy/worker-7", "Elm Tree", "s3")


@pytest.mark.rule("A10")
def test_a_mention_means_the_one_agent_that_is_called_so() -> None:
    roster = Roster.of([ALICES, ELM])

    assert mentioned(roster, "@Oak and @elmtree, see @nobody") == {"alice/oak", "emmy/worker-7"}
    assert mentioned(roster, "@worker-7: hello") == {"emmy/worker-7"}


@pytest.mark.rule("A10")
def test_what_fits_several_agents_means_nobody() -> None:
    roster = Roster.of([ALICES, BOBS])

    assert mentioned(roster, "@Oak") == set()
    assert roster.speaker("Oak") is None
    assert roster.speaker("Oak | somewhere") is None


@pytest.mark.rule("A10")
def test_two_sessions_of_one_agent_are_one_agent() -> None:
    roster = Roster.of([ALICES, worker("alice/oak", "Oak", "s9", owner="Alice")])

    assert mentioned(roster, "@Oak") == {"alice/oak"}
    assert list(roster.agent_keys) == ["alice/oak"]


@pytest.mark.rule("A11")
@pytest.mark.parametrize(
    ("reachable", "owners", "meant"),
    [
        ((), {"old": "emmy", "new": "emmy"}, set()),
        (("new",), {"old": "emmy", "new": "emmy"}, {"new"}),
        (("old", "new"), {"old": "emmy", "new": "emmy"}, set()),
        (("new",), {"old": "emmy", "new": "alice"}, set()),
        (("new",), {"new": "emmy"}, set()),
        (("new",), None, set()),
    ],
)
def test_of_namesakes_the_only_reachable_one_is_meant_if_one_owner_has_both(
    reachable: tuple[str, ...], owners: dict[str, str] | None, meant: set[str]
) -> None:
    namesakes = [worker("old", "Oak", "s1"), worker("new", "Oak", "s2")]
    roster = Roster.of(namesakes, reachable=reachable, owners=owners)

    assert mentioned(roster, "@Oak") == meant


@pytest.mark.rule("A12")
def test_a_mention_by_key_means_that_agent_even_among_namesakes() -> None:
    called_so = worker("emmy/elm", "alice/oak", "s7")
    roster = Roster.of([ALICES, BOBS, called_so])

    assert mentioned(roster, "@alice/oak") == set()
    assert mentioned(roster, "@agent:alice/oak") == {"alice/oak"}
    assert mentioned(roster, "@AGENT:Bob/Oak.") == {"bob/oak"}
    assert mentioned(roster, "@agent:carol/oak") == set()


@pytest.mark.rule("A12")
def test_a_key_that_itself_begins_with_agent_is_reached() -> None:
    roster = Roster.of([worker("agent:local/emmy/codex/cometlively", "Comet")])

    assert mentioned(roster, "@agent:local/emmy/codex/cometlively go") == {
        "agent:local/emmy/codex/cometlively"
    }


@pytest.mark.rule("A13")
def test_a_whole_label_is_believed_before_its_parts() -> None:
    roster = Roster.of([ALICES, BOBS])

    assert roster.speaker("Oak | Alice's agent | Codex") == "alice/oak"
    assert roster.speaker(" oak |  BOB's agent | codex") == "bob/oak"


@pytest.mark.rule("A13")
def test_a_part_of_a_label_is_believed_when_the_whole_fits_nobody() -> None:
    roster = Roster.of([ALICES, ELM])

    assert roster.speaker("Oak | Alice's agent | Cursor") == "alice/oak"
    assert roster.speaker("Oak | Elm Tree") is None
    assert roster.speaker(" | ") is None


@pytest.mark.rule("A13")
def test_sixteen_parts_of_a_label_are_looked_at() -> None:
    assert label_rows("A B| c |a  b|") == ("a b| c |a b|", ("a b", "c"))
    assert len(label_rows("|".join(map(str, range(99))))[1]) == 16


@pytest.mark.rule("A14")
def test_an_agent_is_called_by_label_name_key_and_the_end_of_its_key() -> None:
    assert ELM.aliases == {
        "elm tree | emmy's agent | codex",
        "elmtreeemmysagentcodex",
        "elm tree",
        "elmtree",
        "emmy/worker-7",
        "worker-7",
    }


@pytest.mark.rule("A14")
@pytest.mark.parametrize(
    ("name", "label", "same"),
    [
        ("Oak", "oAK", True),
        ("Elm Tree", "elm\u00a0tree", True),
        ("ΑΒΓ", "αβγ", False),
        ("İdil", "i̇dil", False),
        ("Ⓐgent", "ⓐgent", False),
        ("ab", "a b", False),
    ],
)
def test_only_ascii_case_and_kinds_of_blanks_do_not_count(
    name: str, label: str, same: bool
) -> None:
    assert worker("emmy/k", name, "s1").is_called(label) is same
    assert (Roster.of([worker("emmy/k", name, "s1")]).speaker(label) == "emmy/k") is same


@pytest.mark.rule("A15")
def test_the_oldest_session_stands_for_its_agent() -> None:
    younger = worker("alice/oak", "Oak", "s9")
    roster = Roster.of([ALICES, younger, BOBS])

    assert roster.stands_for_its_agent(ALICES)
    assert roster.stands_for_its_agent(BOBS)
    assert not roster.stands_for_its_agent(younger)
    assert not roster.stands_for_its_agent(ELM)


@pytest.mark.rule("A15")
def test_a_listener_that_is_missing_joins_as_the_youngest() -> None:
    younger = worker("alice/oak", "Oak", "s9")
    roster = Roster.of([ALICES])

    assert roster.including(ALICES) is roster
    assert not roster.including(younger).stands_for_its_agent(younger)
    assert roster.including(ELM).stands_for_its_agent(ELM)


@pytest.mark.rule("A15")
def test_a_missing_listener_changes_nothing_about_who_can_be_reached() -> None:
    namesakes = [worker("old", "Oak", "s1"), worker("new", "Oak", "s2")]
    owners = {"old": "emmy", "new": "emmy"}
    roster = Roster.of(namesakes, reachable=["new"], owners=owners).including(ELM)

    assert mentioned(roster, "@Oak") == {"new"}


@pytest.mark.rule("A15")
def test_only_workers_are_in_a_roster() -> None:
    watcher = Listener(
        "emmy/w", SessionId("s5"), "Watch | Emmy's agent | Agent", "Watch", SessionKind.CONTROLLER
    )
    roster = Roster.of([watcher]).including(watcher)

    assert list(roster.agent_keys) == []
    assert not roster.has(SessionId("s5"), "emmy/w")


@pytest.mark.rule("A15")
def test_a_session_is_there_as_one_of_its_own_agent() -> None:
    roster = Roster.of([ALICES])

    assert roster.has(SessionId("s1"), "alice/oak")
    assert not roster.has(SessionId("s1"), "bob/oak")
    assert not roster.has(SessionId("s2"), "alice/oak")
    assert not roster.has(None, "alice/oak")
