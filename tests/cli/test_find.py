"""`agentwatch find` prints calls and texts of all sessions, and `show` opens their addresses."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.builders.machine.fake import FakeMachine, fake_machine
from tests.builders.machine.rows import NOW_MS
from tests.catalog.contents.test_search import called, said
from tests.catalog.index.machines import machine_of_truth
from tests.conftest import case
from tests.harness.program import ran
from tests.harness.schemas import check_json

FOLDER = ".claude/projects/-home-dev-shop"
ONE, TWO = "11111111-aaaa-4bbb-8ccc-000000000001", "22222222-aaaa-4bbb-8ccc-000000000002"
FILE = "/w/shop/src/[id].tsx"


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    """A machine with two sessions of Claude Code, the second of which is newer."""
    machine = fake_machine(tmp_path / "machine", with_captures=False)
    folder = machine.home / FOLDER
    folder.mkdir(parents=True)
    lines = {
        ONE: [
            said("find the \x1b[31mneedle\x1b[0m", NOW_MS - 9000),
            called("Edit", {"file_path": FILE, "old_string": "a", "new_string": "b"}, "ok", 1, NOW_MS - 8000),
        ],
        TWO: [
            said("begin", NOW_MS - 5000),
            called("Bash", {"command": "cat src/[id].tsx ../x.py"}, "Exit code 1\nneedle", 1, NOW_MS - 4000),
        ],
    }
    for at, (name, each) in enumerate(lines.items()):
        path = folder / f"{name}.jsonl"
        path.write_bytes(b"".join(each).replace(b'"sessionId":"s"', b'"sessionId":"%s"' % name.encode()))
        os.utime(path, (NOW_MS / 1000 + at,) * 2)
    return machine


def find(machine: FakeMachine, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    environ = machine.environ
    home, own = environ["HOME"], environ["AGENTWATCH_HOME"]
    done = ran("find", *words, cwd=cwd, HOME=home, AGENTWATCH_HOME=own, TZ="UTC")
    for line in done.stdout.splitlines() if "--json" in words else ():
        check_json("find", line)
    return done


def found(machine: FakeMachine, *words: str, cwd: Path | None = None) -> list[str]:
    """Return the addresses that are found, each with the first eight characters of the id."""
    lines = find(machine, *words, "--json", cwd=cwd).stdout.splitlines()
    return [re.sub("(?<=^.{8})[^#@]*", "", json.loads(line)["address"]) for line in lines]


def test_each_hit_is_a_line(machine: FakeMachine) -> None:
    """It has no control characters; stderr says what else there may be. What is unknown is a hyphen."""
    done = find(machine, "needle")
    assert done.returncode == 0
    assert done.stdout.decode().splitlines() == [
        f"2026-11-18 11:06  claude  shop  begin  {TWO}#1  needle",
        f"2026-11-18 11:06  claude  shop  find the ␛[31mneedle␛[0m  {ONE}@+0ms  find the ␛[31mneedle␛[0m",
    ]
    assert done.stderr == b""
    done = find(machine, "needle", "--limit", "1")
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == b"agentwatch: there may be older hits: --limit 10\n"
    done = find(machine, "haystack")
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"agentwatch: nothing found in 2 sessions\n"
    # A word after a hyphen is no option.
    assert found(machine, "needle", "-find") == ["22222222#1"]
    assert found(machine, "failed") == ["22222222#1"]
    assert found(machine, "--limit", "1", "needle", "-failed") == ["11111111@+0ms"]
    assert found(machine, '"the needle"') == []
    assert find(machine, "-h").stdout == find(machine, "--help").stdout
    refused = {
        (): "WORDS are missing",
        ("colour:red",): 'unknown field "colour"',
        ("needle", "--jsno"): "no such option: --jsno",
        ("needle", "since:soon"): "neither an age nor a date",
    }
    for words, reason in refused.items():
        with case(words):
            done = find(machine, *words)
            assert (done.returncode, done.stdout) == (2, b"")
            assert reason in done.stderr.decode()


def test_what_touched_a_file_is_found(machine: FakeMachine, tmp_path: Path) -> None:
    """By its name, a part of its path, or all of it; a command touches what it names. Only `*` is a sign."""
    both = ["22222222#1", "11111111#1"]
    assert found(machine, "--path", "[id].tsx") == both
    assert found(machine, "--path", "src/[ID].tsx") == both
    assert found(machine, "--path", FILE) == both
    assert found(machine, "--path", "*.tsx") == both
    assert found(machine, "--path", "i.tsx") == []
    assert found(machine, "--path", "/elsewhere/src/[id].tsx") == []
    assert found(machine, "--path", "/w/x.py") == ["22222222#1"]
    assert found(machine, "--path", "./src/[id].tsx", cwd=tmp_path) == []
    # Words are searched in the sessions that touched it.
    assert found(machine, "--path", "[id].tsx", "needle") == ["22222222#1"]
    assert found(machine, "--path", "[id].tsx", "tool:edit") == ["11111111#1"]
    assert found(machine, "--path", "[id].tsx", "--limit", "1") == both[:1]
    [line] = find(machine, "--path", "*.tsx", "tool:edit", "--json").stdout.splitlines()
    [same] = find(machine, "--path", "*.tsx", "-tool:bash", "--json").stdout.splitlines()
    assert line == same


@pytest.mark.slow
def test_show_opens_each_address(tmp_path: Path) -> None:
    """Of each agent, also of a session with subagents, and of one that agentwatch has recorded too."""
    captured = fake_machine(tmp_path / "captured", 4)
    truth = machine_of_truth(tmp_path / "truth")
    for machine in (captured, truth.machine):
        home, own = machine.environ["HOME"], machine.environ["AGENTWATCH_HOME"]
        agents = set()
        for words in (("tool:*",), ("kind:prompt",), ("--path", "*")):
            lines = find(machine, *words, "--limit", "1000", "--json").stdout.splitlines()
            assert lines
            hits = [json.loads(line) for line in lines]
            one_of_each = {(hit["agent"], hit["call"] is None, "/" in hit["address"]): hit for hit in hits}
            for hit in hits if machine is truth.machine else one_of_each.values():
                with case(f"{words}, {hit['address']}"):
                    done = ran("show", hit["address"], "--json", HOME=home, AGENTWATCH_HOME=own)
                    assert done.returncode == 0, done.stderr
                    shown = json.loads(done.stdout)
                    if hit["call"] is not None:
                        of_call = [shown[name] for name in ("number", "tool", "kind", "outcome")]
                        assert of_call == [hit[name] for name in ("call", "tool", "kind", "outcome")]
                agents.add(hit["agent"])
        assert len(agents) > (5 if machine is captured else 1)


def test_what_is_not_searched_is_reported(machine: FakeMachine) -> None:
    """By its reason; so are the machines of the settings."""
    path = machine.home / FOLDER / f"{ONE}.jsonl"
    path.write_bytes(b"\x28\xb5\x2f\xfd" + b"damaged" * 100)
    path.with_name(path.name.replace("1", "3")).write_bytes(path.read_bytes())
    settings = machine.home / "settings.toml"
    settings.write_text('[machines]\nlist = [".", "ssh://build1"]\n')
    home, own = machine.environ["HOME"], machine.environ["AGENTWATCH_HOME"]
    for words in ("needle", "kind:prompt"):
        done = ran("find", words, HOME=home, AGENTWATCH_HOME=own, AGENTWATCH_CONFIG=str(settings))
        assert done.stdout
        first, second = done.stderr.decode().splitlines()
        assert first.startswith("agentwatch: 2 not searched: 2 ")  # one reason, without the paths
        assert ".jsonl" not in first
        assert second == "agentwatch: not searched: other machines (ssh://build1)"
