"""The order in which the parts of a message decide. (Behaviours of state-and-rules 12.7.)"""

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from letagents.domain.activation import (
    Activation,
    Decision,
    Known,
    Quoted,
    Reason,
    Spoken,
    decide,
)
from letagents.domain.follow_ups import Holder
from letagents.domain.ids import SessionId
from letagents.domain.roster import Listener

ME = Listener(
    agent_key="EmmyMay/cometlively",
    session_id=SessionId("s1"),
    actor_label="CometLively | EmmyMay's agent | Codex",
    display_name="CometLively",
)
BY_LOCAL_KEY = attrs.evolve(ME, agent_key="local/emmy/codex/cometlively", display_name="Comet")
OTHER_WORKER = attrs.evolve(
    ME, agent_key="EmmyMay/mossdawn", actor_label="MossDawn | EmmyMay's agent | Codex"
)
NORTH = "NorthHarbor | Alice's agent | Codex"

TO_ME = Quoted(ME.actor_label, "agent")
TO_NORTH = Quoted(NORTH, "agent")
TO_TESS = Quoted("Tess", "browser")

MINE = Holder(ME.agent_key, actor_label=ME.actor_label)
NORTHS = Holder("alice/northharbor", actor_label=NORTH)
OF_SESSION_1 = Holder(ME.agent_key, SessionId("s1"))

ACTIVATE, SILENT, UNCLEAR = Decision.ACTIVATE, Decision.SILENT, Decision.UNCLEAR


def said(
    text: str, *, sender: str = "Tess", source: str | None = "browser", to: Quoted | None = None
) -> Spoken:
    return Spoken(9, sender, text, source, reply_to=to)


def in_thread(
    text: str, *, source: str = "browser", to: Quoted | None = None, seen: tuple[str, ...] = ()
) -> Spoken:
    return Spoken(9, "Tess", text, source, thread_root=3, reply_to=to, thread_senders=seen)


def found(decision: Decision, reason: Reason) -> Activation:
    return Activation(decision, reason)


OWN = found(SILENT, Reason.SELF_MESSAGE)
SYSTEM = found(SILENT, Reason.SYSTEM_EVENT)
MENTION = found(ACTIVATE, Reason.EXPLICIT_MENTION)
OTHER_MENTION = found(SILENT, Reason.EXPLICIT_OTHER_MENTION)
BROADCAST = found(ACTIVATE, Reason.BROADCAST)
REPLY = found(ACTIVATE, Reason.REPLY_TARGET)
OTHER_REPLY = found(SILENT, Reason.OTHER_REPLY_TARGET)
THREAD = found(ACTIVATE, Reason.THREAD_PARTICIPANT)
OWNER = found(ACTIVATE, Reason.TASK_OWNER)
OTHER_OWNER = found(SILENT, Reason.TASK_OWNER)
NOTHING = found(UNCLEAR, Reason.UNADDRESSED)

BY_LABEL = [
    ("1", said("done", sender=ME.actor_label, source="agent"), OWN),
    ("1 by a part", said("done", sender="cometlively", source="agent"), OWN),
    ("2", said("@cometlively failed", source="managed_agent_failure"), SYSTEM),
    ("3 broadcast", said("@everyone look", source="github"), SYSTEM),
    ("3 mention", said("@cometlively look", source=" GitHub "), SYSTEM),
    ("3 thread", in_thread("try again", source="github", to=TO_ME), SYSTEM),
    ("4", said("@cometlively please look"), MENTION),
    ("4 end of sentence", said("Thanks, @CometLively."), MENTION),
    ("5 as named", said("@NorthHarbor please look"), OTHER_MENTION),
    ("5 lower case", said("@northharbor please look"), OTHER_MENTION),
    ("5 hyphened", said("@north-harbor please look"), OTHER_MENTION),
    ("6", said("@EmmyMay/cometlively please look"), MENTION),
    ("8 types", said("npm install @types/node"), NOTHING),
    ("8 vue", said("npm install @vue/runtime-core"), NOTHING),
    ("8 babel", said("npm install @babel/core"), NOTHING),
    ("8 agent", said("npm install @agent/core"), NOTHING),
    ("9", in_thread("any news?", seen=("Tess", ME.actor_label)), THREAD),
    ("10 to me", said("thanks", to=TO_ME), REPLY),
    ("10 to another", said("thanks", to=TO_NORTH), OTHER_REPLY),
    ("12", said("thanks", to=TO_TESS), NOTHING),
    ("13", said("@everyone look", to=TO_NORTH), BROADCAST),
    ("14", in_thread("thanks", to=TO_NORTH, seen=(ME.actor_label,)), THREAD),
    ("15 package", said("use @types/node", to=TO_ME), REPLY),
    ("15 e-mail", said("write to emmy@oak.example", to=TO_ME), REPLY),
    ("15 style rule", said("try @media print", to=TO_ME), REPLY),
    ("16", said("@NorthHarbor what do you think", to=TO_ME), OTHER_MENTION),
    ("17", said("@cometlively what do you think", to=TO_NORTH), MENTION),
    ("18 font", said("add @font-face to it"), NOTHING),
    ("18 media", said("try adding @media print"), NOTHING),
    ("19 phrase", said("you guys should look"), BROADCAST),
    ("19 after another", said("@NorthHarbor or any agent, look"), BROADCAST),
    ("20", said("okay try again"), NOTHING),
    ("24", said("test env is down for everyone"), BROADCAST),
    ("thread of others", in_thread("thanks", seen=(NORTH,)), NOTHING),
    ("own thread", Spoken(9, "Tess", "hello", "browser", thread_root=9), NOTHING),
]


@pytest.mark.rule("A2", "A3", "A4", "A5")
@pytest.mark.parametrize(
    ("message", "expected"), [row[1:] for row in BY_LABEL], ids=[row[0] for row in BY_LABEL]
)
def test_labels_and_words_decide_in_their_order(message: Spoken, expected: Activation) -> None:
    assert decide(message, ME) == expected


@pytest.mark.rule("A4")
@pytest.mark.parametrize("listener", [BY_LOCAL_KEY, attrs.evolve(ME, agent_key="agent:local/emmy")])
def test_a_mention_by_key_is_for_that_key_and_for_no_other_worker(listener: Listener) -> None:
    key = listener.agent_key.removeprefix("agent:")
    message = said(f"@agent:{key} please look")

    assert decide(message, listener) == MENTION
    assert decide(message, OTHER_WORKER) == OTHER_MENTION


WITH_LEASES = [
    ("21 again", "okay try again", (MINE,), OWNER),
    ("21 update", "update it", (MINE,), OWNER),
    ("21 run", "run tests", (MINE,), OWNER),
    ("21 fix", "fix tests", (MINE,), OWNER),
    ("22", "open a PR", (NORTHS,), OTHER_OWNER),
    ("23 news", "update: standup moved to ten", (MINE,), NOTHING),
    ("23 freeze", "merge freeze from noon", (MINE,), NOTHING),
    ("25 two owners", "okay try again", (MINE, NORTHS), NOTHING),
    ("25 one owner twice", "okay try again", (MINE, MINE), OWNER),
    ("26 notes", "I pushed some notes", (MINE,), NOTHING),
    ("26 review", "review it", (MINE,), NOTHING),
    ("27 its session", "okay try again", (OF_SESSION_1,), OWNER),
    ("mentions first", "@NorthHarbor try again", (MINE,), OTHER_MENTION),
]


@pytest.mark.rule("A5", "A31", "A32")
@pytest.mark.parametrize(
    ("text", "leases", "expected"),
    [row[1:] for row in WITH_LEASES],
    ids=[row[0] for row in WITH_LEASES],
)
def test_a_follow_up_is_for_the_one_owner_of_the_work(
    text: str, leases: tuple[Holder, ...], expected: Activation
) -> None:
    assert decide(said(text), ME, leases=leases) == expected


@pytest.mark.rule("A34")
def test_a_sister_session_of_the_owner_is_not_silenced() -> None:
    """Behaviour 27: the lease names session 1."""
    sister = attrs.evolve(ME, session_id=SessionId("s2"))

    assert decide(said("okay try again"), sister, leases=[OF_SESSION_1]) == NOTHING


@pytest.mark.rule("A33")
@pytest.mark.parametrize("lease", [NORTHS, Holder(actor_label=NORTH)])
def test_the_owners_own_words_do_not_silence_a_teammate(lease: Holder) -> None:
    """Behaviour 28."""
    message = said("merge it when CI is green", sender=NORTH, source="agent")

    assert decide(message, ME, leases=[lease]) == NOTHING


KNOWN_BETTER = [
    ("decided", said("@everyone look"), Known(decided=THREAD), THREAD),
    ("system comes first", said("x", source="github"), Known(decided=THREAD), SYSTEM),
    ("own", said("@cometlively look"), Known(own=True), OWN),
    ("not own", said("hi", sender=ME.actor_label), Known(own=False), NOTHING),
    ("mentioned", said("@elm look"), Known(mentioned=True), MENTION),
    ("not mentioned", said("@cometlively look"), Known(mentioned=False), OTHER_MENTION),
    ("quoted", said("thanks", to=TO_NORTH), Known(quoted=True), REPLY),
    ("not quoted", said("thanks", to=TO_ME), Known(quoted=False), OTHER_REPLY),
    ("takes part", in_thread("thanks"), Known(takes_part=True), THREAD),
    ("11", in_thread("thanks", to=TO_ME, seen=(ME.actor_label,)), Known(takes_part=False), NOTHING),
    ("thread not known", in_thread("thanks", to=TO_ME), Known(), REPLY),
    ("quoted in a thread", in_thread("thanks", to=TO_ME), Known(quoted=False), THREAD),
    ("no thread", said("thanks"), Known(takes_part=True), NOTHING),
]


@pytest.mark.rule("A6")
@pytest.mark.parametrize(
    ("message", "known", "expected"),
    [row[1:] for row in KNOWN_BETTER],
    ids=[row[0] for row in KNOWN_BETTER],
)
def test_what_is_known_is_not_overruled_by_labels(
    message: Spoken, known: Known, expected: Activation
) -> None:
    assert decide(message, ME, known) == expected


SURE = st.sampled_from([None, True, False])
FRAGMENTS = st.lists(
    st.sampled_from(
        [
            "@cometlively",
            "@NorthHarbor",
            "@everyone",
            "@types/node",
            "any agent",
            "try again",
            "run tests",
            "please",
            "İ",
        ]
    )
    | st.text(max_size=5),
    max_size=4,
).map(" ".join)


@pytest.mark.rule("A1")
@settings(deadline=None)
@given(
    text=FRAGMENTS,
    sender=st.sampled_from(["Tess", ME.actor_label, NORTH, "", "|"]),
    source=st.sampled_from([None, "agent", "browser", "github"]),
    root=st.sampled_from([None, 3, 9]),
    quoted=st.sampled_from([None, TO_ME, TO_NORTH, TO_TESS]),
    known=st.builds(Known, own=SURE, mentioned=SURE, quoted=SURE, takes_part=SURE),
    leases=st.lists(st.sampled_from([MINE, NORTHS, OF_SESSION_1, Holder()]), max_size=2),
)
def test_every_message_is_decided_and_addressed_exactly_when_it_activates(
    text: str,
    sender: str,
    source: str | None,
    root: int | None,
    quoted: Quoted | None,
    known: Known,
    leases: list[Holder],
) -> None:
    message = Spoken(9, sender, text, source, thread_root=root, reply_to=quoted)
    decided = decide(message, ME, known, leases=leases)

    assert decided.addressed == (decided.decision is Decision.ACTIVATE)
    assert (decided.decision is Decision.UNCLEAR) == (decided.reason is Reason.UNADDRESSED)
