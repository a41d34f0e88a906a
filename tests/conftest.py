"""What every test has: the event loop, a database server, and the mark that ties it to a rule."""

import pytest
from hypothesis import HealthCheck, settings
from tests.postgres_server import blank_postgres, own_server, postgres

__all__ = ["anyio_backend", "blank_postgres", "own_server", "postgres", "pytest_configure"]

# How long an example takes says how busy the machine is, and nothing of what is tested.
settings.register_profile(
    "busy", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("busy")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "rule(*numbers): the numbered rules of domain/ and ports/ that this test proves"
    )


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
