"""What a supervisor is asked, method by method: parameters to values, and answers back.

(Source: supervisor 3.) Parameters are read leniently, as other programs send them; what is missing
is blank, and refused by the rule that needs it.
"""

import os

import attrs

from letagents.application.agents.supervised_effects import SupervisedEffects
from letagents.application.agents.supervising import Supervising
from letagents.entrypoints.daemon.bindings import Bindings
from letagents.entrypoints.daemon.effects import Effects
from letagents.entrypoints.daemon.table import Method, Table
from letagents.wire import supervisor as wire
from letagents.wire.moments import to_text
from letagents.wire.supervisor import Request

_CAPABILITIES = {
    "room_delivery_retry": wire.RETRY_MESSAGE,
    "room_delivery_skip": wire.SKIP_MESSAGE,
    "agent_inspector_detail_v1": wire.INSPECT_AGENT,
    "agent_activity_stream_v1": wire.WATCH_AGENT,
    "agent_room_move_v1": wire.COMMIT_MOVE,
    "agent_state_subscription_v1": wire.WATCH_AGENTS,
    "custodialPollingV1": wire.AUTHORIZE,
    "custodialPollingOffersV1": wire.AUTHORIZE,
}


@attrs.frozen
class Identity:
    """What a supervisor says of itself."""

    implementation: str
    environment_fingerprint: str | None = None
    compatibility_fingerprint: str | None = None


@attrs.define(eq=False)
class Methods:
    """Everything that a supervisor does when it is asked."""

    sessions: Supervising
    effects: SupervisedEffects
    identity: Identity
    more: Table = attrs.field(factory=dict)
    _table: Table = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        own: Table = {
            wire.NEGOTIATE: self._status,
            wire.STATUS: self._status,
            wire.PREPARE_HANDOFF: self._hand_over,
        }
        bindings, effects = (
            Bindings(self.sessions).table(),
            Effects(self.effects, self.sessions).table(),
        )
        self._table = {**self.more, **own, **bindings, **effects}

    def named(self, method: str) -> Method | None:
        """Return a method, or None if there is none of that name."""
        return self._table.get(method)

    async def _status(self, _request: Request) -> object:
        return {
            "healthy": True,
            "protocol_version": wire.VERSION,
            "implementation_version": self.identity.implementation,
            "runtime_environment_fingerprint": self.identity.environment_fingerprint,
            "compatibility_fingerprint": self.identity.compatibility_fingerprint,
            "capabilities": {
                **{flag: name in self._table for flag, name in _CAPABILITIES.items()},
                wire.KEEPS: True,
            },
            "generation": self.sessions.hold.generation,
            "pid": os.getpid(),
            "started_at": to_text(self.sessions.started_at),
            "recovery_diagnostics": [],
        }

    async def _hand_over(self, _request: Request) -> object:
        return {"accepted": True, "generation": self.sessions.hold.generation}
