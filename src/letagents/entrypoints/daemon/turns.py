"""What a person asks about the turn that an agent is in: to stop it, or what became of that.

(Source: supervisor 3.7, 6.4.)
"""

import attrs

from letagents.application.agents.turn_control import Stop, TurnControls
from letagents.domain.deeds import Doer
from letagents.domain.errors import Malformed
from letagents.domain.turn_controls import Named, Resolution
from letagents.entrypoints.daemon import callers
from letagents.entrypoints.daemon.agents import control_shown
from letagents.entrypoints.daemon.table import Table
from letagents.wire import supervisor as wire
from letagents.wire.supervisor import Params, Request


@attrs.frozen
class Turns:
    """The methods about turns."""

    controls: TurnControls

    def table(self) -> Table:
        """Return the methods by their names."""
        return {wire.CONTROL_TURN: self._control, wire.RESOLVE_CONTROL: self._resolve}

    async def _control(self, request: Request) -> object:
        params = Params.of(request)
        correction = params.value("correction")
        if correction is not None and not isinstance(correction, str):
            raise Malformed("A correction is a text, or null.", remedy="Pass one of them.")
        asked = Stop(
            entry_id=params.text("id"),
            generation=params.number("daemon_generation"),
            named=Named(
                room_id=params.text("room_id"),
                work_attempt_id=params.text("work_attempt_id"),
                execution_id=params.text("execution_generation_id"),
                continuation_id=params.text("provider_continuation_id"),
                turn_id=params.text("provider_turn_id"),
                item_id=params.text("inbox_item_id"),
                message_id=params.text("source_message_id"),
            ),
            action_id=params.text("action_id"),
            correction=correction,
            by=self._doer(request),
        )
        return control_shown(await self.controls.stop(asked))

    async def _resolve(self, request: Request) -> object:
        params = Params.of(request)
        try:
            resolution = Resolution(params.text("resolution"))
        except ValueError:
            raise Malformed(
                "A stop was applied or not_applied.", remedy="Say one of them."
            ) from None
        place = params.text("work_attempt_id"), params.text("execution_generation_id")
        action_id = params.text("action_id")
        return control_shown(
            await self.controls.resolve(
                params.text("id"), place, action_id, resolution, by=self._doer(request)
            )
        )

    def _doer(self, request: Request) -> Doer:
        sessions = self.controls.sessions
        return callers.doer(request, sessions.clock.now(), sessions.hold.generation)
