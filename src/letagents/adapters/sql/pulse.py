"""Whether anything was written to a SQLite file since one looked last, for next to nothing."""

import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs


@attrs.define(eq=False)
class Pulse:
    """A connection of its own, which never waits, and may be asked from any thread."""

    _file: Path
    _module: ModuleType
    _connection: Any = None
    _lock: threading.Lock = attrs.field(factory=threading.Lock)

    def beat(self) -> int | None:
        """Return a number that each commit makes another, or None if it cannot be told."""
        with self._lock:
            try:
                if self._connection is None:
                    # Only to look: it makes no file where there is none.
                    self._connection = self._module.connect(
                        f"{self._file.absolute().as_uri()}?mode=rw",
                        uri=True,
                        timeout=0,
                        check_same_thread=False,
                    )
                beat: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
            except self._module.Error:
                return None
            return beat

    def close(self) -> None:
        """Ask no more."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
