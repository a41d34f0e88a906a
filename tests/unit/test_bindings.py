"""A session is bound to the agent whose it is, and its secret lent to nobody else."""

from datetime import UTC, datetime, timedelta

import attrs
import pytest

from letagents.domain import bindings
from letagents.domain.bindings import Binding, BindingRefused, Claim, Lent, Place
from letagents.domain.ids import MessageId

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=1)
PLACE = Place("e1", "workshop", "w1", "x1")
CLAIM = Claim("e1", "workshop", "w1", "x1", "s1", "https://letagents.example/api")
EXECUTION = "Worker session execution generation"

OTHERS = [
    attrs.evolve(CLAIM, **{name: "other"})
    for name in ("entry_id", "room_id", "work_attempt_id", "execution_id")
]


def bound(
    claim: Claim = CLAIM, known: Binding | None = None, highest: int = 0, *, same: bool = True
) -> Binding:
    return bindings.bind(claim, known, shows_same_secret=same, highest=highest, now=NOW)


@pytest.mark.rule("J30")
@pytest.mark.parametrize(
    ("claim", "place", "said"),
    [
        (CLAIM, None, "Unknown daemon manifest entry: e1"),
        (
            Claim("e1", "r2", "w2", "x2", "s1"),
            PLACE,
            "Worker session room does not match the supervised manifest entry.",
        ),
        (
            Claim("e1", "workshop", "w2", "x2", "s1"),
            PLACE,
            "Worker session work attempt does not match the supervised manifest entry.",
        ),
        (
            Claim("e1", "workshop", "w1", "x2", "s1"),
            PLACE,
            f"{EXECUTION} does not match the active supervised manifest entry.",
        ),
        (
            CLAIM,
            attrs.evolve(PLACE, has_ended=True),
            f"{EXECUTION} is absent or terminal.",
        ),
        (
            CLAIM,
            attrs.evolve(PLACE, execution_id=None),
            f"{EXECUTION} is absent or terminal.",
        ),
    ],
)
def test_the_first_fault_is_told(claim: Claim, place: Place | None, said: str) -> None:
    with pytest.raises(BindingRefused) as refused:
        bindings.check(claim, place)

    assert refused.value.happened == said


@pytest.mark.rule("J30")
def test_who_is_where_its_agent_is_passes() -> None:
    bindings.check(CLAIM, PLACE)

    with pytest.raises(BindingRefused, match="API URL"):
        bound(attrs.evolve(CLAIM, api_url="nowhere"))


@pytest.mark.rule("J31")
def test_the_epoch_only_grows() -> None:
    first = bound()
    second = bound(attrs.evolve(CLAIM, session_id="s2"), first)

    assert (first.epoch, second.epoch) == (1, 2)
    assert bound(highest=7).epoch == 8
    assert bound(attrs.evolve(CLAIM, execution_id="x2"), first, highest=7).epoch == 8


@pytest.mark.rule("J31")
def test_binding_what_is_bound_changes_nothing() -> None:
    first = bound()

    assert bound(known=first, highest=1) is first
    assert bound(known=first, highest=1, same=False).epoch == 2


@pytest.mark.rule("J32")
def test_a_cursor_goes_with_its_session() -> None:
    first = bindings.advanced(bound(), MessageId(12), now=NOW)
    successor = attrs.evolve(CLAIM, execution_id="x2")

    assert bound(successor, first).cursor == MessageId(12)
    assert bound(attrs.evolve(CLAIM, session_id="s2"), first).cursor is None


@pytest.mark.rule("J33")
def test_a_cursor_never_goes_back() -> None:
    first = bindings.advanced(bound(), MessageId(12), now=NOW)

    assert bindings.advanced(first, MessageId(11), now=LATER) is first
    assert bindings.advanced(first, MessageId(12), now=LATER) is first
    assert bindings.advanced(first, MessageId(13), now=LATER).cursor == MessageId(13)


@pytest.mark.rule("J33")
@pytest.mark.parametrize(
    ("text", "number"),
    [("msg_12", 12), ("12", 12), ("msg_2147483647", 2_147_483_647), ("012", 12)],
)
def test_a_cursor_is_a_numeric_message(text: str, number: int) -> None:
    assert bindings.cursor(text) == MessageId(number)


@pytest.mark.rule("J33")
@pytest.mark.parametrize("text", ["", "0", "msg_0", "msg_", "abc", "-1", "2147483648", "msg_1 "])
def test_what_is_no_message_is_no_cursor(text: str) -> None:
    assert bindings.cursor(text) is None


@pytest.mark.rule("J34")
@pytest.mark.parametrize("other", [*OTHERS, attrs.evolve(CLAIM, session_id="other")])
def test_a_binding_is_of_one_whole_route(other: Claim) -> None:
    assert bindings.is_of(bound(), CLAIM)
    assert not bindings.is_of(bound(), other)
    assert not bindings.is_of_process(bound(), other)
    assert not bindings.is_of(bound(), attrs.evolve(CLAIM, api_url="https://else.example"))


@pytest.mark.rule("J35")
@pytest.mark.parametrize(
    ("claim", "place", "is_current", "has_secret", "lent"),
    [
        (CLAIM, PLACE, True, True, Lent.AVAILABLE),
        (CLAIM, PLACE, True, False, Lent.DEFERRED),
        (CLAIM, PLACE, False, True, Lent.STALE),
        (CLAIM, None, True, True, Lent.STALE),
        (CLAIM, attrs.evolve(PLACE, has_ended=True), True, True, Lent.STALE),
        *((other, PLACE, True, True, Lent.STALE) for other in OTHERS),
        (attrs.evolve(CLAIM, session_id="s2"), PLACE, True, True, Lent.STALE),
        (attrs.evolve(CLAIM, api_url="https://else.example"), PLACE, True, True, Lent.STALE),
        (attrs.evolve(CLAIM, api_url=""), PLACE, True, True, Lent.STALE),
    ],
)
def test_a_secret_is_lent_over_the_exact_route(
    claim: Claim, place: Place | None, is_current: bool, has_secret: bool, lent: Lent
) -> None:
    own = 7 if is_current else 8
    found = bindings.lending(claim, place, bound(), generation=7, own=own, has_secret=has_secret)
    may_install = bindings.is_installable(claim, place, bound(), generation=7, own=own)

    assert found is lent
    assert may_install is not (lent is Lent.STALE) or claim.api_url != CLAIM.api_url


@pytest.mark.rule("J35")
def test_nothing_is_lent_without_a_binding() -> None:
    found = bindings.lending(CLAIM, PLACE, None, generation=7, own=7, has_secret=True)
    assert found is Lent.STALE
    assert not bindings.is_installable(CLAIM, PLACE, None, generation=7, own=7)


@pytest.mark.rule("J35")
def test_who_has_to_be_in_a_turn_and_is_not_is_lent_nothing() -> None:
    found = [
        bindings.lending(
            CLAIM, PLACE, bound(), generation=7, own=7, has_secret=True, is_in_turn=is_in_turn
        )
        for is_in_turn in (True, False)
    ]

    assert found == [Lent.AVAILABLE, Lent.STALE]


@pytest.mark.rule("J36")
@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://letagents.example/api?x=1", "https://letagents.example"),
        ("HTTPS://LetAgents.example:443", "https://letagents.example"),
        ("http://127.0.0.1:3001/", "http://127.0.0.1:3001"),
        ("http://[::1]:80/", "http://[::1]"),
        ("letagents-local://rooms", "letagents-local://rooms"),
        ("ftp://letagents.example", None),
        ("https://user@letagents.example", None),
        ("https://", None),
        ("", None),
    ],
)
def test_the_origin_of_an_address(url: str, origin: str | None) -> None:
    assert bindings.origin(url) == origin


@pytest.mark.rule("J37")
@pytest.mark.parametrize(
    ("url", "is_safe"),
    [
        ("https://letagents.example/api", True),
        ("http://localhost:3001", True),
        ("http://127.0.0.1:3001/", True),
        ("http://[::1]", True),
        ("letagents-local://rooms", True),
        ("letagents-local://else", False),
        ("http://letagents.example", False),
        ("http://localhost.example", False),
        ("https://user@letagents.example", False),
        ("nonsense", False),
    ],
)
def test_a_credential_goes_where_nobody_on_the_way_can_read_it(url: str, is_safe: bool) -> None:
    assert bindings.is_safe(url) is is_safe


@pytest.mark.rule("J36")
def test_a_binding_is_for_the_process_and_server_of_its_agent() -> None:
    assert bindings.is_for(bound(), CLAIM.execution_id, CLAIM.api_url)
    assert not bindings.is_for(bound(), "other", CLAIM.api_url)
    assert not bindings.is_for(bound(), CLAIM.execution_id, "https://else.example")
