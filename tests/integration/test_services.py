"""The supervisor as a service of its user: what is written, and what is left alone."""

import os
import plistlib
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from letagents.adapters.services import MARK, Service, service
from letagents.domain.errors import NotAvailable, StateUnavailable

SECRET = "never-written"


def on(platform: str, home: Path, **environ: str) -> Service:
    given = {"PATH": '/bin:/opt/100% "sure"', "LETAGENTS_TOKEN": SECRET, "HOME": str(home)}
    return service(home, {**given, "XDG_CONFIG_HOME": str(home / "config"), **environ}, platform)


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_it_is_written_and_removed_and_nothing_secret_is_in_it(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    home = tmp_path / "a home"
    ours = on(platform, home, CODEX_HOME="/opt/codex")
    for _ in range(2):
        ours.install()

    assert home.is_dir()  # launchd starts nothing whose log has no folder
    assert "/opt/codex" in ours.text

    assert ours.file.read_text() == ours.text
    assert MARK in ours.text
    assert SECRET not in ours.text
    assert list(ours.file.parent.iterdir()) == [ours.file]
    assert ours.uninstall()
    assert not ours.uninstall()
    assert not ours.file.exists()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_finds_nothing_wrong_with_its_unit(tmp_path: Path) -> None:
    ours = on("linux", tmp_path / "a home $HOME")
    ours.install()
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", ours.file],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert "Failed to initialize" not in done.stderr, done.stderr
    assert ours.file.name not in done.stderr, done.stderr


def test_its_unit_leaves_agents_alone_and_says_what_is_meant(tmp_path: Path) -> None:
    text = on("linux", tmp_path).text

    assert "KillMode=process\n" in text
    assert f'ExecStart="{sys.executable}" "-m" "letagents" "supervise" "--foreground"\n' in text
    assert 'Environment="PATH=/bin:/opt/100%% \\"sure\\""\n' in text
    assert f'Environment="LETAGENTS_HOME={tmp_path}"\n' in text


def test_launchd_is_told_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "its home"))
    ours = on("darwin", tmp_path)
    told = plistlib.loads(ours.text.encode())

    assert told["ProgramArguments"] == [
        sys.executable, "-m", "letagents", "supervise", "--foreground",
    ]  # fmt: skip
    assert told["EnvironmentVariables"]["LETAGENTS_HOME"] == str(tmp_path)
    assert told["AbandonProcessGroup"] is True
    assert told["KeepAlive"] == {"SuccessfulExit": False}
    assert shlex.split(ours.start[0])[-1] == str(ours.file)


def test_what_somebody_else_wrote_is_left(tmp_path: Path) -> None:
    ours = on("linux", tmp_path)
    ours.file.parent.mkdir(parents=True)
    ours.file.write_text("[Unit]\n")

    for act in (ours.install, ours.uninstall):
        with pytest.raises(NotAvailable, match="written by somebody else"):
            act()
    assert ours.file.read_text() == "[Unit]\n"


def test_a_folder_that_cannot_be_had_is_told(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a file")

    with pytest.raises(StateUnavailable, match="cannot be used"):
        on("linux", tmp_path).install()


def test_a_system_without_services_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotAvailable, match="no services"):
        on("win32", tmp_path)
