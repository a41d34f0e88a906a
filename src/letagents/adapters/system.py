"""The real clock and the real dice. Nothing else may touch them."""

import functools
import secrets
import string
import sys
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path

from letagents.domain.ids import ClientKey, Token, WorkerId
from letagents.domain.ticks import Tick

_PLATFORM: str = sys.platform
_LETTERS = string.ascii_uppercase + string.digits


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """Return the present moment, to the millisecond."""
        moment = datetime.now(UTC)
        return moment.replace(microsecond=moment.microsecond // 1000 * 1000)

    def tick(self) -> Tick:
        """Return the seconds since this boot, sleep included where the system counts it."""
        return Tick(_boot(), _since_boot())


def _since_boot() -> float:
    if _PLATFORM == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()  # macOS and Windows: since the boot, for all processes alike


@functools.cache
def _boot() -> str:
    """Return what names this boot; where nothing does, a reboot is told by a smaller reading."""
    if _PLATFORM == "linux":
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    if _PLATFORM == "darwin":
        import subprocess

        named = subprocess.run(
            ["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"],
            capture_output=True,
            text=True,
            check=False,
            timeout=5,
        )
        return named.stdout.strip()
    return ""


class SystemIds:
    """Names and secrets from the system's source of randomness."""

    def token(self) -> Token:
        """Return 32 random bytes as unpadded base64url."""
        return Token(secrets.token_urlsafe(32))

    def worker_id(self) -> WorkerId:
        """Return a handle for a new worker."""
        return WorkerId(f"worker_{uuid.uuid4().hex}")

    def uuid(self) -> str:
        """Return a version 4 UUID."""
        return str(uuid.uuid4())

    def client_key(self) -> ClientKey:
        """Return an idempotency key for one message."""
        return ClientKey(secrets.token_urlsafe(16))

    def invite_code(self) -> str:
        """Return three groups of four letters or digits."""
        return "-".join("".join(secrets.choice(_LETTERS) for _ in range(4)) for _ in range(3))
