"""Short requests to go on with the work, and whose work is meant."""

import pytest

from letagents.domain.follow_ups import Holder, is_follow_up, sole_owner
from letagents.domain.ids import SessionId
from letagents.domain.roster import Listener

ME = Listener(
    agent_key="emmy/oak",
    session_id=SessionId("s1"),
    actor_label="Oak | Emmy's agent | Codex",
    display_name="Oak",
    instance_id="worker_1",
)


@pytest.mark.rule("A30")
@pytest.mark.parametrize(
    "text",
    [
        "try again",
        "Okay, try again!",
        "ok retry",
        "  right ,, rerun it",
        "cool re-run",
        "great continue please",
        "nice\u00a0go  ahead",
        "PROCEED",
        "carry on.",
        "open a PR",
        "raise pr",
        "make a pr for it",
        "push it",
        "ship this",
        "run tests",
        "run the tests",
        "fix test",
        "test again",
        "update ci",
        "can you please try again",
        "then open a pr",
        "now merge it when green",
    ],
)
def test_a_request_to_go_on_is_a_follow_up(text: str) -> None:
    assert is_follow_up(text)


@pytest.mark.rule("A30")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "update: standup at ten",
        "merge freeze from noon",
        "I pushed some notes",
        "review it",
        "please continue",
        "then raise a pr",
        "continued",
        "okaytry",
        "run testsuite",
        "push items",
        "open a project",
        "\x1ftry agai",
    ],
)
def test_other_words_are_none(text: str) -> None:
    assert not is_follow_up(text)


@pytest.mark.rule("A30")
@pytest.mark.parametrize(
    "text",
    [
        "ok" + " ," * 30_000,
        "open" + " " * 30_000 + "a" + " " * 30_000,
        "push merge open a create make a " * 1_900,
    ],
)
def test_a_hostile_text_is_read_like_any_other(text: str) -> None:
    assert not is_follow_up(text)


@pytest.mark.rule("A31")
def test_work_of_two_owners_has_no_sole_owner() -> None:
    assert sole_owner([]) is None
    assert sole_owner([Holder("a"), Holder("b")]) is None
    assert sole_owner([Holder("a", SessionId("s1")), Holder("a", SessionId("s2"))]) is None
    assert sole_owner([Holder("a", instance_id="i1"), Holder("a", instance_id="i2")]) is None


@pytest.mark.rule("A32")
def test_several_leases_of_one_owner_have_a_sole_owner() -> None:
    for one in (
        Holder("a"),
        Holder("a", SessionId("s1")),
        Holder("a", instance_id="i1"),
        Holder(actor_label="Oak"),
    ):
        assert sole_owner([one, one]) == one


@pytest.mark.rule("A33")
@pytest.mark.parametrize(
    ("holder", "sender", "agent_key", "wrote"),
    [
        (Holder("emmy/oak"), "Someone", "emmy/oak", True),
        (Holder("emmy/oak", actor_label="Oak"), "Oak", "emmy/elm", False),
        (Holder(actor_label="Oak | Emmy's agent | Codex"), "OAK", None, True),
        (
            Holder(actor_label="Oak | Emmy's agent | Codex"),
            "oak | emmy's agent | codex",
            None,
            True,
        ),
        (Holder(actor_label="Oak"), "Oak", "emmy/oak", True),
        (Holder("emmy/oak", SessionId("s1")), "s1", None, True),
        (Holder("emmy/oak"), "Oak", None, False),
    ],
)
def test_an_owner_is_known_as_the_writer_by_key_or_else_by_label(
    holder: Holder, sender: str, agent_key: str | None, wrote: bool
) -> None:
    assert holder.wrote(sender, agent_key) is wrote


@pytest.mark.rule("A34")
@pytest.mark.parametrize(
    ("holder", "means", "resembles"),
    [
        (Holder("emmy/oak", SessionId("s1")), True, True),
        (Holder("emmy/oak", SessionId("s2")), False, True),
        (Holder("emmy/oak", instance_id="worker_1"), True, True),
        (Holder("emmy/oak", instance_id="worker_2"), False, True),
        (Holder("emmy/oak"), True, True),
        (Holder("alice/oak"), False, False),
        (Holder("alice/oak", actor_label="Oak | Alice's agent | Codex"), False, True),
        (Holder(actor_label="oak | emmy's agent | codex"), True, True),
        (Holder(actor_label="Elm"), False, False),
        (Holder(), False, False),
    ],
)
def test_an_owner_is_met_by_the_surest_thing_and_resembled_by_any(
    holder: Holder, means: bool, resembles: bool
) -> None:
    assert holder.means(ME) is means
    assert holder.resembles(ME) is resembles
