"""A clock that stands still and dice that count, so that nothing but the test decides."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import attrs

from letagents.domain.ids import ClientKey, Token, WorkerId
from letagents.domain.ticks import Tick


@attrs.define
class ManualClock:
    """Stands still until `pass_by` moves it, or `set_to` sets its wall clock alone."""

    _now: datetime = datetime(2030, 1, 1, tzinfo=UTC)
    _tick: Tick = attrs.field(factory=lambda: Tick("boot-1", 1000.0))

    def now(self) -> datetime:
        """Return the moment at which it stands."""
        return self._now

    def tick(self) -> Tick:
        """Return the reading at which it stands."""
        return self._tick

    def pass_by(self, span: timedelta) -> None:
        """Let `span` go by."""
        self._now += span
        self._tick = Tick(self._tick.boot, self._tick.seconds + span.total_seconds())

    def set_to(self, moment: datetime) -> None:
        """Set the wall clock, forward or back, while no time goes by."""
        self._now = moment

    def boot_again(self, boot: str = "boot-2") -> None:
        """Start the machine anew: the steady clock begins at nothing, under another name."""
        self._tick = Tick(boot, 0.0)


@attrs.define
class CountingIds:
    """The n-th name of a kind is always the same name, and names are made from the number alone.

    `first` keeps two of them apart, where two processes of one test make names.
    """

    first: int = 1
    _made: Counter[str] = attrs.field(factory=Counter)

    def token(self) -> Token:
        """Return t0…01, t0…02 and so on, 43 characters each."""
        return Token(f"t{self._next('token'):042d}")

    def worker_id(self) -> WorkerId:
        """Return worker_0…01, worker_0…02 and so on."""
        return WorkerId(f"worker_{self._next('worker'):032x}")

    def uuid(self) -> str:
        """Return 00000000-0000-4000-8000-000000000001 and so on."""
        return f"00000000-0000-4000-8000-{self._next('uuid'):012x}"

    def client_key(self) -> ClientKey:
        """Return key-1, key-2 and so on."""
        return ClientKey(f"key-{self._next('key')}")

    def invite_code(self) -> str:
        """Return ROOM-0000-0001 and so on."""
        number = f"{self._next('invite'):08d}"
        return f"ROOM-{number[:4]}-{number[4:]}"

    def _next(self, kind: str) -> int:
        self._made[kind] += 1
        return self.first + self._made[kind] - 1
