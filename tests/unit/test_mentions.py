"""What a text mentions, and whether it calls everybody."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from letagents.domain.mentions import MENTIONS_LIMIT, Mention, read
from letagents.domain.names import WHITESPACE

LONG = 60_000
HOSTILE = {
    "signs": "@" * LONG,
    "one mention over and over": " @a" * (LONG // 3),
    "many mentions": " ".join(f"@a{count}" for count in range(8_000)),
    "many packages": " ".join(f"@a{count}/b" for count in range(7_000)),
    "one long mention": "@a" + "/a" * (LONG // 2),
    "one long end of sentence": "@a" + "." * LONG,
    "nearly a call": "all" + " " * LONG + "agent",
    "nearly calls": "any all you both of whoever owns " * (LONG // 33),
}


def written(text: str) -> list[str]:
    return [mention.written for mention in read(text).mentions]


@pytest.mark.rule("A20")
@pytest.mark.parametrize("before", ["", *WHITESPACE, "(", "[", "{", ":", ";", ","])
def test_a_mention_may_follow_a_blank_or_an_opening_sign(before: str) -> None:
    assert written(f"hey{before}@Oak, look" if before else "@Oak, look") == ["Oak"]


@pytest.mark.rule("A20")
@pytest.mark.parametrize(
    "text",
    [
        "emmy@oak.example",
        "a.@oak",
        "@@oak",
        "x/@oak",
        "<@oak",
        "@ oak",
        "@_oak",
        "@éoak",
        "\x1f@oak",
    ],
)
def test_an_at_sign_elsewhere_is_no_mention(text: str) -> None:
    assert written(text) == []


@pytest.mark.rule("A20")
def test_a_mention_goes_as_far_as_a_handle_can() -> None:
    assert written("@agent:local/Emmy/co-dex/x_1.y! @b:c/-d @Oaké @a//b") == [
        "agent:local/Emmy/co-dex/x_1.y",
        "b:c",
        "Oak",
        "a",
    ]


@pytest.mark.rule("A20")
def test_a_name_mentioned_twice_is_one_mention() -> None:
    assert written("@Oak @Elm @Oak") == ["Oak", "Elm"]


@pytest.mark.rule("A21")
@pytest.mark.parametrize(
    ("spelt", "handles"),
    [
        ("Oak", ("oak",)),
        ("Oak:", ("oak:", "oak")),
        ("Oak...", ("oak...", "oak")),
        ("v1.2", ("v1.2",)),
        ("agent:Emmy/Oak.", ("emmy/oak.", "emmy/oak")),
    ],
)
def test_a_name_is_meant_with_and_without_the_end_of_its_sentence(
    spelt: str, handles: tuple[str, ...]
) -> None:
    assert Mention(spelt).handles == handles


@pytest.mark.rule("A22")
@pytest.mark.parametrize(
    "spelt",
    [
        "types/node",
        "vue/runtime-core",
        "babel/core",
        "agent/core",
        "media",
        "Media",
        "media:",
        "font-face",
        "font_face",
        "Types/Node",
        "viewport",
    ],
)
def test_packages_and_style_rules_do_not_look_like_agents(spelt: str) -> None:
    assert not Mention(spelt).looks_like_agent


@pytest.mark.rule("A22")
@pytest.mark.parametrize(
    "spelt",
    ["northharbor", "EmmyMay/cometlively", "agent:types/node", "Agent:x", "document", "medias"],
)
def test_anything_else_looks_like_an_agent(spelt: str) -> None:
    assert Mention(spelt).looks_like_agent


@pytest.mark.rule("A23")
@pytest.mark.parametrize("spelt", ["everyone", "Agents", "ROOM", "everyone:", "room."])
def test_some_handles_call_everybody(spelt: str) -> None:
    assert Mention(spelt).is_broadcast


@pytest.mark.rule("A23")
@pytest.mark.parametrize(
    "text",
    [
        "Everyone, look",
        "ALL AGENTS",
        "hey you\u00a0guys!",
        "both of you",
        "ask any  agent",
        "whoever owns this?",
        "éeveryone",
    ],
)
def test_some_phrases_call_everybody(text: str) -> None:
    assert read(text).calls_everybody


@pytest.mark.rule("A23")
@pytest.mark.parametrize(
    "text",
    [
        "everyones",
        "all_agents",
        "small agents",
        "any agents",
        "anyagent",
        "you, guys",
        "any\x1fagent",
    ],
)
def test_a_phrase_counts_only_as_whole_words(text: str) -> None:
    assert not read(text).calls_everybody


@pytest.mark.rule("A24")
@pytest.mark.parametrize("spelt", ["agent:everyone", "AGENT:room"])
def test_a_mention_by_key_is_of_one_agent(spelt: str) -> None:
    assert Mention(spelt).by_key
    assert not Mention(spelt).is_broadcast


@pytest.mark.rule("A25")
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_text_is_read_like_any_other(text: str) -> None:
    wording = read(text)

    assert len(wording.mentions) <= MENTIONS_LIMIT
    assert not any(mention.is_broadcast for mention in wording.mentions)


@pytest.mark.rule("A25")
def test_the_first_thousand_mentions_count() -> None:
    found = written(HOSTILE["many mentions"])

    assert found == [f"a{count}" for count in range(MENTIONS_LIMIT)]


@pytest.mark.rule("A20", "A21")
@settings(deadline=None)
@given(st.text(alphabet="@aA1_.:/- (,é\u3000", max_size=30))
def test_every_mention_stands_in_its_text_and_begins_with_a_letter_or_digit(text: str) -> None:
    for mention in read(text).mentions:
        assert f"@{mention.written}" in text
        assert mention.written[0].isalnum()
        assert mention.handles[-1] == mention.handles[0].rstrip(".:")
