"""The formats json and stream-json: the last result line, and the whole stream, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.lines import init, result, user
from tests.conftest import RECORDINGS, Saver
from tests.harness.program import FAILED, UNFINISHED, watch

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "name",
    [
        "plain",
        *(
            pytest.param(name, marks=pytest.mark.system)
            for name in ("json-format", "two-runs", "disagreement")
        ),
    ],
)
def test_json_is_the_result_as_the_agent_sent_it(name: str) -> None:
    """The json format is the raw line of the last result and nothing else."""
    path = RECORDINGS / f"{name}.ndjson"
    done = watch(path, "--output-format", "json")
    assert done.stdout == path.read_bytes().splitlines()[-1] + b"\n"
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.system
def test_json_is_byte_identical(recording: Saver) -> None:
    """Unknown fields, odd spacing, a CR and a missing line end do not change the printed bytes."""
    head = b'{ "type": "result","session_id":"s-1","is_error":false, '
    raw = head + b'"result":"caf\\u00e9 \xc3\xa9",  "new":1.50}'
    for ending in (b"", b"\n", b"\r\n"):
        done = watch(recording(init(), raw + ending), "--output-format", "json")
        assert (done.returncode, done.stdout) == (0, raw + b"\n")


@pytest.mark.parametrize(
    ("path", "reason"),
    [(FAILED, "the monthly allowance of this account is used up"), (UNFINISHED, "without a result")],
)
def test_json_of_a_failure_is_on_stderr(path: Path, reason: str) -> None:
    """For a failed run, or one without a result, stdout is empty and stderr has the reason."""
    done = watch(path, "--output-format", "json")
    assert (done.returncode, done.stdout) == (1, b"")
    assert reason in done.stderr.decode()
    assert done.stderr.startswith(b"agentwatch: ")


def test_json_of_a_later_run_is_not_an_earlier_runs(recording: Saver) -> None:
    """When the last run has no result, the result of an earlier run is not printed instead."""
    done = watch(recording(init(), result("x"), init(), user()), "--output-format", "json")
    assert (done.returncode, done.stdout) == (1, b"")


@pytest.mark.parametrize(
    "name",
    ["hostile", *(pytest.param(name, marks=pytest.mark.system) for name in ("malformed", "unfinished"))],
)
def test_stream_json_is_every_byte(name: str) -> None:
    """The stream is printed byte for byte, malformed and incomplete lines included."""
    path = RECORDINGS / f"{name}.ndjson"
    assert watch(path, "--output-format", "stream-json").stdout == path.read_bytes()


@pytest.mark.system
def test_stream_json_of_a_pipe_is_every_byte() -> None:
    """Bytes that come through a pipe are passed on unchanged, whatever they are."""
    data = b"\xff\x00\r\n\n{}\n" + b"x" * 300_000
    done = watch("--output-format", "stream-json", stdin=data)
    assert done.returncode == 2
    assert (len(done.stdout), done.stdout[:9]) == (len(data), data[:9])
