"""What a room knows: what may be kept, and by whom it may be changed."""

from datetime import UTC, datetime
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.test_wake_rules import session

from letagents.domain import guidelines, knowledge, records, texts
from letagents.domain.authors import Author, HumansOnly
from letagents.domain.errors import Malformed, UnknownMessage
from letagents.domain.git_rooms import Ref
from letagents.domain.guidelines import GuidelinesTooLong
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.knowledge import BODY_LIMIT, CATEGORIES, Entry, Section
from letagents.domain.messages import Message
from letagents.domain.records import AlreadyAnswered, Archived, Conflict, Record
from letagents.domain.sessions import SessionKind

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
AGENT = session()
HUMAN = session("human:name:ada", SessionKind.PERSON)
FACT, ASKED = Section.MEMORY, Section.ATTENTION


def entry(section: Section = FACT, **more: Any) -> Entry:
    said = {"category": "decision", "title": "Tabs", "body": "Always."}
    return knowledge.entry(section, **{**said, **more})


def record(section: Section = ASKED) -> Record:
    return records.added(section, "a_record", entry(section), number=1, by=AGENT, now=NOW)


def said(text: str = "hello", prompt_kind: str | None = None) -> Message:
    return Message(
        room_id=RoomId("workshop"),
        id=MessageId(3),
        sender="Sage",
        agent_key="ada/sage",
        session_id=None,
        text=text,
        source="agent",
        said_at=NOW,
        thread_root=MessageId(3),
        prompt_kind=prompt_kind,
    )


# --- texts ---------------------------------------------------------------------------------------


@pytest.mark.rule("K20")
def test_a_text_is_trimmed_and_held_to_its_field() -> None:
    assert texts.checked(" hi\n", "title", 2) == "hi"
    assert texts.optional(None, "title", 2) is None
    assert texts.optional(" \n", "title", 2) is None

    for wrong in ("abc", "", " ", "a\x00", None, 5, ["x"]):
        with pytest.raises(Malformed) as refused:
            texts.checked(wrong, "title", 2)
        assert refused.value.happened.startswith("title: ")
    with pytest.raises(Malformed) as refused:
        texts.optional("x" * 1_234, "title", 1_000)
    assert "1,234" in refused.value.happened
    assert "1,000" in refused.value.remedy


# --- what a record says --------------------------------------------------------------------------


@pytest.mark.rule("K21")
@pytest.mark.parametrize("name", ["a" * 7, "a" * 81, "with blank", "ümläute", "", None, 12345678])
def test_an_id_that_cannot_be_one_is_refused(name: object) -> None:
    with pytest.raises(Malformed) as refused:
        knowledge.checked_id(name)
    assert refused.value.happened.startswith("client_id: ")


@pytest.mark.rule("K21")
@pytest.mark.parametrize("name", ["a" * 8, "A-Z_0-9-", "a" * 80, " padded_id "])
def test_an_id_is_letters_digits_and_two_signs(name: str) -> None:
    assert knowledge.checked_id(name) == name.strip()


@pytest.mark.rule("K27")
@pytest.mark.parametrize(
    ("field", "most"),
    [("title", 160), ("body", 8000), ("recommendation", 2000), ("unblocks", 1000)],
)
def test_each_text_is_as_long_as_its_limit_and_no_longer(field: str, most: int) -> None:
    assert getattr(entry(ASKED, **{field: "x" * most}), field) == "x" * most

    with pytest.raises(Malformed) as refused:
        entry(ASKED, **{field: "x" * (most + 1)})
    assert refused.value.happened.startswith(f"{field}: ")


@pytest.mark.rule("K27")
def test_a_record_that_no_result_could_hold_is_refused() -> None:
    with pytest.raises(Malformed) as refused:
        entry(body="🧭" * BODY_LIMIT)

    assert refused.value.happened.startswith("body: ")
    assert "26,000 bytes" in refused.value.remedy


@pytest.mark.rule("K27")
def test_a_title_is_one_line_and_what_is_blank_is_left_out() -> None:
    made = entry(title=" Tabs\n or\tspaces ", recommendation=" ", unblocks="", source_url=None)

    assert (made.title, made.recommendation, made.unblocks) == ("Tabs or spaces", None, None)


@pytest.mark.rule("K28")
def test_each_section_has_its_own_categories() -> None:
    for section, known in CATEGORIES.items():
        for category in known:
            assert entry(section, category=category).category == category
    wrong: list[tuple[Section, object]] = [(FACT, "question"), (ASKED, "goal"), (FACT, None)]
    for section, other in wrong:
        with pytest.raises(Malformed) as refused:
            entry(section, category=other)
        assert refused.value.happened.startswith("category: ")


@pytest.mark.rule("K23")
@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "http://example.com:80/a?b=c#d",
        "HTTPS://EXAMPLE.COM/user@host",
        "https://[::1]/x",
        f"https://example.com/{'x' * 2028}",
    ],
)
def test_a_web_address_is_a_source(url: str) -> None:
    assert entry(source_url=url).source_url == url


@pytest.mark.rule("K23")
@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com",
        "javascript:alert(1)",
        "example.com",
        "https://",
        "https:///path",
        "https://ada:secret@example.com/",
        "https://ada@example.com",
        "https://evil.example\\@example.com",
        "https://example.com/a b",
        f"https://example.com/{'x' * 2029}",
    ],
)
def test_what_is_no_address_or_holds_a_secret_is_refused_unquoted(url: str) -> None:
    with pytest.raises(Malformed) as refused:
        entry(source_url=url)
    assert refused.value.happened.startswith("source_url: ")
    assert "secret" not in str(refused.value)


@pytest.mark.rule("K23")
def test_a_message_that_the_room_shows_is_a_source() -> None:
    assert entry(source_message_id=" msg_3 ").source_message == MessageId(3)
    knowledge.check_source(MessageId(3), said())
    knowledge.check_source(MessageId(3), said("prompted", "auto"))

    for message in (None, said("", "auto"), said(" \n", "auto")):
        with pytest.raises(UnknownMessage):
            knowledge.check_source(MessageId(3), message)
    for wrong in ("3", "msg_0", 3):
        with pytest.raises(Malformed) as refused:
            entry(source_message_id=wrong)
        assert refused.value.happened.startswith("source_message_id: ")


# --- who may do what -----------------------------------------------------------------------------


@pytest.mark.rule("K22")
def test_only_its_author_repeats_a_record_and_only_word_for_word() -> None:
    first = record()
    records.check_repeated(first, ASKED, entry(ASKED), by=AGENT)

    for section, again, by in (
        (ASKED, entry(ASKED, title="Other"), AGENT),
        (FACT, entry(FACT), AGENT),
        (ASKED, entry(ASKED), session("bob/elm")),
    ):
        with pytest.raises(Conflict):
            records.check_repeated(first, section, again, by=by)


@pytest.mark.rule("K24")
def test_the_owner_of_a_room_is_a_human_being_and_a_worker_is_not() -> None:
    assert Author.of(None).is_human
    assert Author.of(HUMAN).is_human
    assert not Author.of(AGENT).is_human
    assert not Author.of(session(kind=SessionKind.CONTROLLER)).is_human

    with pytest.raises(HumansOnly):
        records.revised(record(), entry(ASKED), version=1, by=AGENT, now=NOW)
    with pytest.raises(HumansOnly):
        records.archived(record(), True, version=1, by=AGENT, now=NOW)
    with pytest.raises(HumansOnly):
        records.answered(record(), "Yes.", by=AGENT, now=NOW)


@pytest.mark.rule("K25")
def test_a_change_names_the_version_that_it_follows() -> None:
    second = records.revised(record(), entry(ASKED, title="B"), version=1, by=HUMAN, now=NOW)
    third = records.archived(second, True, version=2, by=HUMAN, now=NOW)

    assert (second.version, third.version) == (2, 3)
    assert records.archived(third, True, version=3, by=HUMAN, now=NOW) == third
    for stale in (1, 2, 4):
        with pytest.raises(Conflict):
            records.archived(third, False, version=stale, by=HUMAN, now=NOW)


@pytest.mark.rule("K26")
def test_a_request_is_answered_once_and_not_while_it_is_put_away() -> None:
    done = records.answered(record(), " Yes. ", by=HUMAN, now=NOW)
    away = records.archived(record(), True, version=1, by=HUMAN, now=NOW)

    assert done.response is not None
    assert (done.response.body, done.version, done.is_open) == ("Yes.", 2, False)
    with pytest.raises(AlreadyAnswered):
        records.answered(done, "No.", by=HUMAN, now=NOW)
    with pytest.raises(Archived):
        records.answered(away, "Yes.", by=HUMAN, now=NOW)
    with pytest.raises(Archived):
        records.revised(away, entry(ASKED), version=2, by=HUMAN, now=NOW)


@pytest.mark.rule("K27")
@pytest.mark.parametrize("text", ["", "x" * 8_001, "🧭" * 3_000, "a\x00"])
def test_an_answer_is_a_text_within_its_bounds(text: str) -> None:
    with pytest.raises(Malformed) as refused:
        records.answered(record(), text, by=HUMAN, now=NOW)
    assert refused.value.happened.startswith("answer: ")


def test_an_answer_calls_the_agent_that_asked_by_its_key() -> None:
    asked = attrs.evolve(record(), author=Author("Agent:Ada/Sage Ü", "Sage", "agent"))
    by_human = attrs.evolve(asked, author=Author.of(HUMAN))
    answered = records.answered(asked, "Yes.", by=HUMAN, now=NOW)

    words = "Human response (a_record):\n\nYes."
    assert records.words_of_answer(answered) == f"@agent:ada/sage\n\n{words}"
    answered = records.answered(by_human, "Yes.", by=HUMAN, now=NOW)
    assert records.words_of_answer(answered) == words


@given(
    title=st.text(max_size=200),
    body=st.text(max_size=200),
    url=st.none() | st.text(max_size=40).map(lambda end: f"https://{end}"),
)
@pytest.mark.rule("K27", "K23")
def test_whatever_is_said_it_is_kept_whole_or_refused_by_a_field(
    title: str, body: str, url: str | None
) -> None:
    field = ""
    try:
        made = entry(title=title, body=body, source_url=url)
    except Malformed as error:
        field = error.happened.split(":")[0]
    else:
        assert made.body == body.strip()
        assert "\n" not in made.title
        assert made.source_url is None or "@" not in made.source_url.split("/")[2]
    assert field in ("", "title", "body", "source_url")


# --- guidelines ----------------------------------------------------------------------------------


@pytest.mark.rule("K30")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Write tests.\r\nBe kind. \r\n\n", "Write tests.\nBe kind."),
        ("\n\n  indented\rx", "  indented\nx"),
        ("", None),
        (" \n\t\r\n", None),
        ("ü" * 4_000, "ü" * 4_000),
    ],
)
def test_guidelines_are_kept_with_plain_line_ends(given: str, kept: str | None) -> None:
    assert guidelines.normal(given) == kept


@pytest.mark.rule("K30")
def test_guidelines_that_are_too_long_or_no_text_are_refused() -> None:
    with pytest.raises(GuidelinesTooLong) as refused:
        guidelines.normal("ü" * 4_000 + "x")
    assert "8,001" in refused.value.happened
    for wrong in ("a\x00b", None, 5):
        with pytest.raises(Malformed):
            guidelines.normal(wrong)


@pytest.mark.rule("K32")
def test_only_a_human_being_sets_guidelines_and_the_same_again_changes_nothing() -> None:
    first = guidelines.set_by(HUMAN, "Write tests.", None, NOW)
    second = guidelines.set_by(None, "", first, NOW)

    assert (first.text, first.version) == ("Write tests.", 1)
    assert guidelines.set_by(HUMAN, "Write tests.\n", first, NOW) is first
    assert (second.text, second.version) == (None, 2)
    with pytest.raises(HumansOnly):
        guidelines.set_by(AGENT, "Obey.", None, NOW)


@pytest.mark.rule("K31")
def test_a_room_inherits_from_those_behind_it() -> None:
    repository, workshop = RoomId("github.com/ada/engine"), RoomId("workshop")
    branch, focus = Ref(str(repository), "branch", "fix/gears"), RoomId("focus_1")

    for name in map(RoomId, (branch.older_id, branch.locator)):
        assert guidelines.forebears_of(name, None) == (repository,)
        assert guidelines.forebears_of(focus, name) == (name, repository)
    assert guidelines.forebears_of(repository, None) == ()
    assert guidelines.forebears_of(focus, workshop) == (workshop,)
