"""This machine's sign-ins at its own servers, in a file that its owner alone can read."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import attrs
from anyio import to_thread

from letagents.adapters import private
from letagents.domain.errors import StateUnavailable
from letagents.domain.serving import OwnSignIn, place_of


@attrs.frozen
class OwnSignInsFile:
    """`server-owner.json` in the home."""

    _file: Path

    async def all(self) -> tuple[OwnSignIn, ...]:
        """Return what is kept; nothing where nothing is, or where it cannot be read."""
        return await to_thread.run_sync(self._all)

    async def keep(self, sign_in: OwnSignIn) -> None:
        """Keep `sign_in`, in place of an earlier one for the same server or database."""
        try:
            await to_thread.run_sync(self._keep, sign_in)
        except OSError as error:
            raise StateUnavailable(
                f"{self._file} cannot be written: {error.strerror}.",
                remedy="Make room or give yourself the right to write there, and start again.",
            ) from error

    def _all(self) -> tuple[OwnSignIn, ...]:
        try:
            content = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError):
            return ()
        entries = content.get("servers") if isinstance(content, dict) else None
        return tuple(map(_sign_in, filter(_is_whole, entries if isinstance(entries, list) else [])))

    def _keep(self, sign_in: OwnSignIn) -> None:
        others = [one for one in self._all() if not _is_replaced(one, sign_in)]
        servers = [attrs.asdict(one) for one in (*others, sign_in)]
        private.make_folder(self._file.parent)
        # Made by mkstemp, it is its owner's alone from the beginning.
        descriptor, name = tempfile.mkstemp(prefix=f"{self._file.name}.", dir=self._file.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump({"version": 1, "servers": servers}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(self._file)


_NAMES = tuple(field.name for field in attrs.fields(OwnSignIn))


def _is_whole(entry: object) -> bool:
    return isinstance(entry, dict) and all(isinstance(entry.get(name), str) for name in _NAMES)


def _sign_in(entry: dict[str, Any]) -> OwnSignIn:
    return OwnSignIn(**{name: entry[name] for name in _NAMES})


def _is_replaced(before: OwnSignIn, now: OwnSignIn) -> bool:
    return before.database == now.database or place_of(before.url) == place_of(now.url)
