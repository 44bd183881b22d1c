"""The core is headless: printing, recording and decoding import neither Textual nor Rich."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS, ROOT, case
from tests.project.test_import_directions import imported

DUMP = "\nimport sys; print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
RUN = """
import runpy, sys
sys.argv[:1] = ["agentwatch"]
try:
    runpy.run_module("agentwatch", run_name="__main__")
except SystemExit as stop:
    assert not stop.code, stop.code
"""
PACKAGE = ROOT / "agentwatch"
OF_EXTRAS = {
    "nats": {*(PACKAGE / "remote" / "nats").rglob("*.py")},
    "otlp": {*(PACKAGE / "output" / "export" / "otlp").rglob("*.py")},
    "regex": {PACKAGE / "rules" / "language" / "matchers.py"},
}
"""The modules that import the packages of each extra."""
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if path.relative_to(PACKAGE).parts[0] not in ("screen", "cli", "__main__.py")
)
"""The modules of the core."""
IMPORT_EACH = """
import importlib, json, sys
wrong = {}
alone, *names = sys.argv[1:]
for name in names:
    for known in [known for known in sys.modules if alone and known.partition(".")[0] == "agentwatch"]:
        del sys.modules[known]
    try:
        importlib.import_module(name)
    except ImportError as error:
        wrong[name] = str(error)
    drawing = {"textual", "rich", "click"} & sys.modules.keys()
    if drawing:
        wrong[name] = f"imports {sorted(drawing)}"
        break
print(json.dumps(wrong))
"""
"""Imports each module; with the word `alone` as if no other one of agentwatch had been imported before."""


def loaded(program: str, *arguments: str) -> set[str]:
    """Return the top-level packages that a program has imported when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", program + DUMP, *arguments],
        cwd=ROOT,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    "alone", [pytest.param(False, marks=pytest.mark.slow), pytest.param(True, marks=pytest.mark.system)]
)
def test_a_core_module_loads_no_screen(*, alone: bool) -> None:
    """Each module of the core can be imported, also alone, and imports neither Textual, Rich nor Click."""
    assert len(MODULES) > 70
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_EACH, "alone" if alone else "", *MODULES],
        cwd=ROOT,
        capture_output=True,
        timeout=300,
        check=True,
    )
    assert json.loads(done.stdout) == {}


PLAIN = str(RECORDINGS / "plain.ndjson")
USUAL = [["--help"], ["status", "--format", "{needs_you}"], [PLAIN, "--print"]]
COMMANDS = [
    ["--version"],
    ["run", "--help"],
    ["sessions"],
    ["sessions", "--json"],
    ["sessions", "--prune", "--older", "30d"],
    ["log", PLAIN],
    ["show", f"{PLAIN}#1"],
    ["show", f"{PLAIN}@50%", "--json"],
    *(
        ["compare", PLAIN, str(RECORDINGS / "demo.ndjson"), *option]
        for option in (["-p"], ["--json"], ["--output-format", "text"])
    ),
    *([PLAIN, "--print", "--output-format", name] for name in ("text", "summary", "json", "stream-json")),
    ["run", "--print", "--no-record", "--", "cat", PLAIN],
    ["replay", PLAIN, "--print", "--speed", "1000"],
]


@pytest.mark.parametrize(
    "commands",
    [pytest.param(USUAL, marks=pytest.mark.slow), pytest.param(COMMANDS, marks=pytest.mark.system)],
    ids=["usual", "others"],
)
def test_a_command_that_draws_no_screen_loads_none(commands: list[list[str]]) -> None:
    """Help, version, listing, log and print start without Textual, which takes 150 ms to import."""
    for arguments in commands:
        with case(" ".join(arguments)):
            packages = loaded(RUN, *arguments)
            assert ("click" in packages) is (arguments[0] != "status")
            assert packages.isdisjoint({"textual", "rich"})


ELSEWHERE = (
    "\nprint(*[name for name in sys.modules if name.startswith("
    "('agentwatch.remote.engine', 'agentwatch.remote', 'agentwatch.remote.publish', 'nats', 'asyncio'))])"
)


@pytest.mark.system
def test_a_command_about_this_machine_loads_nothing_of_others() -> None:
    """Without another machine, neither the engine nor a client of one is imported."""
    for arguments in (
        ["sessions", "--json"],
        [PLAIN, "--print"],
        ["run", "--print", "--no-record", "--", "cat", PLAIN],
        ["log", PLAIN],
        ["show", f"{PLAIN}#1"],
        ["export", PLAIN, "--to", "atif", "-o", "-"],
    ):
        with case(" ".join(arguments)):
            done = subprocess.run(
                [sys.executable, "-c", RUN + ELSEWHERE, *arguments],
                cwd=ROOT,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                text=True,
                timeout=20,
                check=True,
            )
            assert done.stdout.splitlines()[-1] == ""


@pytest.mark.system
@pytest.mark.slow
def test_the_list_of_this_machine_loads_nothing_of_others() -> None:
    """The screen of the list imports an engine when one is asked for."""
    program = f"import sys, agentwatch.screen.screens.sessions.app, agentwatch.cli.commands{ELSEWHERE}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=20, check=True
    )
    assert [name for name in done.stdout.split() if not name.startswith("asyncio")] == []


@pytest.mark.slow
def test_importing_the_package_loads_nothing_else() -> None:
    """`import agentwatch` loads no other package, and of its own no module but the first."""
    program = "import agentwatch, sys; assert not [name for name in sys.modules if 'agentwatch.' in name]"
    assert loaded(program).isdisjoint({"textual", "rich", "click", "orjson"})


@pytest.mark.system
@pytest.mark.slow
def test_the_library_loads_neither_a_screen_nor_a_command_line() -> None:
    """Reading a session from a program loads neither Textual, Rich nor Click."""
    for call in (
        "agentwatch.load(path)",
        "agentwatch.summary(path)",
        "next(agentwatch.read(path))",
        "next(agentwatch.follow(path))",
    ):
        with case(call):
            packages = loaded(f"import agentwatch; path = {PLAIN!r}; {call}")
            assert packages.isdisjoint({"textual", "rich", "click"})
            assert "orjson" in packages


@pytest.mark.slow
def test_every_public_name_can_be_imported() -> None:
    """`from agentwatch import *` imports each public name, and loads neither Textual, Rich nor Click."""
    program = "from agentwatch import *; import agentwatch; missing = {*agentwatch.__all__} - {*dir()}; "
    assert loaded(f"{program} assert not missing, missing").isdisjoint({"textual", "rich", "click"})


@pytest.mark.slow
def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    """The package has no other names than those that it exports."""
    program = "import agentwatch\ntry: agentwatch.gone\nexcept AttributeError as e: assert 'gone' in str(e)"
    loaded(f"{program}\nelse: raise SystemExit(1)")


@pytest.mark.slow
def test_printing_a_file_loads_only_what_a_file_needs() -> None:
    """Printing a file does not import agents, settings or tracebacks, which saves 4 ms."""
    packages = loaded(RUN, PLAIN, "--print")
    assert packages.isdisjoint({"select", "subprocess", "tomllib", "traceback"})


@pytest.mark.system
@pytest.mark.slow
def test_the_screen_loads_textual() -> None:
    """The check works: importing the screen imports Textual and Rich."""
    assert {"textual", "rich"} <= loaded("import agentwatch.screen.screens.session.app")


@pytest.mark.system
@pytest.mark.slow
def test_the_screen_begins_without_markdown_and_lexers() -> None:
    """The Markdown parser and pygments, 27 ms, are imported when the first text needs them."""
    assert loaded("import agentwatch.screen.screens.session.app").isdisjoint({"markdown_it", "pygments"})


@pytest.mark.system
@pytest.mark.slow
def test_the_screen_begins_without_what_its_first_frame_does_not_show() -> None:
    """Dialogs, rules, episodes, verdicts and the parser of settings are imported when they are used."""
    later = (
        "agentwatch.rules.language",
        "agentwatch.rules.calls.fields",
        "agentwatch.rules.calls.filter",
        "agentwatch.analysis.episodes",
        "agentwatch.analysis.files",
        "agentwatch.analysis.markers",
        "agentwatch.analysis.moments",
        "agentwatch.analysis.since",
        "agentwatch.analysis.time",
        "agentwatch.analysis.verdict_history",
        "agentwatch.analysis.verdicts",
        *(
            f"agentwatch.screen.screens.session.{name}"
            for name in ("breakdown", "digest", "export", "file_list", "goto", "help")
        ),
        *(f"agentwatch.screen.screens.session.{name}" for name in ("integrity", "leave", "verdicts")),
        "tomllib",
    )
    program = f"""
import sys, agentwatch.screen.screens.session.app
from agentwatch.cli.config_file import read_config
read_config({{}})
found = sys.modules.keys() & set({later!r})
assert not found, found
"""
    loaded(program)


@pytest.mark.system
@pytest.mark.slow
def test_dialogs_add_no_keys_that_a_user_can_bind() -> None:
    """Every key with an id is known before a dialog is imported, so that settings can name it."""
    names = [
        name
        for name in (path.stem for path in (PACKAGE / "screen" / "screens" / "session").glob("*.py"))
        if name[0] != "_"
    ]
    assert "help" in names
    program = f"""
from importlib import import_module
from agentwatch.screen.terminal.keymap import bound_keys
before = bound_keys({{}})
for name in {names!r}:
    import_module("agentwatch.screen.screens.session." + name)
after = bound_keys({{}})
assert before == after, (before, after)
"""
    loaded(program)


def foreign(paths: Iterable[Path]) -> set[str]:
    """Return the third-party packages that modules import, anywhere in them."""
    named = {name.partition(".")[0] for path in paths for name in imported(path)}
    return named - sys.stdlib_module_names - {"agentwatch"}


def distribution(requirement: str) -> str:
    """Return the name of the distribution that a requirement asks for."""
    return re.split(r"[^\w-]", requirement)[0]


@pytest.mark.system
@pytest.mark.slow
def test_imported_packages_are_dependencies() -> None:
    """Each third-party package that is imported is a declared dependency, and there are no others."""
    paths = {*PACKAGE.rglob("*.py")}.difference(*OF_EXTRAS.values())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    distributions = packages_distributions()
    wanted = {distribution(wanted) for wanted in project["dependencies"]}
    assert {distributions[name][0].lower() for name in foreign(paths)} == wanted


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.parametrize(
    ("extra", "package"), [("nats", "nats"), ("otlp", "opentelemetry"), ("regex", "re2")]
)
def test_an_extra_has_what_its_modules_import(extra: str, package: str) -> None:
    """What only the modules of an extra import, comes with the extra or with what the extra requires."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {distribution(each) for each in project["optional-dependencies"][extra]}
    names |= {distribution(each) for name in list(names) for each in requires(name) or ()}
    distributions = packages_distributions()
    found = foreign(OF_EXTRAS[extra]) - foreign({*PACKAGE.rglob("*.py")} - OF_EXTRAS[extra])
    assert package in found
    assert {name for name in found if names.isdisjoint(distributions[name])} == set()


@pytest.mark.slow
def test_only_the_extra_loads_opentelemetry() -> None:
    """The formats of files and the list of formats are used without the packages of the extra."""
    program = """
from agentwatch.output.export.exporters import exporter_named, exporter_names
assert all(exporter_named(name) for name in exporter_names())
"""
    assert loaded(program).isdisjoint({"opentelemetry", "google", "requests"})
