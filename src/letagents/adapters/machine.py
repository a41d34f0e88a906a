"""What tells this machine, and the person on it, from others."""

import getpass
import platform
import sys
from collections.abc import Sequence


def parts() -> Sequence[str]:
    """Return the machine's name, the system user's, and the kind of machine that it is."""
    return (platform.node(), _user(), sys.platform, platform.machine())


def _user() -> str:
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return ""
