"""The command `export` knows the formats of other packages, and reports a broken one in one line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.builders.formats.plugin import install
from tests.conftest import RECORDINGS, ROOT
from tests.harness.program import watch

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
def test_a_plugin_cannot_replace_a_built_in_format(tmp_path: Path) -> None:
    """A plugin with the name of a built-in format is not imported, and named once."""
    path = path_with(tmp_path, "1 / 0", name="atif")
    assert watch("export", PLAIN, "--to", "atif", "-o", "-", PYTHONPATH=path).returncode == 0
    assert watch("export", "--help", PYTHONPATH=path).stdout.count(b"atif") == 1


@pytest.mark.system
def test_plugins_can_be_turned_off(tmp_path: Path) -> None:
    """With `AGENTWATCH_PLUGINS=0` the formats of plugins are unknown."""
    path = path_with(tmp_path)
    done = watch("export", PLAIN, "--to", "csv", cwd=tmp_path, PYTHONPATH=path, AGENTWATCH_PLUGINS="0")
    assert done.returncode == 2
    assert b"'csv' is not one of: " in done.stderr
    assert b" or csv" not in watch("export", "--help", PYTHONPATH=path, AGENTWATCH_PLUGINS="0").stdout
