"""What every Supervision does: inherit the suite and give it its fixtures.

    class TestMySupervision(SupervisionContract):
        @pytest.fixture
        def opened(self, tmp_path: Path) -> Callable[[int], Supervision]:
            return lambda generation: MySupervision(tmp_path / "journal.db", generation)

`opened` opens the same place each time, for the supervisor of a generation. `unusable` is one on a
place that cannot be used.
"""

from collections.abc import Callable
from datetime import UTC, datetime

import attrs
import pytest

from letagents.domain import effects, inbox
from letagents.domain.bindings import Binding
from letagents.domain.deeds import KEPT, Act, Deed, Doer
from letagents.domain.effects import Effect, Key, Move, State, Weight
from letagents.domain.errors import StateUnavailable
from letagents.domain.generations import FenceLost
from letagents.domain.ids import MessageId
from letagents.domain.inbox import Item, TurnBinding
from letagents.domain.ingress import Ingress
from letagents.domain.manifest import Ending, Entry, Execution
from letagents.domain.recovery import Desired, History
from letagents.ports.supervision import Journal, Supervision

NOW = datetime(2030, 1, 1, 12, 30, 15, 123_000, tzinfo=UTC)
ROOM = "workshop"
TURN = TurnBinding("t1", "w1", "x1", "c1")

Opened = Callable[[int], Supervision]


def entry(entry_id: str = "e1") -> Entry:
    """Return an agent of which everything is known."""
    return Entry(
        entry_id,
        ROOM,
        "Ada",
        "claude-code",
        NOW,
        desired=Desired.RUNNING,
        model="m",
        charter="Be kind.",
        work_attempt_id="w1",
        workspace="/work/ada",
        continuation_id="c1",
        execution=Execution("x1", "w1", 7, NOW, NOW, Ending.CRASHED),
        history=History(ends=(NOW, NOW), failures=2, not_before=NOW, pending="a1"),
        last_error="It ended.",
    )


def binding(epoch: int = 1) -> Binding:
    """Return a binding of the agent e1."""
    origin = "https://letagents.example"
    return Binding("e1", ROOM, "w1", "x1", "s1", origin, epoch, NOW, MessageId(12))


def item(number: int, entry_id: str = "e1") -> Item:
    """Return an item of an agent's inbox."""
    message = f"msg_{number}"
    return Item(inbox.item_id(entry_id, ROOM, message), entry_id, ROOM, message, number)


def effect(number: int, entry_id: str = "e1", turn_id: str = "t1") -> Effect:
    """Return a prepared effect of an agent's turn."""
    key = Key(entry_id, "x1", turn_id, str(number))
    request = effects.request(ROOM, "send_message", {"reply_to": "msg_7"}, '{"reply_to":"msg_7"}')
    name = f"effect-{entry_id}-{turn_id}-{number}"
    return Effect(name, key, request, State.PREPARED, NOW, NOW)


@pytest.mark.anyio
class SupervisionContract:
    """Needs the fixtures that the head of this file names."""

    @pytest.mark.rule("J55", "J57")
    async def test_what_was_put_is_there_for_the_next_supervisor(self, opened: Opened) -> None:
        waiting = inbox.started(inbox.dispatched(item(1)), TURN)
        replied = inbox.ended(inbox.started(inbox.dispatched(item(2)), TURN), inbox.reply("Hi."))
        begun = effect(1).moved(Move.BEGIN, now=NOW)
        done = effects.completed(begun, '{"content":[]}', now=NOW)

        def put(journal: Journal) -> None:
            journal.put_entry(entry())
            journal.put_binding(binding())
            journal.put_ingress(Ingress("e1", ROOM, MessageId(7)))
            journal.put_item(waiting)
            journal.put_item(replied)
            journal.put_effect(done)

        await opened(1).change(put)
        later = opened(2)

        def check(journal: Journal) -> None:
            assert journal.entry("e1") == entry()
            assert journal.binding("e1") == binding()
            assert journal.ingress("e1") == Ingress("e1", ROOM, MessageId(7))
            assert journal.item(waiting.item_id) == waiting
            assert journal.item(replied.item_id) == replied
            assert journal.effect(done.key) == done
            assert journal.effect_named(done.effect_id) == done

        await later.look(check)
        await later.change(check)

    @pytest.mark.rule("J57")
    async def test_what_was_never_put_is_not_there(self, opened: Opened) -> None:
        def check(journal: Journal) -> None:
            assert journal.entry("e1") is None
            assert journal.entries() == []
            assert journal.binding("e1") is None
            assert journal.highest_epoch("e1") == 0
            assert journal.ingress("e1") is None
            assert journal.item("none") is None
            assert journal.unfinished("e1") == []
            assert journal.newest_items("e1", 9) == []
            assert journal.last_sequence("e1") == 0
            assert journal.effect(effect(1).key) is None
            assert journal.effect_named("none") is None
            assert journal.effects_of_turn("e1", "t1") == []
            assert journal.unsettled() == []

        await opened(1).look(check)

    @pytest.mark.rule("J55")
    async def test_what_fails_in_the_middle_leaves_nothing(self, opened: Opened) -> None:
        kept = opened(1)

        def fail(journal: Journal) -> None:
            journal.put_entry(entry())
            assert journal.entry("e1") == entry()
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await kept.change(fail)

        assert await kept.look(lambda journal: journal.entry("e1")) is None

    @pytest.mark.rule("J56")
    async def test_a_supervisor_that_was_replaced_changes_nothing(self, opened: Opened) -> None:
        old = opened(1)
        await old.change(lambda journal: journal.put_entry(entry("e1")))
        new = opened(2)
        await new.change(lambda journal: journal.put_entry(entry("e2")))

        with pytest.raises(FenceLost):
            await old.change(lambda journal: journal.put_entry(entry("e3")))

        assert await new.look(lambda journal: journal.entry("e3")) is None

    @pytest.mark.rule("J57")
    async def test_agents_come_by_their_names(self, opened: Opened) -> None:
        def put(journal: Journal) -> None:
            for name in ("e2", "e10", "e1"):
                journal.put_entry(entry(name))
            journal.put_entry(attrs.evolve(entry("e2"), model=None))

        kept = opened(1)
        await kept.change(put)
        found = await kept.look(lambda journal: journal.entries())

        assert [one.entry_id for one in found] == ["e1", "e10", "e2"]
        assert found[2].model is None
        await kept.change(lambda journal: journal.drop_entry("e10"))
        await kept.change(lambda journal: journal.drop_entry("never"))
        left = await kept.look(lambda journal: journal.entries())
        assert [one.entry_id for one in left] == ["e1", "e2"]

    @pytest.mark.rule("J57")
    async def test_the_unfinished_items_of_an_agent_come_in_their_order(
        self, opened: Opened
    ) -> None:
        over = inbox.skipped(item(2))

        def put(journal: Journal) -> None:
            for one in (item(3), item(1), over, item(7, "e2")):
                journal.put_item(one)
            journal.put_item(inbox.dispatched(item(3)))

        kept = opened(1)
        await kept.change(put)

        def check(journal: Journal) -> None:
            assert journal.unfinished("e1") == [item(1), inbox.dispatched(item(3))]
            newest = journal.newest_items("e1", 2)
            assert newest == [inbox.dispatched(item(3)), over]
            assert journal.newest_items("e2", 9) == [item(7, "e2")]
            assert journal.last_sequence("e1") == 3
            assert journal.last_sequence("e2") == 7
            assert journal.item(over.item_id) == over
            assert journal.firsts() == []

        await kept.look(check)

    @pytest.mark.rule("J57")
    async def test_who_is_forgotten_is_told_nothing_any_more_and_what_it_did_stays(
        self, opened: Opened
    ) -> None:
        def put(journal: Journal) -> None:
            for name in ("e1", "e2"):
                journal.put_entry(entry(name))
                journal.put_item(item(1, name))
                journal.put_ingress(Ingress(name, ROOM, MessageId(7)))
                journal.put_effect(effect(1, name))
            journal.drop_entry("e1")

        kept = opened(1)
        await kept.change(put)

        def check(journal: Journal) -> None:
            assert (journal.ingress("e1"), journal.newest_items("e1", 9)) == (None, [])
            assert journal.effect(effect(1).key) == effect(1)
            assert journal.ingress("e2") is not None
            assert journal.unfinished("e2") == [item(1, "e2")]

        await kept.look(check)

    @pytest.mark.rule("J57")
    async def test_what_each_agent_is_at_is_found_at_once(self, opened: Opened) -> None:
        def put(journal: Journal) -> None:
            for name in ("e2", "e1", "e3"):
                journal.put_entry(entry(name))
            for one in (item(2), item(3), item(7, "e2"), item(1, "forgotten")):
                journal.put_item(one)
            journal.put_item(inbox.skipped(item(1)))
            journal.put_item(inbox.skipped(item(1, "e3")))

        kept = opened(1)
        await kept.change(put)

        assert await kept.look(lambda journal: journal.firsts()) == [item(2), item(7, "e2")]

    @pytest.mark.rule("J57")
    async def test_effects_are_found_by_turn_and_by_whether_they_are_settled(
        self, opened: Opened
    ) -> None:
        settled = effects.completed(effect(2), '{"a":1}', now=NOW)
        elsewhere = (effect(1, turn_id="t2"), effect(1, "e2"))

        def put(journal: Journal) -> None:
            for one in (effect(3), effect(2), effect(1), *elsewhere):
                journal.put_effect(one)
            journal.put_effect(settled)

        kept = opened(1)
        await kept.change(put)

        def check(journal: Journal) -> None:
            assert journal.effects_of_turn("e1", "t1") == [effect(3), settled, effect(1)]
            assert journal.unsettled("e1") == [effect(3), effect(1), elsewhere[0]]
            assert journal.unsettled() == [effect(3), effect(1), *elsewhere]
            assert journal.count_unsettled("e1") == 3
            size = effect(1).request.size
            assert journal.weight_of_turn("e1", "t1") == Weight(3, 3 * size, len('{"a":1}'))
            assert journal.weight_of_turn("e1", "none") == Weight()

        await kept.look(check)

    @pytest.mark.rule("J57", "J161")
    async def test_deeds_are_kept_in_their_order_and_the_newest_of_too_many(
        self, opened: Opened
    ) -> None:
        by = Doer(NOW, 1, "letagents 7")

        def put(journal: Journal) -> None:
            journal.put_entry(entry())
            for number in range(KEPT):
                journal.put_deed(by.did("e2" if number % 2 else "e1", Act.RENAMED, f"{number}"))
            journal.drop_entry("e1")
            journal.put_deed(by.did("e1", Act.REMOVED))

        kept = opened(1)
        await kept.change(put)

        def check(journal: Journal) -> None:
            assert len(journal.newest_deeds(None, KEPT + 9)) == KEPT
            assert journal.newest_deeds(None, KEPT)[-1].detail == "1"
            newest = journal.newest_deeds("e1", 2)
            assert newest == [
                Deed(NOW, "e1", Act.REMOVED, 1, "", "letagents 7"),
                Deed(NOW, "e1", Act.RENAMED, 1, f"{KEPT - 2}", "letagents 7"),
            ]
            assert journal.newest_deeds("e3", 9) == []

        await opened(2).look(check)

    @pytest.mark.rule("J58")
    async def test_an_epoch_outlives_its_binding(self, opened: Opened) -> None:
        kept = opened(1)
        await kept.change(lambda journal: journal.put_binding(binding(7)))
        await kept.change(lambda journal: journal.unbind("e1"))
        await kept.change(lambda journal: journal.unbind("never"))

        def check(journal: Journal) -> None:
            assert journal.binding("e1") is None
            assert journal.highest_epoch("e1") == 7
            assert journal.highest_epoch("never") == 0

        await opened(2).look(check)

    @pytest.mark.rule("J59")
    async def test_a_place_that_cannot_be_used_is_told(self, unusable: Supervision) -> None:
        with pytest.raises(StateUnavailable):
            await unusable.change(lambda journal: journal.put_entry(entry()))
        with pytest.raises(StateUnavailable):
            await unusable.look(lambda journal: journal.entries())
