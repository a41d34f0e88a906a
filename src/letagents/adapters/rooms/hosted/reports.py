"""What is reported of agents to rooms on a server. (Source: hosted-api 3.3.)"""

import attrs

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.lacking import there
from letagents.domain.activity import Report
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.wire.http import activity as wire
from letagents.wire.http import credentials, rooms
from letagents.wire.http.places import part

WHAT = "reports of what programs do"


@attrs.frozen
class HostedReports:
    """The reports to one server, made by one account."""

    _calls: Calls

    async def report(self, room_id: RoomId, found: Report, fence: Fence) -> None:
        """Send a report. What is answered is the server's own matter."""
        session_id = part(str(fence.session_id))
        path = f"{rooms.path(room_id)}/agent-sessions/{session_id}/native-activity"
        body = wire.plain_report(found) | credentials.in_body(fence)
        await there(WHAT, self._calls.send("POST", path, body, lambda _answer: None))
