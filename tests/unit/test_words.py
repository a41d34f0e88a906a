"""How a text is read as words."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.domain.words import WORD_LENGTH, readable, start_of_word, words


@pytest.mark.rule("V1")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t.,;:!?-_*\"'()", []),
        ("Hello, World 2", ["hello", "world", "2"]),
        ("src/letagents/local_posts.py", ["src", "letagents", "local", "posts", "py"]),
        ("don't", ["don", "t"]),
        ("café CAFÉ cafe\u0301", ["cafe"] * 3),
        ("Straße STRASSE", ["strasse"] * 2),
        ("ΣΊΣΥΦΟΣ σίσυφος", ["σισυφοσ"] * 2),
        ("ёлка Ёлка", ["елка"] * 2),
        ("İstanbul istanbul", ["istanbul"] * 2),
        ("ｆｕｌｌ ﬁx ①", ["full", "fix", "1"]),
        ("soft\u00adhyphen", ["softhyphen"]),
        ("שָׁלוֹם שלום", ["שלום"] * 2),
        ("مُحَمَّد محـمد", ["محمد"] * 2),
        ("हिन्दी", ["हिन्दी"]),
        ("\ue000a", ["a"]),
    ],
)
def test_case_accents_and_width_are_no_part_of_a_word(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.rule("V2")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("数据库 ok", ["数", "据", "库", "ok"]),
        ("v2版", ["v2", "版"]),
        ("がか", ["が", "か"]),
        ("ｶﾞ ガ か\u3099", ["ガ", "ガ", "が"]),
        ("한글 \u1112\u1161\u11ab글", ["한", "글", "한", "글"]),
        ("น้ำ", list("น้ํา")),
        ("done ✅🚀", ["done", "✅", "🚀"]),
        ("❤\ufe0f", ["❤"]),
        ("𠀀𠀁", ["𠀀", "𠀁"]),
    ],
)
def test_a_script_without_spaces_is_read_sign_by_sign(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.rule("V5")
def test_a_word_counts_by_its_first_characters() -> None:
    assert words("a" * 1000) == ["a" * WORD_LENGTH]
    assert words("é" * 1000) == ["e" * WORD_LENGTH]


@given(st.text())
def test_a_text_reads_the_same_however_its_accents_are_composed(text: str) -> None:
    forms = {readable(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")}

    assert len(forms) == 1


@given(st.text())
def test_what_was_read_is_read_the_same_again(text: str) -> None:
    assert readable(readable(text)) == readable(text)


@given(st.text())
def test_an_index_that_knows_only_spaces_and_ascii_parts_the_same_words(text: str) -> None:
    for word in readable(text).split(" "):
        assert word == word.strip()
        assert all(sign.isalnum() for sign in word if sign.isascii())


@given(st.lists(st.text(), max_size=6))
def test_each_word_is_found_where_it_begins(parts: list[str]) -> None:
    text = " ".join(parts)
    for number, word in enumerate(words(text)):
        at = start_of_word(text, number)
        assert 0 <= at < len(text), word

    assert start_of_word(text, len(words(text))) == 0


def test_a_word_after_signs_that_grow_is_found_where_it_begins() -> None:
    text = "㍿㍿㍿ ﬁﬁﬁ the lexer"

    assert text[start_of_word(text, words(text).index("lexer")) :] == "lexer"


def test_every_character_can_be_read() -> None:
    numbers = range(sys.maxunicode + 1)
    text = "".join(chr(number) for number in numbers if not 0xD800 <= number < 0xE000)

    assert len(words(text)) > 100_000
