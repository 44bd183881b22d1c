"""`agentwatch check` judges recordings, and its exit code says whether all rules hold."""

import fcntl
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.builders.lines import init, result, user
from tests.conftest import RECORDINGS, case
from tests.harness.program import AGENTWATCH, environment, ran
from tests.rules.check.test_judge import run, shell

DEMO = RECORDINGS / "demo.ndjson"
FAILURES = RECORDINGS / "failures.ndjson"


def lines(data: bytes) -> list[str]:
    return data.decode().splitlines()


def test_rules_hold_or_are_broken(tmp_path: Path) -> None:
    """Exit 0 and one line. Exit 1, the rule with the addresses of its calls, and the result."""
    done = ran("check", DEMO, "--forbid", "tool:edit outside:cwd", "--limit", "failed=5")
    assert (done.returncode, done.stderr) == (0, b"")
    assert lines(done.stdout) == [f"all 2 rules hold: {DEMO} (14 calls)"]
    done = ran("check", DEMO, "--limit", "rejected=0")
    assert (done.returncode, done.stderr) == (1, b"")
    assert [line.partition(" Fetched")[0] for line in lines(done.stdout)] == [
        f"{DEMO}: broken: limit.rejected = 0: 1 rejected",
        f"  {DEMO}#9",
        f"1 of 1 rule is broken: {DEMO} (14 calls)",
    ]
    # The limit of the command line counts instead of that of the file. A recording that cannot be read is
    # reported, the others are judged, and the exit code is 2. Exit 2 and the reason, unless another recording
    # could be judged
    rules = tmp_path / "rules.toml"
    rules.write_text("limit.rejected = 0")
    assert ran("check", DEMO, "--rules", rules, "--limit", "rejected=1").returncode == 0
    done = ran("check", DEMO, tmp_path / "none.ndjson", FAILURES, "--limit", "failed=5")
    assert done.returncode == 2
    assert b"none.ndjson: no such file" in done.stderr
    assert lines(done.stdout)[-1] == "1 of 1 rule is broken: 2 recordings, 20 calls; broken in 1"
    path = tmp_path / "a.ndjson"
    path.write_bytes(run())
    done = ran("check", path, "--forbid", "tool:edit")
    assert done.returncode == 2
    assert lines(done.stderr) == ["agentwatch: the rule tool:edit had nothing to check: no calls"]
    assert ran("check", path, DEMO, "--forbid", "tool:edit outside:cwd").returncode == 0
    # A call whose command was cut off or cannot be read is counted, and fails the check with `--strict`
    long = f"{'x' * 70_000}; git push"
    for command, field in (("echo 'git push", "runs"), (long, "runs"), ("ls\ngit push", "")):
        path.write_bytes(run(shell("ls", "c1", 1000), shell(command, "c2", 3000)))
        rule = ("check", path, "--forbid", 'runs:"git push"')
        strict = ran(*rule, "--strict")
        assert (ran(*rule).returncode, strict.returncode) == ((0, 2) if field else (1, 1))
        assert ("1 did not judge every call" in lines(strict.stdout)[-1]) is bool(field)
        words = f'agentwatch: the rule runs:"git push" did not judge 1 call: unknown {field}'
        assert lines(strict.stderr) == ([words] if field else [])
    path.write_bytes(run())
    # A broken warning is reported, and the exit code is 0
    rules.write_text('limit.rejected = {value = 0, severity = "warning"}')
    done = ran("check", DEMO, "--rules", rules)
    assert done.returncode == 0
    assert ": warning: limit.rejected = 0: 1 rejected" in lines(done.stdout)[0]
    # So one file of rules serves agents of which some report no result: exit 0, and the reason
    rules.write_text('limit.calls = 3\nforbid = [{name = "edits", when = "tool:edit", severity = "warning"}]')
    done = ran("check", path, "--rules", rules)
    assert done.returncode == 0
    assert lines(done.stderr) == ["agentwatch: the rule edits had nothing to check: no calls"]
    annotated = ran("check", path, "--rules", rules, "--output-format", "github")
    assert annotated.stdout.startswith(b"::warning title=agentwatch%3A edits::had nothing to check: no calls")
    assert b"<error" not in ran("check", path, "--rules", rules, "--output-format", "junit").stdout


WRONG: list[tuple[list[str], str]] = [
    (["none.ndjson"], "no rules: give --rules FILE"),
    (
        ["none.ndjson", "--forbid", "tol:edit"],
        '--forbid "tol:edit": unknown field "tol" (did you mean tool?)',
    ),
    (["none.ndjson", "--require", "test=green"], "did you mean tests?"),
    (["none.ndjson", "--limit", "faild=5"], "did you mean failed?"),
    (["none.ndjson", "--limit", "failed"], "write failed=5"),
    (["none.ndjson", "--limit", "call=10"], "a time with its unit"),
    (["none.ndjson", "--rules", "none.toml"], "cannot open none.toml"),
    (["none.ndjson", "--forbid", "command:re:/x/"], "re:/…/ is allowed only in rule files"),
    (["none.ndjson", "--forbid", "tool:edit", "--forbid", "tool:edit"], "two rules have the name"),
    (["--forbid", "tool:edit"], "name at least one ADDRESS"),
    (["a.ndjson", "--forbid", "tool:edit", "-o", "x"], "-o and --force need --init or --starter"),
    (["--starter", "saf"], '--starter: unknown set of rules "saf" (did you mean safe?)'),
    (["--starter", "safe", "a.ndjson"], "--starter takes -o"),
    (["a.ndjson", "--forbid", "tool:edit", "--since", "7d"], "--since takes rules"),
    (["--forbid", "tool:edit", "--since", "7x"], "7x"),
    (["--init", "--forbid", "tool:edit"], "--init takes one ADDRESS"),
    (["a.ndjson", "--forbid", "tool:edit", "--explain", "--json"], "--explain needs"),
]


def test_what_cannot_be_judged_is_reported(tmp_path: Path) -> None:
    """Exit 2 and one line, also if the recording does not exist."""
    for arguments, words in WRONG:
        with case(" ".join(arguments)):
            done = ran("check", *arguments, cwd=tmp_path)
            assert (done.returncode, done.stdout) == (2, b"")
            [line] = lines(done.stderr)
            assert words in line
    # An address of a call or a moment is not a whole recording. `-` judges what is piped
    done = ran("check", f"{DEMO}#3", "--limit", "failed=5")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"judges a whole recording" in done.stderr
    done = ran("check", "-", "--limit", "failed=5", stdin=FAILURES.read_bytes())
    assert done.returncode == 1
    assert lines(done.stdout)[1].startswith("  -#1 ")
    # A file of no known agent is not a recording of which rules could hold
    path = tmp_path / "a.ndjson"
    path.write_bytes(b'{"a": 1}\n')
    done = ran("check", path, "--limit", "failed=5")
    assert (done.returncode, done.stdout) == (2, b"")
    # Without --wait, a recording is judged up to its present end, with a note on stderr
    path.write_bytes(init() + user())
    with path.open("ab") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        done = ran("check", path, "--require", "result")
    assert done.returncode == 1
    assert b"is still being written: checked as it is now" in done.stderr


def test_no_printed_line_is_a_command_of_a_runner(tmp_path: Path) -> None:
    """Under a CI runner, only annotations begin with `::`, and text of the session cannot."""
    path = tmp_path / "::a##[x].ndjson"
    path.write_bytes(run(shell("##[error]x\n::set-env name=x::y", "c-1", 1000)))
    for output_format in ("text", "json", "junit", "github"):
        done = ran(
            *("check", "./::a##[x].ndjson", "--forbid", "tool:shell", "--output-format", output_format),
            cwd=tmp_path,
            GITHUB_ACTIONS="true",
        )
        printed = [line for line in lines(done.stdout) if not line.startswith("::error title=")]
        assert not any(line.lstrip().startswith("::") for line in printed)
        assert "##" not in "".join(printed)


@pytest.mark.system
@pytest.mark.slow
def test_wait_follows_a_recording_to_its_end(tmp_path: Path) -> None:
    """With --wait, what is written later counts, and the check ends with the writer.

    No lock says that a shell writes a file: it is followed to its result, if it has changed lately.
    """
    path = tmp_path / "a.ndjson"
    command = [*AGENTWATCH, "check", str(path), "--require", "result", "--wait"]
    for is_locked in (True, False):
        path.write_bytes(init() + user())
        with case(f"locked: {is_locked}"), path.open("ab", buffering=0) as writer:
            fcntl.flock(writer, fcntl.LOCK_EX if is_locked else fcntl.LOCK_UN)
            with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment()) as child:
                with pytest.raises(subprocess.TimeoutExpired):
                    child.wait(1.5)
                writer.write(result())
                fcntl.flock(writer, fcntl.LOCK_UN)
                assert child.wait(20) == 0
    path.write_bytes(init() + user())
    os.utime(path, (1, 1))
    assert ran("check", path, "--require", "result", "--wait").returncode == 1


def test_init_and_starter_write_rules(tmp_path: Path) -> None:
    """Rules are written from a session, which keeps them, or as they are shipped."""
    path = tmp_path / "rules.toml"
    assert ran("check", "--init", DEMO, "-o", path).returncode == 0
    assert "# Programs that the session ran: pytest, python." in path.read_text()
    assert ran("check", DEMO, "--rules", path).returncode == 0
    # Whatever a session did, its file can be read, and the session keeps what it contains
    for name in ("failures", "hostile", "malformed", "rejected", "stuck", "unfinished"):
        with case(name):
            recording, path = RECORDINGS / f"{name}.ndjson", tmp_path / f"{name}.toml"
            assert ran("check", "--init", recording, "-o", path).returncode == 0
            assert ran("check", recording, "--rules", path).returncode == 0
    # Without an ADDRESS, rules that suit many sessions are printed
    path = tmp_path / "usual.toml"
    path.write_bytes(ran("check", "--init").stdout)
    done = ran("check", DEMO, "--rules", path, "--json")
    assert len(json.loads(done.stdout)["recordings"][0]["rules"]) == 16
    # `--starter` prints the file as it is shipped, or writes it; an existing file is kept
    path = tmp_path / "starter.toml"
    shipped = ran("check", "--starter", "safe").stdout
    assert b'name = "force-pushes"' in shipped
    assert ran("check", "--starter", "safe", "-o", path).returncode == 0
    assert path.read_bytes() == shipped
    assert ran("check", "--starter", "safe", "-o", path).returncode != 0
    assert ran("check", DEMO, "--rules", path).returncode == 0


def test_since_says_how_often_rules_would_have_fired(home: Path) -> None:
    """For each rule: in how many sessions, how often, and where."""
    folder = home / "sessions"
    folder.mkdir(mode=0o700, parents=True)
    for name in ("demo", "failures"):
        for ending in (".ndjson", ".times"):
            shutil.copy(RECORDINGS / f"{name}{ending}", folder / f"20261102-091406-{name}{ending}")
    done = ran("check", "--since", "2020-01-01", "--limit", "failed=5", "--forbid", "tool:delete")
    assert (done.returncode, done.stderr) == (1, b"")
    place = folder / "20261102-091406-failures.ndjson#1"
    assert lines(done.stdout)[:2] == ["limit.failed = 5: in 1 of 2 sessions, 6 times", f"  {place}"]
    assert lines(done.stdout)[-2:] == ["tool:delete: never in 2 sessions", "2 sessions, 20 calls"]
    # A session that began before the time is not counted, although its file is new
    done = ran("check", "--since", "1s", "--limit", "failed=5")
    assert done.returncode == 2
    assert b"no session began since then" in done.stderr
