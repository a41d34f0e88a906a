"""What is written down of a change of an agent."""

from datetime import UTC, datetime

import pytest

from letagents.domain.deeds import LONGEST, Act, Deed, Doer

NOW = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.rule("J159")
def test_a_deed_tells_when_what_and_who_asked() -> None:
    did = Doer(NOW, 7, "letagents 12").did("ada", Act.WANTED, "running → paused")

    assert did == Deed(NOW, "ada", Act.WANTED, 7, "running → paused", "letagents 12")


@pytest.mark.rule("J160")
def test_a_deed_is_short() -> None:
    did = Doer(NOW, 7, "p" * 999).did("ada", Act.RENAMED, "x" * 999)

    assert (len(did.detail), len(did.by)) == (LONGEST, LONGEST)
