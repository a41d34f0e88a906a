"""What rooms on a server remember keeps the promises of its ports, whatever it is kept in."""

import pytest
from tests.contract.served import Served

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.guidelines import HostedGuidelines
from letagents.adapters.rooms.hosted.knowledge import HostedKnowledge
from letagents.ports.guidelines import GuidelinesOf
from letagents.ports.knowledge import Knowledge
from letagents.testing.contracts.guidelines import GuidelinesContract
from letagents.testing.contracts.knowledge import KnowledgeContract


class TestHostedKnowledge(Served, KnowledgeContract):
    @pytest.fixture
    def knowledge(self, calls: Calls) -> Knowledge:
        return HostedKnowledge(calls)


class TestHostedGuidelines(Served, GuidelinesContract):
    @pytest.fixture
    def guidelines(self, calls: Calls) -> GuidelinesOf:
        return HostedGuidelines(calls)
