"""The ways of a task where more can happen at once than a gate has time for."""

import pytest
from tests.contract.board_acts import ALL, Plot
from tests.contract.board_walk import unlike, walked
from tests.contract.test_board_ways import OPTIONAL, PLOTS, REQUIRED, has_a_way, was_walked

from letagents.domain.governance import Failover
from letagents.domain.tasks import Status

pytestmark = pytest.mark.long

S = Status
BEGIN = ("accepted", "assigned")
WIDE = {
    "both may die": Plot(mortal=(1, 2)),
    "locks and reviews, and one may die": Plot(locks=True, reviews=True, mortal=(1,)),
    "all that can be asked for, where the owner decides": Plot(mode=REQUIRED, asks=ALL),
    "all that can be asked for, where a manager counts": Plot(
        mode=OPTIONAL, manager=2, asks=ALL, owner=(S.CANCELLED,), owner_gives=False
    ),
    "a manager who may die, and all moves": Plot(
        mode=OPTIONAL, manager=2, asks=BEGIN, mortal=(2,), owner_gives=False
    ),
    "two things asked for at once": Plot(
        mode=REQUIRED, manager=2, asks=BEGIN, most_open=2, moves=(S.ACCEPTED, S.ASSIGNED, S.DONE)
    ),
    "managers change, and one may die": Plot(
        mode=REQUIRED, managers=True, asks=BEGIN, mortal=(1,), moves=(S.ACCEPTED, S.ASSIGNED)
    ),
    "modes change": Plot(
        modes=True, manager=1, asks=BEGIN, mortal=(1,), moves=(S.ACCEPTED, S.ASSIGNED)
    ),
    "nothing is done about a manager who is away": Plot(
        mode=REQUIRED, manager=1, failover=Failover.OFF, asks=BEGIN, mortal=(1,), owner_gives=False
    ),
    "a manager of whom nothing is known": Plot(
        mode=OPTIONAL,
        manager=2,
        asks=BEGIN,
        can_tell=False,
        mortal=(2,),
        owner_gives=False,
        moves=(S.ACCEPTED, S.ASSIGNED),
    ),
}


@pytest.mark.rule("B7", "T7", "P36")
@pytest.mark.parametrize("plot", WIDE.values(), ids=WIDE)
def test_a_task_has_a_way_forward_whatever_happens_at_once(plot: Plot) -> None:
    walk = walked(plot)

    was_walked(walk, plot)
    has_a_way(walk, plot)


# Where something is asked for, it is not so: how the task stood then counts for what becomes of it.
@pytest.mark.parametrize("plot", [one for one in PLOTS.values() if not one.asks])
def test_what_can_be_done_in_a_state_does_not_depend_on_how_it_was_reached(plot: Plot) -> None:
    assert unlike(walked(plot, remembers=True)) == []
