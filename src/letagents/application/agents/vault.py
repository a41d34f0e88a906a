"""The secrets of sessions that supervised agents have, in the memory of this process alone.

Each is kept under the epoch of the binding for which it was shown.
"""

import attrs

from letagents.domain import fencing
from letagents.domain.bindings import Binding
from letagents.domain.ids import Credential, Token
from letagents.domain.sessions import Connection, Session


@attrs.frozen
class Held:
    """The secret of a session, and the session as its room knows it, where we opened it."""

    token: Token
    session: Session | None = None
    bearer: Credential | None = None
    """What alone shows it to its server, where that gives such."""

    @property
    def lent(self) -> Token | Credential:
        """What is lent to the agent's own process."""
        return self.bearer or self.token


@attrs.define
class Vault:
    """The secrets of bound sessions, in memory alone."""

    _held: dict[str, tuple[int, Held]] = attrs.field(factory=dict, repr=False)

    def keep(self, binding: Binding, token: Token, made: Connection | None = None) -> None:
        """Keep the secret of a binding, in the place of that of the agent's last one.

        `made` is what its room answered, if we opened it; else what is known of it stays known.
        """
        epoch, _ = self._held.get(binding.entry_id, (0, None))
        if binding.epoch >= epoch:
            self._held[binding.entry_id] = (binding.epoch, self._shown(binding, token, made))

    def _shown(self, binding: Binding, token: Token, made: Connection | None) -> Held:
        if made is not None:
            return Held(token, made.session, made.bearer)
        before = self.of(binding)
        if before is None or fencing.same(before.token, token):
            return before or Held(token)
        return Held(token, before.session)

    def of(self, binding: Binding) -> Held | None:
        """Return the secret of a binding, if it is there."""
        epoch, held = self._held.get(binding.entry_id, (0, None))
        return held if epoch == binding.epoch else None

    def holds(self, binding: Binding, token: Token) -> bool:
        """Whether that is the secret of a binding."""
        held = self.of(binding)
        return held is not None and fencing.same(held.token, token)

    def drop(self, entry_id: str) -> None:
        """Keep the secret of one agent no longer."""
        self._held.pop(entry_id, None)

    def forget(self) -> None:
        """Keep no secret any longer."""
        self._held.clear()
