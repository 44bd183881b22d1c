"""A digest has the newest verdict of tests, if its command is among the lines that were read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents import Decoder
from agentwatch.catalog.digest import Digest, LastTests
from agentwatch.catalog.digest.reading import apply_lines, decoder_for
from tests.analysis.verdict_history.sessions import edit, run_of_tests
from tests.builders.on_disk import transcript as claude
from tests.builders.screen.lines import ended, init, shell, started
from tests.catalog.digest.growing import append, jsonl, tail_of
from tests.conftest import case

GREEN, RED = LastTests(False, 20, 0), LastTests(True, 18, 2)
MYPY = "Success: no issues found in 3 source files"


def call(number: int, result: dict[str, Any], command: str = "pytest -q") -> bytes:
    """Return a command with this result."""
    args: dict[str, object] = {"command": command}
    return started(f"x-{number}", "shell", args) + ended(f"x-{number}", "shell", args, result)


def applied(digest: Digest, *readings: bytes) -> Digest:
    """Apply lines to a digest, in one or several readings."""
    decoder = decoder_for(digest)
    for data in readings:
        apply_lines(digest, decoder, data.splitlines(keepends=True))
    return digest


VERDICTS: dict[str, tuple[list[bytes], LastTests | None]] = {
    "green": ([run_of_tests(1, 0)], GREEN),
    "red": ([run_of_tests(1, 2)], RED),
    "the newest counts": ([run_of_tests(1, 2), run_of_tests(2, 0)], GREEN),
    "other commands": ([run_of_tests(1, 2), shell(2)], RED),
    "a linter is no test": ([run_of_tests(1, 0), run_of_tests(2, 0, "mypy", MYPY)], GREEN),
    "only a linter": ([run_of_tests(1, 0, "mypy", MYPY)], None),
    "an old output": ([run_of_tests(1, 2, "cat pytest.log")], None),
    "changed since": ([run_of_tests(1, 0), edit(2, "a")], GREEN._replace(is_stale=True)),
    "red and changed": ([run_of_tests(1, 2), edit(2, "a")], RED._replace(is_stale=True)),
    "an edit failed": ([run_of_tests(1, 0), edit(2, "a", is_failed=True)], GREEN),
    "changed before": ([edit(1, "a"), run_of_tests(2, 0)], GREEN),
    "changed before another command": (
        [run_of_tests(1, 0), edit(2, "a") + shell(3)],
        GREEN._replace(is_stale=True),
    ),
    "the last run was killed": ([run_of_tests(1, 0), call(2, {"failure": {"aborted": True}})], None),
    "another command was killed": (
        [run_of_tests(1, 0), call(2, {"failure": {"aborted": True}}, "sleep 9")],
        GREEN,
    ),
    "a rejected call": ([run_of_tests(1, 0), call(2, {"rejected": {"reason": "no"}})], GREEN),
    "nothing ran": ([run_of_tests(1, 0), run_of_tests(2, 0, output="3 deselected in 0.1s")], None),
}


def test_the_newest_verdict_of_tests() -> None:
    """It is the same whether the lines are read at once or as they are appended."""
    for name, (pieces, tests) in VERDICTS.items():
        for readings in (1, 2):
            with case(f"{name}, {readings}"):
                data = [init() + b"".join(pieces)] if readings == 1 else [init(), *pieces]
                assert applied(Digest(format="cursor"), *data).tests == tests


def test_few_outputs_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many commands of one reading, the output of the newest six is read; the tests before are unknown."""
    read: list[str] = []
    blocks = Decoder.blocks

    def counted(decoder: Decoder, data: bytes, call_id: str = "") -> Any:
        read.append(call_id)
        return blocks(decoder, data, call_id)

    monkeypatch.setattr(Decoder, "blocks", counted)
    others = b"".join(call(number, {"success": {"stdout": "x"}}, f"./go {number}") for number in range(40))
    assert applied(Digest(format="cursor"), init() + run_of_tests(1, 0) + others).tests is None
    assert read == [f"x-{number}" for number in range(39, 33, -1)]


def test_a_large_line_is_not_read() -> None:
    """The result in a line over 1 MiB is unknown."""
    output = "x\n" * 600_000 + "20 passed in 0.1s"
    assert applied(Digest(format="cursor"), init() + run_of_tests(1, 0, output=output)).tests is None
    assert applied(Digest(format="cursor"), init() + run_of_tests(1, 0, output=output[-9000:])).tests == GREEN


def test_lines_that_are_left_out_make_it_unknown() -> None:
    """After a gap, the tests before it are unknown."""
    digest = applied(Digest(format="cursor"), init() + run_of_tests(1, 0))
    digest.skip()
    assert digest.tests is None


def test_the_tests_of_a_file_that_grows(path: Path) -> None:
    """A result names only its call; the command is that of the call's start."""
    tail, digest = tail_of(path)
    append(path, jsonl(claude.call("c1", given={"command": "pytest -q"})))
    tail.update()
    line = claude.returned("c1")
    line["message"]["content"][0]["content"] = "3 passed in 0.1s"
    append(path, jsonl(line))
    tail.update()
    assert digest.tests == LastTests(False, 3, 0)
