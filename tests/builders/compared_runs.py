"""Generated runs of one task with known calls, and what is compared of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agentwatch.feed.feed import Feed
from agentwatch.output.compare.comparison import Comparison, Side, compare, side_of
from agentwatch.recording.lines import LineReader
from agentwatch.recording.saved import open_saved
from tests.builders.lines import completed, final, init, result, started, user

BEGAN_MS = 1_700_000_000_000


@dataclass(frozen=True)
class Did:
    """A call of a run: what it did, how it ended, and how long it took."""

    tool: str
    args: dict[str, Any]
    answer: dict[str, Any] = field(default_factory=lambda: {"success": {}})
    took_ms: int = 100


def read(path: str) -> Did:
    return Did("read", {"path": f"CWD/{path}"})


def edit(path: str, added: int = 4, removed: int = 2) -> Did:
    facts = {"linesAdded": added, "linesRemoved": removed, "beforeFullFileContent": "a"}
    return Did("edit", {"path": f"CWD/{path}"}, {"success": facts})


def shell(command: str, exit_code: int = 0, stdout: str = "", took_ms: int = 100) -> Did:
    answer = {"success" if exit_code == 0 else "failure": {"exitCode": exit_code, "stdout": stdout}}
    return Did("shell", {"command": command}, answer, took_ms)


def run_tests(failed: int = 0) -> Did:
    """Return a call that runs 20 tests, of which some fail."""
    summary = f"{failed} failed, {20 - failed} passed in 0.3s" if failed else "20 passed in 0.2s"
    return shell("pytest -q", 1 if failed else 0, summary)


TASK = (
    read("src/mill.py"),
    read("src/wheel.py"),
    run_tests(failed=2),
    edit("src/mill.py"),
    shell("git diff --stat > /tmp/tmpa81x2b"),
    run_tests(),
)
"""The calls of a run that mends a test."""
USAGE = {"inputTokens": 1000, "outputTokens": 200, "cacheReadTokens": 500, "cacheWriteTokens": 0}


@dataclass(frozen=True)
class Run:
    """A generated run."""

    calls: tuple[Did, ...] = TASK
    cwd: str = "/home/ada/mill"
    text: str = "Mended: the wheel turns again."
    usage: dict[str, int] | None = field(default_factory=lambda: dict(USAGE))

    def changed(self, at: int, call: Did) -> Run:
        """Return the run with another call at an index."""
        return replace(self, calls=(*self.calls[:at], call, *self.calls[at + 1 :]))

    def without(self, at: int) -> Run:
        return replace(self, calls=self.calls[:at] + self.calls[at + 1 :])

    def with_call(self, at: int, call: Did) -> Run:
        """Return the run with one call more, before an index."""
        return replace(self, calls=(*self.calls[:at], call, *self.calls[at:]))

    def lines(self) -> bytes:
        at_ms, lines = BEGAN_MS, [init(self.cwd), user()]
        for number, call in enumerate(self.calls):
            args = {name: _placed(value, self.cwd) for name, value in call.args.items()}
            lines.append(started(call.tool, f"c-{number}", at_ms, **args))
            at_ms += call.took_ms
            lines.append(completed(call.tool, f"c-{number}", call.answer, at_ms, **args))
            at_ms += 50
        lines += (final(self.text), result(self.text, usage=self.usage, duration_ms=at_ms - BEGAN_MS))
        return b"".join(lines)

    def side(self, folder: Path, name: str) -> Side:
        """Record the run in a folder, and return it as it is compared."""
        path = folder / f"{name}.ndjson"
        path.write_bytes(self.lines())
        return side_at(path)


def _placed(value: Any, cwd: str) -> Any:
    return value.replace("CWD", cwd) if isinstance(value, str) else value


def side_at(path: Path) -> Side:
    """Return the run of a recording as it is compared."""
    feed = Feed(open_saved(path))
    feed.takes_agent_times = True
    feed.advance()
    return side_of(path.name, feed)


def compared(folder: Path, a: Run, b: Run) -> Comparison:
    """Record two runs in a folder, and compare them."""
    return compare(a.side(folder, "a"), b.side(folder, "b"))


@contextmanager
def open_comparison(folder: Path, a: Run, b: Run) -> Iterator[Comparison]:
    """Record two runs in a folder, compare them, and close the recordings afterwards."""
    sides = a.side(folder, "a"), b.side(folder, "b")
    try:
        yield compare(*sides)
    finally:
        for side in sides:
            assert isinstance(side.feed.reader, LineReader)
            os.close(side.feed.reader.fd)
