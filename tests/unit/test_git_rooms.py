"""The rooms of repositories and of their branches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.domain import git_rooms, rooms
from letagents.domain.errors import Malformed
from letagents.domain.git_rooms import Checkout, GitRoom, Ref, repository_room
from letagents.domain.ids import RoomId

REPOSITORY = RoomId("github.com/ada/engine")


def on(branch: str | None, default: str | None = None) -> Checkout:
    return Checkout("/work", str(REPOSITORY), branch, default)


# --- a repository's room ------------------------------------------------------------------------


@pytest.mark.rule("G1", "G3")
@pytest.mark.parametrize(
    "remote",
    [
        "git@github.com:Ada/Engine.git",
        "github.com:Ada/Engine",
        " https://GitHub.com/Ada/Engine.git/ \n",
        "https://github.com:443/ada/engine",
        "https://ada:s3cret@github.com/Ada/Engine.git",
        "https://s3cret@github.com/Ada/Engine?token=s3cret#s3cret",
        "ssh://git@github.com:22/Ada/Engine.git",
        "ssh://git@ssh.github.com:443/Ada/Engine.git",
        "git@[github.com:22]:Ada/Engine.git",
        "git://github.com//Ada/Engine",
        "ada:s3cret@github.com:Ada/Engine",
        "github.com/Ada/Engine",
    ],
)
def test_every_spelling_of_a_remote_has_the_same_room(remote: str) -> None:
    assert repository_room(remote) == "github.com/ada/engine"


@pytest.mark.rule("G1", "G3")
@pytest.mark.parametrize(
    ("remote", "room"),
    [
        ("git@GitLab.com:Org/Sub-Group/Project.git", "gitlab.com/Org/Sub-Group/Project"),
        ("https://git.corp:8443/Team/x.git", "git.corp/Team/x"),
        ("ssh://git@host/~ada/x", "host/~ada/x"),
        ("git@host:/srv/git/x.git", "host/srv/git/x"),
        ("/srv/git/Engine.git", "/srv/git/Engine"),
        ("file:///srv/git/Engine.git/", "/srv/git/Engine"),
        ("FILE:///srv/git/Engine.git", "/srv/git/Engine"),
    ],
)
def test_elsewhere_than_on_github_a_path_keeps_its_case(remote: str, room: str) -> None:
    assert repository_room(remote) == room


@pytest.mark.rule("G2")
@pytest.mark.parametrize(
    "remote",
    [
        "",
        "engine",
        "../engine.git",
        "./a:b",
        "~/engine",
        "C:\\engine",
        "C:/engine",
        "https://github.com",
        "https://github.com/.git",
        "https:///ada/engine",
        "https://:443/ada/engine",
        "https://ada:s3cret@/ada/engine",
        "ssh://git@:22/ada/engine",
        "https://host/../../engine",
        "https://ada:s3/cret@github.com/ada/engine",
        "https://ada:1/s3cret?@github.com/ada/engine",
        "https://host/@scope/engine",
        "ssh://[2001:db8::1]:22/ada/engine",
        "https://host/ada/en gine",
        "https://host/ada/en\x1bgine",
        "https://host/" + "x" * 200,
    ],
)
def test_a_remote_that_names_no_place_plainly_has_no_room(remote: str) -> None:
    assert repository_room(remote) is None


@pytest.mark.rule("G1", "G2")
@given(
    st.sampled_from(["https://{}@h.example/o/r", "ssh://{}@h.example:22/o/r", "{}@h.example:o/r"]),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=20),
)
def test_no_part_of_a_password_is_in_a_room(form: str, password: str) -> None:
    room = repository_room(form.format(f"ada:{password}"))

    assert room in (None, "h.example/o/r")


@given(st.text(max_size=80))
def test_any_remote_has_a_room_that_is_canonical_or_none(remote: str) -> None:
    room = repository_room(remote)

    assert room is None or rooms.canonical(room) == RoomId(room)


# --- one spelling -------------------------------------------------------------------------------


@pytest.mark.rule("G5", "K2")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("https://GitHub.com/Ada/Engine.git", "github.com/ada/engine"),
        ("git@github.com:Ada/Engine.git", "github.com/ada/engine"),
        ("GitHub.com/Ada/Engine/", "github.com/ada/engine"),
        ("Git.Corp/Team/x.git", "git.corp/Team/x"),
        ("github.com/Ada/Engine/focus/Key", "github.com/ada/engine/focus/Key"),
        ("github.com/Ada/Engine/Tree/focus/Key", "github.com/ada/engine/tree/focus/key"),
        ("Workshop/", "Workshop"),
        ("Workshop.git", "Workshop.git"),
        ("team:core/X", "team:core/X"),
        ("ab12-cd34/", "AB12-CD34"),
    ],
)
def test_a_name_is_spelled_as_its_room_is(text: str, name: str) -> None:
    assert rooms.canonical(text) == RoomId(name)


@pytest.mark.rule("G2", "G5")
def test_a_url_that_is_no_repository_is_refused_and_not_repeated() -> None:
    with pytest.raises(Malformed) as refused:
        rooms.canonical("https://ada:s3/cret@github.com/ada/engine")

    assert "cret" not in str(refused.value)


# --- a branch's room ----------------------------------------------------------------------------


@pytest.mark.rule("G4")
def test_a_branch_room_has_the_id_that_other_programs_give_it() -> None:
    room = git_rooms.branch_room("github.com/BrosInCode/letagents", "codex/GitRooms")

    assert room == RoomId("git-room:github.com:brosincode/letagents:branch:Y29kZXgvR2l0Um9vbXM")


@pytest.mark.rule("G4", "G5")
@given(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=20),
    st.sampled_from(["branch", "tag"]),
)
def test_repository_and_branch_are_read_back_from_both_forms_of_an_id(name: str, kind: str) -> None:
    ref = Ref("github.com/ada/engine", kind, name)

    assert git_rooms.ref_of(ref.older_id) == git_rooms.ref_of(ref.locator) == ref
    assert rooms.canonical(ref.locator) == rooms.canonical(ref.older_id) == RoomId(ref.older_id)
    shouted = ref.locator.replace("ada/engine", "Ada/Engine").replace("github", "GitHub")
    assert rooms.canonical(shouted) == RoomId(ref.older_id)


@pytest.mark.rule("G4")
@pytest.mark.parametrize(
    "room",
    [
        "github.com/ada/engine",
        "git-room:github.com:ada/engine:branch:",
        "git-room:github.com:ada/engine:branch:Y29kZXg=",
        "git-room:github.com:ada/engine:branch:Y29kZXh",
        "git-room:github.com:ada/engine:branch:_w",
        "git-room:gitlab.com:ada/engine:branch:Y29kZXg",
        "git-room:github.com:ada/engine/more:branch:Y29kZXg",
        "github.com/ada/engine/focus/branch:Y29kZXg",
    ],
)
def test_what_does_not_spell_a_branch_is_no_branch_room(room: str) -> None:
    assert git_rooms.ref_of(room) is None


@pytest.mark.rule("G18")
@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("git-room:github.com:Ada/Engine:branch:main", "The room of the branch main is git-room:g"),
        ("git-room:github.com:ada/engine:tag:v/1", "The room of the tag v/1 is git-room:github"),
        ("github.com/ada/engine/focus/git:branch:x.y", "git-room:github.com:ada/engine:branch:eC"),
        ("github.com/ada/engine/focus/git:branch:a%2Fb", "derived_branch_room_from_git"),
        ("git-room:gitlab.com:ada/engine:branch:Y29kZXg", "derived_branch_room_from_git"),
        ("git-room:", "derived_branch_room_from_git"),
        (f"git-room:github.com:ada/engine:branch:{'x' * 200}", "derived_branch_room_from_git"),
    ],
)
def test_who_writes_a_branch_itself_into_an_id_is_told_the_id(name: str, meant: str) -> None:
    with pytest.raises(Malformed) as refused:
        rooms.canonical(name)

    assert meant in refused.value.remedy


# --- the room of a checkout ---------------------------------------------------------------------


@pytest.mark.rule("G6", "G7")
@pytest.mark.parametrize(
    ("checkout", "kind"),
    [
        (on("main", "main"), "repo"),
        (on("develop", "develop"), "repo"),
        (on("main", "develop"), "branch"),
        (on("main"), "repo"),
        (on("master"), "repo"),
        (on("trunk"), "repo"),
        (on("develop"), "branch"),
        (on(None, "main"), "repo"),
        (on(None), "repo"),
        (None, "repo"),
    ],
)
def test_a_branch_that_is_not_the_default_one_has_a_room(
    checkout: Checkout | None, kind: str
) -> None:
    room = git_rooms.active(REPOSITORY, checkout)

    assert room.kind == kind
    assert (room.active == REPOSITORY) is (kind == "repo")


def test_where_there_is_no_repository_there_is_no_room() -> None:
    assert git_rooms.active(None, on("develop")) == GitRoom(None)
    assert GitRoom(None).active is None
    assert GitRoom(None).kind is None


@pytest.mark.rule("G8")
@pytest.mark.parametrize(
    ("repository", "branch"),
    [
        ("gitlab.com/ada/engine", "topic"),
        ("github.com/ada/engine/more", "topic"),
        ("github.com/ada", "topic"),
        ("workshop", "topic"),
        ("github.com/ada/engine", "x" * 300),
        ("github.com/ada/engine", "\ufffd"),
        ("github.com/ada/engine", ""),
    ],
)
def test_where_a_branch_can_have_no_room_the_repository_s_is_active(
    repository: str, branch: str
) -> None:
    checkout = Checkout("/work", repository, branch, "main")

    assert git_rooms.active(RoomId(repository), checkout) == GitRoom(RoomId(repository))
