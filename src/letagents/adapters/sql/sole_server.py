"""That one process alone serves a database file: a lock that the system drops when it dies."""

import json
import os
from pathlib import Path

import attrs

from letagents.adapters import private
from letagents.adapters.sql.file_lock import FileLock
from letagents.domain.errors import RoomsUnavailable
from letagents.domain.serving import ServedElsewhere


@attrs.define(eq=False)
class SoleServer:
    """One process's right to serve `file`. Who has it is told beside it, for whom it refuses."""

    _file: Path
    _lock: FileLock = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._lock = FileLock(self._file.with_name(f"{self._file.name}-serve"))

    def take(self) -> None:
        """Take the right.

        Raises:
            ServedElsewhere: another process has it.
            RoomsUnavailable: nothing can be written beside the database.
        """
        try:
            private.make_folder(self._file.parent)
            is_taken = self._lock.try_take()
        except OSError as error:
            raise RoomsUnavailable(
                f"Nothing can be kept at {self._file}: {error.strerror or type(error).__name__}.",
                remedy="Name another file, or give yourself the right to write there.",
            ) from error
        if not is_taken:
            raise self._refusal()

    def tell(self, address: str) -> None:
        """Say where the file is served, for those that come later."""
        self._notice.write_text(json.dumps({"pid": os.getpid(), "address": address}), "utf-8")

    def close(self) -> None:
        """Give the right up."""
        self._lock.close()

    @property
    def _notice(self) -> Path:
        return self._file.with_name(f"{self._file.name}-served.json")

    def _refusal(self) -> ServedElsewhere:
        try:
            told = json.loads(self._notice.read_text("utf-8"))
            who = f"process {int(told['pid'])}, at {told['address']}"
        except (OSError, ValueError, KeyError, TypeError):
            who = "another process, which is just beginning to"
        return ServedElsewhere(
            f"{self._file} is served already by {who}.",
            remedy="Use that server, or pass --database with another file. Several processes serve "
            "one database where it is a PostgreSQL: --database postgresql://...",
        )
