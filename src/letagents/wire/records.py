"""The form of the state file, which other programs read and write too.

A state is read from plain data and written back over the same data: what did not change keeps its
place and its spelling, what no rule interprets is passed on, and what was left out stays left out.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NoReturn

import attrs
import orjson

from letagents.domain.errors import Malformed, StateDamaged
from letagents.domain.ids import Token, WorkerId, quoted
from letagents.domain.local_state import (
    LONG_AGO,
    ForeignToken,
    LocalState,
    Pending,
    RoomSession,
    StoredSession,
    Worker,
    WorkerRoom,
)
from letagents.wire import moments

Plain = dict[str, Any]

_BOM = b"\xef\xbb\xbf"
_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@attrs.frozen
class Record:
    """A state as it was read from `place`, with the plain data over which the next is written."""

    place: str
    state: LocalState = attrs.field(factory=LocalState)
    plain: Plain = attrs.field(factory=dict, repr=False)

    def rewritten(self, state: LocalState) -> bytes:
        """Return the place's next content, in which `state` has taken this one's place.

        Raises:
            StateDamaged: what was read cannot be written again.
        """
        return self.followed_by(state)[1]

    def followed_by(self, state: LocalState) -> "tuple[Record, bytes]":
        """Return the record in which `state` has taken this one's place, and its content.

        Raises: as `rewritten`.
        """
        try:
            plain = _STATE.dump(state, self.state, self.plain)
            return Record(self.place, state, plain), _text(plain)
        except RecursionError:
            raise damaged(self.place, "it is nested too deeply") from None


def load(data: bytes, *, place: str) -> Record:
    """Return what `data` records; `place` is where it was found.

    Raises:
        StateDamaged: `data` is not JSON, or a part of it is not what that part has to be.
    """
    try:
        plain = _parsed(data)
        return Record(place, _STATE.load(plain), plain)
    except _Wrong as wrong:
        raise damaged(place, str(wrong)) from None


def damaged(place: str, why: str) -> StateDamaged:
    """Return the error for a place whose content is no state; `why` quotes none of its values."""
    return StateDamaged(
        f"The state in {place} is damaged: {why}. It was left exactly as it is.",
        remedy="Run `letagents doctor` to see it checked; repair the file or bring back a copy of "
        "it, then call again. Moving it away also works, but then every handle in it is lost.",
    )


# --- text ---------------------------------------------------------------------------------------


class _Wrong(ValueError):
    """A part is not what it has to be. The way to it is put together while this passes outwards."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
        self.way: list[str] = []

    def __str__(self) -> str:
        if not self.way:
            return self.why
        steps = "".join(f".{key}" if _SIMPLE.fullmatch(key) else f"[{quoted(key)}]"
                        for key in reversed(self.way))  # fmt: skip
        return f"{steps.removeprefix('.')} has to be {self.why}"


def _parsed(data: bytes) -> Plain:
    if data.startswith(_BOM):
        raise _Wrong("it begins with a byte order mark")
    try:
        plain = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_no_number,
            parse_float=_finite,
        )
    except UnicodeDecodeError as error:
        raise _Wrong(f"it is not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise _Wrong(f"it is not JSON at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise _Wrong("it is nested too deeply") from None
    except ValueError as error:
        raise (
            error if isinstance(error, _Wrong) else _Wrong("a number in it is too large")
        ) from None
    if not isinstance(plain, dict):
        raise _Wrong("it holds no JSON object")
    return plain


def _unique(pairs: list[tuple[str, Any]]) -> Plain:
    made = dict(pairs)
    if len(made) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _Wrong(f"the key {quoted(twice)} is there twice in one object")
    return made


def _no_number(name: str) -> NoReturn:
    raise _Wrong(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in {float("inf"), float("-inf")}:
        raise _Wrong("a number in it is too large")
    return number


def _text(plain: Plain) -> bytes:
    try:
        return orjson.dumps(plain, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:  # large numbers, lone surrogates: slower, and nothing is lost
        text = json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False)
        return f"{_SURROGATE.sub(_escaped, text)}\n".encode()


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


# --- forms --------------------------------------------------------------------------------------


@attrs.frozen
class _Field:
    """A key of a record: how its value is read, and how one is written over what was there.

    `omitted` keys are left out when there is nothing to say; others say null.
    """

    load: Callable[[Any], Any]
    dump: Callable[[Any, Any, Any], Any] = lambda value, _before, _was: value
    name: str = ""
    omitted: bool = False
    required: bool = False


@attrs.frozen
class _Form:
    """A kind of record."""

    make: Callable[..., Any]
    fields: Mapping[str, _Field]
    required: tuple[str, ...] = attrs.field(init=False)

    @required.default
    def _those_required(self) -> tuple[str, ...]:
        return tuple(key for key, field in self.fields.items() if field.required)

    def load(self, plain: object) -> Any:
        fields = self.fields
        values: dict[str, Any] = {}
        extra: Plain = {}
        for key, value in _object(plain).items():
            field = fields.get(key)
            if field is None:
                extra[key] = value
                continue
            try:
                values[field.name or key] = field.load(value)
            except _Wrong as wrong:
                wrong.way.append(key)
                raise
        for key in self.required:
            if key not in values:
                missing = _Wrong("there")
                missing.way.append(key)
                raise missing
        return self.make(**values, extra=extra)

    def dump(self, value: Any, before: Any, was: Plain) -> Plain:
        """Return `value` as plain data, written over `was`, which was read as `before`."""
        if value is before:
            return was
        plain = {key: was[key] for key in was if key in self.fields or key in value.extra}
        for key, field in self.fields.items():
            name = field.name or key
            part = getattr(value, name)
            part_before = None if before is None else getattr(before, name)
            if before is not None and part == part_before:
                continue
            part = field.dump(part, part_before, was.get(key))
            if part is None and field.omitted:
                plain.pop(key, None)
            else:
                plain[key] = part
        plain.update(value.extra)
        return plain


def _object(value: object) -> Plain:
    if not isinstance(value, dict):
        raise _Wrong("an object")
    return value


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise _Wrong("a text")
    return value


def _string_or_none(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise _Wrong("a text or null")
    return value


def _secret(value: object) -> Token:
    text = _string(value)
    if Token.fits(text):
        return Token(text)
    try:
        return ForeignToken(text)
    except Malformed:
        raise _Wrong("a text without lone surrogates") from None


def _secret_or_none(value: object) -> Token | None:
    return None if value is None else _secret(value)


def _moment(value: object) -> datetime:
    return moments.from_text(_string(value)) or LONG_AGO


def _moment_or_none(value: object) -> datetime | None:
    return _moment(value) if _string_or_none(value) else None


def _worker_id(value: object) -> WorkerId:
    if not WorkerId.fits(value):
        raise _Wrong("a worker's id")
    return WorkerId(_string(value))


def _as_text(value: Any, _before: Any, _was: Any) -> str | None:
    return None if value is None else str(value)


def _as_moment(value: datetime | None, _before: Any, _was: Any) -> str | None:
    return None if value is None else moments.to_text(value)


def _as_secret(value: Token | None, _before: Any, _was: Any) -> str | None:
    return None if value is None else value.value


def _one(form: _Form) -> _Field:
    """Return the field for one record, or none."""
    return _Field(
        load=lambda plain: None if plain is None else form.load(plain),
        dump=lambda value, before, was: (
            None if value is None else form.dump(value, before, was or {})
        ),
        omitted=True,
    )


def _by_id(
    name: str, load: Callable[[Any], Any], dump: Callable[[Any, Any, Any], Any],
    key_of: Callable[[str], Any] = str,
) -> _Field:  # fmt: skip
    """Return the field for parts that are filed under their ids."""

    def load_all(plain: object) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key, value in ({} if plain is None else _object(plain)).items():
            try:
                filed_under = key_of(key)
                found[filed_under] = load(value)
            except _Wrong as wrong:
                wrong.way.append(key)
                raise
        return found

    def dump_all(value: Mapping[Any, Any], before: Mapping[Any, Any] | None, was: Any) -> Plain:
        return {
            str(key): dump(part, (before or {}).get(key), (was or {}).get(str(key), {}))
            for key, part in value.items()
        }

    return _Field(load_all, dump_all, name)


_TEXT = _Field(_string)
_ID = _Field(_string, required=True)
_TEXT_OR_NULL = _Field(_string_or_none)
_TEXT_OR_LEFT_OUT = _Field(_string_or_none, omitted=True)
_ANYTHING = _Field(lambda value: value)
_MOMENT = _Field(_moment, _as_moment)
_END = _Field(_moment_or_none, _as_moment)

_PENDING = _Form(
    Pending,
    {
        "operation_id": _ID,
        "connection_token": _Field(_secret, _as_secret, required=True),
        "predecessor_id": _TEXT_OR_LEFT_OUT,
        "predecessor_token": _Field(_secret_or_none, _as_secret, omitted=True),
    },
)
_WORKER_ROOM = _Form(WorkerRoom, {"session_id": _TEXT_OR_LEFT_OUT, "pending": _one(_PENDING)})
_WORKER = _Form(
    Worker,
    {
        "worker_id": _Field(_worker_id, _as_text, required=True),
        "scope": _ID,
        "registration_key_hash": _ID,
        "display_name": _ID,
        "rooms": _by_id("rooms", _WORKER_ROOM.load, _WORKER_ROOM.dump),
    },
)
_ROOM = _Form(
    RoomSession,
    {
        "room_id": _ID,
        "project_id": _TEXT_OR_NULL,
        "code": _TEXT_OR_NULL,
        "display_name": _TEXT_OR_NULL,
        "git_room": _ANYTHING,
        "joined_via": _TEXT,
        "joined_at": _MOMENT,
        "last_seen_at": _MOMENT,
        "last_message_id": _TEXT_OR_LEFT_OUT,
    },
)
_SESSION = _Form(
    StoredSession,
    {
        "session_id": _ID,
        "session_token": _Field(_secret, _as_secret, required=True),
        "supervisor_context_cwd": _TEXT_OR_LEFT_OUT,
        "room_id": _ID,
        "session_kind": _TEXT,
        "runtime": _TEXT,
        "host_id": _TEXT_OR_NULL,
        "host_kind": _TEXT_OR_NULL,
        "host_label": _TEXT_OR_NULL,
        "liveness_capability": _TEXT_OR_NULL,
        "tool_bridge_id": _TEXT_OR_NULL,
        "actor_label": _TEXT,
        "agent_key": _TEXT,
        "agent_instance_id": _TEXT_OR_NULL,
        "display_name": _TEXT,
        "requested_base_display_name": _TEXT_OR_NULL,
        "owner_label": _TEXT,
        "ide_label": _TEXT,
        "repo_branch": _TEXT_OR_NULL,
        "created_at": _MOMENT,
        "updated_at": _MOMENT,
        "last_seen_at": _MOMENT,
        "ended_at": _END,
    },
)
_STATE = _Form(
    LocalState,
    {
        "mcp_workers": _by_id("workers", _WORKER.load, _WORKER.dump, _worker_id),
        "agent_sessions": _by_id("sessions", _SESSION.load, _SESSION.dump),
        "current_agent_session_ids": _by_id("current_session_ids", _string, _TEXT.dump),
        "current_room": _one(_ROOM),
        "room_sessions": _by_id("rooms", _ROOM.load, _ROOM.dump),
        "local_host_id": _TEXT_OR_LEFT_OUT,
    },
)
