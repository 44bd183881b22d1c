"""The program that a shell of the host runs. It is the same text for every host and every session.

It is sent on the standard input of `sh -s`; its words are checked against patterns, here and there again.
No path is sent to the host: the script finds the file by its id, and only files whose path below the agent's
folder consists of letters, digits, `.`, `_`, `-` and `/`. Files with other names are not listed.

Where agentwatch is installed, the script starts `agentwatch host-rows` or `agentwatch host-pieces`, which end
when their standard input does. A program that does not know them exits with 2. Without them
`find`, `stat`, `sort` and `tail` do the work.

The output begins with a line of MARK and the way: `program` or `tail`. What a login shell has printed
before is passed over.
"""

from __future__ import annotations

from functools import cache

from agentwatch.wire.agents import programs

MARK = "agentwatch-over-ssh-1"
END = "."
"""The line after each list of `tail`."""
LIST = b"list\n"
"""Asks for another list of `tail`."""
HEAD_BYTES = 1 << 15
"""The most bytes of the beginning of a file that `tail` is asked for, with `head AGENT ID`."""
REPLACED = 75
"""The exit code if the file was replaced or cut: EX_TEMPFAIL of sysexits.h."""
ABSENT = 66
"""The exit code if there is no such session: EX_NOINPUT."""

_SCRIPT = r"""
mark=agentwatch-over-ssh-1 mode=$1 id=$2 have=$3 digest=$4 inode=$5
umask 077; set -f; unset CDPATH; cd || exit 71
for each in "$have" "$inode"; do case $each in ''|*[!0-9]*) exit 64;; esac; done
case $id$digest in *[!A-Za-z0-9._-]*) exit 64;; esac

program=`command -v agentwatch`
for each in "$HOME/.local/bin" "$HOME/bin" /usr/local/bin /opt/homebrew/bin; do
  test -n "$program" && break
  test -x "$each/agentwatch" && program=$each/agentwatch
done

if stat -c %Y . >/dev/null 2>&1
then flag=-c form='%Y %s %n' identity='%i %s'
else flag=-f form='%m %z %N' identity='%i %z'
fi

below() { # AGENT FOLDER NAME: print agent, time, size and path of the files with a name below a folder
  case $2 in /*) ;; *) return;; esac
  ( cd "$2" 2>/dev/null && LC_ALL=C find . -type f -name "$3" ! -path '*[!A-Za-z0-9._/-]*' ! -name 'agent-*' \
    -exec stat "$flag" "$1 $form" '{}' + 2>/dev/null )
}
each_folder() { # ACTION ID: call ACTION with agent, folder and the pattern of the names
  "$1" agentwatch "${AGENTWATCH_HOME:-${XDG_STATE_HOME:-$HOME/.local/state}/agentwatch}/sessions" "$2.ndjson"
  "$1" agentwatch "$HOME/Library/Application Support/agentwatch/sessions" "$2.ndjson"
FOLDERS_OF_AGENTS}
newest() { LC_ALL=C sort -k2,2nr | head -n "$1"; }

choose() { # the newest file with the id, its folder and its size
  test "${agent:-$1}" = "$1" || return
  set -- "$2" `below "$@" | newest 1`
  test -n "$3" && test "$3" -gt "$time" && folder=$1 time=$3 size=$4 file=$5
}
beginning() { # AGENT ID: print the length of the beginning of a file, and exactly that number of bytes
  size=0; agent=$1 time=-1
  case $2 in ''|*[!A-Za-z0-9._-]*) ;; *) each_folder choose "*$2";; esac
  test "$size" -gt 32768 && size=32768
  echo "head $size"
  test "$size" = 0 || { ( cd "$folder" && cat "$file" ) 2>/dev/null | head -c "$size"; } |
    cat - /dev/zero 2>/dev/null | head -c "$size"
}
follow() { # print the identity of the file, and then its bytes, until the standard input ends
  time=-1; each_folder choose "*$id"
  test -n "$file" && cd "$folder" || exit 66
  set -- `stat "$flag" "$identity" "$file"`
  was=$1 size=$2
  test "$inode" = 0 || test "$inode" = "$was" || exit 75
  test "$size" -ge "$have" || exit 75
  echo "$mark tail"; echo "$was $size"
  exec 3<&0 </dev/null
  tail -c "+$((have + 1))" -f "$file" 3<&- & tail=$!
  ( cat >/dev/null; kill "$tail" ) <&3 3<&- >/dev/null 2>&1 &
  exec 3<&-
  while sleep 1; kill -0 "$tail" 2>/dev/null; do
    set -- `stat "$flag" "$identity" "$file" 2>/dev/null` "$was" "$size"
    test "$1" = "$was" && test "$2" -ge "$size" || { kill "$tail"; exit 75; }
    size=$2
  done
}

rows() {
  if test -n "$program"; then
    echo "$mark program"; "$program" host-rows; code=$?
    test "$code" = 2 || exit "$code"
  fi
  echo "$mark tail"
  while read -r line; do
    set -- $line
    case $1 in head) beginning "$2" "$3";; *) each_folder below '*' | newest 200; echo .;; esac
  done
}
pieces() {
  if test -n "$program"; then
    echo "$mark program"; "$program" host-pieces "$id" "$have" "$digest"; code=$?
    test "$code" = 2 || exit "$code"
  fi
  follow
}
case $mode in rows) rows;; pieces) pieces;; *) exit 64;; esac; exit
"""
"""The last line is read whole before it runs: what follows it on the standard input is not the shell's."""


@cache
def script() -> bytes:
    """Return the program, with the folders of all agents that keep files of lines."""
    folders = (
        f'  "$1" {program.name} "{each.over_ssh}/{each.part}" "$2.jsonl"\n'
        for program in programs()
        for each in program.sessions
        if each.over_ssh
    )
    return _SCRIPT.replace("FOLDERS_OF_AGENTS", "".join(folders)).encode()


def command(mode: str, session: str = "-", have: int = 0, digest: str = "-", inode: int = 0) -> str:
    """Return the command for the login shell of the host, of words that no shell changes.

    Args:
        mode: `rows` or `pieces`.
        session: The id of a session; it has been checked against the pattern of an address.
        have: The number of bytes that are here already.
        digest: Their SHA-256 in hexadecimal digits; `-` if it is not known.
        inode: The file that was read before, if there was only `tail`; 0 for any.
    """
    return f"exec sh -s -- {mode} {session} {have:d} {digest} {inode:d}"
