"""The shell that runs the turns of one Cursor chat, one after another."""

import shlex

EXIT = "letagents_exit"
"""What it says when a turn has ended."""
_TURNS = f"""
child=
trap '[ -n "$child" ] && kill -TERM "$child" 2>/dev/null' USR1
while read -r turn file; do
  LETAGENTS_SUPERVISOR_PROVIDER_TURN_ID=$turn "$@" "$(cat "$file"; rm -f "$file")" </dev/null &
  child=$!
  wait "$child"
  code=$?
  while kill -0 "$child" 2>/dev/null; do wait "$child"; code=$?; done
  child=
  printf '\\n{{"type":"{EXIT}","turn":"%s","code":%d}}\\n' "$turn" "$code"
done
"""
"""Runs one turn after another. The signal ends the one that runs; the end of its lines ends it."""


def waiting_for(words: list[str]) -> str:
    """Return the script of the shell: it is told the chat first, and then turn by turn."""
    return f'read -r chat || exit 0\nset -- "$@" {shlex.join(words)} "--resume=$chat"\n{_TURNS}'
