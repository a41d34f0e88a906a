"""What is searched for, what fits, and what is shown of it."""

from datetime import UTC, datetime, timedelta

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.domain import search
from letagents.domain.errors import Malformed
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.messages import Message
from letagents.domain.search import (
    CURSOR_LENGTH,
    HITS_LIMIT,
    SNIPPET_LENGTH,
    TEXT_LIMIT,
    WORDS_LIMIT,
    Query,
    Term,
    among,
    asked,
    author_key,
    snippet_of,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def message(number: int, text: str, *, root: int | None = None, sender: str = "Ada") -> Message:
    return Message(
        room_id=RoomId("workshop"),
        id=MessageId(number),
        sender=sender,
        agent_key=None,
        session_id=None,
        text=text,
        source="agent",
        said_at=NOW + timedelta(hours=number),
        thread_root=MessageId(root or number),
    )


def phrases(text: str) -> list[str]:
    """Return what is asked for, as words with a star where the ending is open."""
    return [" ".join(one.words) + "*" * one.is_open for one in asked(text).terms]


# --- what is asked for ----------------------------------------------------------------------------


@pytest.mark.rule("V3", "V4")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lexer", ["lexer"]),
        ("Lexer PARSER lexer", ["lexer", "parser"]),
        ('"the lexer" slow', ["the lexer", "slow"]),
        ('"the lexer', ["the lexer"]),
        ('the"lexer is"slow', ["the", "lexer is", "slow"]),
        ("“the lexer”", ["the lexer"]),
        ("local_posts.py", ["local posts py"]),
        ("数据库", ["数 据 库"]),
        ("migr*", ["migr*"]),
        ("local_posts*", ["local posts*"]),
        ("数*", ["数"]),
        ("*args **kwargs", ["args", "kwargs"]),
        ('"the lex*"', ["the lex"]),
        ("数据库*", ["数 据 库"]),
        ("* lexer ** -- ^ : + ( )", ["lexer"]),
        ("a AND b OR NOT c NEAR/2", ["a", "and", "b", "or", "not", "c", "near 2"]),
        ("words:x {a b}:", ["words x", "a", "b"]),
    ],
)
def test_free_text_is_words_and_phrases_and_nothing_else(text: str, expected: list[str]) -> None:
    assert phrases(text) == expected


@pytest.mark.rule("V4")
@pytest.mark.parametrize("text", ["mi*", "parser a* b", "foo-b*", "mi**", "é*", "c++*", "й*"])
def test_a_star_after_too_few_letters_is_refused_and_not_ignored(text: str) -> None:
    with pytest.raises(Malformed, match=r"words: .*too few letters before its star") as refused:
        asked(text)

    assert "3 letters" in refused.value.remedy


@pytest.mark.rule("V6")
@pytest.mark.parametrize(
    ("text", "field", "said"),
    [
        ("", "words", "no word"),
        ("!!! ... \"\" '*'", "words", "no word"),
        ("a" * (TEXT_LIMIT + 1), "words", "401 characters"),
        (" ".join(f"w{at}" for at in range(17)), "words", "17 words"),
        (f'"{"数" * (WORDS_LIMIT + 1)}"', "words", "65 words"),
    ],
)
def test_words_that_are_none_or_too_many_are_refused(text: str, field: str, said: str) -> None:
    with pytest.raises(Malformed, match=said) as refused:
        asked(text)

    assert refused.value.happened.startswith(f"{field}: ")


@pytest.mark.rule("V6")
def test_a_query_may_be_without_words() -> None:
    assert asked() == Query()
    assert asked(author="Ada").author == "ada"
    assert asked(thread=MessageId(3)).terms == ()
    assert asked(since=NOW).since == NOW


@pytest.mark.rule("V6")
@pytest.mark.parametrize("limit", [0, -1, HITS_LIMIT + 1])
def test_a_page_holds_from_one_to_fifty_hits(limit: int) -> None:
    with pytest.raises(Malformed, match=f"limit: .* 1 to {HITS_LIMIT}"):
        asked("lexer", limit=limit)


@pytest.mark.rule("V12")
def test_a_time_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(Malformed, match="until"):
        asked("lexer", since=NOW, until=NOW)


@pytest.mark.rule("V10")
def test_an_author_is_the_name_in_a_label() -> None:
    label = "Sage | Ada's agent | Claude Code"

    assert author_key(label) == author_key("sage") == author_key("@Sage") == author_key(" SAGE ")
    assert author_key("Sage 2") != author_key("Sage")
    for name in ("", "  ", "@", "x" * 600):
        with pytest.raises(Malformed, match="author"):
            asked(author=name)


@pytest.mark.rule("V8")
def test_a_cursor_goes_with_its_own_query_alone() -> None:
    query = asked("the lexer", author="Ada", since=NOW, limit=3)
    cursor = query.cursor(MessageId(2_147_483_647))

    again = asked("The LEXER", author="@ada", since=NOW, limit=20, cursor=cursor)
    assert len(cursor) <= CURSOR_LENGTH
    assert again.below == MessageId(2_147_483_647)
    for other in (
        {"text": "the lexers"},
        {"text": "the lexer", "author": "Bob", "since": NOW},
        {"text": "the lexer", "author": "Ada"},
        {"text": "the lexer", "author": "Ada", "since": NOW, "thread": MessageId(1)},
    ):
        with pytest.raises(Malformed, match="cursor"):
            asked(**other, cursor=cursor)


@pytest.mark.rule("V8")
@given(st.text(max_size=50))
def test_what_is_no_cursor_is_refused(text: str) -> None:
    digest = asked("lexer").digest
    for cursor in (text, f"{text}.{digest}" if text != "7" else "", f"0.{digest}", f"01.{digest}"):
        if cursor.partition(".")[0].isdigit() and cursor.endswith(f".{digest}"):
            continue
        with pytest.raises(Malformed, match="cursor"):
            asked("lexer", cursor=cursor)


@pytest.mark.rule("V8")
def test_a_cursor_beyond_all_numbers_is_refused() -> None:
    query = asked("lexer")
    with pytest.raises(Malformed, match="cursor"):
        asked("lexer", cursor=f"{MessageId.LARGEST + 1}.{query.digest}")


@given(st.text(), st.none() | st.text(), st.none() | st.text())
def test_whatever_is_passed_is_a_query_or_malformed(
    text: str, author: str | None, cursor: str | None
) -> None:
    try:
        query = asked(text, author=author, cursor=cursor)
    except Malformed:
        return

    assert query.terms
    assert all(word for term in query.terms for word in term.words)


# --- what fits ------------------------------------------------------------------------------------


@pytest.mark.rule("V3")
@given(st.text(min_size=1, max_size=60))
def test_every_text_is_found_by_itself(text: str) -> None:
    try:
        query = asked(text.replace('"', " ").replace("*", " "))
    except Malformed:
        return

    assert [hit.id for hit in among([message(1, text)], query).hits] == [MessageId(1)]


@pytest.mark.rule("V3")
def test_a_term_fits_whole_words_only() -> None:
    assert Term(("b",)).place("a b c") == 2
    assert Term(("b", "c")).place("a b c") == 2
    assert Term(("b", "c")).place("a b cd") == -1
    assert Term(("b", "c"), is_open=True).place("a b cd") == 2
    assert Term(("b",), is_open=True).place("ab") == -1


@pytest.mark.rule("V7")
def test_a_page_begins_below_its_cursor() -> None:
    said = [message(number, "lexer") for number in range(9, 0, -1)]
    query = attrs.evolve(asked("lexer", limit=2), below=MessageId(4))

    found = among(said, query)
    assert [hit.id.number for hit in found.hits] == [3, 2]
    assert found.more


@pytest.mark.rule("V11", "V12", "V10")
def test_all_that_is_asked_for_has_to_fit() -> None:
    said = [
        message(4, "lexer", root=2, sender="Bob"),
        message(3, "lexer", root=2),
        message(2, "lexer"),
        message(1, "lexer"),
    ]
    query = asked("lexer", author="Ada", thread=MessageId(3), since=NOW + timedelta(hours=3))

    assert [hit.id.number for hit in among(said, query, MessageId(2)).hits] == [3]


# --- what is shown --------------------------------------------------------------------------------


@pytest.mark.rule("V9")
@pytest.mark.parametrize(
    ("text", "asked_for", "expected"),
    [
        ("the lexer", "lexer", "the lexer"),
        ("the\n\n  lexer\t", "lexer", "the lexer"),
        (f"{'x ' * 100}lexer", "lexer", f"…{'x ' * 29}lexer"),
        (f"lexer {'x' * 500}", "lexer", f"lexer {'x' * 233}…"),
        (f"{'数' * 500}迁移", "迁移", f"…{'数' * 60}迁移"),
        ("x" * 500, None, f"{'x' * 239}…"),
    ],
)
def test_a_snippet_is_one_line_around_what_was_asked_for(
    text: str, asked_for: str | None, expected: str
) -> None:
    query = asked(asked_for) if asked_for else Query()

    assert snippet_of(text, query) == expected


@pytest.mark.rule("V9")
@given(st.text(), st.text(min_size=1, max_size=20))
def test_a_snippet_is_bounded_whatever_was_said(text: str, word: str) -> None:
    query = Query(terms=(Term((word,)),))

    snippet = snippet_of(text * 40, query)
    assert len(snippet) <= SNIPPET_LENGTH
    assert len(snippet.splitlines()) <= 1


def test_the_error_about_a_thread_names_it() -> None:
    assert "msg_7" in search.no_thread(MessageId(7)).happened
