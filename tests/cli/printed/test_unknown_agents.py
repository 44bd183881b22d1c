"""A stream of no known agent is called unknown, in every format and command, and never unfinished."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentwatch.agents.registry import known_agents
from tests.builders.formats.unknown_agents import FOREIGN, STREAMS
from tests.builders.lines import event, init, result
from tests.conftest import Saver, case
from tests.harness.fake_agent import command
from tests.harness.program import PLAIN, ran, watch

FORMATS = ("text", "json", "stream-json", "final", "summary")
OTHER = FOREIGN + event("farewell", is_error=False, result="x")
WORDS = "agentwatch: not a stream of an agent that this version knows (first line: "
FOR_TEXT = "): add --output-format stream-json to the agent's command\n"
FOR_JSON = "): try --format NAME, or agentwatch drift\n"


def test_another_agent_is_unknown_in_every_format(recording: Saver) -> None:
    """A stream of an agent that is not known exits with 2 and says so in one line."""
    for name, data in STREAMS.items():
        for form in FORMATS:
            with case(f"{name}, {form}"):
                done = ran(recording(data), "--output-format", form)
                assert done.returncode == 2
                said = done.stderr.decode()
                assert said.startswith(WORDS)
                assert said.endswith(FOR_JSON)
                assert said.count("\n") == 1
                if form == "summary":
                    printed = json.loads(done.stdout)
                    assert (printed["format"], printed["outcome"], printed["runs"]) == (None, None, 0)
                else:
                    assert done.stdout == (data if form == "stream-json" else b"")


def test_the_advice_depends_on_the_stream() -> None:
    """Plain text names the flag that was forgotten; other JSON names what to try."""
    cases: list[tuple[bytes, str, str]] = [
        (b"I fixed it.\nTwo tests pass.\n", "I fixed it.", FOR_TEXT),
        (b"\n \nDone\x1b[0m", "Done␛[0m", FOR_TEXT),
        (b"x" * 70, "x" * 59 + "…", FOR_TEXT),
        (b"a warning\n" + OTHER, "a warning", FOR_JSON),
        (b'{\n  "type": "result"\n}\n', "{", FOR_JSON),
        (b"[1]\n", "[1]", FOR_JSON),
    ]
    for data, first, advice in cases:
        with case(data):
            done = ran("-p", stdin=data)
            assert (done.returncode, done.stdout, done.stderr.decode()) == (2, b"", f"{WORDS}{first}{advice}")


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.parametrize("code", [0, 4])
def test_run_exits_with_the_code_of_an_unknown_agent(code: int, recording: Saver) -> None:
    """`run` passes on the exit code of an agent that is not known, and says that it is not known."""
    done = watch("run", "-p", "--", *command(recording(OTHER), "--exit", str(code), "--stderr", "oops"))
    assert done.returncode == code
    said = done.stderr.decode().splitlines()
    assert said[-1].startswith(WORDS)
    assert said[:-1] == (["agentwatch: the agent's stderr: oops"] if code else [])


def test_the_log_of_an_unknown_agent_is_one_line(tmp_path: Path) -> None:
    """The log says that the agent is not known, live and from the recording; `log` exits with 2."""
    saved, log = tmp_path / "r.ndjson", tmp_path / "r.log"
    ran("-p", "--record", saved, "--log", log, stdin=OTHER)
    done = ran("log", saved)
    assert done.returncode == 2
    assert done.stdout == log.read_bytes()
    assert done.stdout.decode().startswith(
        "# not a stream of an agent that this version knows (first line: {"
    )
    assert done.stdout.count(b"\n") == 1
    assert done.stderr.decode().startswith(WORDS)


def test_drift_of_an_unknown_agent_is_its_report(recording: Saver) -> None:
    """`drift` lists the lines of an agent that is not known, and exits with 2."""
    done = ran("drift", recording(OTHER))
    assert (done.returncode, done.stderr) == (2, b"")
    assert b", format no known agent: 2 lines, 0 malformed, 2 unknown; 2 findings\n" in done.stdout
    assert ran("drift", recording(b"")).returncode == 0


@pytest.mark.slow
def test_a_named_format_is_not_detected(recording: Saver) -> None:
    """With --format, a stream is read in that format although its first line is not of it."""
    path = recording(event("hello"), result("Done."))
    commands: list[list[str]] = [["-p"], ["--output-format", "json"], ["log"], ["drift"]]
    for arguments in commands:
        with case(" ".join(arguments)):
            assert ran(*arguments, path).returncode == 2
            done = ran(*arguments, path, "--format", "cursor")
            assert done.returncode == 0
            assert b"no known agent" not in done.stdout + done.stderr
    assert watch("run", "-p", "--format", "cursor", "--", *command(path)).returncode == 0
    assert ran("replay", path, "--speed", "1000", "--format", "cursor").returncode == 0


def test_a_named_format_that_does_not_exist_is_wrong_use() -> None:
    """A format that this version does not know is a usage error that lists the known ones."""
    done = ran(PLAIN, "--format", "kursor")
    assert (done.returncode, done.stdout) == (2, b"")
    names = ", ".join(agent.name for agent in known_agents()).encode()
    assert (
        done.stderr == b"agentwatch: --format: 'kursor' is not one of: %s (see agentwatch --help)\n" % names
    )


def test_the_help_lists_the_formats() -> None:
    """The help of `--format` names every format."""
    words = ran("--help").stdout.decode().replace(",", " ").replace(".", " ").split()
    assert {agent.name for agent in known_agents()} <= {*words}


def test_a_log_written_live_has_the_named_format(tmp_path: Path, recording: Saver) -> None:
    """The log of a stream that is read in a named format is written in that format too."""
    log = tmp_path / "l"
    data = event("hello") + init() + result("Done.")
    ran("-p", "--format", "cursor", "--log", log, stdin=event("hello") + result("Done."))
    assert b"# succeeded" in log.read_bytes()
    assert ran("log", recording(data), "--format", "cursor").returncode == 0
