"""What a program reports of its agent reaches the rooms of a server."""

import pytest
from tests.contract.kept_rooms import KeptRooms
from tests.contract.served import Served

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.reports import HostedReports
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.rooms.kept.activities import ACTIVITIES
from letagents.domain.activity import Report
from letagents.domain.errors import ConnectionLost
from letagents.testing.contracts.room_callers import ROOM, arrival
from letagents.testing.determinism import ManualClock

pytestmark = pytest.mark.anyio


class TestHostedReports(Served):
    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.mark.rule("X27", "X28")
    async def test_the_report_of_the_highest_number_counts(
        self, kept: KeptRooms, calls: Calls, clock: ManualClock
    ) -> None:
        rooms, reports = HostedRooms(calls), HostedReports(calls)
        await rooms.join(ROOM)
        ada = await rooms.connect(ROOM, arrival(1, 1))
        for number, status in ((7, "blocked"), (6, "working")):
            found = Report(observed_at=clock.now(), sequence=number, method="turn/x", status=status)
            await reports.report(ROOM, found, ada.fence)
        session_id = str(ada.session.session_id)
        counting = await kept.look(ROOM, lambda book: book.get(ACTIVITIES, session_id))

        assert counting is not None
        assert (counting.report.sequence, counting.report.status) == (7, "blocked")
        assert counting.report.observed_at == clock.now()

    @pytest.mark.rule("X28")
    async def test_who_was_replaced_reports_nothing(
        self, kept: KeptRooms, calls: Calls, clock: ManualClock
    ) -> None:
        rooms, reports = HostedRooms(calls), HostedReports(calls)
        await rooms.join(ROOM)
        before = await rooms.connect(ROOM, arrival(1, 1))
        await rooms.connect(ROOM, arrival(1, 2, before))
        found = Report(observed_at=clock.now(), sequence=1, method="turn/x")

        with pytest.raises(ConnectionLost):
            await reports.report(ROOM, found, before.fence)
