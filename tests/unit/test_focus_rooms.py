"""Focus rooms: what they are called, who writes from them, and what comes of them."""

from datetime import UTC, datetime
from itertools import islice

import attrs
import pytest

from letagents.domain import accounts, focus_rooms, locators, rooms
from letagents.domain.errors import Malformed, UnknownRoom
from letagents.domain.focus_rooms import (
    Changes,
    Details,
    Focus,
    FocusRoomConcluded,
    NoFocusRoomThere,
    Outcome,
    ParentBoardReadOnly,
    Routing,
    Scope,
    Settings,
    Visibility,
)
from letagents.domain.ids import RoomId
from letagents.domain.locators import Locator
from letagents.domain.rooms import Room

NOW = datetime(2030, 1, 1, tzinfo=UTC)
WORKSHOP = RoomId("workshop")
ROOF = Focus(number=3, parent=WORKSHOP, key="task_1", title="mend the roof", task_id="task_1")
IDEA = Focus(number=4, parent=WORKSHOP, key="an-idea", title="An idea")
DONE = Outcome(summary="The roof holds.", details=Details(review_state="reviewed"))


@pytest.mark.rule("R20")
def test_its_id_and_its_locator_are_told_from_other_names() -> None:
    assert ROOF.room_id == RoomId("focus_3")
    assert locators.number_of(ROOF.room_id) == 3
    assert locators.located(RoomId("github.com/o/r/focus/Task_1")) == Locator(
        RoomId("github.com/o/r"), "Task_1"
    )
    for name in ("focus_3", "focus_007", "workshop/focus/x", "focus/x", "a/focus/"):
        assert locators.is_named(RoomId(name)), name
    for name in ("focus", "focus_", "focus_x", "focus_1x", "my-focus", "a/focus", "refocus/x"):
        assert not locators.is_named(RoomId(name)), name
        assert locators.located(RoomId(name)) is None


@pytest.mark.rule("K5")
@pytest.mark.parametrize(
    ("spelt", "meant"),
    [
        ("https://GitHub.com/Ada/Engine/focus/Task_1", "github.com/ada/engine/focus/Task_1"),
        ("ab12-cd34-ef56/focus/roof", "AB12-CD34-EF56/focus/roof"),
        (" Workshop/focus/Roof/ ", "Workshop/focus/Roof"),
        ("focus_3", "focus_3"),
        (
            "github.com/ada/engine/focus/git:branch:ZGV2",
            "git-room:github.com:ada/engine:branch:ZGV2",
        ),
    ],
)
def test_the_parent_in_a_locator_is_spelled_as_any_room_is(spelt: str, meant: str) -> None:
    assert str(rooms.canonical(spelt)) == meant


@pytest.mark.rule("K4", "R20")
@pytest.mark.parametrize("name", ["focus_3", "workshop/focus/roof"])
def test_what_is_called_as_focus_rooms_are_is_entered_and_never_made(name: str) -> None:
    assert rooms.invite_code(name) == RoomId(name)

    with pytest.raises(UnknownRoom, match="no focus room"):
        rooms.check_may_be_made(RoomId(name))


@pytest.mark.rule("R21")
def test_its_key_is_its_task_or_what_is_left_of_its_title() -> None:
    assert list(islice(focus_rooms.keys_for("task_1", "Mend it"), 3)) == [
        "task_1",
        "task_1-2",
        "task_1-3",
    ]
    assert next(focus_rooms.keys_for(None, "Wie weiter?")) == "wie-weiter"
    assert next(focus_rooms.keys_for(None, "屋根")) == "focus"
    assert len(next(focus_rooms.keys_for(None, "x" * 120))) == focus_rooms.KEY_LIMIT
    assert focus_rooms.checked_title(" An  idea\n") == "An idea"
    assert len(focus_rooms.cut_title("x" * 300)) == focus_rooms.TITLE_LIMIT
    with pytest.raises(Malformed, match="title"):
        focus_rooms.checked_title("x" * 121)


@pytest.mark.rule("R23")
def test_a_focus_room_has_none_and_a_task_that_is_over_gets_none() -> None:
    focus_rooms.check_may_have_some(None)
    focus_rooms.check_may_be_about("task_1", is_open=True)

    with pytest.raises(NoFocusRoomThere):
        focus_rooms.check_may_have_some(WORKSHOP)
    with pytest.raises(NoFocusRoomThere):
        focus_rooms.check_may_be_about("task_1", is_open=False)


@pytest.mark.rule("R24", "R25")
def test_it_is_concluded_once_and_says_what_becomes_of_its_task() -> None:
    over = focus_rooms.concluded(ROOF, DONE, by="Ada", now=NOW)
    without = focus_rooms.concluded(IDEA, Outcome(summary="No."), by="Ada", now=NOW)

    assert over.conclusion is not None
    assert (over.conclusion.outcome, over.conclusion.by, over.is_active) == (DONE, "Ada", False)
    assert without.conclusion is not None
    assert focus_rooms.concluded(over, DONE, by="Bob", now=NOW) is over
    with pytest.raises(FocusRoomConcluded, match="by Ada"):
        focus_rooms.concluded(over, Outcome(summary="It leaks."), by="Bob", now=NOW)
    with pytest.raises(Malformed, match="conclusion_details"):
        focus_rooms.concluded(ROOF, Outcome(summary="Done."), by="Ada", now=NOW)
    with pytest.raises(Malformed, match="next_owner"):
        Details(next_owner="x" * 501)


@pytest.mark.rule("R26")
def test_its_parent_is_told_unless_it_is_silent_and_nobody_is_called_by_it() -> None:
    said = Outcome(summary="Ask @agent:ada/x.", details=Details(next_owner="@bob", artifact=""))
    over = focus_rooms.concluded(ROOF, said, by="Ada | Ada's agent | Claude", now=NOW)
    words = focus_rooms.words_of(over)

    assert words.startswith("[focus] focus_3 (task_1) concluded by Ada: ")
    assert "@agent" not in words
    assert words.endswith("next owner: @ bob")
    assert "artifact" not in words
    for visibility in Visibility:
        shown = attrs.evolve(over, settings=Settings(parent_visibility=visibility))
        assert focus_rooms.is_shared(shown) is (visibility is not Visibility.SILENT)


@pytest.mark.rule("R27")
def test_only_from_one_that_keeps_to_itself_nobody_writes_beside_it() -> None:
    focus_rooms.check_origin(None)
    for scope in Scope:
        origin = attrs.evolve(ROOF, settings=Settings(activity_scope=scope))
        if scope is not Scope.ROOM:
            focus_rooms.check_origin(origin)
            continue
        with pytest.raises(ParentBoardReadOnly, match="focus_3"):
            focus_rooms.check_origin(origin)


def test_only_what_is_given_is_set() -> None:
    changed = Changes(github_event_routing=Routing.OFF).of(Settings(activity_scope=Scope.ROOM))

    assert changed == Settings(activity_scope=Scope.ROOM, github_event_routing=Routing.OFF)


@pytest.mark.rule("Q33")
def test_who_may_enter_the_room_beside_may_enter_it() -> None:
    open_to_all = Room(ROOF.room_id, "roof", NOW, focus=ROOF)
    code = RoomId("AB12-CD34-EF56")
    closed = attrs.evolve(open_to_all, focus=attrs.evolve(ROOF, parent=code))

    accounts.check_may_enter(open_to_all, ROOF.room_id)
    accounts.check_may_enter(closed, RoomId(f"{code}/focus/task_1"))
    with pytest.raises(UnknownRoom):
        accounts.check_may_enter(closed, ROOF.room_id)
