"""The receipts of a room in this process's memory."""

from collections.abc import Collection, Iterable
from datetime import datetime

import attrs

from letagents.domain import receipts
from letagents.domain.ids import MessageId, SessionId
from letagents.domain.receipts import Receipt, Recipient


@attrs.define
class MemorySlips:
    """The slip box of a room."""

    _kept: dict[tuple[int, str], Receipt] = attrs.field(factory=dict)

    def add(self, message_id: MessageId, found: Iterable[Recipient], now: datetime) -> None:
        """Keep a receipt for each whom a message wakes that is said now."""
        for recipient in found:
            self.put(receipts.of(message_id, recipient, now))

    def of_message(self, number: int) -> list[Receipt]:
        """Return the receipts of a message."""
        found = [one for one in self._kept.values() if one.message_id.number == number]
        return sorted(found, key=lambda one: one.agent_key)

    def of_agent(self, numbers: Collection[int], agent_key: str) -> list[Receipt]:
        """Return an agent's receipts for the messages of those numbers."""
        found = (self._kept.get((number, agent_key)) for number in numbers)
        return [one for one in found if one is not None]

    def open_of(self, session_id: SessionId) -> list[Receipt]:
        """Return the receipts of a session that are open."""
        found = (one for one in self._kept.values() if one.session_id == session_id)
        return [one for one in found if one.state.is_open]

    def last_change(self) -> int:
        """Return the highest number of a change."""
        return max((one.changed for one in self._kept.values()), default=0)

    def changed_after(self, after: int, limit: int) -> list[tuple[int, int]]:
        """Return messages whose receipts have changed, each with the number of the change."""
        found = (one for one in self._kept.values() if one.changed > after)
        changes = sorted((one.changed, one.message_id.number) for one in found)
        return [(number, change) for change, number in changes[:limit]]

    def put(self, receipt: Receipt) -> None:
        """Keep a receipt in the place of the one before."""
        self._kept[receipt.message_id.number, receipt.agent_key] = receipt

    def in_sight(self, first: int, last: int, agent_key: str) -> dict[int, Receipt | None]:
        """Return which messages have receipts; each comes with the one of the agent."""
        numbers = sorted({number for number, _ in self._kept if first <= number <= last})
        return {number: self._kept.get((number, agent_key)) for number in numbers}

    def all(self) -> Collection[Receipt]:
        """Return all of them."""
        return self._kept.values()
