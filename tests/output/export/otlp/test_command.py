"""The command `export --to otlp`: its report on stderr, its exit codes, and what it needs."""

from pathlib import Path

import pytest

from agentwatch.analysis.shell import first_program
from agentwatch.base.extras import EXTRAS, install_command
from tests.conftest import RECORDINGS, ROOT, case
from tests.harness.program import watch
from tests.output.export.otlp.collector import Collector, partial_success, refusal

PLAIN = RECORDINGS / "plain.ndjson"


@pytest.mark.slow
def test_a_session_is_sent(backend: Collector) -> None:
    """All spans accepted: exit 0, and one line on stderr with their number and the address."""
    done = watch("export", PLAIN, "--to", "otlp")
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(f"agentwatch: sent 4 spans to {backend.url}/v1/traces; ".encode())
    assert done.stderr.count(b"\n") == 1
    assert len(backend.spans()) == 4


@pytest.mark.system
def test_an_incomplete_export_says_so(backend: Collector) -> None:
    """If a backend rejects or refuses spans, or is away, the exit code is 74."""
    # Without redaction, stderr and the span of the run say it.
    done = watch("export", PLAIN, "--to", "otlp", "--raw", "--content")
    assert done.stderr.endswith(b"; nothing was redacted (--raw)\n")
    run = backend.named("invoke_agent cursor")
    assert [each.value.bool_value for each in run.attributes if each.key == "agentwatch.redacted"] == [False]
    # If the backend rejects spans, the exit code is 74.
    backend.replies = [partial_success(1, "too old")]
    done = watch("export", PLAIN, "--to", "otlp")
    assert done.returncode == 74
    assert b"sent 3 of 4 spans to " in done.stderr
    assert b": rejected by the backend (too old); " in done.stderr
    # If the backend refuses everything, the exit code is 74, and nothing but one line is printed.
    backend.replies = [refusal(401)]
    done = watch("export", PLAIN, "--to", "otlp")
    assert (done.returncode, done.stderr.count(b"\n")) == (74, 1)
    assert b"/v1/traces: 401 Unauthorized; " in done.stderr
    # A refused connection takes no retries, and prints no credentials.
    done = watch(
        "export", PLAIN, "--to", "otlp", OTEL_EXPORTER_OTLP_ENDPOINT="http://ada:hunter2@127.0.0.1:9"
    )
    assert done.returncode == 74
    assert done.stderr.startswith(
        b"agentwatch: sent 0 of 4 spans to http://127.0.0.1:9/v1/traces: connection refused"
    )
    assert done.stderr.count(b"\n") == 1
    assert b"hunter2" not in done.stderr


@pytest.mark.system
def test_a_protocol_is_http_and_nothing_else_sends(backend: Collector, tmp_path: Path) -> None:
    """What cannot be sent is refused, and no other command sends."""
    # `-o` is wrong use: nothing is sent, and no file written.
    for output in ("-", "file.bin"):
        with case(output):
            done = watch("export", PLAIN, "--to", "otlp", "-o", output, cwd=tmp_path)
            assert (done.returncode, done.stdout) == (2, b"")
            assert done.stderr == b"agentwatch: --to otlp sends the session; it takes no -o\n"
            assert (backend.requests, [*tmp_path.glob("file*")]) == ([], [])
    # An environment that asks for gRPC names a port that does not speak HTTP.
    done = watch("export", PLAIN, "--to", "otlp", OTEL_EXPORTER_OTLP_PROTOCOL="grpc")
    assert done.returncode == 2
    assert done.stderr == (
        b"agentwatch: OTEL_EXPORTER_OTLP_PROTOCOL is grpc; agentwatch sends http/protobuf only\n"
    )
    assert backend.requests == []
    # A file that is not a recording is exit 2, as for every export.
    path = tmp_path / "text.ndjson"
    path.write_bytes(b"hello\n")
    assert watch("export", path, "--to", "otlp").returncode == 2
    assert backend.requests == []
    # With the variables of a backend set, other commands send nothing.
    for command in (
        ["-p"],
        ["-p", "--times"],
        ["show"],
        ["export", "--to", "atif", "-o", tmp_path / "a.json"],
    ):
        assert watch(*command, PLAIN).returncode == 0
    assert backend.requests == []
    # The more specific variable decides.
    done = watch(
        *("export", PLAIN, "--to", "otlp"),
        OTEL_EXPORTER_OTLP_PROTOCOL="grpc",
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL="http/protobuf",
    )
    assert (done.returncode, len(backend.spans())) == (0, 4)


@pytest.mark.system
def test_without_the_extra_the_command_says_how_to_install_it(backend: Collector, tmp_path: Path) -> None:
    """The packages of the extra are missed before the session is read, in one line and with exit 2."""
    (tmp_path / "opentelemetry").mkdir()
    (tmp_path / "opentelemetry" / "__init__.py").write_text("raise ImportError('absent')\n")
    path = f"{tmp_path}:{ROOT}"
    done = watch("export", "absent.ndjson", "--to", "otlp", PYTHONPATH=path)
    assert done.returncode == 2
    needed = f"a package that is not installed: {install_command(EXTRAS['otlp'])}"
    assert done.stderr.decode() == f"agentwatch: --to otlp needs {needed}\n"
    assert watch("export", PLAIN, "--to", "atif", "-o", "-", PYTHONPATH=path).returncode == 0


COMMANDS: list[tuple[str, str | None]] = [
    ("pytest -q tests", "pytest"),
    ("cd web && CI=1 npx tsc", "npx"),
    ("cd web; ls", "ls"),
    ("cd web\nmake all", "make"),
    ("cd web", "cd"),
    ("(cd web && ./run.sh)", "run.sh"),
    ("/usr/bin/python3.11 -c 'import x'", "python3.11"),
    ("TOKEN='a secret b' make", "make"),
    ("echo hidden | cat", "echo"),
    ("$(hidden) x", None),
    ("'my hidden' x", None),
    ("'hidden", None),
    ("A=hidden", None),
    ("", None),
    ("&& ||", None),
    ("a" * 100, None),
    ("\ud800 x", None),
]


def test_the_first_program_is_found() -> None:
    """Folders, assignments and signs before the program are skipped; what is not a plain name is unknown."""
    for command, program in COMMANDS:
        with case(command):
            assert first_program(command) == program
