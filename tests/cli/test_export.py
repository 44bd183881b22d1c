"""`agentwatch export` writes a file, reports it in one line, and exits with a code for what happened."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.builders.captures import OWN
from tests.builders.formats.plugin import install
from tests.builders.lines import init, user
from tests.conftest import RECORDINGS, ROOT, case
from tests.harness.program import AGENTWATCH, environment, files, ran, watch

DEMO = RECORDINGS / "demo.ndjson"
MARKDOWN = ("--to", "markdown")
HEADING = b"## succeeded in 1:10"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a recording."""
    folder = tmp_path / "work"
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


def test_an_earlier_export_is_kept(folder: Path) -> None:
    """Without `-o`, a name that exists, even as a link to nothing, is left alone; the next one is used."""
    (folder / "a.md").write_text("old")
    (folder / "a-2.md").symlink_to("elsewhere.md")
    done = ran("export", "a.ndjson", *MARKDOWN, cwd=folder)
    assert done.returncode == 0
    assert done.stderr.startswith(b"agentwatch: wrote a-3.md (")
    assert (folder / "a.md").read_text() == "old"
    assert files(folder) == {"a.ndjson", "a.md", "a-2.md", "a-3.md"}


def test_the_export_is_printed(folder: Path) -> None:
    """`-o -` prints the same bytes, and stderr has only what was masked."""
    ran("export", "a.ndjson", *MARKDOWN, "-o", "b.md", cwd=folder)
    done = ran("export", "a.ndjson", *MARKDOWN, "-o", "-", cwd=folder)
    assert done.returncode == 0
    assert done.stdout == (folder / "b.md").read_bytes()
    assert b"wrote" not in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_a_limited_export_does_not_claim_all_calls(folder: Path) -> None:
    """With `--max-bytes`, stderr says that calls may be left out, and the file is not larger."""
    done = ran("export", "a.ndjson", *MARKDOWN, "-o", "b.md", "--max-bytes", "4000", cwd=folder)
    assert b", as many of 14 calls as fit); " in done.stderr
    assert (folder / "b.md").stat().st_size <= 4000


def test_stdin_is_exported(folder: Path) -> None:
    """`-` reads the recording from stdin; the file is then called session."""
    done = ran("export", "-", *MARKDOWN, stdin=DEMO.read_bytes(), cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "session.md").read_bytes().startswith(HEADING)


def test_a_raw_export_is_said_to_be_raw(folder: Path) -> None:
    """With `--raw`, stderr says that nothing was redacted, and so does the file."""
    done = ran("export", "a.ndjson", *MARKDOWN, "--raw", "-o", "-", cwd=folder)
    assert done.stderr == b"agentwatch: nothing was redacted (--raw)\n"
    assert b"| secrets | not redacted |" in done.stdout


def test_a_saved_session_is_exported_by_its_id(home: Path, folder: Path) -> None:
    """The first characters of the id of a session are an address."""
    (home / "sessions").mkdir(parents=True)
    path = home / "sessions" / "20261101-101010-123456789.ndjson"
    path.write_bytes(init(session_id="5f0c1d2e-7d71") + user())
    done = ran("export", "5f0c1d2e", *MARKDOWN, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert files(folder) == {"a.ndjson", "20261101-101010-123456789.md"}


def test_a_session_of_a_store_is_exported(folder: Path) -> None:
    """A session in a database is exported like a file."""
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


def test_what_cannot_be_done_is_one_line(folder: Path) -> None:
    """Wrong use exits with 2, a file that cannot be written with 73, and no file is left."""
    (folder / "plain.txt").write_text("hello\n")
    for words, code, reason in FAULTS:
        with case(" ".join(words)):
            done = ran("export", *words, cwd=folder)
            assert (done.returncode, done.stdout) == (code, b"")
            assert re.fullmatch(r"agentwatch: [^\n]+\n", done.stderr.decode())
            assert reason in done.stderr.decode()
            assert files(folder) == {"a.ndjson", "plain.txt"}


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


@pytest.mark.slow
def test_a_full_stdout_is_a_failure(folder: Path) -> None:
    """If the export cannot be printed, the exit code is 74."""
    argv = [*AGENTWATCH, "export", "a.ndjson", *MARKDOWN, "-o", "-"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            argv, stdout=full, stderr=subprocess.PIPE, cwd=folder, env=environment(), check=False
        )
    assert (done.returncode, done.stderr) == (74, b"agentwatch: cannot print: no space left on device\n")


@pytest.mark.slow
def test_a_closed_pipe_ends_the_export(folder: Path) -> None:
    """If the reader of stdout has gone, the exit code is that of SIGPIPE, and nothing is reported."""
    reading, writing = os.pipe()
    os.close(reading)
    argv = [*AGENTWATCH, "export", "a.ndjson", *MARKDOWN, "-o", "-"]
    done = subprocess.run(
        argv, stdout=writing, stderr=subprocess.PIPE, cwd=folder, env=environment(), check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.slow
def test_a_closed_stdout_is_not_the_recording(folder: Path) -> None:
    """Without a stdout, nothing is written to a file that got its number."""
    before = (folder / "a.ndjson").read_bytes()
    argv = [*AGENTWATCH, "export", "a.ndjson", *MARKDOWN, "-o", "-"]
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


def test_a_part_is_masked_with_the_whole_recording(folder: Path) -> None:
    """The recording is redacted before it is cut: the report and the file say so."""
    done = ran("export", "a.ndjson", *MARKDOWN, "--until", "#1", cwd=folder)
    assert done.returncode == 0
    assert done.stderr.endswith(b", in the whole recording\n")
    assert b", in the whole recording |\n" in (folder / "a.md").read_bytes()


PLAIN = RECORDINGS / "plain.ndjson"
EXPORTER = """
from agentwatch.output.export.exporters import Exporter

def write(exported, choices):
    yield b"number,tool\\n"
    for call in exported.calls():
        yield f"{call.number},{call.tool}\\n".encode()

CSV = Exporter(name="csv", suffix=".csv", write=write)
"""


def path_with(folder: Path, source: str = EXPORTER, *, name: str = "csv", value: str = "") -> str:
    """Return a PYTHONPATH with the program and a package that provides an export format."""
    value = value or f"{name}_format:CSV"
    folder = install(folder, source, name=name, value=value, group="agentwatch.exporters")
    return f"{ROOT}:{folder}"


@pytest.mark.slow
def test_the_format_of_a_plugin_writes_a_file(tmp_path: Path) -> None:
    """An exporter of an installed package writes a file like any other, with its suffix."""
    done = watch("export", PLAIN, "--to", "csv", cwd=tmp_path, PYTHONPATH=path_with(tmp_path))
    assert done.returncode == 0
    assert done.stderr.startswith(b"agentwatch: wrote plain.csv (")
    assert (tmp_path / "plain.csv").read_bytes() == b"number,tool\n1,read\n2,edit\n"


@pytest.mark.slow
def test_the_file_of_a_plugin_has_no_name_of_the_recording(tmp_path: Path) -> None:
    """If the suffix is one of the files that belong to a recording, the export gets another name."""
    shutil.copy(PLAIN, tmp_path / "a.ndjson")
    path = path_with(tmp_path, EXPORTER.replace('".csv"', '".log"'))
    done = watch("export", "a.ndjson", "--to", "csv", cwd=tmp_path, PYTHONPATH=path)
    assert done.stderr.startswith(b"agentwatch: wrote a-2.log (")


@pytest.mark.system
@pytest.mark.slow
def test_the_help_and_an_error_name_the_format(tmp_path: Path) -> None:
    """The help of `--to`, its error and its completion list the formats of plugins too."""
    path = path_with(tmp_path)
    assert b" or csv." in watch("export", "--help", PYTHONPATH=path).stdout
    wrong = watch("export", PLAIN, "--to", "cvs", PYTHONPATH=path)
    assert wrong.returncode == 2
    assert wrong.stderr.endswith(b", csv (see agentwatch export --help)\n")
    words = {"COMP_WORDS": "agentwatch export --to c", "COMP_CWORD": "3"}
    found = watch(PYTHONPATH=path, _AGENTWATCH_COMPLETE="bash_complete", **words)  # type: ignore[arg-type]
    assert found.stdout == b"plain,csv\n"


@pytest.mark.system
@pytest.mark.parametrize(
    ("source", "value", "reason"),
    [
        ("1 / 0", "", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "", "SystemExit: 3"),
        ("CSV = 7", "", "csv_format:CSV is not an agentwatch.output.export.exporters.Exporter"),
        ("CSV = None", "", "csv_format:CSV is None"),
        (
            EXPORTER.replace('".csv"', "7"),
            "",
            "csv_format:CSV is not an agentwatch.output.export.exporters.Exporter",
        ),
        (EXPORTER.replace('"csv"', '"tsv"'), "", "its exporter has another name than its entry point"),
        (EXPORTER, "csv_format:TSV", "AttributeError: module 'csv_format' has no attribute 'TSV'"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_one_line(
    source: str, value: str, reason: str, tmp_path: Path
) -> None:
    """A plugin that is named and fails is wrong use, with the reason; other formats are not touched by it."""
    path = path_with(tmp_path, source, value=value)
    done = watch("export", PLAIN, "--to", "csv", cwd=tmp_path, PYTHONPATH=path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == f"agentwatch: export plugin csv: {reason} (see agentwatch export --help)\n".encode()
    other = watch("export", PLAIN, "--to", "atif", "-o", "-", cwd=tmp_path, PYTHONPATH=path)
    assert (other.returncode, b"plugin" in other.stderr) == (0, False)


@pytest.mark.system
@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("raise ValueError('\\x1b[31mno')", "ValueError: ␛[31mno"),
        ("raise OSError(28, 'no space')", "OSError: [Errno 28] no space"),
        ("raise SystemExit", "SystemExit"),
        ("yield 'text'", "TypeError: memoryview: a bytes-like object is required, not 'str'"),
    ],
)
def test_a_plugin_that_fails_while_it_writes_leaves_no_file(broken: str, reason: str, tmp_path: Path) -> None:
    """An exception in the middle of a file is one line on stderr, and there is no file."""
    source = EXPORTER.replace("    for call in", f"    {broken}\n    for call in")
    done = watch("export", PLAIN, "--to", "csv", cwd=tmp_path, PYTHONPATH=path_with(tmp_path, source))
    assert done.returncode == 73
    assert done.stderr == f"agentwatch: export plugin csv: {reason}\n".encode()
    assert [*tmp_path.glob("*plain*")] == []


@pytest.mark.system
def test_plugins_replace_no_format_and_can_be_turned_off(tmp_path: Path) -> None:
    """A plugin with the name of a built-in format is not imported, and named once. With
    `AGENTWATCH_PLUGINS=0` the formats of plugins are unknown.
    """
    path = path_with(tmp_path, "1 / 0", name="atif")
    assert watch("export", PLAIN, "--to", "atif", "-o", "-", PYTHONPATH=path).returncode == 0
    assert watch("export", "--help", PYTHONPATH=path).stdout.count(b"atif") == 1
    path = path_with(tmp_path)
    done = watch("export", PLAIN, "--to", "csv", cwd=tmp_path, PYTHONPATH=path, AGENTWATCH_PLUGINS="0")
    assert done.returncode == 2
    assert b"'csv' is not one of: " in done.stderr
    assert b" or csv" not in watch("export", "--help", PYTHONPATH=path, AGENTWATCH_PLUGINS="0").stdout
