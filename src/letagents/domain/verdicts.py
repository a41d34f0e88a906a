"""What a reviewer says of a task's work.

T40  A verdict names the exact commit that was reviewed, in 40 hexadecimal digits.
T41  A key that was used before answers with its verdict; with another content it is refused.
"""

import enum
import re
from datetime import datetime

import attrs

from letagents.domain import texts
from letagents.domain.errors import KeyReused, LetAgentsError, Malformed
from letagents.domain.ids import quoted
from letagents.domain.messages import TEXT_LIMIT
from letagents.domain.tasks import KEY_LIMIT

_SHA = re.compile(r"[0-9a-fA-F]{40}")


class VerdictKind(enum.Enum):
    """What it says."""

    APPROVE = "approve"
    REQUEST_CHANGES = "request_changes"
    COMMENT = "comment"


class InvalidHeadSha(Malformed):
    """What was reviewed is not named by a commit."""

    code = "workflow_effect_invalid_head_sha"


class ReviewLeaseRequired(LetAgentsError):
    """Only who holds the review of a task says what comes of it."""

    code = "coordination_review_lease_required"


def head_sha(value: object) -> str:
    """Return the commit that `value` names, in lower case.

    Raises:
        InvalidHeadSha: it names none (T40).
    """
    if not isinstance(value, str) or not _SHA.fullmatch(value):
        raise InvalidHeadSha(
            f"expected_head_sha: {quoted(value)} is not the full id of a commit.",
            remedy="Pass the 40 hexadecimal digits that `git rev-parse HEAD` prints.",
        )
    return value.lower()


def _body(value: object) -> str:
    return texts.optional(value, "body", TEXT_LIMIT) or ""


def _key(value: object) -> str:
    return texts.checked(value, "idempotency_key", KEY_LIMIT)


@attrs.frozen(kw_only=True)
class Verdict:
    """What is said, of which commit."""

    kind: VerdictKind
    head_sha: str = attrs.field(converter=head_sha)
    key: str = attrs.field(converter=_key)
    body: str = attrs.field(default="", converter=_body)


@attrs.frozen(kw_only=True)
class Record:
    """A verdict as the room keeps it. It stands in the room, and nowhere else."""

    number: int
    task_id: str
    verdict: Verdict
    by: str
    by_key: str
    lease_id: str
    epoch: int
    at: datetime

    @property
    def record_id(self) -> str:
        """What it is called."""
        return f"verdict_{self.number}"


def repeated(record: Record, verdict: Verdict) -> Record:
    """Return the record that a verdict with its key made before (T41).

    Raises:
        KeyReused: the verdict is another one.
    """
    if record.verdict != verdict:
        raise KeyReused(
            f"idempotency_key: {record.record_id} has it, which is another verdict.",
            remedy="Use a new idempotency_key for another verdict.",
        )
    return record
