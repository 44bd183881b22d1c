"""`--on` without a screen: what is printed, written and refused, and how a rule stops the agent."""

import json
import shutil
from pathlib import Path

import pytest

from tests.builders.lines import init, result, user
from tests.conftest import case
from tests.harness.fake_agent import command
from tests.harness.processes import is_alive
from tests.harness.program import PLAIN, PLAIN_TEXT, ran, watch


def said(stderr: bytes) -> list[str]:
    """Return the messages of agentwatch."""
    return [line.removeprefix("agentwatch: ") for line in stderr.decode().splitlines()]


def test_a_pipe_is_watched(tmp_path: Path) -> None:
    """Without a recording the hit is printed, and nothing is written."""
    done = ran("-p", "--on", "calls>1", "note", stdin=PLAIN.read_bytes(), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, PLAIN_TEXT)
    assert said(done.stderr) == ['rule "calls>1" hit']
    # Its agent already writes, and a pipe that is not read would end it; one line says what is missing.
    broken = tmp_path / "config.toml"
    broken.write_text("[machines\n")
    done = ran("-p", stdin=PLAIN.read_bytes(), AGENTWATCH_CONFIG=str(broken))
    assert (done.returncode, done.stdout) == (0, PLAIN_TEXT)
    (line,) = said(done.stderr)
    assert line.startswith(f"{broken}: not valid TOML")
    assert line.endswith("; the defaults are used")
    # An agent that others have started is neither paused nor stopped.
    for action in ("pause", "stop"):
        with case(action):
            done = ran("-p", "--on", "failed>3", action, stdin=PLAIN.read_bytes())
            assert (done.returncode, done.stdout) == (2, b"")
            assert said(done.stderr) == [
                f"--on … {action}: acts on an agent that agentwatch has started: agentwatch run --on …"
            ]
    # `--on RULE run` cannot name a command; `check` judges calls that are over.
    done = ran("-p", "--on", "failed>3", "run", stdin=PLAIN.read_bytes())
    assert (done.returncode, done.stdout) == (2, b"")
    assert said(done.stderr) == [
        "--on 'failed>3': run needs a command, which only the settings name: command = [\"…\"] in [[on]]"
    ]
    done = ran("-p", "--on", "failed>3", "bell", PLAIN)
    assert (done.returncode, done.stdout) == (2, b"")
    assert "agentwatch check judges recordings" in said(done.stderr)[0]


@pytest.mark.slow
def test_a_hit_is_printed_on_stderr_and_written_in_the_log(home: Path) -> None:
    """Stdout has only what the format prints; the log is the same bytes when it is printed later."""
    # A rule stops the agent as `q` does, with the exit code of that, and nothing is left.
    agent = command(PLAIN, "--cut", "2500", "--hang")
    done = watch("run", "-p", "--on", "tool:read", "stop", "--", *agent)
    assert done.returncode == 143
    assert 'rule "tool:read" stopped the agent at call 1: Read file lantern/settings.py' in said(done.stderr)
    [process] = (home / "sessions").glob("*.json")
    assert not is_alive(json.loads(process.read_bytes())["pid"])
    # A hit is printed, and is in the log and the alarms.
    shutil.rmtree(home / "sessions")
    rules = ["--on", "tool:read", "bell", "--on", "tool:edit", "log"]
    done = watch("run", "-p", *rules, "--", *command(PLAIN))
    assert (done.returncode, done.stdout) == (0, PLAIN_TEXT)
    assert said(done.stderr) == ['rule "tool:read" hit by call 1: Read file lantern/settings.py']
    found = {path.suffix: path for path in (home / "sessions").iterdir()}
    log = found[".log"].read_bytes()
    assert ran("-p", "--times", found[".ndjson"]).stdout == log
    hits = [line for line in log.decode().splitlines() if "rule" in line]
    assert [line.partition("Z ")[2] for line in hits] == [
        'rule "tool:read" hit by call 1: Read file lantern/settings.py',
        'rule "tool:edit" hit by call 2: Edited file lantern/settings.py',
    ]
    alarms = [json.loads(line) for line in found[".alarms"].read_bytes().splitlines()]
    assert [(each["rule"], each["call"]) for each in alarms] == [("tool:read", 1), ("tool:edit", 2)]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (["pth:x", "bell"], "--on 'pth:x': unknown field \"pth\" (did you mean path?)"),
        (["", "bell"], "--on '': the rule is empty"),
        (["failed>", "bell"], "--on 'failed>': \"failed>\" needs a value, for example failed>3"),
        (["failed>3", "ring"], "--on 'failed>3': unknown action \"ring\"; known: bell, note, "),
        (["failed>3", "stp"], "--on 'failed>3': unknown action \"stp\" (did you mean stop?); known: "),
        (["failed>3", "pause"], "--on … pause: nobody could continue the agent, "),
    ],
)
def test_a_rule_is_checked_before_the_agent_starts(home: Path, given: list[str], complaint: str) -> None:
    """One line says what is wrong; no agent runs and no file is made."""
    done = ran("run", "-p", "--on", *given, "--", "touch", str(home / "started"))
    assert (done.returncode, done.stdout) == (2, b"")
    [line] = said(done.stderr)
    assert line.startswith(complaint)
    assert not (home / "started").exists()
    assert not (home / "sessions").exists()


def settings(folder: Path) -> str:
    """Return the path of settings that note two events in files, and ring for a third."""
    path = folder / "config.toml"
    path.write_text(f"""
[[on]]
rule = "tool:read"
action = "run"
name = "reads"
command = ["sh", "-c", 'cat >> "$1"', "sh", "{folder}/out"]
[[on]]
rule = "tool:edit"
action = "bell"
[[sessions.on]]
event = "ended"
action = "run"
command = ["sh", "-c", 'cat >> "$1"', "sh", "{folder}/ended"]
[[sessions.on]]
event = "failed"
action = "run"
name = "x"
command = ["/nowhere"]
""")
    return str(path)


@pytest.mark.slow
def test_rules_of_the_settings_run_a_command_under_print(home: Path, tmp_path: Path) -> None:
    """It has run when agentwatch ends; nothing else of the settings counts, and nothing else is printed."""
    done = watch("run", "-p", "--", *command(PLAIN), AGENTWATCH_CONFIG=settings(tmp_path))
    assert (done.returncode, done.stdout, said(done.stderr)) == (0, PLAIN_TEXT, [])
    [hit], [end] = (
        [json.loads(line) for line in (tmp_path / name).read_bytes().splitlines()]
        for name in ("out", "ended")
    )
    [recording] = (home / "sessions").glob("*.ndjson")
    assert (hit["event"], hit["rule"], hit["call"]) == ("rule", "reads", 1)
    assert (end["event"], end["state"], end["session"]) == ("ended", "succeeded", recording.stem)
    # After `r` in a list, its `run` tells no change of its state. It still tells a hit of `[[on]]`.
    for path in (recording, tmp_path / "out", tmp_path / "ended"):
        path.unlink()
    silenced = """s=$(basename "$AGENTWATCH_HOME"/sessions/*.ndjson .ndjson)
        printf '{"agentwatch:%s": false}' "$s" > "$AGENTWATCH_HOME/rings.json"; cat "$1" """
    config = settings(tmp_path)
    done = watch("run", "-p", "--", "sh", "-c", silenced, "sh", PLAIN, AGENTWATCH_CONFIG=config)
    assert (done.returncode, done.stdout, said(done.stderr)) == (0, PLAIN_TEXT, [])
    assert (home / "rings.json").exists()
    assert (tmp_path / "out").exists()
    assert not (tmp_path / "ended").exists()


def test_a_rule_alone_runs_its_command_in_a_pipe(tmp_path: Path) -> None:
    """No `[[sessions.on]]` is needed."""
    config = tmp_path / "config.toml"
    command = f"""["sh", "-c", 'cat >> "$1"', "sh", "{tmp_path}/out"]"""
    config.write_text(f'[[on]]\nrule = "tool:read"\naction = "run"\ncommand = {command}\n')
    done = ran("-p", stdin=PLAIN.read_bytes(), AGENTWATCH_CONFIG=str(config))
    assert (done.returncode, done.stdout, said(done.stderr)) == (0, PLAIN_TEXT, [])
    assert json.loads((tmp_path / "out").read_bytes())["event"] == "rule"
    # A saved recording, its replay and its log are over: nothing happens in them now.
    (tmp_path / "out").unlink()
    over = settings(tmp_path)
    for words in (["-p"], ["replay", "-p", "--speed", "1000"], ["log"]):
        with case(words):
            assert ran(*words, PLAIN, AGENTWATCH_CONFIG=over).returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"config.toml"}
    # A pipe whose agent failed has the exit code of that, and one line about the command.
    failed = init() + user() + result(is_error=True)
    done = ran("-p", stdin=failed, AGENTWATCH_CONFIG=settings(tmp_path))
    assert done.returncode == 1
    assert 'the command of rule "x" failed: No such file or directory' in said(done.stderr)
