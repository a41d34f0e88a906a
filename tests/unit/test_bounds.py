"""How much one result holds."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.domain.bounds import ITEMS_LIMIT, RESULT_LIMIT, fitting, longest
from letagents.wire.bounds import bounded, cut, size, within


@pytest.mark.rule("Z1")
def test_a_result_has_room_for_a_full_list_and_what_stands_around_it() -> None:
    names = {"room_id": "🙂" * 200, "last_observed_message_id": "msg_2147483647"}
    skipped = ["msg_2147483647"] * 100

    around = size(names | {"skipped_message_ids": skipped, "messages": []})

    assert RESULT_LIMIT <= 40_000
    assert ITEMS_LIMIT + around <= RESULT_LIMIT


@pytest.mark.rule("Z2")
@given(
    sizes=st.lists(st.integers(0, 300), max_size=12),
    keep=st.sampled_from(["first", "last"]),
    limit=st.integers(350, 2_000),
)
def test_what_is_kept_fits_and_is_one_end_of_what_was_given(
    sizes: list[int], keep: Any, limit: int
) -> None:
    items = [{"number": number, "text": "x" * long} for number, long in enumerate(sizes)]
    kept = bounded(items, limit, keep)
    count = len(kept.items)

    assert kept.items == (items[:count] if keep == "first" else items[len(items) - count :])
    assert count + kept.omitted == len(items)
    assert size(kept.items) <= limit
    assert count > 0 or not items
    if kept.omitted:
        next_one = items[count] if keep == "first" else items[-count - 1]
        assert size([*kept.items, next_one]) > limit, "no more than needed is left out"


@pytest.mark.rule("Z2")
@pytest.mark.parametrize(("limit", "count"), [(1, 0), (3, 0), (4, 1), (6, 1), (7, 2), (9, 2)])
def test_brackets_and_separators_count(limit: int, count: int) -> None:
    assert fitting([2, 2], limit) == count


@pytest.mark.rule("Z3")
def test_a_cut_text_holds_one_character_at_least() -> None:
    assert longest("abc", lambda _text: False) == "a"
    assert longest("abc", lambda text: len(text) < 3) == "ab"
    assert longest("abc", lambda _text: True) == "abc"
    assert longest("", lambda _text: True) == ""


@pytest.mark.rule("Z3")
def test_an_object_too_large_alone_is_given_with_its_longest_texts_cut() -> None:
    answer = {"text": "🙂" * 9_000, "by": "Ada"}
    item: dict[str, Any] = {"id": "fact_1", "body": "é" * 9_000, "response": answer}
    [cut_one] = bounded([item]).items

    assert cut_one["content_truncated"] is True
    assert (cut_one["id"], cut_one["response"]["by"]) == ("fact_1", "Ada")
    assert 0 < len(cut_one["body"]) == len(cut_one["response"]["text"])
    assert ITEMS_LIMIT // 2 - 10 < size(cut_one) <= ITEMS_LIMIT // 2


@pytest.mark.rule("Z3")
@given(st.dictionaries(st.sampled_from("abcd"), st.text(max_size=400)), st.integers(900, 2_000))
def test_an_object_fits_once_it_is_cut_and_is_left_alone_where_it_fits(
    item: dict[str, str], limit: int
) -> None:
    item = {name: text.encode("utf-8", "ignore").decode() for name, text in item.items()}
    cut_one = within(item, limit)

    assert (cut_one == item) == (size(item) <= limit)
    if cut_one != item:
        assert all(item[name].startswith(cut_one[name]) for name in item)
        assert size(cut_one) <= max(limit, size(within(item, 0)))


@pytest.mark.rule("Z4")
@given(text=st.text(max_size=300), limit=st.integers(60, 400))
def test_a_text_is_cut_between_its_characters_as_late_as_it_fits(text: str, limit: int) -> None:
    text = text.encode("utf-8", "ignore").decode()
    item = {"id": "msg_1", "text": text}
    shorter = cut(item, "text", limit)["text"]

    assert text.startswith(shorter)
    assert size(item | {"text": shorter}) <= limit
    if shorter != text:
        assert size(item | {"text": text[: len(shorter) + 1]}) > limit
