"""Where a model may be that anybody serves."""

import pytest

from letagents.domain import open_models
from letagents.domain.errors import Malformed
from letagents.domain.open_models import Endpoint, KeySource


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


@pytest.mark.rule("Y46")
def test_a_key_is_named_by_where_it_is() -> None:
    assert KeySource.of(None, "") is None
    assert str(KeySource.of("MODEL_KEY", None)) == "the variable MODEL_KEY"
    assert str(KeySource.of(None, "/home/ada/key")) == "the file /home/ada/key"


@pytest.mark.rule("Y46")
@pytest.mark.parametrize(
    ("variable", "file"),
    [
        ("sk-hunter2-0123456789", None),
        ("LETAGENTS_TOKEN", None),
        ("letagents_hunter2", None),
        ("MODEL_KEY", "/hunter2"),
        (None, "hunter2"),
        (None, "/hunter2\0"),
    ],
)
def test_what_may_be_the_key_itself_is_refused_unseen(
    variable: str | None, file: str | None
) -> None:
    with pytest.raises(Malformed) as told:
        KeySource.of(variable, file)

    assert "hunter2" not in str(told.value)


@pytest.mark.rule("Y47")
def test_a_key_is_taken_for_an_open_model_by_the_supervisor_that_there_is() -> None:
    assert open_models.may_take("open-model", generation=7, own=7)
    assert not open_models.may_take("open-model", generation=6, own=7)
    assert not open_models.may_take("codex", generation=7, own=7)
