"""Names of things, each a value that is well formed by existing.

I1  A name of the wrong form is refused where it enters, and the error names what was expected.
I2  A secret never prints itself, not even inside an error about its form.
"""

import re
from typing import ClassVar, Self

import attrs

from letagents.domain.errors import Malformed

SHOWN = 80
"""So many characters of a wrong value are quoted in an error."""

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def quoted(value: object) -> str:
    """Return `value` as a short, printable quotation for an error's text."""
    if not isinstance(value, str):
        return _cut(ascii(value))
    beginning = value[: SHOWN + 1]  # of a text of many MB no more than this is looked at
    shown = ascii(beginning) if _UNPRINTABLE.search(beginning) else repr(beginning)
    return _cut(shown, hidden=len(value) - len(beginning))


def _cut(text: str, hidden: int = 0) -> str:
    if len(text) <= SHOWN and not hidden:
        return text
    return f"{text[:SHOWN]}… ({len(text) + hidden} characters)"


@attrs.frozen
class _Name:
    value: str = attrs.field()
    shape: ClassVar[re.Pattern[str]]
    called: ClassVar[str]
    expected: ClassVar[str]
    is_secret: ClassVar[bool] = False

    @value.validator
    def _check(self, _field: object, value: object) -> None:
        if not isinstance(value, str) or not self.shape.fullmatch(value):
            shown = "What was passed" if self.is_secret else quoted(value)
            raise Malformed(f"{shown} is not {self.called}.", remedy=f"Pass {self.expected}.")

    def __str__(self) -> str:
        return self.value

    @classmethod
    def fits(cls, value: object) -> bool:
        """Whether `value` has the form of this kind of name."""
        return isinstance(value, str) and cls.shape.fullmatch(value) is not None


@attrs.frozen(str=False)
class WorkerId(_Name):
    """A chat's lasting handle. It names a worker; it proves nothing."""

    shape = re.compile(r"worker_[0-9a-f]{32}")
    called = "a worker_id"
    expected = "the worker_id that register_agent_session returned"


@attrs.frozen(str=False)
class RoomId(_Name):
    """A room's canonical name: an invite code, a repository, or any text of 1 to 200 characters."""

    shape = re.compile(r"(?!\s)[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,200}(?<!\s)")
    called = "the id of a room"
    expected = "a room's id: 1 to 200 characters, no control characters, no blanks at its ends"


@attrs.frozen(str=False)
class SessionId(_Name):
    """A worker's place in one room."""

    shape = re.compile(r"[A-Za-z0-9_.:-]{1,240}")
    called = "the id of a session"
    expected = "the agent_session_id that register_agent_session returned"


@attrs.frozen(str=False)
class ClientKey(_Name):
    """An idempotency key for one message: the same key again answers with the same message."""

    shape = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,200}")
    called = "a client_message_id"
    expected = "a client_message_id of 1 to 200 characters"


@attrs.frozen(repr=False, str=False)
class Secret(_Name):
    """A name that nobody else may know. It never prints itself."""

    is_secret: ClassVar[bool] = True

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"

    def __str__(self) -> str:
        return repr(self)


@attrs.frozen(repr=False, str=False)
class Token(Secret):
    """A connection's secret. It never prints itself."""

    shape = re.compile(r"[A-Za-z0-9_-]{43}|local_[0-9a-f-]{36}")
    called = "a connection token"
    expected = "a connection token"


@attrs.frozen(repr=False, str=False)
class Credential(Secret):
    """What alone shows a session to its server. It never prints itself."""

    shape = re.compile(r"(?=.*\S)[^\x00-\x1f\x7f\ud800-\udfff]{1,4096}")
    called = "a credential"
    expected = "a credential"


@attrs.frozen(repr=False, str=False)
class RegistrationKey(Secret):
    """The random key with which a chat finds its worker again. Whoever knows it is that chat."""

    shape = re.compile(r"(?=.*\S)[^\x00\ud800-\udfff]{1,200}", re.DOTALL)
    called = "a registration_key"
    expected = "a random registration_key of 1 to 200 characters, made once for this chat"


@attrs.frozen(order=True)
class MessageId:
    """A message's number in its room; `msg_7` on the wire."""

    number: int

    LARGEST: ClassVar[int] = 2_147_483_647
    _shape: ClassVar[re.Pattern[str]] = re.compile(r"msg_([1-9][0-9]{0,9})")

    @classmethod
    def parse(cls, value: object, field: str = "message id") -> Self:
        """Return the id that `value` spells.

        Raises:
            Malformed: `value` is not `msg_` and a number from 1 to 2147483647.
        """
        match = cls._shape.fullmatch(value) if isinstance(value, str) else None
        if match is None or int(match[1]) > cls.LARGEST:
            raise Malformed(
                f"{field}: {quoted(value)} is not a message id.",
                remedy="Pass an id as read_messages shows it, such as msg_3.",
            )
        return cls(int(match[1]))

    def __str__(self) -> str:
        return f"msg_{self.number}"
