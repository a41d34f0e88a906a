"""Where a model may be that anybody serves."""

import pytest

from letagents.domain.errors import Malformed
from letagents.domain.open_models import Endpoint


@pytest.mark.rule("Y43")
def test_an_address_is_kept_without_what_is_at_its_end() -> None:
    endpoint = Endpoint.of(" https://models.example/v1// ", " big ", " sk-1 ")

    assert endpoint == Endpoint("https://models.example/v1", "big", "sk-1")
    assert "sk-1" not in repr(endpoint)
    assert Endpoint.of("http://127.0.0.1:8000", "m", " ").api_key is None


@pytest.mark.rule("Y43")
@pytest.mark.parametrize(
    "address",
    [
        "https://ada:hunter2@models.example",
        "https://ada@models.example/v1",
        "https://models.example/v1#hunter2",
        "https://models.example/v1?key=hunter2",
        "ftp://models.example",
        "models.example",
        "https://",
        "",
    ],
)
def test_an_address_that_could_hold_a_secret_is_refused_unseen(address: str) -> None:
    with pytest.raises(Malformed) as told:
        Endpoint.of(address, "big")

    assert "hunter2" not in str(told.value)


def test_a_model_has_a_name() -> None:
    with pytest.raises(Malformed):
        Endpoint.of("https://models.example", " ")
