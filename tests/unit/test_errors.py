import inspect
from collections.abc import Callable

import pytest

from letagents.domain import errors
from letagents.domain.errors import LetAgentsError, Retry

KINDS = [
    kind
    for kind in vars(errors).values()
    if inspect.isclass(kind) and issubclass(kind, LetAgentsError) and kind is not LetAgentsError
]


@pytest.mark.rule("X1")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_error_says_what_happened_and_what_helps(kind: type[LetAgentsError]) -> None:
    error = _made(kind)

    assert error.happened.endswith(".")
    assert error.remedy.endswith(".")
    assert str(error) == f"{error.happened} {error.remedy}"


def test_codes_are_unique_machine_words() -> None:
    codes = [kind.code for kind in KINDS]

    assert len(set(codes)) == len(codes)
    assert all(code.isidentifier() and code.islower() for code in codes)


@pytest.mark.rule("X2")
def test_only_an_unknown_outcome_is_to_be_read_about_first() -> None:
    uncertain = [kind for kind in KINDS if kind.retry is Retry.AFTER_READING]

    assert uncertain == [errors.OutcomeUnknown]


def _made(kind: type[LetAgentsError]) -> LetAgentsError:
    make: Callable[..., LetAgentsError] = kind
    names = inspect.signature(kind).parameters
    if "remedy" in names:
        return make("It happened.", remedy="Call this.")
    return make(*["worker_" + "0" * 32, "a room", "it was replaced"][: len(names)])
