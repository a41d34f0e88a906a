"""Names that are the same, labels that are read back, and what no name may hold."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from letagents.domain import names
from letagents.domain.errors import Malformed

SPELLINGS = st.text(alphabet="aAbBzZ09_.:/- \t\u00a0éÉΩωİı", max_size=12)


@pytest.mark.rule("N1")
def test_spellings_of_one_name_have_one_key() -> None:
    keys = {names.name_key(spelt) for spelt in ("FieldMeadow", "fieldmeadow", " Field  Meadow ")}

    assert keys == {"fieldmeadow"}


@pytest.mark.rule("N1")
def test_a_number_makes_another_name() -> None:
    assert names.name_key("FieldMeadow 1") != names.name_key("FieldMeadow")


@pytest.mark.rule("N1")
def test_a_name_without_any_handle_keeps_its_letters_as_its_key() -> None:
    assert names.name_key(" Ωμ \u00a0 δ ") == "Ωμ δ"


@pytest.mark.rule("N1")
@settings(deadline=None)
@given(SPELLINGS, SPELLINGS)
def test_names_are_the_same_exactly_when_their_handles_are_or_lacking_those_their_letters(
    one: str, other: str
) -> None:
    handles = names.handle_form(one), names.handle_form(other)
    same = names.name_key(one) == names.name_key(other)

    if any(handles):
        assert same == (handles[0] == handles[1])
    else:
        assert same == (names.sender_form(one) == names.sender_form(other))


@pytest.mark.rule("N1")
@settings(deadline=None)
@given(st.text())
def test_a_key_is_its_own_key_and_so_are_the_forms(text: str) -> None:
    assert names.name_key(names.name_key(text)) == names.name_key(text)
    assert names.sender_form(names.sender_form(text)) == names.sender_form(text)
    assert names.handle_form(names.handle_form(text)) == names.handle_form(text)


@pytest.mark.rule("N2")
@pytest.mark.parametrize("blank", list(names.WHITESPACE))
def test_each_blank_of_javascript_is_one(blank: str) -> None:
    assert names.collapse(f"{blank}a{blank}{blank}b{blank}") == "a b"
    assert names.trim(f"{blank}a{blank}") == "a"


@pytest.mark.rule("N2")
@pytest.mark.parametrize("other", ["\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\u200b", "\u180e"])
def test_what_only_python_or_nobody_takes_for_a_blank_is_none(other: str) -> None:
    assert names.collapse(f"{other}a") == f"{other}a"


@pytest.mark.rule("N3")
def test_only_ascii_letters_are_folded() -> None:
    assert names.sender_form("ABZ ÉΩİⒶ") == "abz ÉΩİⒶ"
    assert names.handle_form("@Emmy May/Ω_1.2:x-y!") == "emmymay/_1.2:x-y"
    assert names.handle_form("İ\N{KELVIN SIGN}") == ""


@pytest.mark.rule("N4")
@pytest.mark.parametrize("given", ["Oak", "  Oak\t", "x" * 64, "Ωmega 東京 🦊", "O'Neil (2)"])
def test_a_good_display_name_comes_back_trimmed(given: str) -> None:
    assert names.checked_display_name(given) == names.trim(given)


@pytest.mark.rule("N4")
@pytest.mark.parametrize(
    "refused",
    [
        "",
        " \u3000\ufeff",
        "x" * 65,
        "a\nb",
        "a\x00",
        "a\x7fb",
        "a\x9fb",
        "a\ud800b",
        "a|b",
        7,
        None,
    ],
)
def test_a_bad_display_name_is_refused_by_its_field_with_what_is_allowed(refused: object) -> None:
    with pytest.raises(Malformed) as caught:
        names.checked_display_name(refused)

    assert caught.value.happened.startswith("display_name: ")
    assert "1 to 64 characters" in caught.value.remedy
    assert "|" in caught.value.remedy


@pytest.mark.rule("N9")
@pytest.mark.parametrize(
    "refused",
    ["\u200b", "Ada\u200b", "\u2800", "Ada\u3164", "letagents", "Let Agents", "\u00ad"],
)
def test_a_name_that_hides_or_is_the_servers_is_refused(refused: str) -> None:
    with pytest.raises(Malformed, match="display_name: "):
        names.checked_display_name(refused)


@pytest.mark.rule("N5")
@pytest.mark.parametrize("letter", ["a", "é", "€", "🦊", "\ud800"])
def test_a_sender_of_512_characters_fits_and_one_of_513_does_not(letter: str) -> None:
    assert names.within_sender_bounds(letter * 512)
    assert not names.within_sender_bounds(letter * 513)
    assert names.checked_sender(letter * 512) == letter * 512


@pytest.mark.rule("N5")
@pytest.mark.parametrize("refused", ["x" * 513, 7, None, b"Oak"])
def test_a_sender_out_of_bounds_is_refused_with_both_limits(refused: object) -> None:
    with pytest.raises(Malformed) as caught:
        names.checked_sender(refused, "author")

    assert caught.value.happened.startswith("author: ")
    assert "512 characters" in caught.value.remedy
    assert "2,048 bytes" in caught.value.remedy


@pytest.mark.rule("N6")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Emmy May", "emmy-may"),
        ("  --Émmy__May!! ", "emmy-may"),
        ("ﬁne Ⅳ", "fine-iv"),
        ("東京", "owner"),
        ("", "owner"),
    ],
)
def test_a_slug_is_plain_words_with_hyphens(text: str, expected: str) -> None:
    assert names.slug(text, "owner") == expected


@pytest.mark.rule("N6")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Field Meadow Agent", "field-meadow"),
        ("FieldMeadow", "fieldmeadow"),
        ("agent", "agent"),
        ("Agent Agent", "agent"),
        ("", "agent"),
        ("Agent 47", "agent-47"),
    ],
)
def test_a_base_name_drops_a_final_agent(text: str, expected: str) -> None:
    assert names.base_name(text) == expected


@pytest.mark.rule("N6")
@settings(deadline=None)
@given(st.text())
def test_a_slug_holds_nothing_but_words_and_hyphens(text: str) -> None:
    assert all(word.isascii() and word.isalnum() for word in names.slug(text, "none").split("-"))


@pytest.mark.rule("N7")
@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        ("EmmyMay", "EmmyMay's agent"),
        ("James", "James' agent"),
        ("JAMES", "JAMES' agent"),
        ("  ", "Owner's agent"),
        (None, "Owner's agent"),
        ("Emmy | May", "Emmy May's agent"),
    ],
)
def test_an_agent_is_its_owners(owner: str | None, expected: str) -> None:
    assert names.owner_attribution(owner) == expected


@pytest.mark.rule("N7")
def test_a_label_is_built_and_read_back() -> None:
    label = names.actor_label(" Comet  Lively ", "EmmyMay", "claude code")
    read = names.parse_actor_label(label)

    assert label == "Comet Lively | EmmyMay's agent | Claude Code"
    assert read == names.ParsedLabel(
        label, "Comet Lively", "EmmyMay's agent", "Claude Code", structured=True
    )


@pytest.mark.rule("N7")
def test_a_label_made_of_nothing_says_agent() -> None:
    assert names.actor_label("", None, None) == "Agent | Owner's agent | Agent"


@pytest.mark.rule("N7")
@settings(deadline=None)
@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_a_label_has_three_parts_whatever_it_is_made_of(name: str, owner: str, ide: str) -> None:
    label = names.actor_label(name, owner, ide)
    read = names.parse_actor_label(label)

    assert label.count("|") == 2
    assert read is not None
    assert read.structured
    assert names.actor_label(read.display_name, owner, read.ide_label) == label


@pytest.mark.rule("N7")
def test_an_older_label_in_brackets_is_read_without_its_form() -> None:
    read = names.parse_actor_label("codex-worker (EmmyMay's agent)")

    assert read == names.ParsedLabel(
        "codex-worker (EmmyMay's agent)", "codex-worker", "EmmyMay's agent", "Codex", False
    )


@pytest.mark.rule("N7")
@pytest.mark.parametrize(
    "label",
    [
        "Emmy",
        "Emmy (at home)",
        "(Emmy's agent)",
        "a | b",
        "a | b | c",
        "a | b's agent | 東京",
        "a||b",
    ],
)
def test_any_other_label_is_a_name(label: str) -> None:
    read = names.parse_actor_label(f" {label} ")

    assert read == names.ParsedLabel(label, label, None, None, structured=False)


@pytest.mark.rule("N7")
@pytest.mark.parametrize("blank", [None, "", " \u3000"])
def test_a_blank_label_says_nothing(blank: str | None) -> None:
    assert names.parse_actor_label(blank) is None
    assert names.primary_label(blank) == ""


@pytest.mark.rule("N7")
def test_the_name_in_a_label_is_found_in_every_form() -> None:
    assert names.primary_label("Oak | Emmy's agent | Codex") == "Oak"
    assert names.primary_label("Oak (Emmy's agent)") == "Oak"
    assert names.primary_label(" Oak  Tree ") == "Oak Tree"


@pytest.mark.rule("N8")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("claude-code", "Claude Code"),
        ("CLAUDE CODE", "Claude Code"),
        ("opencode", "OpenCode"),
        ("open model", "Open Model"),
        ("vs_code", "Vs Code"),
        ("  ", None),
        ("東京", None),
        (None, None),
    ],
)
def test_a_program_is_written_as_it_is_known(text: str | None, expected: str | None) -> None:
    assert names.ide_label(text) == expected


@pytest.mark.rule("N8")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("codex", "Codex"),
        ("codex-worker", "Codex"),
        ("CODEX", "Codex"),
        ("codexWorker", "Codex"),
        ("Codex 2", "Codex"),
        ("codex2", "Codex"),
        ("antigravity-headless", "Antigravity"),
        ("claude-3", "Claude"),
        ("orchestrator-v2", "Orchestrator"),
        ("codexworker", None),
        ("cursor", None),
        ("vscode", None),
        ("my-codex", None),
        ("", None),
        (None, None),
    ],
)
def test_a_program_is_inferred_from_how_a_name_begins(
    text: str | None, expected: str | None
) -> None:
    assert names.infer_ide(text) == expected


@pytest.mark.rule("N8")
@pytest.mark.parametrize(
    ("client", "expected"),
    [
        ("claude-code", "Claude Code"),
        ("opencode", "OpenCode"),
        ("codex-mcp-client", "Codex"),
        ("cursor-vscode", "Cursor"),
        (" Claude-Code ", "Claude Code"),
        ("claude", None),
        ("", None),
        (None, None),
    ],
)
def test_a_client_is_known_by_what_it_calls_itself(
    client: str | None, expected: str | None
) -> None:
    assert names.ide_of_client(client) == expected


@pytest.mark.rule("N8")
@pytest.mark.parametrize(
    ("text", "expected"),
    [("open-model", "Open Model"), ("  vISUAL   studio--code ", "Visual Studio Code"), ("", "")],
)
def test_title_case_turns_hyphens_into_spaces(text: str, expected: str) -> None:
    assert names.title_case(text) == expected
