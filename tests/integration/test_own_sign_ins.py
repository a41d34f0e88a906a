"""The file in which this machine keeps its sign-ins at its own servers."""

import stat
import sys
from pathlib import Path

import attrs
import pytest

from letagents.adapters.own_sign_ins import OwnSignInsFile
from letagents.domain.errors import StateUnavailable
from letagents.domain.serving import OwnSignIn

ONE = OwnSignIn("http://127.0.0.1:3001", "/home/one.db", "ada", "a secret")
TWO = OwnSignIn("http://127.0.0.1:3002", "/home/two.db", "ada", "another")


@pytest.mark.anyio
@pytest.mark.rule("Q27")
async def test_one_entry_is_kept_for_each_server(tmp_path: Path) -> None:
    kept = OwnSignInsFile(tmp_path / "home" / "server-owner.json")
    moved = attrs.evolve(ONE, url="http://127.0.0.1:3003")
    taken_over = attrs.evolve(TWO, database="/home/three.db", url="http://localhost:3002")

    assert await kept.all() == ()
    for sign_in in (ONE, TWO, moved, taken_over):
        await kept.keep(sign_in)
    assert await kept.all() == (moved, taken_over)
    assert [file.name for file in (tmp_path / "home").iterdir()] == ["server-owner.json"]


@pytest.mark.anyio
@pytest.mark.rule("Q27")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
async def test_its_owner_alone_can_read_it(tmp_path: Path) -> None:
    file = tmp_path / "home" / "server-owner.json"
    await OwnSignInsFile(file).keep(ONE)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.anyio
@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff", b"[]", b'{"servers": 1}', b'{"servers": [1]}']
)
async def test_what_cannot_be_read_holds_nothing(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "server-owner.json"
    file.write_bytes(content)
    kept = OwnSignInsFile(file)

    assert await kept.all() == ()
    await kept.keep(ONE)
    assert await kept.all() == (ONE,)


@pytest.mark.anyio
async def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("no folder")

    with pytest.raises(StateUnavailable):
        await OwnSignInsFile(tmp_path / "home" / "server-owner.json").keep(ONE)


def test_it_does_not_show_its_token() -> None:
    assert ONE.token not in repr(ONE)
