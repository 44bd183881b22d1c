"""The core is headless: printing, recording and decoding import neither Textual nor Rich."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS, ROOT

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
OF_EXTRAS = {"nats": PACKAGE / "engine" / "nats", "otlp": PACKAGE / "exports" / "otlp"}
"""The folder that imports the packages of each extra."""
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if path.relative_to(PACKAGE).parts[0] not in ("screen", "cli", "__main__.py")
)
"""The modules of the core."""
IMPORT_EACH = """
import importlib, json, sys
wrong = {}
for name in sys.argv[1:]:
    for known in [known for known in sys.modules if known.partition(".")[0] == "agentwatch"]:
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
"""Imports each module as if no other module of agentwatch had been imported before."""


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


def test_a_core_module_loads_no_screen() -> None:
    """Each module of the core can be imported alone, and imports neither Textual, Rich nor Click."""
    assert len(MODULES) > 70
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_EACH, *MODULES], cwd=ROOT, capture_output=True, timeout=300, check=True
    )
    assert json.loads(done.stdout) == {}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["run", "--help"],
        ["sessions"],
        ["sessions", "--json"],
        ["sessions", "--prune", "--older", "30d"],
        ["status", "--format", "{needs_you}"],
        ["log", str(RECORDINGS / "plain.ndjson")],
        ["show", str(RECORDINGS / "plain.ndjson") + "#1"],
        ["show", str(RECORDINGS / "plain.ndjson") + "@50%", "--json"],
        *(
            ["compare", str(RECORDINGS / "plain.ndjson"), str(RECORDINGS / "demo.ndjson"), *option]
            for option in (["-p"], ["--json"], ["--output-format", "text"])
        ),
        *(
            [str(RECORDINGS / "plain.ndjson"), "--print", "--output-format", name]
            for name in ("text", "summary")
        ),
        *(
            [str(RECORDINGS / "plain.ndjson"), "--print", "--output-format", name]
            for name in ("json", "stream-json")
        ),
        ["run", "--print", "--no-record", "--", "cat", str(RECORDINGS / "plain.ndjson")],
        ["replay", str(RECORDINGS / "plain.ndjson"), "--print", "--speed", "1000"],
    ],
    ids=lambda arguments: " ".join(Path(word).name for word in arguments),
)
def test_a_command_that_draws_no_screen_loads_none(arguments: list[str]) -> None:
    """Help, version, listing, log and print start without Textual, which takes 150 ms to import."""
    packages = loaded(RUN, *arguments)
    assert ("click" in packages) is (arguments[0] != "status")
    assert packages.isdisjoint({"textual", "rich"})


ELSEWHERE = (
    "\nprint(*[name for name in sys.modules if name.startswith("
    "('agentwatch.engine', 'agentwatch.remote', 'agentwatch.shipping', 'nats', 'asyncio'))])"
)


@pytest.mark.parametrize(
    "arguments",
    [
        ["sessions", "--json"],
        [str(RECORDINGS / "plain.ndjson"), "--print"],
        ["run", "--print", "--no-record", "--", "cat", str(RECORDINGS / "plain.ndjson")],
        ["log", str(RECORDINGS / "plain.ndjson")],
        ["show", str(RECORDINGS / "plain.ndjson") + "#1"],
        ["export", str(RECORDINGS / "plain.ndjson"), "--to", "atif", "-o", "-"],
    ],
    ids=["list", "file", "run", "log", "show", "export"],
)
def test_a_command_about_this_machine_loads_nothing_of_others(arguments: list[str]) -> None:
    """Without another machine, neither the engine nor a client of one is imported."""
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


def test_the_list_of_this_machine_loads_nothing_of_others() -> None:
    """The screen of the list imports an engine when one is asked for."""
    program = f"import sys, agentwatch.screen.machine.app, agentwatch.cli.commands{ELSEWHERE}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=20, check=True
    )
    assert [name for name in done.stdout.split() if not name.startswith("asyncio")] == []


def test_importing_the_package_loads_nothing_else() -> None:
    """`import agentwatch` loads no other package, and of its own no module but the first."""
    program = "import agentwatch, sys; assert not [name for name in sys.modules if 'agentwatch.' in name]"
    assert loaded(program).isdisjoint({"textual", "rich", "click", "orjson", "platformdirs"})


@pytest.mark.parametrize(
    "call", ["load(path)", "summary(path)", "next(agentwatch.read(path))", "next(agentwatch.follow(path))"]
)
def test_the_library_loads_neither_a_screen_nor_a_command_line(call: str) -> None:
    """Reading a session from a program loads neither Textual, Rich nor Click."""
    call = call if call.startswith("next") else f"agentwatch.{call}"
    packages = loaded(f"import agentwatch; path = {str(RECORDINGS / 'plain.ndjson')!r}; {call}")
    assert packages.isdisjoint({"textual", "rich", "click"})
    assert "orjson" in packages


def test_every_public_name_can_be_imported() -> None:
    """`from agentwatch import *` imports each public name, and loads neither Textual, Rich nor Click."""
    program = "from agentwatch import *; import agentwatch; missing = {*agentwatch.__all__} - {*dir()}; "
    assert loaded(f"{program} assert not missing, missing").isdisjoint({"textual", "rich", "click"})


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    """The package has no other names than those that it exports."""
    program = "import agentwatch\ntry: agentwatch.gone\nexcept AttributeError as e: assert 'gone' in str(e)"
    loaded(f"{program}\nelse: raise SystemExit(1)")


def test_printing_a_file_loads_only_what_a_file_needs() -> None:
    """Printing a file does not import agents, settings or tracebacks, which saves 4 ms."""
    packages = loaded(RUN, str(RECORDINGS / "plain.ndjson"), "--print")
    assert packages.isdisjoint({"select", "subprocess", "platformdirs", "tomllib", "traceback"})


def test_the_screen_loads_textual() -> None:
    """The check works: importing the screen imports Textual and Rich."""
    assert {"textual", "rich"} <= loaded("import agentwatch.screen.app")


def test_the_screen_begins_without_markdown_and_lexers() -> None:
    """The Markdown parser and pygments, 27 ms, are imported when the first text needs them."""
    assert loaded("import agentwatch.screen.app").isdisjoint({"markdown_it", "pygments"})


def foreign(paths: Iterable[Path]) -> set[str]:
    """Return the third-party packages that modules import, anywhere in them."""
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_bytes()))]
    named = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in named} - sys.stdlib_module_names - {"agentwatch"}


def distribution(requirement: str) -> str:
    """Return the name of the distribution that a requirement asks for."""
    return re.split(r"[^\w-]", requirement)[0]


def test_imported_packages_are_dependencies() -> None:
    """Each third-party package that is imported is a declared dependency, and there are no others."""
    paths = {*PACKAGE.rglob("*.py")}.difference(*(folder.rglob("*.py") for folder in OF_EXTRAS.values()))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    distributions = packages_distributions()
    wanted = {distribution(wanted) for wanted in project["dependencies"]}
    assert {distributions[name][0].lower() for name in foreign(paths)} == wanted


@pytest.mark.parametrize(("extra", "package"), [("nats", "nats"), ("otlp", "opentelemetry")])
def test_an_extra_has_what_its_folder_imports(extra: str, package: str) -> None:
    """What only the folder of an extra imports, comes with the extra or with what the extra requires."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {distribution(each) for each in project["optional-dependencies"][extra]}
    names |= {distribution(each) for name in list(names) for each in requires(name) or ()}
    distributions = packages_distributions()
    folder = OF_EXTRAS[extra]
    found = foreign(folder.rglob("*.py")) - foreign({*PACKAGE.rglob("*.py")} - {*folder.rglob("*.py")})
    assert package in found
    assert {name for name in found if names.isdisjoint(distributions[name])} == set()


def test_only_the_extra_loads_opentelemetry() -> None:
    """The formats of files and the list of formats are used without the packages of the extra."""
    program = """
from agentwatch.exports.exporters import exporter_named, exporter_names
assert all(exporter_named(name) for name in exporter_names())
"""
    assert loaded(program).isdisjoint({"opentelemetry", "google", "requests"})
