"""Refusals of the board as a person at a shell is told them: with commands, not with calls."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from letagents.domain.errors import LetAgentsError


class Told(LetAgentsError):
    """A refusal whose remedy is a command already."""

    code = "told_to_a_person"


@contextmanager
def told(remedies: Mapping[str, str], fields: Mapping[str, str] | None = None) -> Iterator[None]:
    """Let a refusal of one of these codes end in that remedy; `fields` are a person's names."""
    try:
        yield
    except LetAgentsError as error:
        field, colon, rest = error.happened.partition(":")
        name = (fields or {}).get(field) if colon else None
        happened = f"{name}:{rest}" if name else error.happened
        remedy = remedies.get(error.code)
        if remedy is None and name is None:
            raise
        renamed = error.remedy.replace(f"Pass {field} ", f"Pass {name} ")
        raise Told(happened, remedy=remedy or renamed) from None
