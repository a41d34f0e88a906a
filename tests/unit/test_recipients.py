"""Whom a message wakes as it is said, and what its author is told of mentions that woke nobody."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.domain import recipients
from letagents.domain.activation import Quoted, Spoken
from letagents.domain.audience import activation
from letagents.domain.follow_ups import Holder
from letagents.domain.ids import SessionId
from letagents.domain.names import actor_label
from letagents.domain.roster import Listener, Roster


def worker(key: str, name: str, session: str, owner: str = "Emmy") -> Listener:
    return Listener(key, SessionId(session), actor_label(name, owner, "Codex"), name)


ALICES = worker("alice/oak", "Oak", "s1", owner="Alice")
BOBS = worker("bob/oak", "Oak", "s2", owner="Bob")
ELM = worker("emmy/elm", "Elm", "s3")
YOUNG_ELM = worker("emmy/elm", "Elm", "s4")
EVERYBODY = (ALICES, BOBS, ELM, YOUNG_ELM)


def said(text: str, speaker: Listener = ELM) -> Spoken:
    return Spoken(9, speaker.actor_label, text, "agent", speaker.agent_key, speaker.session_id)


QUOTES = st.sampled_from(
    [
        None,
        Quoted(ELM.actor_label, "agent", ELM.agent_key, YOUNG_ELM.session_id),
        Quoted(BOBS.actor_label, "agent", BOBS.agent_key, SessionId("s9")),
        Quoted("Tess", "browser"),
    ]
)
SPEAKERS = st.sampled_from([("Tess", None, None), ("Oak", "alice/oak", "s1"), ("X", "x/x", "s8")])
TEXTS = st.sampled_from(
    [
        "hello",
        "@Elm look",
        "@Oak look",
        "@agent:bob/oak: look",
        "everyone, look",
        "@room",
        "run tests",
        "@nobody",
        "@agent:emmy/elm and @agent:alice/oak",
    ]
)
SOURCES = st.sampled_from(
    ["agent", "browser", "system", "board", "wake_rule", "human_response", "room_settings", None]
)
HOLDERS = st.sampled_from(
    [(), (Holder("emmy/elm", SessionId("s4")),), (Holder("bob/oak"),), (Holder(actor_label="Oak"),)]
)


@pytest.mark.rule("A70")
@given(
    TEXTS,
    SPEAKERS,
    SOURCES,
    QUOTES,
    st.sampled_from([None, 9, 3]),
    st.sets(st.sampled_from(["alice/oak", "bob/oak", "emmy/elm"])),
    HOLDERS,
    st.sampled_from([None, "bob/oak"]),
    st.lists(st.sampled_from(EVERYBODY), unique=True),
)
def test_they_are_those_who_would_find_it_to_be_for_them(
    text: str,
    speaker: tuple[str, str | None, str | None],
    source: str | None,
    quote: Quoted | None,
    root: int | None,
    takes_part: set[str],
    leases: tuple[Holder, ...],
    partner: str | None,
    room: list[Listener],
) -> None:
    sender, key, session = speaker
    message = Spoken(
        9, sender, text, source, key, SessionId(session) if session else None, root, quote
    )
    roster = Roster.of(room)
    found = recipients.recipients(
        message, roster, speakers=takes_part, leases=leases, recent_partner=partner
    )
    expected = {}
    for one in room:
        heard = activation(
            message,
            one,
            roster,
            participants=[root] if root and one.agent_key in takes_part else [],
            leases=leases,
            recent_partner=partner,
        )
        if heard.addressed:
            expected[one.session_id] = heard.reason

    assert {one.listener.session_id: one.reason for one in found} == expected
    assert len({one.listener.agent_key for one in found}) == len(found)
    refers = quote is not None or message.is_thread_reply
    assert recipients.may_wake(text, source, refers=refers) or not found


@pytest.mark.rule("A77")
def test_who_mentions_several_alike_is_told_how_each_is_mentioned_exactly() -> None:
    roster = Roster.of(EVERYBODY)
    message = said("@Oak: please look, @Elm, @nobody and @everyone")
    [notice] = recipients.notices(message, roster)
    exact = said(f"{notice.candidates[1].mention} please look")

    assert (notice.reason, notice.handle) == ("ambiguous", "oak")
    assert [one.mention for one in notice.candidates] == ["@agent:alice/oak", "@agent:bob/oak"]
    assert [one.display_name for one in notice.candidates] == ["Oak", "Oak"]
    assert recipients.notices(exact, roster) == ()
    [one] = recipients.recipients(exact, roster)
    assert one.listener == BOBS


@pytest.mark.rule("A77")
def test_a_tie_that_is_settled_is_none() -> None:
    owned = {"alice/oak": "ada", "bob/oak": "ada"}
    settled = Roster.of(EVERYBODY, reachable=["bob/oak"], owners=owned)

    assert recipients.notices(said("@Oak look"), settled) == ()


@pytest.mark.rule("A77")
def test_notices_and_their_candidates_are_bounded() -> None:
    names = [f"Oak{n}" for n in range(recipients.NOTICES + 1)]
    owners = [f"owner{n:02}" for n in range(recipients.CANDIDATES + 1)]
    alike = [worker(f"{one}/{name}", name, f"{one}-{name}") for one in owners for name in names]
    text = " ".join(f"@{name} @{name.upper()}" for name in names)
    found = recipients.notices(said(text), Roster.of(alike))

    assert len({one.handle for one in found}) == len(found) == recipients.NOTICES
    assert {len(one.candidates) for one in found} == {recipients.CANDIDATES}
