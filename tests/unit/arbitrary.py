"""Arbitrary values of attrs classes, by the types of their fields."""

import enum
import types
import typing
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
from hypothesis import strategies as st

from letagents.domain.ids import MessageId, SessionId
from letagents.domain.intents import ApprovalToken
from letagents.domain.ticks import Tick

NUMBERS = st.integers(min_value=1, max_value=99_999_999)
TEXTS = st.sampled_from(["x", "Ada | Grace's agent | Claude Code", "„ä“ 東 🙂", "@all\n\\\"'"])
WORDS = st.text("abcABC019_-", min_size=1, max_size=8)
SECONDS = st.sampled_from([0.0, 0.1, 12.345678, 1e6])
A_MOMENT = datetime(2030, 1, 1, tzinfo=UTC)
MOMENTS = st.integers(0, 10**9).map(lambda number: A_MOMENT + timedelta(milliseconds=number))

_BY_TYPE: dict[object, st.SearchStrategy[Any]] = {
    str: TEXTS,
    int: NUMBERS,
    bool: st.booleans(),
    float: SECONDS,
    type(None): st.none(),
    datetime: MOMENTS,
    timedelta: st.integers(0, 10**12).map(lambda number: timedelta(microseconds=number)),
    SessionId: WORDS.map(SessionId),
    MessageId: NUMBERS.map(MessageId),
    ApprovalToken: st.just(ApprovalToken("a" * 43)),
    Tick: st.builds(Tick, TEXTS, SECONDS),
}


def of(kind: Any, /, **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return arbitrary values of an attrs class; `given` says of which kind some fields are."""
    hints = typing.get_type_hints(kind)
    names = [one.name for one in attrs.fields(kind) if one.name not in given]
    return st.builds(kind, **given, **{name: _of_type(hints[name]) for name in names})


def several(each: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[Any]:
    """Return arbitrary tuples of some values."""
    return st.lists(each, max_size=most).map(tuple)


def _of_type(hint: Any) -> st.SearchStrategy[Any]:
    if isinstance(hint, types.UnionType):
        return st.one_of([_of_type(one) for one in typing.get_args(hint)])
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return st.sampled_from(hint)
    return _BY_TYPE[hint] if hint in _BY_TYPE else of(hint)
