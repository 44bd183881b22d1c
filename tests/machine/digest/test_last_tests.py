"""A digest has the newest verdict of tests, if its command is among the lines that were read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentwatch.machine.digest import Digest, LastTests
from agentwatch.machine.digest.decoding import apply_lines, decoder_for
from agentwatch.wire import Decoder
from tests.analysis.verdict_history.sessions import edit, run_of_tests
from tests.builders.on_disk import transcript as claude
from tests.builders.screen.lines import ended, init, shell, started
from tests.machine.digest.growing import append, jsonl, tail_of

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


@pytest.mark.parametrize("readings", [1, 2])
@pytest.mark.parametrize(
    ("pieces", "tests"),
    [
        pytest.param([run_of_tests(1, 0)], GREEN, id="green"),
        pytest.param([run_of_tests(1, 2)], RED, id="red"),
        pytest.param([run_of_tests(1, 2), run_of_tests(2, 0)], GREEN, id="the newest counts"),
        pytest.param([run_of_tests(1, 2), shell(2)], RED, id="other commands"),
        pytest.param([run_of_tests(1, 0), run_of_tests(2, 0, "mypy", MYPY)], GREEN, id="a linter is no test"),
        pytest.param([run_of_tests(1, 0, "mypy", MYPY)], None, id="only a linter"),
        pytest.param([run_of_tests(1, 2, "cat pytest.log")], None, id="an old output"),
        pytest.param([run_of_tests(1, 0), edit(2, "a")], GREEN._replace(is_stale=True), id="changed since"),
        pytest.param([run_of_tests(1, 2), edit(2, "a")], RED._replace(is_stale=True), id="red and changed"),
        pytest.param([run_of_tests(1, 0), edit(2, "a", is_failed=True)], GREEN, id="an edit failed"),
        pytest.param([edit(1, "a"), run_of_tests(2, 0)], GREEN, id="changed before"),
        pytest.param(
            [run_of_tests(1, 0), edit(2, "a") + shell(3)],
            GREEN._replace(is_stale=True),
            id="changed before another command",
        ),
        pytest.param(
            [run_of_tests(1, 0), call(2, {"failure": {"aborted": True}})], None, id="the last run was killed"
        ),
        pytest.param(
            [run_of_tests(1, 0), call(2, {"failure": {"aborted": True}}, "sleep 9")],
            GREEN,
            id="another command was killed",
        ),
        pytest.param(
            [run_of_tests(1, 0), call(2, {"rejected": {"reason": "no"}})], GREEN, id="a rejected call"
        ),
        pytest.param(
            [run_of_tests(1, 0), run_of_tests(2, 0, output="3 deselected in 0.1s")], None, id="nothing ran"
        ),
    ],
)
def test_the_newest_verdict_of_tests(pieces: list[bytes], tests: LastTests | None, readings: int) -> None:
    """It is the same whether the lines are read at once or as they are appended."""
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
