"""Patterns of paths in a repository: what they match, and whether two of them can match one path.

K80  A pattern is relative to the repository's root, with `/` between names; `*`, `?` and `[...]`
     stand within one name, and `**` as a whole name for any number of names.
K81  A pattern matches a path, and all that lies below a path that it matches; case counts.
K82  What cannot be a path in a repository is no pattern: an absolute one, `..`, a backslash, an
     empty name, a control character; nor is what is longer than 512 characters, or all that is.
K83  Two patterns overlap exactly when there is a path that both match.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import attrs

from letagents.domain.errors import Malformed
from letagents.domain.ids import quoted

LONGEST = 512
"""Characters of a pattern."""

_LAST = 0x10FFFF
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_GLOB = re.compile(r"[*?\[]")

Chars = tuple[tuple[int, int], ...]
"""Some characters: their ranges, in order, without overlap."""

_SLASH: Chars = ((0x2F, 0x2F),)
_NAME: Chars = ((0, 0x2E), (0x30, _LAST))
"""Any character of a name."""


def _complement(chars: Chars) -> Chars:
    found, start = [], 0
    for low, high in chars:
        if start < low:
            found.append((start, low - 1))
        start = high + 1
    return (*found, (start, _LAST)) if start <= _LAST else tuple(found)


def _joined(ranges: list[tuple[int, int]]) -> Chars:
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return tuple(found)


def _meet(one: Chars, other: Chars) -> bool:
    return any(low <= top and bottom <= high for low, high in one for bottom, top in other)


@attrs.frozen
class _Steps:
    """A pattern as an automaton: from each state, without a character and with one of some."""

    free: tuple[tuple[int, ...], ...]
    taken: tuple[tuple[tuple[Chars, int], ...], ...]
    ends: frozenset[int]

    def closed(self, states: frozenset[int]) -> frozenset[int]:
        """Return `states` and all that are reached from them without a character."""
        found, left = set(states), list(states)
        while left:
            for to in self.free[left.pop()]:
                if to not in found:
                    found.add(to)
                    left.append(to)
        return frozenset(found)


@attrs.define
class _Drawn:
    """An automaton while it is drawn."""

    free: list[list[int]] = attrs.field(factory=lambda: [[]])
    taken: list[list[tuple[Chars, int]]] = attrs.field(factory=lambda: [[]])

    @property
    def last(self) -> int:
        return len(self.free) - 1

    def state(self) -> int:
        self.free.append([])
        self.taken.append([])
        return self.last

    def one(self, chars: Chars) -> None:
        at = self.last
        self.taken[at].append((chars, self.state()))

    def many(self, chars: Chars) -> None:
        at = self.last
        self.taken[at].append((chars, at))
        self.free[at].append(self.state())

    def names(self) -> None:
        """Any number of names, each with the slash behind it."""
        at, within = self.last, self.state()
        self.taken[at].append((_NAME, within))
        self.taken[within] += [(_NAME, within), (_SLASH, at)]
        self.free[at].append(self.state())

    def done(self) -> _Steps:
        """Return it with all that lies below what was drawn."""
        end, begun, below = self.last, self.state(), self.state()
        self.taken[end].append((_SLASH, begun))
        self.taken[begun].append((_NAME, below))
        self.taken[below] += [(_NAME, below), (_SLASH, begun)]
        taken = tuple(map(tuple, self.taken))
        return _Steps(tuple(map(tuple, self.free)), taken, frozenset((end, below)))


@attrs.frozen
class Pattern:
    """A pattern, well formed."""

    text: str

    @classmethod
    def parse(cls, text: str, field: str = "patterns") -> "Pattern":
        """Return the pattern that `text` spells; `./` before it and `/` behind it mean nothing.

        Raises:
            Malformed: no path can match it, or it is not one that we know.
        """
        plain = unicodedata.normalize("NFC", text).removeprefix("./")
        if not plain.startswith("//"):
            plain = plain.rstrip("/") or plain
        if (why := _wrong(plain)) is not None:
            raise Malformed(
                f"{field}: {quoted(text)} is no pattern: {why}.",
                remedy="Pass paths relative to the repository's root, such as src/app.py, src/api/ "
                "or src/**/*.py.",
            )
        pattern = cls(plain)
        _steps(pattern.text)
        return pattern

    @property
    def literal(self) -> str:
        """What every path begins with that it matches; all of it, if it has no wildcard."""
        return _literal(self.text)

    @property
    def is_literal(self) -> bool:
        """Whether it is a path itself."""
        return len(_literal(self.text)) == len(self.text)

    def matches(self, path: str) -> bool:
        """Whether it matches `path`, or something above it."""
        path = unicodedata.normalize("NFC", path)
        if not path.startswith(self.literal):
            return False
        if self.is_literal:
            return path[len(self.text) : len(self.text) + 1] in ("", "/")
        steps = _steps(self.text)
        states = steps.closed(frozenset((0,)))
        for character in path:
            states = _after(self.text, states, character)
            if not states:
                return False
        return not states.isdisjoint(steps.ends)

    def overlaps(self, other: "Pattern") -> bool:
        """Whether there is a path that both match."""
        shorter, longer = _literal(self.text), _literal(other.text)
        if len(shorter) > len(longer):
            shorter, longer = longer, shorter
        if not longer.startswith(shorter):
            return False
        if self.is_literal and other.is_literal:
            return longer[len(shorter) : len(shorter) + 1] in ("", "/")
        return _overlap(*sorted((self.text, other.text)))


@lru_cache(maxsize=65536)
def _literal(text: str) -> str:
    found = _GLOB.search(text)
    return text[: found.start()] if found else text


def _wrong(text: str) -> str | None:
    if not text:
        return "it is empty"
    if len(text) > LONGEST:
        return f"its {len(text)} characters are more than {LONGEST}"
    if text.startswith("/") or re.match(r"[A-Za-z]:[/\\]", text):
        return "it is absolute"
    if "\\" in text or _CONTROL.search(text):
        return "it holds a backslash or a control character"
    for name in text.split("/"):
        if name in ("", ".", ".."):
            return f"{name or 'nothing'} is no name"
        if "**" in name and name != "**":
            return "** stands only as a whole name"
    return None


@lru_cache(maxsize=4096)
def _steps(text: str) -> _Steps:
    """Return the automaton of a pattern.

    Raises:
        Malformed: a set of characters is not closed, or holds none.
    """
    drawn, names = _Drawn(), text.split("/")
    for at, name in enumerate(names):
        is_last = at == len(names) - 1
        if name == "**":
            drawn.names()
            if is_last:
                drawn.one(_NAME)
                drawn.many(_NAME)
            continue
        for chars, is_many in _parts(name):
            (drawn.many if is_many else drawn.one)(chars)
        if not is_last:
            drawn.one(_SLASH)
    return drawn.done()


def _parts(name: str) -> Iterator[tuple[Chars, bool]]:
    at = 0
    while at < len(name):
        character = name[at]
        if character == "[":
            end = name.find("]", at + 2 + (name[at + 1 : at + 2] in ("!", "^")))
            if end < 0:
                raise Malformed(
                    f"patterns: {quoted(name)} opens a set with [ and does not close it.",
                    remedy="Close it with ], or write [[] for the character itself.",
                )
            yield _set(name[at + 1 : end]), False
            at = end + 1
            continue
        if character in "*?":
            yield _NAME, character == "*"
        else:
            yield ((ord(character), ord(character)),), False
        at += 1


def _set(inside: str) -> Chars:
    negated = inside[0] in "!^"
    body, ranges, at = inside[negated:], [], 0
    while at < len(body):
        high = at + 2 if body[at + 1 : at + 2] == "-" and at + 2 < len(body) else at
        ranges.append((ord(body[at]), ord(body[high])))
        at = high + 1
    slash = ord("/")
    chars = _joined([one for one in ranges if one[0] <= one[1]])
    chosen = _complement(chars) if negated else chars
    found = _complement(_joined([*_complement(chosen), (slash, slash)]))
    if not found:
        raise Malformed(
            f"patterns: [{inside}] holds no character.",
            remedy="Put the characters into it, such as [abc] or [a-z].",
        )
    return found


@lru_cache(maxsize=65536)
def _after(text: str, states: frozenset[int], character: str) -> frozenset[int]:
    steps, code = _steps(text), ord(character)
    reached = frozenset(
        to
        for state in states
        for chars, to in steps.taken[state]
        if any(low <= code <= high for low, high in chars)
    )
    return steps.closed(reached)


@lru_cache(maxsize=65536)
def _overlap(one: str, other: str) -> bool:
    """Search both automata at once for a path that is well formed and that both accept.

    The third part of a state says whether a name has begun since the last slash: a path neither
    begins nor ends with a slash, and has no two in a row.
    """
    left, right = _steps(one), _steps(other)
    begin = [
        (a, b, False) for a in left.closed(frozenset((0,))) for b in right.closed(frozenset((0,)))
    ]
    seen, todo = set(begin), begin
    while todo:
        a, b, in_name = todo.pop()
        if in_name and a in left.ends and b in right.ends:
            return True
        for found in _steps_of_both(left, right, a, b, in_name):
            if found not in seen:
                seen.add(found)
                todo.append(found)
    return False


def _steps_of_both(
    left: _Steps, right: _Steps, a: int, b: int, in_name: bool
) -> Iterator[tuple[int, int, bool]]:
    for to in left.free[a]:
        yield to, b, in_name
    for to in right.free[b]:
        yield a, to, in_name
    for chars, to_a in left.taken[a]:
        for others, to_b in right.taken[b]:
            if not _meet(chars, others):
                continue
            is_slash = chars == _SLASH or others == _SLASH
            if is_slash and in_name:
                yield to_a, to_b, False
            elif not is_slash:
                yield to_a, to_b, True
