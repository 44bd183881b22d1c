"""The programs that agents run: one notes events in logs, which `reports` reads; one asks the open list."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from agentwatch.base.local_socket import NAME as SOCKET
from agentwatch.recording.store import open_own, private_folder, replace_file

_NAME = "agentwatch-hook"
_END = "; exit 0"
_MOST_BYTES = 1 << 16

SCRIPT = rb"""#!/bin/sh
# Written by `agentwatch hooks install`. It notes that an event of an agent has happened: its name, the name
# of the tool and the time, in AGENT/SESSION.log beside this file. It notes no input and no prompt, prints
# nothing, and always ends with 0, because an agent may take anything else as a decision.
trap 'exit 0' EXIT
exec >/dev/null 2>&1
# Programs of the folder in which the agent works must not run, whatever the agent's PATH is.
PATH=/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin
LC_ALL=C IFS='"' event=$2 folder=${0%/*}/$1
set -f
umask 077
# The beginning has what is needed. The rest is read too: an agent may fail if it cannot write all of it.
input=$(head -c 16384; cat >/dev/null)
# Every second word between quotation marks is a string. A quotation mark with an odd number of backslashes
# before it does not end a string. Only keys of the outermost object count: the input of a tool may contain
# the same keys.
opens='{[' closes=']}' string= inside= depth=0 key= colon= session= tool= kind=
for word in $input!; do # a string that was cut ends with a character that no name has
    if [ "$inside" ]; then
        case $word in
        *\\)
            slashes=${word##*[!\\]}
            [ $((${#slashes} % 2)) = 1 ] && inside=escaped && continue
            ;;
        esac
        string=$word
        [ "$inside" = escaped ] && string=' ' # neither a key nor a name that counts
        inside=
        case $depth$colon in
        '1:' | '1: ' | '1 :' | '1 : ')
            case $key in
            session_id | conversation_id) session=${session:-$string} ;;
            tool_name) tool=${tool:-$string} ;;
            notification_type) kind=${kind:-$string} ;;
            esac
            ;;
        esac
        key=$string
    else
        inside=yes colon=$word
        while rest=${word#*["$opens$closes"]} && [ "$rest" != "$word" ]; do
            case ${word%"$rest"} in
            *["$opens"]) depth=$((depth + 1)) ;;
            *) depth=$((depth - 1)) ;;
            esac
            word=$rest
        done
    fi
done
case $event in
Notification)
    [ "$kind" = ToolPermission ] || exit
    event=PermissionRequest
    ;;
esac
case $session in '' | *[!A-Za-z0-9_-]*) exit ;; esac
[ ${#session} -le 64 ] || exit
case $tool in *[!A-Za-z0-9_.:-]*) tool= ;; esac
[ ${#tool} -le 64 ] || tool=
now=$(date +%s%3N) # the date of macOS has no milliseconds
case $now in '' | *[!0-9]*) now=$(date +%s)000 ;; esac
[ -d "$folder" ] || mkdir "$folder"
log=$folder/$session.log
[ -L "$log" ] && exit
[ -f "$log" ] && [ "$(wc -c <"$log")" -gt 65536 ] && true >"$log"
# A full disk may have cut the last line, so the line end comes first too; blank lines mean nothing.
printf '\n{"event":"%s","tool":"%s","at_ms":%s}\n' "$event" "$tool" "$now" >>"$log"
exit
"""


_ASKING = """#!/bin/sh
# Written by `agentwatch hooks install AGENT --answer`. It asks the open list, and prints the decision of the
# user. Without an open list it prints nothing and ends, which the agent takes as no decision.
[ -S {socket} ] && [ -r {program} ] && exec {python} -I -S {program} {folder} {settings} 2>/dev/null
exec /bin/cat >/dev/null
"""


class Program(NamedTuple):
    folder: Path
    answers: str = ""
    """The file of the program that answers; empty for the one that notes events."""
    settings: Path = Path()
    """The file of the user's settings, which the program reads too."""

    @property
    def path(self) -> Path:
        return self.folder / (f"{_NAME}-answer" if self.answers else _NAME)

    @property
    def script(self) -> bytes:
        if not self.answers:
            return SCRIPT
        folder = answer_folder(self.folder.parent)
        paths = {"program": self.answers, "python": sys.executable, "folder": folder}
        paths |= {"socket": folder / SOCKET, "settings": self.settings}
        words = {name: shlex.quote(str(path)) for name, path in paths.items()}
        return os.fsencode(_ASKING.format(**words))

    @property
    def is_installed(self) -> bool:
        """Whether the file is the program of this version, and may be run."""
        try:
            return own_bytes(self.path, _MOST_BYTES) == self.script and os.access(self.path, os.X_OK)
        except OSError:
            return False

    def command(self, agent: str, event: str) -> str:
        """The command, which ends with 0 even without the program. It is valid in sh, zsh and fish: Codex
        uses the user's shell. `event` is its name as it is logged."""
        path = shlex.quote(str(self.path))
        return f"[ -x {path} ] && {path} {agent} {event} || /bin/cat >/dev/null{_END}"

    def install(self) -> None:
        """Write it in a folder that only the user may use. Raise `OSError`."""
        private_folder(self.folder)
        if not self.is_installed:
            replace_file(self.path, lambda: self.script, 0o700)

    def forget(self, agent: str) -> None:
        """Delete an agent's logs, which would otherwise keep reporting its last state. Raise `OSError`."""
        logs = self.folder / agent
        if not logs.is_symlink():
            with suppress(FileNotFoundError):
                shutil.rmtree(logs)


def answer_folder(state: Path) -> Path:
    """The folder of the socket on which the open list is asked; `state` is the state folder."""
    return state / "answer"


def own_bytes(path: Path, most_bytes: int) -> bytes | None:
    """Return None if the file does not exist. Raise `OSError` if it is a link, no regular file, has another
    name too, belongs to another user, is larger, or cannot be read."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, "it is a link", str(path))
    try:
        fd = open_own(path)
    except FileNotFoundError:
        return None
    try:
        status = os.fstat(fd)
        if status.st_nlink > 1:
            raise OSError(errno.EMLINK, "it has another name too", str(path))
        if status.st_size > most_bytes:
            raise OSError(errno.EFBIG, "it is too large", str(path))
        return os.pread(fd, most_bytes, 0)
    finally:
        os.close(fd)


def is_own(command: object) -> bool:
    """Return whether the command of a hook is one that agentwatch has installed, for any folder."""
    return (
        isinstance(command, str)
        and command.startswith("[ -x ")
        and f"/{_NAME}" in command
        and command.endswith(_END)
    )
