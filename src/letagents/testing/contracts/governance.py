"""What every Governance does: inherit the suite, give it `rooms`, `board` and `governance`, and say
how what is due gets done (`let_time_be`). Where the place can be opened twice, the fixtures
`board_elsewhere` and `governance_elsewhere` give them as another process would have them.
"""

from letagents.testing.contracts.board_intents import BoardIntentsContract
from letagents.testing.contracts.board_managers import BoardManagersContract

__all__ = ["BoardIntentsContract", "BoardManagersContract"]
