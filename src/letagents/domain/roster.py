"""Who is in a room, and whom a label or a mention means there.

A10  A label or a mention means the one agent that it fits; if it fits several, it means nobody.
A11  Among several called alike, the only one that can be reached is meant, if all have one owner.
A12  `@agent:<key>` means the agent with that key, whatever others are called.
A13  A label that fits as a whole is believed before its parts.
A14  An agent is called by label, name, key and the end of its key; ASCII case does not count.
A15  The oldest session of an agent stands for it.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Self

import attrs

from letagents.domain.ids import SessionId
from letagents.domain.mentions import Mention, Wording
from letagents.domain.names import handle_form, sender_form
from letagents.domain.sessions import SessionKind

PARTS_LIMIT = 16
"""So many parts of a label are looked at."""


def forms(*texts: str | None) -> frozenset[str]:
    """Return every form in which one of `texts` may be compared."""
    given = [text for text in texts if text]
    both = {sender_form(text) for text in given} | {handle_form(text) for text in given}
    return frozenset(both - {""})


@attrs.frozen
class Listener:
    """A session in a room, as far as it matters for whom a message is."""

    agent_key: str
    session_id: SessionId
    actor_label: str
    display_name: str
    kind: SessionKind = SessionKind.WORKER
    instance_id: str | None = None
    aliases: frozenset[str] = attrs.field(init=False, repr=False, eq=False)
    """What it may be called, in both forms. (Source: state-and-rules 8.4.)"""

    @aliases.default
    def _called(self) -> frozenset[str]:
        key = self.agent_key
        plain, end = key.removeprefix("agent:"), key.rpartition("/")[2]
        return forms(self.actor_label, self.display_name, key, plain, end)

    @property
    def is_worker(self) -> bool:
        """Whether it is told whom a message is for."""
        return self.kind is SessionKind.WORKER

    def is_called(self, label: str) -> bool:
        """Whether `label`, or a part of it, is what this one is called."""
        whole, parts = label_rows(label)
        return whole in self.aliases or not self.aliases.isdisjoint(parts)


def label_rows(label: str) -> tuple[str, tuple[str, ...]]:
    """Return a sender's whole label and its parts, in sender form. (Source: 8.5.)"""
    whole = sender_form(label)
    parts = dict.fromkeys(sender_form(part) for part in label.split("|", PARTS_LIMIT)[:PARTS_LIMIT])
    return whole, tuple(part for part in parts if part and part != whole)


_NOBODY: frozenset[str] = frozenset()


@attrs.frozen
class Roster:
    """The live workers of a room, ready to be asked; build it once for many messages."""

    _sessions: Mapping[SessionId, Listener]
    _oldest: Mapping[str, SessionId]
    _called: Mapping[str, frozenset[str]]
    _keyed: Mapping[str, frozenset[str]]
    _reachable: frozenset[str]
    _owners: Mapping[str, str]

    @classmethod
    def of(
        cls,
        sessions: Iterable[Listener],
        *,
        reachable: Collection[str] = (),
        owners: Mapping[str, str] | None = None,
    ) -> Self:
        """Return the roster of `sessions`, which come oldest first; only workers count.

        `reachable` are the agent keys known to be there, `owners` who each key belongs to.
        """
        workers = {one.session_id: one for one in sessions if one.is_worker}
        oldest: dict[str, SessionId] = {}
        called: dict[str, set[str]] = {}
        for one in workers.values():
            oldest.setdefault(one.agent_key, one.session_id)
            for alias in one.aliases:
                called.setdefault(alias, set()).add(one.agent_key)
        keyed: dict[str, set[str]] = {}
        for key in oldest:
            keyed.setdefault(handle_form(key).removeprefix("agent:"), set()).add(key)
        return cls(
            workers, oldest, _settled(called), _settled(keyed), frozenset(reachable), owners or {}
        )

    def including(self, listener: Listener) -> Self:
        """Return the roster with `listener` in it, as the youngest if it was not there."""
        if listener.session_id in self._sessions or not listener.is_worker:
            return self
        everybody = (*self._sessions.values(), listener)
        return self.of(everybody, reachable=self._reachable, owners=self._owners)

    @property
    def agent_keys(self) -> Collection[str]:
        """The agents of the room, each once."""
        return self._oldest.keys()

    @property
    def listeners(self) -> Collection[Listener]:
        """The sessions of the room, the oldest first."""
        return self._sessions.values()

    def standing_for(self, agent_key: str) -> Listener:
        """Return the oldest session of an agent that is there."""
        return self._sessions[self._oldest[agent_key]]

    def stands_for_its_agent(self, listener: Listener) -> bool:
        """Whether `listener` is the oldest session of its agent."""
        return self._oldest.get(listener.agent_key) == listener.session_id

    def has(self, session_id: SessionId | None, agent_key: str) -> bool:
        """Whether that session is there and is one of that agent."""
        session = self._sessions.get(session_id) if session_id else None
        return session is not None and session.agent_key == agent_key

    def speaker(self, label: str) -> str | None:
        """Return the key of the agent that speaks under `label`, or None if that is not clear."""
        whole, parts = label_rows(label)
        fitting = self._called.get(whole) or _NOBODY.union(
            *(self._called.get(part, _NOBODY) for part in parts)
        )
        return _only(fitting)

    def mentioned(self, wording: Wording) -> frozenset[str]:
        """Return the keys of the agents that a text mentions."""
        meant = {self._meant(mention) for mention in wording.mentions}
        return frozenset(key for key in meant if key is not None)

    def mentioned_by_key(self, wording: Wording) -> frozenset[str]:
        """Return the keys of the agents that a text mentions as `@agent:<key>`."""
        keyed = (
            self._keyed.get(handle, _NOBODY)
            for mention in wording.mentions
            if mention.by_key
            for handle in mention.handles
        )
        return _NOBODY.union(*keyed)

    def tied(self, mention: Mention) -> frozenset[str]:
        """Return the keys of the agents that a mention fits alike, where it means none of them."""
        fitting = self._fitting(mention)
        return fitting if len(fitting) > 1 and self._only_reachable(fitting) is None else _NOBODY

    def _meant(self, mention: Mention) -> str | None:
        fitting = self._fitting(mention)
        return _only(fitting) or self._only_reachable(fitting)

    def _fitting(self, mention: Mention) -> frozenset[str]:
        for handle in mention.handles:
            fitting = (mention.by_key and self._keyed.get(handle)) or self._called.get(handle)
            if fitting:
                return fitting
        return _NOBODY

    def _only_reachable(self, tied: frozenset[str]) -> str | None:
        owners = {self._owners.get(key) for key in tied}
        return _only(tied & self._reachable) if len(owners) == 1 and None not in owners else None


def _settled(index: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {word: frozenset(keys) for word, keys in index.items()}


def _only(keys: frozenset[str]) -> str | None:
    return next(iter(keys)) if len(keys) == 1 else None
