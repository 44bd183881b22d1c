"""Deletes old recordings of our own, after it has shown which and was asked to."""

from __future__ import annotations

import time

from agentwatch.cli.messages import confirmed, say
from agentwatch.cli.sessions.options import Pruning
from agentwatch.cli.stdout import print_lines
from agentwatch.faults import INCOMPLETE_RECORDING, USAGE, Fault, cannot_open
from agentwatch.recording import sessions_folder
from agentwatch.recording.saved_sessions.deletion import delete_session
from agentwatch.recording.saved_sessions.pruning import Prunable, prunable
from agentwatch.recording.saved_sessions.stems import SavedStem
from agentwatch.text.amounts import byte_size, plural
from agentwatch.text.times import date_and_minute


def prune(asked: Pruning) -> int:
    """Print the recordings of our own that are older, and delete them if that is confirmed.

    Without `--yes`, it asks on a terminal, and elsewhere deletes nothing.

    Args:
        asked: The options.

    Returns:
        The exit code: 74 if one of them cannot be deleted.

    Raises:
        Fault: Neither an option nor the settings name an age, or the folder of sessions cannot be read.
    """
    older_ms = asked.older_ms
    if older_ms is None:
        from agentwatch.cli.config_file import read_keep_ms

        older_ms = read_keep_ms()
    if older_ms is None:
        raise Fault(
            '--prune needs an age: --older 30d, or keep = "30d" under [sessions] in the settings', USAGE
        )
    before_ms = time.time_ns() // 10**6 - older_ms
    try:
        found = prunable(before_ms, keep_bookmarked=asked.keeps_bookmarked)
    except OSError as error:
        raise cannot_open(sessions_folder(), error) from None
    code = print_lines(map(_line, found.sessions))
    _say_kept(found)
    if not found.sessions:
        say("no recording of agentwatch is that old")
        return code
    words = f"{plural(len(found.sessions), 'recording')}, {byte_size(found.size)}"
    if asked.is_dry or code or not (asked.is_sure or confirmed(f"Delete {words}?")):
        hint = "" if asked.is_dry else "; --yes deletes them"
        say(f"nothing was deleted: {words} would be{hint}")
        return code
    return _delete(found)


def _line(stem: SavedStem) -> str:
    return f"{date_and_minute(stem.changed_ms)}  {byte_size(stem.size):>8}  {stem.recording}"


def _say_kept(found: Prunable) -> None:
    if found.bookmarked:
        say(f"kept {plural(found.bookmarked, 'recording')} with bookmarks")
    if found.recorded:
        is_are = "is" if found.recorded == 1 else "are"
        say(f"kept {plural(found.recorded, 'recording')} that {is_are} still being written")


def _delete(found: Prunable) -> int:
    """Delete sessions, report each that cannot be deleted, and return the exit code."""
    deleted = freed = 0
    for stem in found.sessions:
        try:
            freed += delete_session(stem.recording)
        except OSError as error:
            say(f"cannot delete {stem.recording}: {(error.strerror or str(error)).lower()}")
        else:
            deleted += 1
    say(f"deleted {plural(deleted, 'recording')}, {byte_size(freed)}")
    return 0 if deleted == len(found.sessions) else INCOMPLETE_RECORDING
