import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.domain.errors import Malformed
from letagents.domain.ids import (
    ClientKey,
    MessageId,
    RegistrationKey,
    RoomId,
    SessionId,
    Token,
    WorkerId,
    quoted,
)

NAMES = [WorkerId, RoomId, SessionId, ClientKey, Token, RegistrationKey]
WRONG: list[object] = [None, 5, "", "\ud800", "\x00", "x" * 300, ["worker"], b"room"]


@pytest.mark.rule("I1")
@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("value", WRONG, ids=ascii)
def test_a_name_of_the_wrong_form_is_refused_with_what_was_expected(
    kind: type[RoomId], value: str
) -> None:
    with pytest.raises(Malformed) as refused:
        kind(value)

    assert kind.called in refused.value.happened
    assert kind.__name__ not in str(refused.value)
    assert kind.expected in refused.value.remedy
    assert not kind.fits(value)


@pytest.mark.rule("I2")
@pytest.mark.parametrize("kind", [Token, RegistrationKey])
def test_a_secret_never_prints_itself(kind: type[Token]) -> None:
    secret = "s3cret" + "x" * 37

    shown = f"{kind(secret)} {kind(secret)!r} {[kind(secret)]}"

    assert "s3cret" not in shown


@pytest.mark.rule("I2")
def test_a_wrong_secret_is_not_quoted() -> None:
    with pytest.raises(Malformed) as refused:
        Token("s3cret")

    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("value", ["msg_1", "msg_2147483647"])
def test_a_message_id_is_spelled_as_it_was_read(value: str) -> None:
    assert str(MessageId.parse(value)) == value


@pytest.mark.rule("I1")
@pytest.mark.parametrize(
    "value",
    ["msg_0", "msg_01", "msg_-1", "msg_2147483648", "msg_9007199254740993", "1", "msg_٣", 3],
)
def test_what_is_no_message_id_is_refused(value: object) -> None:
    with pytest.raises(Malformed, match="after_message_id"):
        MessageId.parse(value, "after_message_id")


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=200))
def test_a_quotation_is_short_and_printable(text: str) -> None:
    shown = quoted(text)

    assert len(shown) <= 110
    assert "\n" not in shown
    shown.encode()
