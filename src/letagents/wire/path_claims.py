"""Claimed paths as everybody may see them."""

from typing import Any

from letagents.domain.path_claims import PathClaim
from letagents.wire import moments

Plain = dict[str, Any]


def claim(one: PathClaim) -> Plain:
    """Return a claim."""
    lease = one.lease
    return {
        "claim_id": one.claim_id,
        "task_id": one.task_id,
        "repository": one.repository,
        "patterns": list(one.patterns),
        "mode": one.mode.value,
        "status": lease.status.value,
        "holder": lease.actor_label,
        "agent_key": lease.agent_key,
        "epoch": lease.epoch,
        "since": moments.to_text(lease.created_at),
    }
