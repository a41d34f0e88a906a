"""What a process is told about the chat that it serves."""

import attrs


@attrs.frozen
class Hints:
    """What the environment says about the chat that a process serves."""

    name: str | None = None
    display_name: str | None = None
    ide: str | None = None
    owner_label: str | None = None
    storage_key: str | None = None
    in_codex: bool = False
