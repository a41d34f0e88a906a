"""The state machines of the gate, for longer and in more orders."""

import unittest

import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine
from tests.contract.test_registration_machine import OverFiles, RegistrationMachine
from tests.contract.test_room_machines import ConnectionsInSqlite, MessagesInSqlite

pytestmark = pytest.mark.long


def longer(machine: type[RuleBasedStateMachine], examples: int) -> type[unittest.TestCase]:
    """Return the machine's test with other settings; those of the gate stay as they are."""
    options = settings(max_examples=examples, stateful_step_count=60, deadline=None)
    return type("Longer", (machine.TestCase,), {"settings": options})


TestConnections = longer(ConnectionsInSqlite, 200)
TestMessages = longer(MessagesInSqlite, 200)
TestRegistration = longer(RegistrationMachine, 500)
TestRegistrationOverFiles = longer(OverFiles, 200)
