"""A person attaches a file, and has it again."""

from pathlib import Path

import pytest

from letagents.entrypoints.cli.main import main


def test_a_file_goes_with_a_message_and_is_had_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LETAGENTS_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    Path("plan.txt").write_bytes(b"Oil the gate.")

    def said(*words: str, refused: bool = False) -> str:
        capfd.readouterr()
        assert main(words) == int(refused)
        printed = capfd.readouterr()
        return printed.err if refused else printed.out

    sent = said("send", "--create", "workshop", "", "--attach", "plan.txt", "--as", "Grace")
    seen = said("tail", "workshop", "--once")
    there = said("attachment", "workshop", "msg_1", refused=True)
    written = said("attachment", "workshop", "msg_1", "--to", "again.txt")
    none = said("attachment", "workshop", "msg_1", "att_2", refused=True)
    lost = said("send", "workshop", "look", "--attach", "nowhere.txt", refused=True)

    assert sent == "msg_1\n"
    assert "+ att_1 plan.txt (13 bytes)" in seen
    assert "plan.txt is there already" in there
    assert (written, Path("again.txt").read_bytes()) == ("again.txt\n", b"Oil the gate.")
    assert "the message has no file att_2" in none
    assert "nowhere.txt" in lost
