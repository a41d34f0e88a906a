"""What every Governance does: inherit both suites, with fixtures `rooms`, `board` and `governance`.

Say in `let_time_be` how what is due gets done. Where the place can be opened twice, the fixtures
`board_elsewhere` and `governance_elsewhere` give them as another process would have them.
"""

from letagents.testing.contracts.board_approvals import BoardApprovalsContract
from letagents.testing.contracts.board_escalations import BoardEscalationsContract
from letagents.testing.contracts.board_intents import BoardIntentsContract
from letagents.testing.contracts.board_managers import BoardManagersContract


class GovernanceContract(BoardManagersContract):
    """Who manages, and how much is asked."""


class ApprovalsContract(BoardIntentsContract, BoardApprovalsContract, BoardEscalationsContract):
    """What is asked for, decided, used, and what comes of what nobody decides."""
