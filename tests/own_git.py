"""A git that nobody has set up, in tests which call it."""

import os

import pytest


def set_nothing_up(patch: pytest.MonkeyPatch) -> None:
    """Let git have neither this machine's settings nor this person's, and commit as Ada."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        patch.delenv(name)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        patch.setenv(name, os.devnull)
    for name in ("AUTHOR", "COMMITTER"):
        patch.setenv(f"GIT_{name}_NAME", "Ada")
        patch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
