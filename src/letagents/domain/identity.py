"""Who speaks: the owner, and what a chat without a handle is called. (Source: mcp-tools 7.1.)

O1  An owner is named by what was set, else the account, else git, else the system's user.
O2  A chat is named by what was set, else a codename that its storage key decides.
O3  A key that belongs to one process is never another process's.
O4  What was set or found is shown as one line without bars, short enough for a sender's label.
"""

import re

import attrs

from letagents.domain import codenames, names
from letagents.domain.hints import Hints
from letagents.domain.sessions import Session

LABEL_LIMIT = 64
"""So many characters of an owner's, a program's or a chat's name are shown. Three of them and what
is between them stay within the bounds of a sender. (Source: state-and-rules 8.2.)"""

_NOT_IN_LABELS = re.compile(r"[\x00-\x1f\x7f-\x9f|\ud800-\udfff]")


def one_line(text: str | None) -> str:
    """Return what of `text` can be a part of a label; empty if nothing can (O4)."""
    plain = names.collapse(names.visible(_NOT_IN_LABELS.sub(" ", text or "")))
    return names.trim(plain[:LABEL_LIMIT])


@attrs.frozen
class Owner:
    """The person on whose behalf workers act. `login` is None without an account."""

    label: str
    login: str | None = None

    @property
    def slug(self) -> str:
        """The owner's part of an agent key."""
        return names.slug(self.login or self.label, "owner")

    @property
    def account(self) -> str:
        """The owner's part of a scope."""
        return self.login.lower() if self.login else f"local:{self.slug}"


@attrs.frozen
class Identity:
    """Who speaks, as results show it."""

    name: str
    display_name: str
    owner_label: str
    ide_label: str
    actor_label: str
    canonical_key: str | None
    runtime_key: str | None
    source: str = "local"

    @property
    def owner_attribution(self) -> str:
        """Whose agent it is, in words."""
        return names.owner_attribution(self.owner_label)


def owner_label(*candidates: str | None) -> str:
    """Return the first of the names for an owner that says anything (O1)."""
    return next(filter(None, map(one_line, candidates)), "Owner")


def of_process(hints: Hints, owner: Owner, *, instance: str, client: str | None) -> Identity:
    """Return who a chat is that never registered; `instance` is its process's own id."""
    key = hints.storage_key or f"instance:{instance}"
    code, set_name = codenames.codename(key), one_line(hints.name)
    name = names.base_name(set_name) if set_name else code.name
    ide = ide_label(hints, client, set_name)
    display_name = one_line(hints.display_name) or set_name or code.display_name
    if names.is_servers(display_name):
        display_name = code.display_name
    return Identity(
        name=name,
        display_name=display_name,
        owner_label=owner.label,
        ide_label=ide,
        actor_label=names.actor_label(display_name, owner.label, ide),
        canonical_key=f"{owner.slug}/{name}",
        runtime_key=key,
    )


def ide_label(hints: Hints, client: str | None, name: str = "") -> str:
    """Return what the chat's program is called: set, or told by its client, or guessed."""
    if was_set := one_line(hints.ide):
        return names.ide_label(was_set) or "Agent"
    if hints.in_codex:
        return "Codex"
    return names.ide_of_client(client) or names.infer_ide(name) or "Agent"


def runtime(hints: Hints, client: str | None) -> str:
    """Return the program's key, such as `claude-code`; `unknown` if nothing tells."""
    label = ide_label(hints, client)
    return "unknown" if label == "Agent" else names.slug(label, "unknown")


def of_session(session: Session) -> Identity:
    """Return who a session is. (Source: mcp-tools 7.1, inside a worker call.)"""
    return Identity(
        name=names.base_name(session.display_name),
        display_name=session.display_name,
        owner_label=session.owner_label,
        ide_label=session.ide_label,
        actor_label=session.actor_label,
        canonical_key=session.agent_key,
        runtime_key=f"agent_session:{session.session_id}",
        source="api",
    )
