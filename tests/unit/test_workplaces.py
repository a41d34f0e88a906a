"""Which folder an agent works in, and when it is removed."""

import pytest

from letagents.domain import workplaces
from letagents.domain.workplaces import Looked, WorkplaceRefused


@pytest.mark.rule("J70")
@pytest.mark.parametrize(
    ("entry_id", "taken", "branch"),
    [
        ("ada", (), "letagents/ada"),
        ("ada", ("letagents/ada", "letagents/ada-2"), "letagents/ada-3"),
        ("ada", ("letagents/ada/old",), "letagents/ada-2"),
        ("ada", ("letagents",), "letagents-ada"),
        ("a..b.lock", (), "letagents/a-b-lock"),
    ],
)
def test_a_branch_is_named_after_its_agent_and_is_nobody_else_s(
    entry_id: str, taken: tuple[str, ...], branch: str
) -> None:
    assert workplaces.branch_of(entry_id, taken) == branch


@pytest.mark.rule("J71")
@pytest.mark.parametrize(
    ("repository", "name"),
    [("/home/ada/engine", "engine"), ("C:\\my work\\", "my-work"), ("/..", "repository")],
)
def test_a_folder_is_named_in_harmless_characters(repository: str, name: str) -> None:
    assert workplaces.folder_of(repository, "1f-2e") == (name, "1f-2e")


@pytest.mark.rule("J72")
@pytest.mark.parametrize("marked", [None, "another", 7])
def test_a_folder_of_another_attempt_is_left_alone(marked: object) -> None:
    workplaces.check_marked("/f", "w1", "w1")
    with pytest.raises(WorkplaceRefused, match="is not that agent's"):
        workplaces.check_marked("/f", "w1", marked)


@pytest.mark.rule("J73")
@pytest.mark.parametrize(
    ("looked", "why"),
    [
        (Looked(), None),
        (Looked(changes=1), "one path is changed"),
        (Looked(changes=3), "3 paths are changed"),
        (Looked(under_way="rebase"), "in the middle of a rebase"),
        (Looked(is_reachable=False), "on no branch"),
    ],
)
def test_nothing_is_removed_with_which_work_would_be_lost(looked: Looked, why: str | None) -> None:
    told = workplaces.why_kept(looked)

    assert (told is None) if why is None else (told is not None and why in told)
