"""The text format: a line per call in the order of completion, with or without facts."""

from __future__ import annotations

import subprocess

import pytest

from tests.conftest import RECORDINGS
from tests.harness.program import AGENTWATCH, PLAIN, PLAIN_TEXT, UNFINISHED, environment, watch

pytestmark = pytest.mark.slow


def test_text_is_a_line_per_call() -> None:
    """The text format is the default without a terminal, a line per call in the order of completion."""
    for arguments in ((PLAIN,), (PLAIN, "-p", "--output-format", "text")):
        done = watch(*arguments)
        assert (done.returncode, done.stdout, done.stderr) == (0, PLAIN_TEXT, b"")


@pytest.mark.system
def test_text_is_in_the_order_of_completion() -> None:
    """Parallel calls are printed as they end; a call that never ended is printed at the end of the stream."""
    assert watch(RECORDINGS / "parallel.ndjson").stdout.decode().splitlines() == [
        "Read file config/test.toml (3 lines)",
        "Read file config/prod.toml (4 lines)",
        "Read file config/dev.toml (3 lines)",
    ]
    assert watch(UNFINISHED).stdout.decode().splitlines() == [
        "Read file Cargo.toml (4 lines)",
        "Ran terminal command cargo build --release (unfinished)",
    ]


def test_brief_is_the_bare_phrase() -> None:
    """With --brief, a line is the phrase that the agent's own text format documents."""
    done = watch(PLAIN, "--brief")
    assert (done.returncode, done.stdout) == (0, b"Read file\nEdited file\n")


@pytest.mark.parametrize("arguments", [[], pytest.param(["-", "--no-color"], marks=pytest.mark.system)])
def test_a_pipe_on_stdin_is_watched(arguments: list[str]) -> None:
    """`cat FILE | agentwatch` prints what `agentwatch FILE` prints."""
    shell = 'cat "$1"; shift; exec true'
    with subprocess.Popen(["sh", "-c", shell, "sh", str(PLAIN)], stdout=subprocess.PIPE) as producer:
        done = subprocess.run(
            [*AGENTWATCH, *arguments],
            stdin=producer.stdout,
            capture_output=True,
            env=environment(),
            timeout=20,
            check=False,
            start_new_session=True,
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, PLAIN_TEXT, b"")
