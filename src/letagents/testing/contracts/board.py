"""What every Board does: inherit the suite and give it fixtures `rooms` and `board`.

A `board_elsewhere` is a second board on the same place, where there can be one. `board` has leases
of `TERM`; `lives_in` and `kill` say from which process calls come, and that it is gone.
"""

from letagents.testing.contracts.board_epochs import BoardEpochsContract
from letagents.testing.contracts.board_leases import BoardLeasesContract
from letagents.testing.contracts.board_people import BoardPeopleContract
from letagents.testing.contracts.board_reviews import BoardReviewsContract
from letagents.testing.contracts.board_tasks import BoardTasksContract


class BoardContract(
    BoardTasksContract,
    BoardLeasesContract,
    BoardEpochsContract,
    BoardReviewsContract,
    BoardPeopleContract,
):
    """Needs fixtures `rooms` and `board`; may have a fixture `board_elsewhere`."""
