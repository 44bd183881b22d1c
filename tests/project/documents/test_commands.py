"""The commands of the pages work as described. `.ci/run` runs the two `python3 -m venv` lines of the README.

In a page, `sh` marks commands that are run here, and `console` commands whose output is compared as well.
Commands that need a network, a terminal or an agent are marked as `bash`, `zsh` or `fish`, and not run.
"""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from agentwatch.cli.app import agentwatch as program
from tests.conftest import RECORDINGS, ROOT, case
from tests.project.documents.doc_claims import every_option
from tests.project.documents.user import run

SILENT = ("agentwatch sessions", "agentwatch status", "agentwatch find")
"""Commands that may print nothing, as there are no sessions; stderr counts what is hidden or was searched."""
WRITING = ("agentwatch export", "agentwatch check --init")
"""Commands that report on stderr what they have written."""


TESTED_ELSEWHERE = ("plugins.md", "source.md", "python.md")
"""Pages whose programs are parts of a package, or need other files."""


class Command(NamedTuple):
    """A command of a page."""

    words: str
    output: list[str] | None
    """The lines that the page shows; None if it shows none."""


def commands(text: str) -> list[Command]:
    """Return the commands of a page in their order; a program in Python is one."""
    found: list[Command] = []
    for kind, block in re.findall(r"^```(sh|console|python)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if kind == "python":
            found.append(Command(f"python - <<'END'\n{block}END", None))
            continue
        for line in block.splitlines():
            if kind == "sh":
                found.append(Command(line, None))
            elif line.startswith("$ "):
                found.append(Command(line[2:], []))
            else:
                shown = found[-1].output
                assert shown is not None
                shown.append(line)
    return [command for command in found if not command.words.startswith("python3 -m venv")]


PAGES = {
    path.relative_to(ROOT): found
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if path.name not in TESTED_ELSEWHERE and (found := commands(path.read_text()))
}


FOLDERS = sorted({path.parent for path in PAGES})
README = Path()
"""The folder of the README, whose commands are the first that anybody runs."""


@pytest.mark.system
@pytest.mark.parametrize(
    "pages",
    [
        pytest.param(pages, id=str(pages), marks=pytest.mark.slow if pages == README else pytest.mark.system)
        for pages in FOLDERS
    ],
)
def test_the_commands_of_the_pages(pages: Path, tmp_path: Path) -> None:
    """The commands of a page, run without a terminal one after the other, succeed and print what it shows.

    There is a recording, `session.ndjson`, unless a command of the page makes it: the demo, or a short one
    where it is replayed.
    """
    for page, shown in PAGES.items():
        if page.parent == pages:
            with case(page):
                check_commands(shown, tmp_path / page.stem)


def check_commands(shown: list[Command], folder: Path) -> None:
    """Run the commands of a page for a user in UTC, who has a recorded session, and check what they print."""
    sessions = folder / "home" / "sessions"
    sessions.mkdir(mode=0o700, parents=True)
    shutil.copy(RECORDINGS / "demo.ndjson", sessions / "20261102-091406-573e587b.ndjson")
    makes_it = any(re.search(r"(--record|>) session\.ndjson", command.words) for command in shown)
    name = "plain" if any("agentwatch replay" in command.words for command in shown) else "demo"
    if not makes_it:
        for ending in (".ndjson", ".times"):
            shutil.copy(RECORDINGS / f"{name}{ending}", folder / f"session{ending}")
    user = {"HOME": str(folder / "user"), "AGENTWATCH_HOME": str(folder / "home"), "TZ": "UTC"}
    for command in shown:
        if "jq" in command.words and shutil.which("jq") is None:
            pytest.skip("jq is not installed")
        limit = "timeout -s INT 3 " if "agentwatch -f" in command.words else ""  # it follows a file
        done = run(limit + command.words, folder, **user)
        is_silent = command.words.startswith((*SILENT, *WRITING))
        assert is_silent or done.stderr.strip() == ""  # ctrl+c leaves an empty line
        assert done.returncode == (124 if limit else 0), (command, done.stderr)
        assert done.stdout or is_silent or " > " in command.words, command
        if command.output is not None:
            assert is_shown(done.stdout.splitlines(), command.output), done.stdout


def is_shown(printed: list[str], shown: list[str]) -> bool:
    """Return whether lines are those that a page shows: `…` stands for lines, or for the rest of a line."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + r"\n" for line in shown
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


def test_output_is_compared() -> None:
    """What a page shows is found in what is printed, and nothing else is."""
    for printed, is_equal in (
        (["a", "b c", "d", "e"], True),
        (["a", "b x", "e"], True),
        (["a", "b c", "d"], False),
        (["a", "d", "e"], False),
    ):
        with case(printed):
            assert is_shown(printed, ["a", "b …", "…", "e"]) is is_equal


def test_every_option_in_the_readme_exists() -> None:
    """Every option in the README is an option of the program."""
    lines = [command.words for command in PAGES[Path("README.md")]]
    named = {
        option
        for line in lines
        if "agentwatch" in line
        for option in re.findall(r"(--[a-z-]+)", line.partition("agentwatch")[2])
    }
    foreign = {"--output-format", "--stream-partial-output"}
    assert named
    assert named - foreign <= every_option(program)


PYTHON = ROOT / "docs" / "howto" / "python.md"


class Program(NamedTuple):
    """A program of the page about Python, and what it prints."""

    heading: str
    code: str
    printed: str


def python_programs() -> list[Program]:
    """Return the programs of the page. Each is followed by what it prints."""
    found = []
    for section in PYTHON.read_text("utf-8").split("\n## ")[1:]:
        blocks = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        assert section.count("```python") == len(blocks)
        found += [Program(section.partition("\n")[0], *block) for block in blocks]
    return found


PROGRAMS = python_programs()


@pytest.mark.system
def test_the_programs_print_what_the_page_shows_and_have_correct_types(tmp_path: Path) -> None:
    """Each program runs with the bundled recordings, and prints the lines below it: six uses, and errors."""
    assert len(PROGRAMS) >= 7
    shutil.copytree(RECORDINGS, tmp_path / "runs")
    shutil.copy(RECORDINGS / "demo.ndjson", tmp_path / "session.ndjson")
    before = {*tmp_path.iterdir()}
    for each in PROGRAMS:
        if "import pandas" in each.code and find_spec("pandas") is None:
            continue
        with case(each.heading), (tmp_path / "session.ndjson").open() as stdin:
            done = subprocess.run(
                [sys.executable, "-W", "error", "-c", each.code],
                stdin=stdin,
                cwd=tmp_path,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert (done.returncode, done.stderr, done.stdout) == (0, "", each.printed)
            assert {*tmp_path.iterdir()} == before
    # Mypy accepts each program in strict mode, by the types that the package declares.
    types = tmp_path / "types"
    types.mkdir()
    for number, each in enumerate(PROGRAMS):
        if "import pandas" not in each.code:
            (types / f"use_{number}.py").write_text(each.code)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, str(types)],
        cwd=ROOT,
        env=os.environ | {"MYPYPATH": str(ROOT), "MYPY_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
