"""`export` writes a file, or a part of a recording; what happened is one line and an exit code."""

import json
import os
import re
import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from agentwatch.analysis.moments import CallEnd, End, Named, Shift
from agentwatch.base.faults import Fault
from agentwatch.cli.export import parse_range
from agentwatch.output.export.clip import Range
from tests.builders.captures import OWN
from tests.builders.formats.plugin import install
from tests.builders.lines import init, user
from tests.conftest import RECORDINGS, ROOT, case
from tests.harness.program import AGENTWATCH, PLAIN, environment, files, ran, watch

DEMO = RECORDINGS / "demo.ndjson"
MARKDOWN = ("--to", "markdown")
HEADING = b"## succeeded in 1:10"
HELP = " (see agentwatch export --help)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "jobs"
    folder.mkdir()
    shutil.copy(DEMO, folder / "a.ndjson")
    return folder


@pytest.mark.slow
def test_a_file_is_written_beside_nothing_else(folder: Path) -> None:
    """Without `-o`, the file has the name of the recording and is new; stderr says what was written."""
    done = watch("export", "a.ndjson", *MARKDOWN, cwd=folder, umask=0)
    assert (done.returncode, done.stdout) == (0, b"")
    assert re.fullmatch(rb"agentwatch: wrote a\.md \(\d+\.\d kB, 14 calls\); [^\n]+\n", done.stderr)
    assert files(folder) == {"a.ndjson", "a.md"}
    assert (folder / "a.md").read_bytes().startswith(HEADING)
    assert (folder / "a.md").stat().st_mode & 0o777 == 0o600


def test_the_export_is_printed_or_written(folder: Path) -> None:
    """`-o -` prints the same bytes, and stderr has only what was masked."""
    ran("export", "a.ndjson", *MARKDOWN, "-o", "b.md", cwd=folder)
    done = ran("export", "a.ndjson", *MARKDOWN, "-o", "-", cwd=folder)
    assert done.returncode == 0
    assert done.stdout == (folder / "b.md").read_bytes()
    assert b"wrote" not in done.stderr
    assert done.stderr.count(b"\n") == 1
    # With `--raw`, stderr says that nothing was redacted, and so does the file
    done = ran("export", "a.ndjson", *MARKDOWN, "--raw", "-o", "-", cwd=folder)
    assert done.stderr == b"agentwatch: nothing was redacted (--raw)\n"
    assert b"| secrets | not redacted |" in done.stdout
    # With `--max-bytes`, stderr says that calls may be left out, and the file is not larger
    done = ran("export", "a.ndjson", *MARKDOWN, "-o", "c.md", "--max-bytes", "4000", cwd=folder)
    assert b", as many of 14 calls as fit); " in done.stderr
    assert (folder / "c.md").stat().st_size <= 4000
    # The recording is redacted before it is cut: the report and the file say so
    done = ran("export", "a.ndjson", *MARKDOWN, "--until", "#1", cwd=folder)
    assert done.returncode == 0
    assert done.stderr.endswith(b", in the whole recording\n")
    assert b", in the whole recording |\n" in (folder / "a.md").read_bytes()
    # Without `-o`, a name that exists, even as a link to nothing, is left alone; the next one is used
    (folder / "a.md").write_text("old")
    (folder / "a-2.md").symlink_to("elsewhere.md")
    done = ran("export", "a.ndjson", *MARKDOWN, cwd=folder)
    assert done.returncode == 0
    assert done.stderr.startswith(b"agentwatch: wrote a-3.md (")
    assert (folder / "a.md").read_text() == "old"
    assert files(folder) == {"a.ndjson", "b.md", "c.md", "a.md", "a-2.md", "a-3.md"}


def test_an_address_or_stdin_is_exported(folder: Path, home: Path) -> None:
    """`-` reads the recording from stdin; the file is then called session."""
    done = ran("export", "-", *MARKDOWN, stdin=DEMO.read_bytes(), cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "session.md").read_bytes().startswith(HEADING)
    # The first characters of the id of a session are an address
    (home / "sessions").mkdir(parents=True)
    path = home / "sessions" / "20261101-101010-123456789.ndjson"
    path.write_bytes(init(session_id="5f0c1d2e-7d71") + user())
    done = ran("export", "5f0c1d2e", *MARKDOWN, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert files(folder) == {"a.ndjson", "session.md", "20261101-101010-123456789.md"}
    # A session in a database is exported like a file
    shutil.copy(OWN / "disk/opencode-db/own-1.18.33/opencode.db", folder / "opencode.db")
    session = folder / "opencode.db" / "ses_dffab4634ffe523C3nFZ25XU7L"
    done = ran("export", session, *MARKDOWN, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert b"| agent | opencode" in (folder / f"{session.name}.md").read_bytes()


FAULTS: list[tuple[list[str], int, str]] = [
    (["a.ndjson", "--to", "html5"], 2, "--to: 'html5' is not one of: "),
    (["a.ndjson"], 2, "Missing option '--to'"),
    (["a.ndjson#3", *MARKDOWN], 2, "export takes a whole recording; --from and --until choose"),
    (["missing.ndjson", *MARKDOWN], 2, "cannot open missing.ndjson: no such file or directory"),
    (["a.ndjson", *MARKDOWN, "--until", "#99"], 2, "no call #99: the session has 14 calls"),
    (["a.ndjson", *MARKDOWN, "--from", "#3", "--until", "#2"], 2, "it"),
    (["a.ndjson", *MARKDOWN, "--from", "nothing"], 2, "no bookmark nothing"),
    (["a.ndjson", *MARKDOWN, "--max-bytes", "10"], 2, "--max-bytes: the head alone takes"),
    (["plain.txt", *MARKDOWN], 2, "not a stream of an agent that this version knows"),
    (["a.ndjson", *MARKDOWN, "-o", "none/b.md"], 73, "cannot create "),
    (["a.ndjson", *MARKDOWN, "-o", "."], 73, "it is a folder"),
    (["a.ndjson", *MARKDOWN, "-o", "/dev/full"], 73, "no space left on device"),
]


CLIP = ["--to", "recording"]
CLIP_FAULTS: list[tuple[list[str], int, str]] = [
    (["a.ndjson#6..#99", *CLIP, "-o", "b.ndjson"], 2, "no call #99: the session has 14 calls"),
    (["a.ndjson#6..#8", *CLIP, "-o", "a.ndjson"], 2, "cannot write a.ndjson: it is an input of this command"),
    (["a.ndjson#6..#8", *CLIP, "-o", "none/b.ndjson"], 73, "no such file or directory"),
    (["none.ndjson#6..#8", *CLIP, "-o", "b.ndjson"], 2, "cannot open none.ndjson"),
    (["a.ndjson", *CLIP, "--raw"], 2, "--to recording --raw: name a part as FILE#3..#9"),
    (["a.ndjson#6..#8", *CLIP, "--only", "failed"], 2, "it excludes --from, --until, --only"),
]


def test_what_cannot_be_done_is_one_line(timed: Path) -> None:
    """Wrong use exits with 2, a file that cannot be written with 73, and no file is left."""
    (timed / "plain.txt").write_text("hello\n")
    before = (timed / "a.ndjson").read_bytes()
    for words, code, reason in (*FAULTS, *CLIP_FAULTS):
        with case(words):
            done = ran("export", *words, cwd=timed)
            assert (done.returncode, done.stdout) == (code, b"")
            assert re.fullmatch(r"agentwatch: [^\n]+\n", done.stderr.decode())
            assert reason in done.stderr.decode()
            assert files(timed) == {"a.ndjson", "a.times", "plain.txt"}
            assert (timed / "a.ndjson").read_bytes() == before


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--raw",)])
def test_a_full_disk_leaves_no_file(folder: Path, more: tuple[str, ...]) -> None:
    """If the file or the redacted copy of the recording cannot be written, no file is left."""
    done = subprocess.run(
        [*AGENTWATCH, "export", "a.ndjson", *MARKDOWN, "-o", "b.md", *more],
        capture_output=True,
        cwd=folder,
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8000, 8000)),
    )
    assert done.returncode == 73
    assert re.fullmatch(rb"agentwatch: cannot create [^\n]+: file too large\n", done.stderr)
    assert files(folder) == {"a.ndjson"}


@pytest.mark.system
def test_a_stdout_that_cannot_be_written_is_a_failure(folder: Path) -> None:
    """If the export cannot be printed, the exit code is 74."""
    argv = [*AGENTWATCH, "export", "a.ndjson", *MARKDOWN, "-o", "-"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            argv, stdout=full, stderr=subprocess.PIPE, cwd=folder, env=environment(), check=False
        )
    assert (done.returncode, done.stderr) == (74, b"agentwatch: cannot print: no space left on device\n")
    # If the reader of stdout has gone, the exit code is that of SIGPIPE, and nothing is reported
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        argv, stdout=writing, stderr=subprocess.PIPE, cwd=folder, env=environment(), check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")
    # Without a stdout, nothing is written to a file that got its number
    before = (folder / "a.ndjson").read_bytes()
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *argv],
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment(),
        check=False,
    )
    assert (done.returncode, done.stderr) == (74, b"agentwatch: cannot print: bad file descriptor\n")
    assert files(folder) == {"a.ndjson"}
    assert (folder / "a.ndjson").read_bytes() == before


EXPORTER = """
from agentwatch.output.export.exporters import Exporter

def write(exported, choices):
    yield b"number,tool\\n"
    for call in exported.calls():
        yield f"{call.number},{call.tool}\\n".encode()

CSV = Exporter(name="csv", suffix=".csv", write=write)
"""


def failing(broken: str) -> str:
    """Return the source of an exporter that fails in the middle of a file."""
    return EXPORTER.replace("    for call in", f"    {broken}\n    for call in")


def path_with(folder: Path, source: str = EXPORTER, *, name: str = "csv", value: str = "") -> str:
    """Return a PYTHONPATH with the program and a package that provides an export format."""
    value = value or f"{name}_format:CSV"
    folder = install(folder, source, name=name, value=value, group="agentwatch.exporters")
    return f"{ROOT}:{folder}"


@pytest.mark.slow
def test_the_format_of_a_plugin_writes_a_file(tmp_path: Path) -> None:
    """An exporter of an installed package writes a file like any other, with its suffix."""
    first, second = (
        tmp_path / "first",
        tmp_path / "second",
    )  # not the working folder, which Python searches too
    first.mkdir()
    second.mkdir()
    done = watch("export", PLAIN, "--to", "csv", cwd=tmp_path, PYTHONPATH=path_with(first))
    assert done.returncode == 0
    assert done.stderr.startswith(b"agentwatch: wrote plain.csv (")
    assert (tmp_path / "plain.csv").read_bytes() == b"number,tool\n1,read\n2,edit\n"
    # If the suffix is one of the files that belong to a recording, the export gets another name
    shutil.copy(PLAIN, tmp_path / "a.ndjson")
    path = path_with(second, EXPORTER.replace('".csv"', '".log"'))
    done = watch("export", "a.ndjson", "--to", "csv", cwd=tmp_path, PYTHONPATH=path)
    assert done.stderr.startswith(b"agentwatch: wrote a-2.log (")


@pytest.mark.system
@pytest.mark.slow
def test_the_help_and_an_error_name_the_format_if_it_is_turned_on(tmp_path: Path) -> None:
    """The help of `--to`, its error and its completion list the formats of plugins too."""
    path = path_with(tmp_path)
    assert b" or csv." in watch("export", "--help", PYTHONPATH=path).stdout
    wrong = watch("export", PLAIN, "--to", "cvs", PYTHONPATH=path)
    assert wrong.returncode == 2
    assert wrong.stderr.endswith(b", csv (see agentwatch export --help)\n")
    words = {"COMP_WORDS": "agentwatch export --to c", "COMP_CWORD": "3"}
    found = watch(PYTHONPATH=path, _AGENTWATCH_COMPLETE="bash_complete", **words)  # type: ignore[arg-type]
    assert found.stdout == b"plain,csv\n"
    # With `AGENTWATCH_PLUGINS=0` the formats of plugins are unknown
    done = watch("export", PLAIN, "--to", "csv", cwd=tmp_path, PYTHONPATH=path, AGENTWATCH_PLUGINS="0")
    assert done.returncode == 2
    assert b"'csv' is not one of: " in done.stderr
    assert b" or csv" not in watch("export", "--help", PYTHONPATH=path, AGENTWATCH_PLUGINS="0").stdout
    # A plugin with the name of a built-in format is not imported, and named once
    path = path_with(tmp_path, "1 / 0", name="atif")
    assert watch("export", PLAIN, "--to", "atif", "-o", "-", PYTHONPATH=path).returncode == 0
    assert watch("export", "--help", PYTHONPATH=path).stdout.count(b"atif") == 1


@pytest.mark.system
@pytest.mark.parametrize(
    ("code", "source", "value", "reason"),
    [
        (2, "1 / 0", "", "ZeroDivisionError: division by zero"),
        (2, "raise SystemExit(3)", "", "SystemExit: 3"),
        (2, "CSV = 7", "", "csv_format:CSV is not an agentwatch.output.export.exporters.Exporter"),
        (2, "CSV = None", "", "csv_format:CSV is None"),
        (
            2,
            EXPORTER.replace('".csv"', "7"),
            "",
            "csv_format:CSV is not an agentwatch.output.export.exporters.Exporter",
        ),
        (2, EXPORTER.replace('"csv"', '"tsv"'), "", "its exporter has another name than its entry point"),
        (2, EXPORTER, "csv_format:TSV", "AttributeError: module 'csv_format' has no attribute 'TSV'"),
        (73, failing("raise ValueError('\\x1b[31mno')"), "", "ValueError: ␛[31mno"),
        (73, failing("raise OSError(28, 'no space')"), "", "OSError: [Errno 28] no space"),
        (73, failing("raise SystemExit"), "", "SystemExit"),
        (
            73,
            failing("yield 'text'"),
            "",
            "TypeError: memoryview: a bytes-like object is required, not 'str'",
        ),
    ],
)
def test_a_plugin_that_fails_is_one_line_and_no_file(
    code: int, source: str, value: str, reason: str, tmp_path: Path
) -> None:
    """A plugin that is named and fails is wrong use, with the reason; other formats are not touched by it.

    An exception in the middle of a file is one line on stderr, and there is no file.
    """
    path = path_with(tmp_path, source, value=value)
    done = watch("export", PLAIN, "--to", "csv", cwd=tmp_path, PYTHONPATH=path)
    assert (done.returncode, done.stdout) == (code, b"")
    assert done.stderr == f"agentwatch: export plugin csv: {reason}{HELP if code == 2 else ''}\n".encode()
    assert [*tmp_path.glob("*plain*")] == []
    other = watch("export", PLAIN, "--to", "atif", "-o", "-", cwd=tmp_path, PYTHONPATH=path)
    assert (other.returncode, b"plugin" in other.stderr) == (0, False)


@pytest.fixture
def timed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a recording and its times, which is the working directory."""
    shutil.copy(DEMO.with_suffix(".times"), folder / "a.times")
    monkeypatch.chdir(folder)
    return folder


def test_a_part_is_two_moments_of_an_address(timed: Path) -> None:
    """A part is an address with a moment, two dots and a second moment; one call is a part too."""
    cases: list[tuple[str, Range | None]] = [
        ("a.ndjson", None),
        ("a.ndjson#3..#5", Range(CallEnd(3), CallEnd(5))),
        ("a.ndjson#3", Range(CallEnd(3), CallEnd(3))),
        ("a.ndjson@+10s..+95s", Range(Shift(10_000), Shift(95_000))),
        ("a.ndjson@start..#5", Range(End.START, CallEnd(5))),
        ("./../jobs/a.ndjson#3..#5", Range(CallEnd(3), CallEnd(5))),
        ("./../jobs/a.ndjson#3", Range(CallEnd(3), CallEnd(3))),
        ("a.ndjson@the plan..the end", Range(Named("the plan"), Named("the end"))),
    ]
    for words, wanted in cases:
        with case(words):
            address, found = parse_range(words)
            assert address.path.samefile(timed / "a.ndjson")
            assert found == wanted
    # The error names what is wrong, with the exit code 2
    faults = [
        ("a.ndjson@+10s", "name a part, such as a.ndjson#3..#5"),
        ("a.ndjson#3..#0", "#0 is not a call"),
        ("a.ndjson#3..25:00", "25:00 is not a time of day"),
        ("a.ndjson#0..#3", "#0 is not a call"),
    ]
    for words, reason in faults:
        with case(words):
            with pytest.raises(Fault, match=re.escape(reason)) as raised:
                parse_range(words)
            assert raised.value.exit_code == 2


@pytest.mark.system
@pytest.mark.slow
def test_a_clip_is_a_recording_with_times(timed: Path) -> None:
    """The clip and its times are new private files; the clip is printed, shown and clipped like any other."""
    done = watch("export", *CLIP, "a.ndjson#6..#8", "-o", "b.ndjson", cwd=timed, umask=0)
    assert (done.returncode, done.stdout) == (0, b"")
    assert re.fullmatch(rb"agentwatch: wrote b\.ndjson \(\d+\.\d kB, 3 calls\); [^\n]+\n", done.stderr)
    assert files(timed) == {"a.ndjson", "a.times", "b.ndjson", "b.times"}
    assert (timed / "b.ndjson").stat().st_mode & 0o777 == 0o600
    printed = ran("-p", "b.ndjson", cwd=timed).stdout.decode().splitlines()
    assert printed == ran("-p", DEMO).stdout.decode().splitlines()[5:8]
    ours = json.loads(ran("show", "b.ndjson#1", "--json", cwd=timed).stdout)
    theirs = json.loads(ran("show", "a.ndjson#6", "--json", cwd=timed).stdout)
    assert ours | {"number": 6} == theirs
    again = ran("export", *CLIP, "b.ndjson#2", "-o", "c.ndjson", cwd=timed)
    assert again.returncode == 0
    assert ran("-p", "c.ndjson", cwd=timed).stdout.decode().splitlines() == printed[1:2]


def test_a_clip_has_its_own_lines_and_times(timed: Path) -> None:
    """A line of the clip arrived when it arrived in the recording."""
    ran("export", *CLIP, "a.ndjson@+10s..+20s", "-o", "b.ndjson", cwd=timed)
    lines = [line.split() for line in (timed / "b.times").read_text().splitlines()]
    first_ms = int((timed / "a.times").read_text().split()[1])
    times = [int(ms) - first_ms for _, ms in lines]
    assert times == sorted(times)
    begin = [ms for ms in times if ms <= 10_000]
    assert all(ms < 1000 for ms in begin)  # the start lines of the run
    assert len(begin) < len(times)
    assert times[-1] <= 20_000
    assert all(int(offset) < (timed / "b.ndjson").stat().st_size for offset, _ in lines)
    # Times that do not belong to the clip do not stay beside it
    (timed / "a.times").unlink()
    (timed / "b.ndjson").touch()
    (timed / "b.times").write_text("0 1\n")
    assert ran("export", *CLIP, "a.ndjson#1", "-o", "b.ndjson", "--force", cwd=timed).returncode == 0
    assert files(timed) == {"a.ndjson", "b.ndjson"}
    # Secrets are masked, unless the clip is raw; stderr says which
    done = ran("export", *CLIP, "a.ndjson#1", "-o", "c.ndjson", "--raw", cwd=timed)
    assert b"nothing was redacted (--raw)\n" in done.stderr
    whole = (timed / "a.ndjson").read_bytes().splitlines()
    assert set((timed / "c.ndjson").read_bytes().splitlines()) <= set(whole)
    # `-o -` prints the clip, which another command reads from a pipe
    done = ran("export", *CLIP, "a.ndjson#6..#8", "-o", "-", cwd=timed)
    assert ran("-p", stdin=done.stdout).stdout.count(b"\n") == 3
    assert b"wrote" not in done.stderr
