"""Who speaks."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.domain import codenames, identity, names
from letagents.domain.hints import Hints
from letagents.domain.identity import Owner
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.sessions import Session, SessionKind
from letagents.testing.determinism import ManualClock

ADA = Owner("Ada Lovelace")
NOW = ManualClock().now()


def of(hints: Hints, *, instance: str = "one", client: str | None = None) -> identity.Identity:
    return identity.of_process(hints, ADA, instance=instance, client=client)


@pytest.mark.rule("O1")
def test_an_owner_is_called_by_the_first_name_that_says_anything() -> None:
    assert identity.owner_label("set", "account", "login") == "set"
    assert identity.owner_label(None, " ", "login") == "login"
    assert identity.owner_label(None, "\n|") == "Owner"


@pytest.mark.rule("O1")
@pytest.mark.parametrize(
    ("owner", "slug", "account"),
    [
        (Owner("Ada Lovelace"), "ada-lovelace", "local:ada-lovelace"),
        (Owner("Ada Lovelace", login="EmmyMay"), "emmymay", "emmymay"),
        (Owner("Émile"), "emile", "local:emile"),
        (Owner("日本"), "owner", "local:owner"),
    ],
)
def test_an_owner_s_part_of_a_key_is_the_account_else_the_name(
    owner: Owner, slug: str, account: str
) -> None:
    assert (owner.slug, owner.account) == (slug, account)


@pytest.mark.rule("O2")
def test_a_chat_is_called_as_it_was_set() -> None:
    named = of(Hints(name="Build Agent"))
    shown = of(Hints(name="Build Agent", display_name="The Builder"))

    assert (named.name, named.display_name) == ("build", "Build Agent")
    assert (shown.name, shown.display_name) == ("build", "The Builder")
    assert named.canonical_key == "ada-lovelace/build"
    assert named.actor_label == "Build Agent | Ada Lovelace's agent | Agent"
    assert named.owner_attribution == "Ada Lovelace's agent"
    assert named.source == "local"


@pytest.mark.rule("O2")
def test_a_chat_without_a_name_has_the_codename_of_its_key_wherever_it_runs() -> None:
    hints = Hints(storage_key="codex:a-thread")
    code = codenames.codename("codex:a-thread")

    assert of(hints, instance="one") == of(hints, instance="two")
    assert (of(hints).name, of(hints).display_name) == (code.name, code.display_name)
    assert of(hints).runtime_key == "codex:a-thread"


@pytest.mark.rule("O3")
def test_a_chat_without_a_key_is_as_unique_as_its_process() -> None:
    one, two = of(Hints(), instance="one"), of(Hints(), instance="two")

    assert one.runtime_key == "instance:one"
    assert one.canonical_key != two.canonical_key
    assert one.display_name != two.display_name


@pytest.mark.parametrize(
    ("hints", "client", "label", "runtime"),
    [
        (Hints(ide="claude code"), "cursor-vscode", "Claude Code", "claude-code"),
        (Hints(ide="my editor"), None, "My Editor", "my-editor"),
        (Hints(in_codex=True), "claude-code", "Codex", "codex"),
        (Hints(), "claude-code", "Claude Code", "claude-code"),
        (Hints(), "codex-mcp-client", "Codex", "codex"),
        (Hints(), "cursor-vscode", "Cursor", "cursor"),
        (Hints(), "opencode", "OpenCode", "opencode"),
        (Hints(), "something else", "Agent", "unknown"),
        (Hints(), None, "Agent", "unknown"),
        (Hints(ide=" | "), "claude-code", "Claude Code", "claude-code"),
    ],
)
def test_a_program_is_what_was_set_else_what_its_client_says(
    hints: Hints, client: str | None, label: str, runtime: str
) -> None:
    assert identity.ide_label(hints, client) == label
    assert identity.runtime(hints, client) == runtime
    assert of(hints, client=client).ide_label == label


def test_a_program_is_guessed_from_the_name_where_nothing_else_tells() -> None:
    assert of(Hints(name="codex-7")).ide_label == "Codex"
    assert of(Hints(name="codex-7"), client="claude-code").ide_label == "Claude Code"


@pytest.mark.rule("O4")
@given(st.text(), st.text(), st.text())
def test_whatever_was_set_makes_a_label_that_a_room_can_keep(
    name: str, owner: str, ide: str
) -> None:
    hints = Hints(name=name * 99, display_name=name * 77, ide=ide * 99)
    label = identity.owner_label(owner * 99)
    who = identity.of_process(hints, Owner(label), instance="one", client=None)

    assert names.within_sender_bounds(who.actor_label)
    assert names.checked_display_name(who.display_name) == who.display_name
    assert who.actor_label.count("|") == 2
    who.actor_label.encode()


@pytest.mark.rule("O4")
def test_what_was_set_is_shown_on_one_line() -> None:
    hints = Hints(name="Ada\n| the\x00 first", display_name="x" * 500)

    assert identity.one_line(hints.name) == "Ada the first"
    assert of(hints).display_name == "x" * 64
    assert identity.one_line("A\u200bda\u2800") == "Ada"
    assert of(Hints(display_name="Let Agents")).display_name != "Let Agents"


def test_a_session_speaks_as_the_room_knows_it() -> None:
    session = Session(
        session_id=SessionId("local_1"),
        room_id=RoomId("workshop"),
        kind=SessionKind.WORKER,
        agent_key="ada/worker-1",
        instance_id="worker_1",
        display_name="Juniper",
        base_name="Ada",
        owner_label="Ada",
        ide_label="Codex",
        runtime="codex",
        actor_label="Juniper | Ada's agent | Codex",
        created_at=NOW,
        updated_at=NOW,
        last_seen_at=NOW,
    )
    who = identity.of_session(session)

    assert attrs.asdict(who) == {
        "name": "juniper",
        "display_name": "Juniper",
        "owner_label": "Ada",
        "ide_label": "Codex",
        "actor_label": "Juniper | Ada's agent | Codex",
        "canonical_key": "ada/worker-1",
        "runtime_key": "agent_session:local_1",
        "source": "api",
    }
