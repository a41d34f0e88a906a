"""What a call about claimed paths may say, and in which repository somebody works."""

import attrs
import pytest

from letagents.domain.errors import Malformed
from letagents.domain.git_rooms import Checkout
from letagents.domain.ids import RoomId
from letagents.domain.path_claims import (
    LARGEST_PAGE,
    MOST_PATTERNS,
    Mode,
    Query,
    UnknownRepository,
    Wanted,
    claim_number,
    meeting,
    named_repository,
    patterns_of,
    repository_of,
)

REPOSITORY = "github.com/o/r"


@pytest.mark.rule("K88")
def test_a_call_claims_some_patterns_and_each_once() -> None:
    found = patterns_of(["src/", "./src", "docs/*.md"])

    assert [one.text for one in found] == ["src", "docs/*.md"]
    assert len(patterns_of([f"d{n}" for n in range(MOST_PATTERNS)])) == MOST_PATTERNS


@pytest.mark.rule("K88")
@pytest.mark.parametrize("texts", [[], ["x"] * (MOST_PATTERNS + 1), ["a", "../b"]])
def test_no_pattern_too_many_and_a_wrong_one_are_refused(texts: list[str]) -> None:
    with pytest.raises(Malformed, match="patterns: "):
        patterns_of(texts)


@attrs.frozen
class Seen:
    """A claim of somebody's."""

    agent_key: str = "ada/1"
    repository: str = REPOSITORY
    patterns: tuple[str, ...] = ("docs", "src/**")
    mode: Mode = Mode.EXCLUSIVE


@pytest.mark.rule("K85")
@pytest.mark.parametrize(
    ("seen", "mode", "met"),
    [
        (Seen(), Mode.EXCLUSIVE, ("src/a", "src/**")),
        (Seen(), Mode.SHARED, ("src/a", "src/**")),
        (Seen(mode=Mode.SHARED), Mode.EXCLUSIVE, ("src/a", "src/**")),
        (Seen(mode=Mode.SHARED), Mode.SHARED, None),
        (Seen(agent_key="bob/2"), Mode.EXCLUSIVE, None),
        (Seen(repository="github.com/o/x"), Mode.EXCLUSIVE, None),
        (Seen(patterns=("docs",)), Mode.EXCLUSIVE, None),
    ],
)
def test_claims_of_two_agents_meet_in_one_repository_unless_both_share(
    seen: Seen, mode: Mode, met: tuple[str, str] | None
) -> None:
    wants = Wanted(
        task_id="task_1",
        patterns=patterns_of(["lib", "src/a"]),
        repository=REPOSITORY,
        mode=mode,
    )

    assert meeting(wants, seen, "bob/2") == met


@pytest.mark.rule("K89")
def test_clones_of_a_remote_and_worktrees_without_one_are_one_repository() -> None:
    room = RoomId("workshop")
    clones = [Checkout(root, REPOSITORY) for root in ("/a", "/b")]
    trees = [Checkout(root, git_dir="/a/.git") for root in ("/a", "/tree")]
    other = Checkout("/c", git_dir="/c/.git")

    assert {repository_of(one, room) for one in clones} == {REPOSITORY}
    assert {repository_of(one, room) for one in trees} == {"git-dir:/a/.git"}
    assert repository_of(other, room) not in (REPOSITORY, "git-dir:/a/.git")


@pytest.mark.rule("K89")
@pytest.mark.parametrize("room", [REPOSITORY, "git-room:github.com:o/r:branch:dG9waWM"])
def test_without_a_checkout_it_is_the_room_s_repository(room: str) -> None:
    assert repository_of(None, RoomId(room)) == REPOSITORY


@pytest.mark.rule("K89")
@pytest.mark.parametrize("room", ["workshop", "AB12-CD34-EF56", "a/b"])
def test_without_a_checkout_and_a_repository_s_room_there_is_none(room: str) -> None:
    with pytest.raises(UnknownRepository, match="cwd: "):
        repository_of(None, RoomId(room))


@pytest.mark.rule("K89")
def test_who_shows_no_checkout_names_its_remote() -> None:
    spelt = ["https://x:secret@github.com/O/R.git", "git@github.com:o/r.git", "github.com/o/r"]

    assert {named_repository(one) for one in spelt} == {REPOSITORY}


@pytest.mark.rule("K89")
@pytest.mark.parametrize("remote", ["", "../r.git", "x:secret@", "https://x:secret@github.com"])
def test_what_names_no_repository_is_refused_and_not_repeated(remote: str) -> None:
    with pytest.raises(Malformed, match="names no repository") as refused:
        named_repository(remote)

    assert "secret" not in str(refused.value)


def test_a_claim_is_named_by_its_number() -> None:
    assert claim_number("paths_lease_12") == 12


@pytest.mark.parametrize("text", ["", "12", "work_lease_1", "paths_lease_", "paths_lease_x"])
def test_what_names_no_claim_is_refused(text: str) -> None:
    with pytest.raises(Malformed, match="claim_id: "):
        claim_number(text)


@pytest.mark.parametrize(("limit", "given"), [(0, 1), (7, 7), (10_000, LARGEST_PAGE)])
def test_a_page_has_a_bound(limit: int, given: int) -> None:
    assert Query(limit=limit).bounded == given


@pytest.mark.rule("K89")
def test_who_names_a_folder_that_is_no_checkout_is_told_so_in_any_room() -> None:
    with pytest.raises(UnknownRepository, match="no git checkout there"):
        repository_of(None, RoomId(REPOSITORY), "/nowhere")
