"""The guard among a repository's hooks: put there, taken away, and what was there before kept.

A hook of ours carries a sum of what follows it, so that one which somebody has changed since is
known, and left alone. What was there before is renamed, called first, and put back in the end.
"""

import hashlib
import os
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import attrs

from letagents.ports.guard import HookState, HookStatus, NoHooks

NAMES = ("pre-commit", "pre-push")
KEPT = ".before-letagents"
"""What is put behind the name of a hook that was there before."""
LIMIT = 20
"""Seconds that git may take for one answer."""
REFUSED = 9
"""The exit code with which the check refuses; any other but 0 is a failure, which stops nothing."""

_MARK = "# letagents guard "
_RUNS = """\
# `letagents guard uninstall` takes this away, and puts back what was here before.
kept="${0%/*}/@NAME@@KEPT@"
python=@PYTHON@
@HOME@
before() {
  first=
  IFS= read -r first 2>/dev/null <"$kept"
  case $first in
    '#!/bin/sh' | '#!/usr/bin/env sh') shell=sh ;;
    '#!/bin/bash' | '#!/usr/bin/env bash') shell=bash ;;
    *)
      "$kept" "$@"
      return
      ;;
  esac
  # It may go by the name under which git calls it.
  "$shell" -c 'kept=$1; shift; . "$kept"' "$0" "$kept" "$@"
}

@TAKEN@if [ -x "$kept" ]; then
  @GIVEN@before "$@" || exit $?
fi
if [ ! -x "$python" ]; then
  echo "letagents guard: $python is gone; nothing was checked" >&2
  exit 0
fi
check='from letagents.entrypoints.cli.guarding import main; raise SystemExit(main())'
@GIVEN@"$python" -E -P -c "$check" @NAME@ "$@"
case $? in
  0) exit 0 ;;
  @REFUSED@) exit 1 ;;
esac
echo "letagents guard: it could not run; nothing was checked" >&2
exit 0
"""
_HOME = """\
home={}
export LETAGENTS_HOME="${{LETAGENTS_HOME:-$home}}"
"""
_TAKEN = "refs=$(cat; echo .)\nrefs=${refs%.}\n"
_GIVEN = "printf '%s' \"$refs\" | "


@attrs.frozen
class GitHooks:
    """The hooks of the repository that a folder is in, wherever git looks for them."""

    _folder: Path
    _git: str = "git"
    _python: str = sys.executable
    _home: str | None = None
    """Where rooms are for a commit in whose environment nothing says it."""

    def install(self) -> list[HookState]:
        """Put the guard among the hooks; return how they are then.

        Raises:
            NoHooks: there is no repository, or something is in the way. Then nothing was changed.
        """
        hooks = self._place()
        for name in NAMES:
            _check_free(hooks / name)
        with _told(hooks):
            hooks.mkdir(parents=True, exist_ok=True)
            for name in NAMES:
                _put(hooks / name, self.script(name))
        return self.status()

    def uninstall(self) -> list[HookState]:
        """Take the guard away; return how the hooks are then. Raises NoHooks."""
        hooks = self._place()
        with _told(hooks):
            for name in NAMES:
                _take_away(hooks / name)
        return self.status()

    def status(self) -> list[HookState]:
        """Return how the hooks are. Raises NoHooks."""
        hooks = self._place()
        is_apart = hooks.resolve() != self._own_place().resolve()
        return [_state(hooks / name, is_apart=is_apart) for name in NAMES]

    def script(self, name: str) -> str:
        """Return what the hook of that name holds."""
        takes = name == "pre-push"
        words = {
            "NAME": name,
            "KEPT": KEPT,
            "PYTHON": shlex.quote(self._python),
            "HOME": _HOME.format(shlex.quote(self._home)) if self._home else "",
            "REFUSED": str(REFUSED),
            "TAKEN": _TAKEN if takes else "",
            "GIVEN": _GIVEN if takes else "",
        }
        runs = _RUNS
        for word, text in words.items():
            runs = runs.replace(f"@{word}@", text)
        return f"#!/bin/sh\n{_MARK}{_sum(runs)}\n{runs}"

    def _place(self) -> Path:
        root = self._root()
        hooks = root / self._asked("rev-parse", "--git-path", "hooks", at=root)
        if hooks.exists() and not hooks.is_dir():
            raise NoHooks(
                f"core.hooksPath is {hooks}, which is no folder: hooks are switched off here.",
                remedy="Run `git config --unset core.hooksPath`, or set it to a folder.",
            )
        return hooks

    def _root(self) -> Path:
        """Return the folder that a relative core.hooksPath begins at."""
        is_bare = self._asked("rev-parse", "--is-bare-repository", at=self._folder) == "true"
        asked = "--absolute-git-dir" if is_bare else "--show-toplevel"
        return Path(self._asked("rev-parse", asked, at=self._folder))

    def _own_place(self) -> Path:
        """Return where the hooks of this repository are, if nothing else is set."""
        root = self._root()
        return root / self._asked("rev-parse", "--git-common-dir", at=root) / "hooks"

    def _asked(self, *words: str, at: Path) -> str:
        if not at.is_dir():
            raise _no_repository(self._folder, "there is no such folder")
        try:
            done = subprocess.run(
                [self._git, *words], cwd=at, capture_output=True, timeout=LIMIT, check=False
            )
        except OSError as error:
            raise NoHooks(
                f"git cannot be started: {error.strerror}.",
                remedy="Install git, or put it on the PATH, then run the command again.",
            ) from error
        except subprocess.TimeoutExpired as error:
            raise NoHooks(
                f"git has not answered within {LIMIT} seconds: git {' '.join(words)}.",
                remedy="See why it hangs there, then run the command again.",
            ) from error
        if done.returncode != 0:
            raise _no_repository(self._folder, done.stderr.decode("utf-8", "replace").strip())
        return os.fsdecode(done.stdout).removesuffix("\n")


class _told:  # noqa: N801  it reads as a word of the sentence in which it stands
    """Tells of a folder that cannot be written as everything else is told."""

    def __init__(self, hooks: Path) -> None:
        self._hooks = hooks

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, OSError):
            raise NoHooks(
                f"{error.filename or self._hooks}: {error.strerror}.",
                remedy="Make the folder writable, then run the command again.",
            ) from error


def _no_repository(folder: Path, why: str) -> NoHooks:
    return NoHooks(
        f"{folder} is in no git checkout: {why}.",
        remedy="Run it inside a checkout, or pass --repo with one.",
    )


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _kept(hook: Path) -> Path:
    return hook.with_name(hook.name + KEPT)


def _is_there(file: Path) -> bool:
    return os.path.lexists(file)


def _state(hook: Path, *, is_apart: bool) -> HookState:
    has_kept = _is_there(_kept(hook))
    return HookState(hook.name, _status(hook), str(hook), has_kept=has_kept, is_apart=is_apart)


def _status(hook: Path) -> HookStatus:
    if not _is_there(hook):
        return HookStatus.ABSENT
    if hook.is_symlink() or not hook.is_file():
        return HookStatus.FOREIGN
    head, _, rest = hook.read_bytes().partition(b"\n")
    mark, _, runs = rest.partition(b"\n")
    if head != b"#!/bin/sh" or not mark.startswith(_MARK.encode()):
        return HookStatus.FOREIGN
    is_whole = mark == f"{_MARK}{hashlib.sha256(runs).hexdigest()[:16]}".encode()
    return HookStatus.OURS if is_whole else HookStatus.CHANGED


def _check_free(hook: Path) -> None:
    status = _status(hook)
    if status is HookStatus.CHANGED:
        raise NoHooks(
            f"{hook} is the guard's, and somebody has changed it since.",
            remedy=f"Move what was added to {_kept(hook).name}, which is called first, remove "
            f"{hook.name}, and run the command again.",
        )
    if status is HookStatus.FOREIGN and _is_there(_kept(hook)) and not _is_kept(hook):
        raise NoHooks(
            f"{hook} is not the guard's, and {_kept(hook).name} is kept already.",
            remedy="Make one of the two, then run the command again.",
        )


def _is_kept(hook: Path) -> bool:
    """Whether what stands there is the same again as what is kept: its own tool put it there."""
    return hook.is_file() and hook.read_bytes() == _kept(hook).read_bytes()


def _put(hook: Path, script: str) -> None:
    """Put the guard there. If this is interrupted, running it again goes on with it."""
    new = hook.with_name(f"{hook.name}.new-letagents")
    new.write_bytes(script.encode())
    new.chmod(0o755)
    if _status(hook) is HookStatus.FOREIGN:
        hook.replace(_kept(hook))
    new.replace(hook)


def _take_away(hook: Path) -> None:
    """Take the guard away. Where another hook stands there by now, that one stays."""
    if _status(hook) is HookStatus.OURS:
        hook.unlink()
    if not _is_there(hook):
        with suppress(FileNotFoundError):
            _kept(hook).rename(hook)
