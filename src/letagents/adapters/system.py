"""The real clock and the real dice. Nothing else may touch them."""

import secrets
import string
import uuid
from datetime import UTC, datetime

from letagents.domain.ids import ClientKey, Token, WorkerId

_LETTERS = string.ascii_uppercase + string.digits


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """Return the present moment, to the millisecond."""
        moment = datetime.now(UTC)
        return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


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
