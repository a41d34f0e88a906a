"""What a room's agents show each other: branches, pull requests, checks and the like.

K40  An artifact has a stable identity: its address, id, number or ref, the first of these that it
     has, together with its provider and kind.
K41  The same identity published again is the same artifact: what is given replaces, what is left
     out stays, and links to tasks are added to.
K42  Each field is of its form and within its bounds; a refusal names it.
K43  It is linked to tasks that the room has, to at most 100.
"""

import re
from collections.abc import Collection, Mapping
from datetime import datetime

import attrs

from letagents.domain.authors import Author
from letagents.domain.errors import Malformed
from letagents.domain.ids import quoted
from letagents.domain.names import collapse
from letagents.domain.tasks import Artifact, ArtifactKind, Provider, task_id_of
from letagents.domain.texts import address, optional

ID_LIMIT = 200
TITLE_LIMIT = 300
REF_LIMIT = 300
STATE_LIMIT = 100
LARGEST = 2_147_483_647
MOST_LINKED = 32
"""Tasks that one call links to."""
MOST_TASKS = 100

_PLACE = re.compile(r"artifact_([1-9][0-9]{0,9})")
FIELDS = ("provider", "kind", "id", "number", "title", "url", "ref", "state")


@attrs.frozen(kw_only=True)
class Shared:
    """One artifact, as the room keeps it. `source` says how the room learnt of it."""

    number: int
    identity: str
    artifact: Artifact
    published_by: Author
    source: str
    first_seen_at: datetime
    updated_at: datetime
    task_ids: tuple[str, ...] = ()


def cursor(shared: Shared) -> str:
    """Return the place of an artifact in a list, which is short however long its address is."""
    return f"artifact_{shared.number}"


def place(text: str) -> int:
    """Return the number of the artifact of that place.

    Raises:
        Malformed: it is not what `cursor` made.
    """
    if (found := _PLACE.fullmatch(text)) is None:
        raise Malformed(
            f"cursor: {quoted(text)} is not the place of an artifact.",
            remedy="Pass the next_cursor of an earlier result as it is, or leave it out.",
        )
    return int(found[1])


def artifact(fields: Mapping[str, object]) -> Artifact:
    """Return the artifact that a caller's fields describe.

    Raises:
        Malformed: a field is not what it should be, or nothing identifies it.
    """
    for name in fields:
        if name not in FIELDS:
            raise Malformed(
                f"artifact: {quoted(name)} is not a field of an artifact.",
                remedy=f"It has: {', '.join(FIELDS)}.",
            )
    made = Artifact(
        provider=_provider(fields.get("provider")),
        kind=_kind(fields.get("kind")),
        id=_line(fields, "id", ID_LIMIT),
        number=_number(fields.get("number")),
        title=_line(fields, "title", TITLE_LIMIT),
        url=address(fields.get("url"), "artifact.url"),
        ref=_line(fields, "ref", REF_LIMIT),
        state=_line(fields, "state", STATE_LIMIT),
    )
    identity(made)
    return made


def identity(made: Artifact) -> str:
    """Return what tells an artifact from all others of a room.

    Raises:
        Malformed: it has nothing of the kind.
    """
    named = {"url": made.url, "id": made.id, "number": made.number, "ref": made.ref}
    for name, value in named.items():
        if value is not None:
            return f"{made.provider.value}:{made.kind.value}:{name}:{value}"
    raise Malformed(
        "artifact: artifact requires at least one stable identity: url, id, number, or ref.",
        remedy="Pass one of these in artifact.",
    )


def linked(task_id: object, linked_task_ids: Collection[object]) -> tuple[str, ...]:
    """Return the tasks that a call links to, each once.

    Raises:
        Malformed: one of them is no task's id, or they are too many.
    """
    if len(linked_task_ids) > MOST_LINKED:
        raise Malformed(
            f"linked_task_ids: {len(linked_task_ids)} are too many.",
            remedy=f"Pass at most {MOST_LINKED}.",
        )
    first = () if task_id is None else (task_id_of(task_id, "task_id"),)
    others = (task_id_of(one, f"linked_task_ids[{at}]") for at, one in enumerate(linked_task_ids))
    return tuple(dict.fromkeys((*first, *others)))


def published(
    before: Shared | None,
    given: Artifact,
    task_ids: Collection[str],
    *,
    number: int,
    by: Author,
    now: datetime,
) -> Shared:
    """Return the artifact as it is once `given` was published over `before`.

    Raises:
        Malformed: it would be linked to too many tasks.
    """
    if before is None:
        return Shared(
            number=number,
            identity=identity(given),
            artifact=given,
            published_by=by,
            source="human" if by.is_human else "agent",
            first_seen_at=now,
            updated_at=now,
            task_ids=tuple(task_ids),
        )
    tasks = tuple(dict.fromkeys((*before.task_ids, *task_ids)))
    if len(tasks) > MOST_TASKS:
        raise Malformed(
            f"linked_task_ids: this artifact would belong to {len(tasks)} tasks.",
            remedy=f"Link it to {MOST_TASKS} at most.",
        )
    after = attrs.evolve(before, artifact=_over(before.artifact, given), task_ids=tasks)
    if after == before:
        return before
    return attrs.evolve(after, published_by=by, updated_at=now)


def _over(before: Artifact, given: Artifact) -> Artifact:
    news = attrs.asdict(given, filter=lambda _field, value: value is not None)
    return attrs.evolve(before, **news)


def _provider(value: object) -> Provider:
    known = {one.value: one for one in Provider}
    return known[_one_of(value, "provider", known)]


def _kind(value: object) -> ArtifactKind:
    known = {one.value: one for one in ArtifactKind}
    return known[_one_of(value, "kind", known)]


def _one_of(value: object, field: str, known: Collection[str]) -> str:
    if not isinstance(value, str) or value not in known:
        raise Malformed(
            f"artifact.{field}: {quoted(value)} is no {field} of artifacts.",
            remedy=f"Pass one of: {', '.join(known)}.",
        )
    return value


def _line(fields: Mapping[str, object], name: str, most: int) -> str | None:
    text = optional(fields.get(name), f"artifact.{name}", most)
    return None if text is None else collapse(text)


def _number(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= LARGEST:
        raise Malformed(
            f"artifact.number: {quoted(value)} is not a whole number from 1 to {LARGEST}.",
            remedy="Pass the number as its provider shows it.",
        )
    return value
