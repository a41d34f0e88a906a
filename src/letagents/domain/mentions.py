"""What a text mentions, and whether it calls everybody.

A20  A mention is @ and a name, at the start or after a blank or an opening sign; no e-mail is one.
A21  A full stop or colon that ends a sentence after a mention is no part of the name.
A22  Names of packages and of style rules do not look like an agent's.
A23  `@everyone`, `@agents` and `@room` call everybody, and so do a few phrases, as whole words.
A24  A mention that begins with `agent:` is of one agent by its key, and never of everybody.
A25  The first 1,000 different mentions of a text count, so that no text takes long to read.
"""

import re

import attrs

from letagents.domain.names import WHITESPACE

# The sign comes first, so that a text is skimmed for it and looked back from there.
_MENTION = re.compile(
    rf"@(?<![^{WHITESPACE}(\[{{:;,]@)"
    r"([A-Za-z0-9][A-Za-z0-9_.:-]*+(?:/[A-Za-z0-9][A-Za-z0-9_.-]*+)*+)"
)
_BLANK = f"[{WHITESPACE}]++"
_CALLS = re.compile(
    r"\b(?:everyone|all agents|you guys|both of you|any agent|whoever owns this)\b".replace(
        " ", _BLANK
    ),
    re.ASCII,
)
_IN_CALLS = ("everyone", "agent", "guys", "both", "whoever")
"""One of these is in each phrase that calls everybody."""
MENTIONS_LIMIT = 1000
_EVERYBODY = frozenset({"agents", "everyone", "room"})
_BY_KEY = "agent:"
_ENDS_OF_SENTENCES = ".:"
_NO_AGENTS = re.compile(
    r"charset|container|counter-style|font-face|font-feature-values|font-palette-values|import"
    r"|keyframes|layer|media|namespace|page|package|property|scope|starting-style|supports|types"
    r"|viewport"
)


@attrs.frozen
class Mention:
    """A name after an @, as it was written."""

    written: str

    @property
    def by_key(self) -> bool:
        """Whether it names an agent's key, and not just what an agent is called."""
        return self.written.lower().startswith(_BY_KEY)

    @property
    def handles(self) -> tuple[str, ...]:
        """What may be meant, in handle form, the most literal first."""
        literal = self.written.lower().removeprefix(_BY_KEY)
        bare = literal.rstrip(_ENDS_OF_SENTENCES)
        return (literal,) if literal == bare else (literal, bare)

    @property
    def is_broadcast(self) -> bool:
        """Whether it calls everybody."""
        return not self.by_key and not _EVERYBODY.isdisjoint(self.handles)

    @property
    def looks_like_agent(self) -> bool:
        """Whether it seems to mean an agent, known or not."""
        if self.by_key:
            return True
        if "/" in self.written and self.written == self.written.lower():
            return False
        first = self.handles[-1].partition("/")[0].replace("_", "-")
        return _NO_AGENTS.fullmatch(first) is None


@attrs.frozen
class Wording:
    """What a text says about whom it is for."""

    mentions: tuple[Mention, ...]
    calls_everybody: bool
    """In words; a handle that calls everybody is among the mentions."""


def may_address(text: str) -> bool:
    """Whether `text` might mention or call anybody: this is soon told of texts that do not."""
    if "@" in text:
        return True
    said = text.lower()
    return any(map(said.__contains__, _IN_CALLS)) and _CALLS.search(said) is not None


def read(text: str) -> Wording:
    """Return what `text` mentions, each once, and whether it calls everybody in words."""
    written = tuple(dict.fromkeys(_MENTION.findall(text)))[:MENTIONS_LIMIT]
    return Wording(tuple(map(Mention, written)), _CALLS.search(text.lower()) is not None)
