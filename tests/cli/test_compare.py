"""`agentwatch compare` writes the comparison of two sessions, or of several a side, and exits with 0."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from agentwatch.cli.compare import repeated
from tests.builders.compared_runs import Run, run_tests, shell
from tests.conftest import case
from tests.harness.program import ran

A = Run()
SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the recordings of two runs."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.ndjson").write_bytes(A.lines())
    (folder / "b.ndjson").write_bytes(A.changed(5, run_tests(3)).lines())
    return folder


def test_differences_are_printed_as_text_and_json(folder: Path) -> None:
    """The exit code is 0 whether or not the runs differ, and nothing is written. `--json` is `--output-format
    json`.
    """
    done = ran("compare", "a.ndjson", "b.ndjson", cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"A  a.ndjson \xc2\xb7 cursor")
    assert b"They part after 5 calls in common: A#6 and B#6 (other result)." in done.stdout
    same = ran("compare", "a.ndjson", "a.ndjson", cwd=folder)
    assert same.returncode == 0
    assert b"They do not part" in same.stdout
    assert {path.name for path in folder.iterdir()} == {"a.ndjson", "b.ndjson"}
    done = ran("compare", "a.ndjson", "b.ndjson", "--json", cwd=folder)
    assert done.stdout == ran("compare", "a.ndjson", "b.ndjson", "--output-format", "json", cwd=folder).stdout
    assert done.stdout.count(b"\n") == 1
    assert json.loads(done.stdout)["rows"][0]["differs_in"] == ["outcome", "exit_code", "verdict"]
    # With `-o`, stdout stays empty
    starts = {
        "text": b"A  ",
        "json": b'{"version":1,"a":',
        "markdown": b"# Comparison",
        "html": b"<!doctype html>",
    }
    for name, start in starts.items():
        with case(name):
            arguments = ("compare", "a.ndjson", "b.ndjson", "--output-format", name, "-o", name)
            done = ran(*arguments, cwd=folder)
            assert (done.returncode, done.stdout) == (0, b"")
            assert (folder / name).read_bytes().startswith(start)
            assert (folder / name).read_bytes().endswith(b"\n")
    # A pipe gets whole lines, a file of text is for people
    assert max(map(len, ran("compare", "a.ndjson", "b.ndjson", cwd=folder).stdout.splitlines())) > 80
    assert max(map(len, (folder / "text").read_text().splitlines())) <= 80


def test_runs_of_a_side_follow_with_or_come_from_stdin(folder: Path) -> None:
    """All addresses after `--with`, up to the next option, are of the second side."""
    for name in ("a2", "b2"):
        shutil.copy(folder / f"{name[0]}.ndjson", folder / f"{name}.ndjson")
    sides = ("a.ndjson", "a2.ndjson", "--with", "b.ndjson", "b2.ndjson")
    done = ran("compare", *sides, "--json", cwd=folder)
    found = json.loads(done.stdout)
    assert [run["name"] for run in found["a"]] == ["a.ndjson", "a2.ndjson"]
    assert [run["name"] for run in found["b"]] == ["b.ndjson", "b2.ndjson"]
    assert found["shares"][1] == {"name": "tests green", "a": 2, "known_a": 2, "b": 0, "known_b": 2}
    # One line on stderr says what is wrong; nothing is printed. `-` is stdin, on either side
    cases: list[tuple[tuple[str, ...], bytes]] = [
        (("a.ndjson",), b"name two sessions; several runs a side: compare A1 A2 --with B1 B2"),
        (("a.ndjson", "b.ndjson", "a.ndjson"), b"name two sessions"),
        (("a.ndjson#2", "b.ndjson"), b"compare takes whole sessions, not a moment of one: a.ndjson"),
        (("a.ndjson", "b.ndjson@+1s"), b"compare takes whole sessions, not a moment of one: b.ndjson"),
        (("a.ndjson", "absent.ndjson"), b"absent.ndjson"),
        (("-", "-"), b"only one session can be read from stdin"),
        (("a.ndjson", "b.ndjson", "--json", "--output-format", "html"), b"--json excludes"),
        (("a.ndjson", "plain.txt"), b"not a stream of an agent that this version knows"),
    ]
    (folder / "plain.txt").write_text("Hello.\n")
    for arguments, words in cases:
        with case(" ".join(arguments)):
            done = ran("compare", *arguments, cwd=folder)
            assert (done.returncode, done.stdout) == (2, b"")
            assert words in done.stderr
            assert done.stderr.count(b"\n") == 1
    done = ran("compare", "-", "b.ndjson", "--json", cwd=folder, stdin=(folder / "a.ndjson").read_bytes())
    assert json.loads(done.stdout)["a"]["calls"] == 6
    # All addresses up to the next option follow `--with`; what follows `--` is not changed
    for given, expected in (
        (["a", "b"], ["a", "b"]),
        (["a", "--with", "b", "c", "-o", "f", "d"], ["a", "--with", "b", "--with", "c", "-o", "f", "d"]),
        (["--with", "b", "--with", "-", "a"], ["--with", "b", "--with", "-", "--with", "a"]),
        (["a", "--with", "b", "--", "--with", "c"], ["a", "--with", "b", "--", "--with", "c"]),
    ):
        with case(given):
            assert repeated(given) == expected


def test_what_is_given_away_is_redacted(folder: Path) -> None:
    """Equal secrets get equal masks in both runs, so they are not a difference; `--raw` leaves them in."""
    for name in ("a", "b"):
        run = replace(A.with_call(0, shell(f"GH_TOKEN={SECRET} gh pr list")), text=f"Sent {SECRET}.")
        (folder / f"{name}.ndjson").write_bytes(run.lines())
    for output_format in ("markdown", "html"):
        arguments = ("compare", "a.ndjson", "b.ndjson", "--all", "--output-format", output_format)
        done = ran(*arguments, cwd=folder)
        assert SECRET[4:].encode() not in done.stdout
        assert b"[secret:" in done.stdout or b"&#91;secret:" in done.stdout
        assert b"They do not part" in done.stdout
        assert b"Both have the same words." in done.stdout
        assert b"A: masked " in done.stderr
        raw = ran(*arguments, "--raw", cwd=folder)
        assert SECRET[4:].encode() in raw.stdout
        assert b"A: nothing was redacted (--raw)" in raw.stderr
