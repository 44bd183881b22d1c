"""Sessions call by call, with their episodes. A call starts ten seconds after the one before it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentwatch.analysis.episodes import Episode, Episodes
from tests.builders.lines import CWD, completed, feed_of, init, started

BEGAN_MS = 1_793_610_000_000
Call = Callable[[int], bytes]
"""The lines of a call, by its number."""
RED = "2 failed, 3 passed in 0.31s"
GREEN = "5 passed in 0.30s"


def call(tool: str, result: dict[str, Any], **args: Any) -> Call:
    """Return a call of a tool, which lasts one second."""

    def lines(number: int) -> bytes:
        call_id, at_ms = f"c-{number}", BEGAN_MS + 10_000 * number
        return started(tool, call_id, at_ms, **args) + completed(tool, call_id, result, at_ms + 1000, **args)

    return lines


def shell(command: str, exit_code: int = 0, stdout: str = "") -> Call:
    body = {"exitCode": exit_code, "stdout": stdout}
    return call("shell", {"failure" if exit_code else "success": body}, command=command)


def edit(path: str, before: str = "a\n", after: str = "b\n", removed: int = 1) -> Call:
    """Return an edit of a file in the project, with its whole content before and after."""
    contents = {"beforeFullFileContent": before, "afterFullFileContent": after}
    body = {"linesAdded": 1, "linesRemoved": removed, "diffString": "-a\n+b"} | contents
    return call("edit", {"success": body}, path=f"{CWD}/{path}")


def failed_edit(path: str) -> Call:
    return call("edit", {"error": {"errorMessage": "no such text"}}, path=f"{CWD}/{path}")


def read(path: str, lines: int = 20, **part: int) -> Call:
    """Return a read of a file in the project, or of a part of it."""
    return call("read", {"success": {"totalLines": lines}}, path=f"{CWD}/{path}", **part)


def written(*calls: Call) -> bytes:
    """Return a session with these calls, which is still running."""
    return init() + b"".join(each(number) for number, each in enumerate(calls, 1))


def read_whole(episodes: Episodes) -> Episodes:
    """Return episodes that have read all calls and compared all files."""
    while episodes.update() or episodes.read_one():
        pass
    return episodes


def found_in(path: Path) -> Episodes:
    """Return the episodes of a recording that still grows."""
    return read_whole(Episodes(feed_of(path, follow=True)))


def words_of(episodes: Episodes) -> list[str]:
    """Return the line of each episode."""
    return [each.words for each in episodes.episodes()]


def only(episodes: Episodes) -> Episode:
    (found,) = episodes.episodes()
    return found
