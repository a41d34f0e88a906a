"""Short requests to go on with the work, and whose work is meant.

A30  A follow-up asks to go on: a request at the start of a text, or a plain order within it.
A31  A follow-up is for the one owner of active work; of two owners neither is meant.
A32  Several leases of one owner are one owner.
A33  An owner's own words are no follow-up to itself.
A34  Who is much like the owner without being it, such as a sister session, is not silenced.
"""

import re
from collections.abc import Iterable

import attrs

from letagents.domain.ids import SessionId
from letagents.domain.names import WHITESPACE, sender_form, trim
from letagents.domain.roster import Listener, forms

_BLANK = f"[{WHITESPACE}]++"
_LEAD_IN = rf"(?:(?:okay|ok|right|cool|great|nice)[{WHITESPACE},]++)?"
_REQUESTS = (
    r"(?:try again|retry|rerun|re-run|continue|proceed|go ahead|carry on"
    r"|(?:open|create|make|raise) (?:a )?pr"
    r"|(?:push|merge|ship|fix|test|run|update) (?:it|that|this|again|(?:the )?tests?|ci))\b"
)
_ORDERS = r"\b(?:try again|(?:open|create|make) (?:a )?pr|push it|merge it|update it)\b"
_AT_THE_START = re.compile(_LEAD_IN + _REQUESTS.replace(" ", _BLANK), re.ASCII)
_ANYWHERE = re.compile(_ORDERS.replace(" ", _BLANK), re.ASCII)
_IN_ORDERS = ("try", "open", "create", "make", "push", "merge", "update")
"""One of these is in each order: by them it is soon told that a text holds none."""


@attrs.frozen
class Holder:
    """Who holds an active work lease, as far as the lease says."""

    agent_key: str | None = None
    session_id: SessionId | None = None
    instance_id: str | None = None
    actor_label: str | None = None

    @property
    def owner(self) -> tuple[str, ...]:
        """What is equal for two leases exactly when they have one owner."""
        if self.session_id:
            return ("session", str(self.session_id))
        if self.agent_key:
            return ("agent", self.agent_key, self.instance_id or "")
        return ("label", sender_form(self.actor_label or ""))

    def means(self, listener: Listener) -> bool:
        """Whether `listener` is the owner, by the surest thing that the lease says."""
        if self.session_id:
            return self.session_id == listener.session_id
        if self.agent_key:
            same_instance = not self.instance_id or self.instance_id == listener.instance_id
            return same_instance and self.agent_key == listener.agent_key
        return self.owner == ("label", sender_form(listener.actor_label))

    def resembles(self, listener: Listener) -> bool:
        """Whether something that the lease says also fits `listener`."""
        theirs = forms(
            listener.actor_label,
            listener.display_name,
            listener.agent_key,
            str(listener.session_id),
            listener.instance_id,
        )
        return not theirs.isdisjoint(self._aliases)

    def wrote(self, sender: str, agent_key: str | None) -> bool:
        """Whether the owner is who wrote under that label, and that key if it is known."""
        if agent_key and self.agent_key:
            return agent_key == self.agent_key
        return sender_form(sender) in self._aliases

    @property
    def _aliases(self) -> frozenset[str]:
        label = self.actor_label or ""
        session = str(self.session_id) if self.session_id else None
        return forms(label, *label.split("|"), self.agent_key, self.instance_id, session)


def is_follow_up(text: str) -> bool:
    """Whether `text` asks to go on with something."""
    said = trim(text).lower()
    if _AT_THE_START.match(said) is not None:
        return True
    return any(map(said.__contains__, _IN_ORDERS)) and _ANYWHERE.search(said) is not None


def sole_owner(holders: Iterable[Holder]) -> Holder | None:
    """Return who owns all the active work, or None if nobody or more than one does."""
    owners = {holder.owner: holder for holder in holders}
    return next(iter(owners.values())) if len(owners) == 1 else None
