"""A service elsewhere at which people sign in with a device. (Source: hosted-api 3.1.)

Q29  A question that cannot be answered within ten seconds raises SignInUnavailable.
"""

from typing import Protocol

import attrs

from letagents.domain.accounts import Account
from letagents.domain.sign_in import Begun, Over, Waiting


@attrs.frozen
class Comer:
    """Who has signed in there."""

    account: Account


class People(Protocol):
    """The service."""

    async def begin(self) -> Begun:
        """Begin a sign-in; its `request_id` is what the service calls it by.

        Raises:
            SignInUnavailable: the service does not begin one.
        """
        ...

    async def poll(self, request_id: str) -> Waiting | Over | Comer:
        """Return how a sign-in stands.

        Raises:
            SignInUnavailable: the service does not say.
        """
        ...
