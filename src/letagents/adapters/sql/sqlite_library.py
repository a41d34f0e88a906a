"""Which SQLite is used, and whether many processes may checkpoint with it.

SQLite before 3.51.3 can damage a database when two connections write and checkpoint in the same
instant (the "WAL-reset" fault). So a sound one is looked for first; where there is none, one
process at a time checkpoints, in a mode that keeps writers out.
"""

import importlib
from collections.abc import Sequence
from types import ModuleType

import attrs

SOUND_SINCE = (3, 51, 3)
CANDIDATES = ("pysqlite3.dbapi2", "sqlite3")


@attrs.frozen
class SqliteLibrary:
    """A SQLite with its Python module; `checkpoints_apart` is the way for one with the fault."""

    module: ModuleType
    version: tuple[int, ...]
    checkpoints_apart: bool

    @property
    def name(self) -> str:
        """The package that brought it."""
        return self.module.__name__.partition(".")[0]

    def __str__(self) -> str:
        number = ".".join(map(str, self.version))
        way = (
            "one process at a time checkpoints" if self.checkpoints_apart else "any may checkpoint"
        )
        return f"SQLite {number} from {self.name}, {way}"


def library(candidates: Sequence[str] = CANDIDATES) -> SqliteLibrary:
    """Return the first sound SQLite among the modules named, else the last that is installed."""
    found: SqliteLibrary | None = None
    for name in candidates:  # after a sound one, no other is loaded
        if (module := _imported(name)) is None:
            continue
        found = _described(module)
        if not found.checkpoints_apart:
            break
    assert found is not None  # noqa: S101  Python itself brings the last of the candidates
    return found


def _imported(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _described(module: ModuleType) -> SqliteLibrary:
    version = tuple(int(part) for part in module.sqlite_version.split("."))
    return SqliteLibrary(module, version, checkpoints_apart=version < SOUND_SINCE)
