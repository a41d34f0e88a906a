"""A supervised agent is told of everything in its room once, in order."""

import attrs
import pytest

from letagents.domain import ingress
from letagents.domain.ids import MessageId
from letagents.domain.inbox import InboxRefused
from letagents.domain.ingress import Ingress, Seen

AT = Ingress("e1", "workshop", MessageId(7))


def seen(number: int, *, for_agent: bool = True) -> Seen:
    return Seen(MessageId(number), for_agent, f'{{"n":{number}}}', '{"reason":"mention"}')


@pytest.mark.rule("J12", "J13")
def test_what_is_for_the_agent_becomes_items_and_the_cursor_passes_the_rest() -> None:
    page = [seen(8), seen(9, for_agent=False), seen(10), seen(11, for_agent=False)]
    at, items = ingress.taken(AT, page, after=MessageId(7), last_sequence=3)

    assert at.cursor == MessageId(11)
    assert [(one.message_id, one.sequence) for one in items] == [("msg_8", 4), ("msg_10", 5)]
    assert items[0].message == '{"n":8}'
    assert items[0].activation == '{"reason":"mention"}'


@pytest.mark.rule("J12")
@pytest.mark.parametrize("after", [None, MessageId(6), MessageId(8)])
def test_a_poll_from_elsewhere_brings_nothing(after: MessageId | None) -> None:
    with pytest.raises(InboxRefused, match="cursor changed before this poll could commit"):
        ingress.taken(AT, [seen(8)], after=after, last_sequence=0)


@pytest.mark.rule("J13")
def test_what_is_for_nobody_here_only_moves_the_cursor() -> None:
    at, items = ingress.taken(AT, [seen(8, for_agent=False)], after=AT.cursor, last_sequence=0)

    assert (at.cursor, items) == (MessageId(8), [])


@pytest.mark.rule("J14")
def test_an_agent_begins_at_the_end_of_its_room() -> None:
    assert ingress.begun("e1", "workshop", MessageId(99)).cursor == MessageId(99)
    empty = ingress.begun("e1", "workshop", None)
    at, items = ingress.taken(empty, [seen(1)], after=None, last_sequence=0)

    assert at.cursor == MessageId(1)
    assert len(items) == 1


@pytest.mark.rule("J152")
def test_what_an_agent_is_told_at_its_beginning_answers_nothing_and_moves_no_cursor() -> None:
    known = ingress.begun("ada", "workshop", MessageId(7))
    first = ingress.initial(known, '{"text":"Begin."}', "{}", mark="a", last_sequence=4)
    again = ingress.initial(known, '{"text":"Again."}', "{}", mark="b", last_sequence=5)
    elsewhere = ingress.initial(
        attrs.evolve(known, room_id="other"), "{}", "{}", mark="a", last_sequence=5
    )

    assert (first.said, first.sequence, first.message) == (None, 5, '{"text":"Begin."}')
    assert first.item_id == again.item_id != elsewhere.item_id
    assert len({one.reply_key for one in (first, again, elsewhere)}) == 3


@pytest.mark.rule("J15")
def test_a_cursor_never_goes_back() -> None:
    at, items = ingress.taken(AT, [seen(7), seen(6)], after=AT.cursor, last_sequence=0)

    assert (at, items) == (AT, [])
    assert ingress.taken(AT, [], after=AT.cursor, last_sequence=0) == (AT, [])


@pytest.mark.rule("J102")
def test_who_polls_is_where_it_has_acknowledged() -> None:
    assert ingress.acknowledged(AT, MessageId(9)).cursor == MessageId(9)
    assert ingress.acknowledged(AT, MessageId(6)) == AT
    assert ingress.acknowledged(Ingress("e1", "r"), MessageId(1)).cursor == MessageId(1)
