"""Which sessions a message wakes in a room that knows who speaks. (12.6 of state-and-rules.)"""

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from letagents.domain.activation import (
    UNADDRESSED,
    Activation,
    Decision,
    Quoted,
    Reason,
    Spoken,
)
from letagents.domain.audience import activation
from letagents.domain.follow_ups import Holder
from letagents.domain.ids import SessionId
from letagents.domain.names import actor_label
from letagents.domain.roster import Listener, Roster
from letagents.domain.sessions import SessionKind


def worker(key: str, name: str, session: str, owner: str = "Emmy") -> Listener:
    return Listener(key, SessionId(session), actor_label(name, owner, "Codex"), name)


ALICES = worker("alice/oak", "Oak", "s1", owner="Alice")
BOBS = worker("bob/oak", "Oak", "s2", owner="Bob")
ELM = worker("emmy/elm", "Elm", "s3")
YOUNG_ELM = worker("emmy/elm", "Elm", "s4")
ROOM = (ALICES, BOBS, ELM, YOUNG_ELM)

IGNORED = Activation(Decision.SILENT, Reason.UNADDRESSED)


def by_person(text: str, to: Quoted | None = None, root: int | None = None) -> Spoken:
    return Spoken(9, "Tess", text, "browser", thread_root=root, reply_to=to)


def by(speaker: Listener, text: str, to: Quoted | None = None, root: int | None = None) -> Spoken:
    return Spoken(
        9,
        speaker.actor_label,
        text,
        "agent",
        speaker.agent_key,
        speaker.session_id,
        thread_root=root,
        reply_to=to,
    )


def quote(quoted: Listener) -> Quoted:
    return Quoted(quoted.actor_label, "agent", quoted.agent_key, quoted.session_id)


def woken(
    message: Spoken,
    room: tuple[Listener, ...] = ROOM,
    leases: tuple[Holder, ...] = (),
    partner: str | None = None,
) -> dict[str, str]:
    """Return the sessions that `message` wakes, with the reason of each."""
    roster = Roster.of(room)
    found = {
        str(one.session_id): activation(message, one, roster, leases=leases, recent_partner=partner)
        for one in room
    }
    return {session: one.reason.value for session, one in found.items() if one.addressed}


def why(
    message: Spoken,
    listener: Listener,
    room: tuple[Listener, ...] = ROOM,
    *,
    partner: str | None = None,
) -> Activation:
    return activation(message, listener, Roster.of(room), recent_partner=partner)


# --- whose words -----------------------------------------------------------------------------


@pytest.mark.rule("A40")
def test_a_broadcast_wakes_no_session_of_its_own_agent_but_a_namesake() -> None:
    assert woken(by(YOUNG_ELM, "@everyone look")) == {"s1": "broadcast", "s2": "broadcast"}
    assert woken(by(ALICES, "@everyone look")) == {"s2": "broadcast", "s3": "broadcast"}


@pytest.mark.rule("A40")
def test_a_label_says_who_spoke_only_where_no_key_does() -> None:
    unsigned = Spoken(9, ELM.actor_label, "@everyone look", "agent")
    signed = attrs.evolve(unsigned, agent_key="carol/elm")

    assert woken(unsigned) == {"s1": "broadcast", "s2": "broadcast"}
    assert woken(signed) == {"s1": "broadcast", "s2": "broadcast", "s3": "broadcast"}


@pytest.mark.rule("A46")
def test_a_person_called_like_an_agent_is_heard_by_it() -> None:
    message = attrs.evolve(by_person("@Elm look"), sender="Elm")

    assert woken(message) == {"s3": "explicit_mention"}


@pytest.mark.rule("A46")
def test_quoting_a_person_called_like_an_agent_wakes_nobody() -> None:
    assert woken(by_person("yes", to=Quoted(ELM.actor_label, "browser"))) == {}


# --- one session of an agent -----------------------------------------------------------------


@pytest.mark.rule("A41")
def test_of_two_sessions_the_older_is_woken() -> None:
    assert woken(by_person("@Elm look")) == {"s3": "explicit_mention"}
    assert woken(by_person("@everyone look")) == {
        "s1": "broadcast",
        "s2": "broadcast",
        "s3": "broadcast",
    }


@pytest.mark.rule("A41")
def test_the_session_that_holds_the_lease_is_woken_by_a_follow_up() -> None:
    lease = Holder("emmy/elm", SessionId("s4"))

    assert woken(by_person("run tests"), leases=(lease,)) == {"s4": "task_owner"}
    assert woken(by_person("run tests"), leases=(Holder("emmy/elm"),)) == {"s3": "task_owner"}
    assert woken(by_person("run tests"), leases=(Holder(session_id=SessionId("s4")),)) == {
        "s4": "task_owner"
    }


@pytest.mark.rule("A41")
def test_a_broadcast_that_quotes_a_session_wakes_that_one_of_its_agent() -> None:
    assert woken(by_person("@everyone look", to=quote(YOUNG_ELM))) == {
        "s1": "broadcast",
        "s2": "broadcast",
        "s4": "broadcast",
    }


# --- silence, and why ------------------------------------------------------------------------


@pytest.mark.rule("A42")
@pytest.mark.parametrize("text", ["hello", "I pushed some notes", "npm install @types/node"])
def test_what_an_agent_says_to_nobody_wakes_nobody(text: str) -> None:
    assert {why(by(ALICES, text), one) for one in (BOBS, ELM, YOUNG_ELM)} == {IGNORED}


@pytest.mark.rule("A42")
def test_a_session_that_another_stands_for_is_only_silent() -> None:
    assert why(by_person("@Elm look"), YOUNG_ELM) == IGNORED


@pytest.mark.rule("A42")
def test_a_follow_up_to_anothers_work_is_only_silence() -> None:
    found = activation(by_person("run tests"), ELM, Roster.of(ROOM), leases=[Holder("bob/oak")])

    assert found == IGNORED


@pytest.mark.rule("A43")
@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (by(YOUNG_ELM, "hello"), Reason.SELF_MESSAGE),
        (Spoken(9, "letagents", "@Elm failed", "managed_agent_failure"), Reason.SYSTEM_EVENT),
        (by_person("@Birch look"), Reason.EXPLICIT_OTHER_MENTION),
        (by_person("thanks", to=quote(ALICES)), Reason.OTHER_REPLY_TARGET),
    ],
)
def test_the_silent_are_told_why(message: Spoken, reason: Reason) -> None:
    assert why(message, ELM) == Activation(Decision.SILENT, reason)


@pytest.mark.rule("A43")
def test_a_mention_that_fits_two_agents_wakes_neither() -> None:
    assert woken(by_person("@Oak look")) == {}
    assert woken(by_person("@Oak look"), room=(ALICES, ELM)) == {"s1": "explicit_mention"}


# --- quotations and threads ------------------------------------------------------------------


@pytest.mark.rule("A44")
def test_a_quotation_wakes_the_very_session_that_is_quoted() -> None:
    assert woken(by_person("thanks", to=quote(YOUNG_ELM))) == {"s4": "reply_target"}
    assert woken(by(BOBS, "thanks", to=quote(YOUNG_ELM))) == {"s4": "reply_target"}


@pytest.mark.rule("A44")
def test_a_quotation_of_a_session_that_is_gone_wakes_its_agent() -> None:
    gone = worker("emmy/elm", "Elm", "s8")

    assert woken(by_person("thanks", to=quote(gone))) == {"s3": "reply_target"}


@pytest.mark.rule("A44")
def test_a_quotation_of_an_agent_that_is_gone_wakes_no_namesake() -> None:
    gone = worker("carol/elm", "Elm", "s8")

    assert woken(by_person("thanks", to=quote(gone))) == {}


@pytest.mark.rule("A44")
def test_a_quotation_under_anothers_session_wakes_the_agent_of_its_key() -> None:
    mixed = Quoted("Elm", "agent", "emmy/elm", SessionId("s1"))

    assert woken(by_person("thanks", to=mixed)) == {"s3": "reply_target"}


@pytest.mark.rule("A44")
def test_a_quotation_without_a_key_means_the_agent_with_the_whole_label() -> None:
    unsigned = Quoted(ALICES.actor_label, "agent")

    assert woken(by_person("thanks", to=unsigned)) == {"s1": "reply_target"}
    assert woken(by_person("thanks", to=Quoted("Oak", "agent"))) == {}


@pytest.mark.rule("A5")
def test_a_thread_wakes_the_agents_that_take_part_and_nobody_it_quotes() -> None:
    roster = Roster.of(ROOM)
    message = by_person("any news?", to=quote(ELM), root=3)
    member = activation(message, ALICES, roster, participants={3, 5})
    quoted = activation(message, ELM, roster, participants={5})

    assert member == Activation(Decision.ACTIVATE, Reason.THREAD_PARTICIPANT)
    assert quoted == IGNORED


# --- a person who addresses nobody -----------------------------------------------------------


@pytest.mark.rule("A45")
def test_one_or_two_agents_hear_a_person_who_addresses_nobody() -> None:
    assert woken(by_person("hello"), room=(ELM, YOUNG_ELM)) == {"s3": "small_room"}
    assert woken(by_person("hello"), room=(ALICES, ELM, YOUNG_ELM)) == {
        "s1": "small_room",
        "s3": "small_room",
    }


@pytest.mark.rule("A45")
def test_of_more_agents_the_recent_partner_hears_a_person() -> None:
    assert woken(by_person("hello")) == {}
    assert woken(by_person("hello"), partner="emmy/elm") == {"s3": "recent_conversation"}
    assert woken(by_person("hello"), partner="carol/gone") == {}
    assert why(by_person("hello"), BOBS, partner="emmy/elm") == IGNORED


@pytest.mark.rule("A45")
@pytest.mark.parametrize("partner", [None, "carol/gone"])
def test_of_more_agents_each_is_shown_a_person_who_talks_with_none(partner: str | None) -> None:
    shown = {one for one in ROOM if why(by_person("hello"), one, partner=partner) == UNADDRESSED}

    assert {one.agent_key for one in shown} == {one.agent_key for one in ROOM}
    assert YOUNG_ELM not in shown


@pytest.mark.rule("A45")
@pytest.mark.parametrize(
    "message",
    [
        by(ALICES, "hello"),
        attrs.evolve(by(ALICES, "hello"), source="browser"),
        Spoken(9, "Tess", "hello", None),
        by_person("hello", root=3),
        by_person("hello", to=Quoted("Tim", "browser")),
        by_person("@Birch hello"),
        by_person("@emmy/elm hello"),
    ],
)
def test_nothing_else_is_heard_without_an_address(message: Spoken) -> None:
    found = activation(message, BOBS, Roster.of([BOBS, ELM]), recent_partner="bob/oak")

    assert not found.addressed


@pytest.mark.rule("A45")
def test_a_follow_up_with_an_owner_addresses_the_owner_alone() -> None:
    lease = Holder("emmy/elm", SessionId("s4"))
    room = (ALICES, ELM, YOUNG_ELM)

    assert woken(by_person("run tests"), room=room, leases=(lease,)) == {"s4": "task_owner"}


# --- who is told -----------------------------------------------------------------------------


@pytest.mark.rule("A47")
@pytest.mark.parametrize("kind", [SessionKind.CONTROLLER, SessionKind.PERSON])
def test_a_session_that_is_no_worker_is_told_nothing(kind: SessionKind) -> None:
    watcher = attrs.evolve(ELM, kind=kind)

    assert not watcher.is_worker
    assert why(by_person("@Elm look"), watcher) == Activation(Decision.UNCLEAR, Reason.UNADDRESSED)


@pytest.mark.rule("A41")
def test_a_listener_that_the_roster_lacks_is_counted_among_the_rest() -> None:
    assert why(by_person("@Oak look"), BOBS, room=(ALICES,)).addressed is False
    assert why(by_person("@Elm look"), ELM, room=(ALICES,)).addressed
    assert why(by_person("@Elm look"), YOUNG_ELM, room=(ELM,)) == IGNORED


# --- whatever is said ------------------------------------------------------------------------

SESSIONS = [
    worker(key, name, f"{key}-{name}-{count}".replace("/", "."))
    for key in ("emmy/a", "emmy/b", "bob/a")
    for name in ("Oak", "Elm")
    for count in (1, 2)
]
TEXTS = st.lists(
    st.sampled_from(
        ["@Oak", "@a", "@agent:bob/a", "@room", "any agent", "run tests", "hm", "@types/x"]
    ),
    max_size=3,
).map(" ".join)


@st.composite
def quotes(draw: st.DrawFn) -> Quoted:
    quoted = quote(draw(st.sampled_from(SESSIONS)))
    kept = draw(st.sampled_from(["both", "key", "label"]))
    if kept == "both":
        return quoted
    return Quoted(quoted.sender, "agent", quoted.agent_key if kept == "key" else None)


@pytest.mark.rule("A1", "A40", "A41", "A42")
@settings(deadline=None, max_examples=200)
@given(
    room=st.lists(st.sampled_from(SESSIONS), min_size=1, unique=True).map(tuple),
    speaker=st.sampled_from([None, *SESSIONS]),
    text=TEXTS,
    to=st.none() | quotes(),
    root=st.sampled_from([None, 3]),
    leases=st.lists(
        st.sampled_from([Holder("emmy/a"), *(Holder(s.agent_key, s.session_id) for s in SESSIONS)]),
        max_size=2,
    ),
    partner=st.sampled_from([None, "emmy/a"]),
)
def test_a_message_wakes_one_session_of_an_agent_at_most_and_never_its_speaker(
    room: tuple[Listener, ...],
    speaker: Listener | None,
    text: str,
    to: Quoted | None,
    root: int | None,
    leases: list[Holder],
    partner: str | None,
) -> None:
    message = by(speaker, text, to, root) if speaker else by_person(text, to, root)
    roster = Roster.of(room)
    found = {
        one: activation(
            message, one, roster, participants=[3], leases=leases, recent_partner=partner
        )
        for one in room
    }
    keys = [one.agent_key for one, decided in found.items() if decided.addressed]

    assert len(keys) == len(set(keys))
    assert speaker is None or speaker.agent_key not in keys
    unclear = [one.agent_key for one, decided in found.items() if decided == UNADDRESSED]
    assert len(unclear) == len(set(unclear))
    assert not unclear or (speaker is None and not keys)


def by_the_room(text: str, source: str, act_of: Listener | None = None) -> Spoken:
    return Spoken(9, "letagents", text, source, session_id=act_of.session_id if act_of else None)


@pytest.mark.rule("A48")
@pytest.mark.parametrize("source", ["system", "board"])
def test_the_rooms_own_words_are_for_those_that_they_mention_by_key(source: str) -> None:
    title = "Tell everyone about @Oak and all agents"
    told = by_the_room(f"[task] task_3 is handed to @agent:emmy/elm: {title}", source, BOBS)

    assert woken(told) == {"s3": "explicit_mention"}


@pytest.mark.rule("A48")
def test_the_rooms_own_words_for_nobody_wake_nobody() -> None:
    told = by_the_room("[task] task_3 in_progress: tell everyone", "system", BOBS)

    assert woken(told) == {}
    assert activation(told, ELM, Roster.of(ROOM)) == IGNORED


@pytest.mark.rule("A49")
def test_what_the_board_offers_is_unclear_to_each_agent_but_the_one_that_caused_it() -> None:
    offered = by_the_room("[task] task_3 accepted: tell everyone", "board", ELM)
    roster = Roster.of(ROOM)
    found = {str(one.session_id): activation(offered, one, roster) for one in ROOM}
    own = Activation(Decision.SILENT, Reason.SELF_MESSAGE)

    assert found == {"s1": UNADDRESSED, "s2": UNADDRESSED, "s3": own, "s4": own}


def to_one(text: str, source: str, asker: str | None) -> Spoken:
    session_id = SessionId(asker) if asker else None
    return Spoken(9, "letagents", text, source, session_id=session_id)


@pytest.mark.rule("A60")
@pytest.mark.parametrize("source", ["wake_rule", "human_response"])
@pytest.mark.parametrize(
    ("asker", "session"), [("s4", "s4"), ("s3", "s3"), ("gone", "s3"), (None, "s3")]
)
def test_what_one_agent_asked_for_is_for_that_session_and_nobody_else(
    source: str, asker: str | None, session: str
) -> None:
    told = to_one("@agent:emmy/elm for you: @everyone, @agent:bob/oak, all agents", source, asker)

    assert woken(told) == {session: "explicit_mention"}


@pytest.mark.rule("A60")
def test_what_nobody_in_the_room_asked_for_wakes_nobody() -> None:
    for text in ("@agent:emmy/ash: it is noon. @agent:emmy/elm", "it is noon"):
        assert woken(to_one(text, "wake_rule", None)) == {}


@pytest.mark.rule("A61")
def test_a_change_of_the_rooms_settings_is_unclear_to_every_agent_once() -> None:
    told = Spoken(9, "letagents", "[room] Ada changed the guidelines @everyone", "room_settings")
    roster = Roster.of(ROOM)
    found = {str(one.session_id): activation(told, one, roster) for one in ROOM}

    assert found == {"s1": UNADDRESSED, "s2": UNADDRESSED, "s3": UNADDRESSED, "s4": IGNORED}
