"""The secrets of bound sessions, each shown for the binding for which it was kept."""

from datetime import UTC, datetime

import attrs

from letagents.application.agents.vault import Vault
from letagents.domain.bindings import Binding
from letagents.domain.ids import Token

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OLDER = Binding("e1", "workshop", "w1", "x1", "s1", "https://rooms.example", 1, NOW)
NEWER = attrs.evolve(OLDER, session_id="s2", epoch=2)
FIRST, SECOND = Token("a" * 43), Token("b" * 43)


def test_a_secret_is_shown_for_its_own_binding_alone() -> None:
    vault = Vault()
    vault.keep(OLDER, FIRST)
    assert vault.holds(OLDER, FIRST)
    assert vault.of(NEWER) is None

    vault.keep(NEWER, SECOND)
    assert vault.of(OLDER) is None
    assert vault.holds(NEWER, SECOND)
    assert not vault.holds(NEWER, FIRST)


def test_a_secret_that_comes_late_takes_no_newer_ones_place() -> None:
    vault = Vault()
    vault.keep(NEWER, SECOND)
    vault.keep(OLDER, FIRST)

    assert vault.holds(NEWER, SECOND)
    vault.drop("e1")
    assert vault.of(NEWER) is None
