"""What may be said in a room, and where it goes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.domain import guidelines, messages, names, rooms, texts
from letagents.domain.errors import KeyReused, Malformed, UnknownMessage
from letagents.domain.ids import ClientKey, MessageId
from letagents.domain.messages import TEXT_LIMIT, Draft, Made, Place, Position, RoomFull
from letagents.domain.tasks import Proposal

KEY = ClientKey("k")
UNSEEN = ["\u200b", "\u202e\u200b", "\ufeff \u2060\n", "\u00ad", "\u3164", "\u2800", "\ufe0f\u034f"]
"""Texts of which nobody sees anything."""


@pytest.mark.rule("M1")
def test_a_text_is_as_long_as_the_limit_and_no_longer() -> None:
    assert messages.checked_text("🙂" * TEXT_LIMIT)

    with pytest.raises(Malformed) as refused:
        messages.checked_text("x" * (TEXT_LIMIT + 1))
    assert "65,537" in refused.value.happened
    assert "65,536" in refused.value.remedy


@pytest.mark.rule("M2")
@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u3000", *UNSEEN])
def test_a_blank_text_is_refused(text: str) -> None:
    with pytest.raises(Malformed, match="text: it is blank"):
        messages.checked_text(text)


@pytest.mark.rule("M2")
@pytest.mark.parametrize(
    "text", ["a", "\u200ba", "🏳\ufe0f\u200d🌈", "\u0e01\u0e31", "שלום", ".", "\u2801"]
)
def test_what_shows_something_is_kept_as_it_is(text: str) -> None:
    assert messages.checked_text(text) == text


@pytest.mark.parametrize("text", UNSEEN)
def test_what_nobody_sees_is_nothing_wherever_it_is_given(text: str) -> None:
    for refuses in (
        lambda: texts.checked(text, "title", 300),
        lambda: Proposal(title=text),
        lambda: rooms.canonical(text),
        lambda: names.checked_display_name(text),
    ):
        with pytest.raises(Malformed):
            refuses()
    assert texts.optional(text, "note", 300) is None
    assert guidelines.normal(text) is None


@pytest.mark.rule("M2")
@pytest.mark.parametrize("letter", ["\x00", "\x1b", "\x7f", "\x85", chr(0xD800), chr(0xDFFF)])
def test_what_no_room_keeps_is_refused_by_its_number_and_place(letter: str) -> None:
    with pytest.raises(Malformed) as refused:
        messages.checked_text(f"ab{letter}")
    assert f"U+{ord(letter):04X}" in refused.value.happened
    assert refused.value.happened.isprintable()


@pytest.mark.rule("M2")
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\t\r\n")))
def test_any_other_text_is_kept_as_it_is(text: str) -> None:
    shown = f"a{text}"  # a text of invisible characters alone is blank, as is an accent

    assert messages.checked_text(shown) is shown


@pytest.mark.parametrize("text", [None, 7, b"bytes", ["list"]])
def test_what_is_no_text_is_refused_by_its_field(text: object) -> None:
    with pytest.raises(Malformed, match="note:"):
        messages.checked_text(text, "note")


@pytest.mark.rule("M1", "M2")
def test_a_draft_that_exists_can_be_said() -> None:
    with pytest.raises(Malformed):
        Draft("", KEY)


@pytest.mark.rule("M3")
def test_a_reply_alone_stays_top_level() -> None:
    draft = Draft("yes", KEY, reply_to=MessageId(3))

    assert messages.place(draft, Position(3, root=1), None) == Place(reply_to=3)


@pytest.mark.rule("M3")
def test_a_reply_to_nothing_is_refused_by_its_field() -> None:
    with pytest.raises(UnknownMessage, match="reply_to: msg_9"):
        messages.place(Draft("yes", KEY, reply_to=MessageId(9)), None, None)
    with pytest.raises(UnknownMessage, match="thread_parent_id: msg_9"):
        messages.place(Draft("yes", KEY, thread=MessageId(9)), None, None)


@pytest.mark.rule("M4")
@pytest.mark.parametrize("named", [Position(1), Position(4, root=1)])
def test_a_thread_is_that_of_its_root(named: Position) -> None:
    draft = Draft("yes", KEY, thread=MessageId(named.number))

    assert messages.place(draft, None, named) == Place(root=1)


@pytest.mark.rule("M4")
@pytest.mark.parametrize("quoted", [Position(1), Position(3, root=1)])
def test_a_reply_within_the_thread_keeps_its_quotation(quoted: Position) -> None:
    draft = Draft("yes", KEY, reply_to=MessageId(quoted.number), thread=MessageId(4))

    assert messages.place(draft, quoted, Position(4, root=1)) == Place(quoted.number, root=1)


@pytest.mark.rule("M4")
def test_a_reply_from_another_thread_is_refused() -> None:
    draft = Draft("yes", KEY, reply_to=MessageId(2), thread=MessageId(4))

    with pytest.raises(Malformed, match="reply_to and thread_parent_id must match"):
        messages.place(draft, Position(2), Position(4, root=1))


@pytest.mark.rule("M5")
def test_numbers_count_up_to_the_last() -> None:
    assert messages.next_number(0) == 1
    assert messages.next_number(MessageId.LARGEST - 1) == MessageId.LARGEST
    with pytest.raises(RoomFull, match="create_room"):
        messages.next_number(MessageId.LARGEST)


@pytest.mark.rule("M6")
def test_a_key_answers_with_what_it_made_if_the_content_is_the_same() -> None:
    made = Made(5, "yes", Place(reply_to=3))

    assert messages.repeated(Draft("yes", KEY), Place(), None) is None
    assert messages.repeated(Draft("yes", KEY), Place(reply_to=3), made) == 5


@pytest.mark.rule("M6")
@pytest.mark.parametrize(
    ("text", "where"),
    [("no", Place(reply_to=3)), ("yes", Place()), ("yes", Place(3, root=1)), ("yes", Place(2))],
)
def test_a_key_with_other_content_is_refused(text: str, where: Place) -> None:
    with pytest.raises(KeyReused, match="msg_5"):
        messages.repeated(Draft(text, KEY), where, Made(5, "yes", Place(reply_to=3)))


@pytest.mark.parametrize(("asked", "given"), [(-1, 1), (0, 1), (7, 7), (500, 500), (501, 500)])
def test_a_page_is_bounded(asked: int, given: int) -> None:
    assert messages.bounded(asked) == given


@pytest.mark.rule("R12")
def test_a_cursor_from_the_future_is_refused_with_the_newest_number() -> None:
    messages.check_reached(MessageId(3), 3)

    with pytest.raises(UnknownMessage, match="its newest is msg_3"):
        messages.check_reached(MessageId(4), 3)
    with pytest.raises(UnknownMessage, match="it has no message yet"):
        messages.check_reached(MessageId(1), 0)
