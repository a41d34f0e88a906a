"""What a room keeps, as JSON and back. Names and ids are texts, moments whole microseconds."""

import functools
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from letagents.domain import ids
from letagents.domain.ids import MessageId

if TYPE_CHECKING:
    from cattrs.preconf.orjson import OrjsonConverter

T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NAMES = (ids.WorkerId, ids.RoomId, ids.SessionId, ids.ClientKey)


@functools.cache
def _converter() -> "OrjsonConverter":
    # Only here: a process that keeps nothing but messages does without.
    from cattrs.preconf.orjson import make_converter

    converter = make_converter(omit_if_default=True, detailed_validation=False)
    converter.register_unstructure_hook(datetime, lambda at: (at - _EPOCH) // _MICROSECOND)
    converter.register_structure_hook(
        datetime, lambda micros, _type: _EPOCH + timedelta(microseconds=micros)
    )
    converter.register_unstructure_hook(MessageId, str)
    converter.register_structure_hook(MessageId, lambda text, _type: MessageId.parse(text))
    for name in _NAMES:
        converter.register_unstructure_hook(name, str)
        converter.register_structure_hook(name, lambda text, kind: kind(text))
    return converter


def written(value: object) -> str:
    """Return `value`, of an attrs class, as JSON. What has its default is left out."""
    return orjson.dumps(_converter().unstructure(value)).decode()


def read(text: str, kind: type[T]) -> T:
    """Return the value of class `kind` that `written` made; fields it knows nothing of are left."""
    plain: Any = orjson.loads(text)
    return _converter().structure(plain, kind)
