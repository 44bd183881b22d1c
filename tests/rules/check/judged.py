"""Judges recordings that tests write."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from agentwatch.feed.feed import Feed
from agentwatch.recording.acts import SessionActs
from agentwatch.recording.saved import open_saved
from agentwatch.rules.check.judge import Judge
from agentwatch.rules.check.judgement import Checked, Judgement
from agentwatch.rules.check.kinds import Rule, by_options
from agentwatch.sources.file import FileSource
from tests.builders.lines import DONE, completed, init, result, started, user


def call(
    tool: str, call_id: str, start_ms: int, end_ms: int, outcome: object = DONE, **args: object
) -> bytes:
    """Return the two lines of a call with its times."""
    return started(tool, call_id, start_ms, **args) + completed(tool, call_id, outcome, end_ms, **args)


def shell(command: str, call_id: str, start_ms: int, exit_code: int = 0, stdout: str = "") -> bytes:
    """Return the two lines of a command that took a second."""
    body = {"command": command, "exitCode": exit_code, "stdout": stdout, "stderr": ""}
    outcome = {"failure" if exit_code else "success": body}
    return call("shell", call_id, start_ms, start_ms + 1000, outcome, command=command)


def run(*lines: bytes) -> bytes:
    """Return a run that succeeded, with these lines in it."""
    return init() + user() + b"".join(lines) + result()


def rules(
    *, forbid: list[str] | None = None, require: list[str] | None = None, limit: list[str] | None = None
) -> list[Rule]:
    """Return the rules of options."""
    return by_options(forbid or [], require or [], limit or [])


def judge(data: bytes, given: list[Rule], folder: Path, *, knows_acts: bool = True) -> list[Judgement]:
    """Return the judgements on a recording."""
    path = folder / "judged.ndjson"
    path.write_bytes(data)
    with closing(FileSource(open_saved(path))) as source:
        feed = Feed(source.reader)
        feed.acts_of = SessionActs.of_file(path) if knows_acts else None
        judge = Judge(feed, given)
        while not feed.is_over:
            feed.advance()
        return judge.judgements()


def checked(data: bytes, given: list[Rule], folder: Path, address: str = "a.ndjson") -> Checked:
    """Return what a check found in a recording."""
    return Checked(address, judge(data, given, folder), 0, "cursor", 0.5)
