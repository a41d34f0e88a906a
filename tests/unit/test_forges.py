"""Who can see a repository, from what its service answers."""

import pytest

from letagents.domain import forges
from letagents.domain.forges import Answer, Question, Verdict, Visibility

GITHUB = Question("github", "/repos/ada/engine")
GITLAB = Question("gitlab", "/api/v4/projects/Org%2FSub%2FEngine")
BITBUCKET = Question("bitbucket", "/2.0/repositories/ada/engine")


@pytest.mark.rule("G12")
@pytest.mark.parametrize(
    ("repository", "question"),
    [
        ("github.com/ada/engine", GITHUB),
        ("gitlab.com/Org/Sub/Engine", GITLAB),
        ("bitbucket.org/ada/engine", BITBUCKET),
        ("github.com/ada/en?gine", Question("github", "/repos/ada/en%3Fgine")),
        ("github.com/ada/engine/more", None),
        ("github.com/ada", None),
        ("git.example/ada/engine", None),
        ("evil-github.com/ada/engine", None),
        ("/srv/git/engine", None),
    ],
)
def test_only_three_services_are_asked(repository: str, question: Question | None) -> None:
    assert forges.question(repository) == question


@pytest.mark.rule("G13")
@pytest.mark.parametrize(
    ("asked", "answer", "visibility"),
    [
        (GITHUB, Answer(200), Visibility.PUBLIC),
        (GITHUB, Answer(404), Visibility.PRIVATE),
        (GITHUB, Answer(301), Visibility.UNKNOWN),
        (GITHUB, Answer(403), Visibility.UNKNOWN),
        (GITHUB, Answer(500), Visibility.UNKNOWN),
        (GITLAB, Answer(200, {"visibility": "public"}), Visibility.PUBLIC),
        (GITLAB, Answer(200, {"visibility": "internal"}), Visibility.PRIVATE),
        (GITLAB, Answer(200, {"visibility": "private"}), Visibility.PRIVATE),
        (GITLAB, Answer(200, {"visibility": ["public"]}), Visibility.UNKNOWN),
        (GITLAB, Answer(200), Visibility.UNKNOWN),
        (GITLAB, Answer(404), Visibility.PRIVATE),
        (BITBUCKET, Answer(200, {"is_private": False}), Visibility.PUBLIC),
        (BITBUCKET, Answer(200, {"is_private": True}), Visibility.PRIVATE),
        (BITBUCKET, Answer(200, {"is_private": 0}), Visibility.UNKNOWN),
        (BITBUCKET, Answer(200), Visibility.UNKNOWN),
        (BITBUCKET, Answer(404), Visibility.PRIVATE),
    ],
)
def test_only_a_clear_answer_tells(asked: Question, answer: Answer, visibility: Visibility) -> None:
    verdict = forges.verdict(asked, answer)

    assert verdict.visibility is visibility
    assert (verdict.wrong is not None) is (visibility is Visibility.UNKNOWN)


def test_what_is_wrong_names_the_service() -> None:
    assert forges.verdict(GITHUB, Answer(500)) == Verdict("github", wrong="github answered 500.")
