"""What is told of mentions that woke nobody, to plain data and back."""

import pytest

from letagents.domain.recipients import Candidate, MentionNotice
from letagents.wire import notices

NOTICE = MentionNotice(
    "oak",
    (
        Candidate("@agent:ada/oak", "ada/oak", "Oak", "Oak | Ada's agent | Codex"),
        Candidate("@agent:bob/oak", "bob/oak", "Oak", "Oak | Bob's agent | Codex"),
    ),
)


@pytest.mark.rule("A77")
def test_notices_are_read_as_they_were_written() -> None:
    plain = notices.plain([NOTICE])

    assert plain["mention_notices"][0]["reason"] == "ambiguous"
    assert notices.read(plain) == (NOTICE,)
    assert notices.plain([]) == {}


@pytest.mark.parametrize("field", [None, 7, "x", [], [7], [{}], [{"candidates": [7, {}]}]])
def test_what_another_server_says_there_breaks_nothing(field: object) -> None:
    assert all(one.handle == "" for one in notices.read({"mention_notices": field}))
