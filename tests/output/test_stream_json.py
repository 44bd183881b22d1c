"""The formats json and stream-json: the last result line, and the whole stream, byte for byte."""

import subprocess

import pytest

from tests.builders.lines import init, result, user
from tests.conftest import RECORDINGS, Saver, case
from tests.harness.program import AGENTWATCH, FAILED, PLAIN, PLAIN_TEXT, UNFINISHED, environment, watch

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
    # Bytes that come through a pipe are passed on unchanged, whatever they are.
    data = b"\xff\x00\r\n\n{}\n" + b"x" * 300_000
    done = watch("--output-format", "stream-json", stdin=data)
    assert done.returncode == 2
    assert (len(done.stdout), done.stdout[:9]) == (len(data), data[:9])
    # Parallel calls are printed as they end; a call that never ended is printed at the end of the stream.
    assert watch(RECORDINGS / "parallel.ndjson").stdout.decode().splitlines() == [
        "Read file config/test.toml (3 lines)",
        "Read file config/prod.toml (4 lines)",
        "Read file config/dev.toml (3 lines)",
    ]
    assert watch(UNFINISHED).stdout.decode().splitlines() == [
        "Read file Cargo.toml (4 lines)",
        "Ran terminal command cargo build --release (unfinished)",
    ]


@pytest.mark.parametrize(
    "name",
    ["hostile", *(pytest.param(name, marks=pytest.mark.system) for name in ("malformed", "unfinished"))],
)
def test_stream_json_is_every_byte(name: str) -> None:
    """The stream is printed byte for byte, malformed and incomplete lines included."""
    path = RECORDINGS / f"{name}.ndjson"
    assert watch(path, "--output-format", "stream-json").stdout == path.read_bytes()


def test_text_is_a_line_per_call(recording: Saver) -> None:
    """The text format is the default without a terminal, a line per call in the order of completion."""
    for arguments in ((PLAIN,), (PLAIN, "-p", "--output-format", "text")):
        done = watch(*arguments)
        assert (done.returncode, done.stdout, done.stderr) == (0, PLAIN_TEXT, b"")
    # With --brief, a line is the phrase that the agent's own text format documents.
    done = watch(PLAIN, "--brief")
    assert (done.returncode, done.stdout) == (0, b"Read file\nEdited file\n")
    # When the last run has no result, the result of an earlier run is not printed instead.
    done = watch(recording(init(), result("x"), init(), user()), "--output-format", "json")
    assert (done.returncode, done.stdout) == (1, b"")
    # For a failed run, or one without a result, stdout is empty and stderr has the reason.
    for path, reason in (
        (FAILED, "the monthly allowance of this account is used up"),
        (UNFINISHED, "without a result"),
    ):
        with case(path):
            done = watch(path, "--output-format", "json")
            assert (done.returncode, done.stdout) == (1, b"")
            assert reason in done.stderr.decode()
            assert done.stderr.startswith(b"agentwatch: ")


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
