"""The core is headless: printing, recording and decoding import neither Textual nor Rich."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS, ROOT, case
from tests.project.test_import_directions import imported

DUMP = "\nimport sys; print(*sys.modules, file=sys.stderr)"
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
    "mcp": {PACKAGE / "cli" / "mcp_server.py"},
    "nats": {*(PACKAGE / "remote" / "nats").rglob("*.py")},
    "otlp": {*(PACKAGE / "output" / "export" / "otlp").rglob("*.py")},
    "prices": {PACKAGE / "analysis" / "prices.py"},
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


DRAWING = {"textual", "rich"}
ELSEWHERE = {"agentwatch.remote", "nats", "asyncio"}


def loaded(program: str, *arguments: str) -> set[str]:
    """Return the modules and packages that a program has imported when it ends."""
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
    return {*done.stderr.splitlines()[-1].split()}


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
USUAL = [["--help"], ["schema", "summary"], ["status", "--format", "{needs_you}"], [PLAIN, "--print"]]
COMMANDS = [
    ["--version"],
    ["run", "--help"],
    ["sessions"],
    ["sessions", "--json"],
    ["sessions", "--prune", "--older", "30d"],
    ["-p", "--times", PLAIN],
    ["show", f"{PLAIN}#1"],
    ["show", f"{PLAIN}@50%", "--json"],
    ["export", PLAIN, "--to", "asciicast", "-o", "-"],
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
            modules = loaded(RUN, *arguments)
            assert ("click" in modules) is (arguments[0] != "status")
            assert modules.isdisjoint(DRAWING)


@pytest.mark.system
def test_what_is_about_this_machine_loads_nothing_of_others() -> None:
    """Without another machine, neither the engine nor a client of one is imported, nor by the list."""
    for arguments in (
        ["sessions", "--json"],
        [PLAIN, "--print"],
        ["run", "--print", "--no-record", "--", "cat", PLAIN],
        ["-p", "--times", PLAIN],
        ["show", f"{PLAIN}#1"],
        ["export", PLAIN, "--to", "atif", "-o", "-"],
    ):
        with case(" ".join(arguments)):
            modules = loaded(RUN, *arguments)
            assert not [name for name in modules if name.startswith(tuple(ELSEWHERE))]
    modules = loaded("import agentwatch.screen.screens.sessions.app, agentwatch.cli.commands")
    others = tuple(ELSEWHERE - {"asyncio"})
    assert not [name for name in modules if name.startswith(others)]


@pytest.mark.slow
def test_the_package_loads_no_more_than_is_used() -> None:
    """Importing it loads no other module of its own; its names and the printing of a file load no screen."""
    modules = loaded("import agentwatch")
    assert not [name for name in modules if name.startswith("agentwatch.")]
    assert modules.isdisjoint({*DRAWING, "click", "orjson"})
    # A star imports each public name, and there are no others.
    program = "from agentwatch import *; import agentwatch; missing = {*agentwatch.__all__} - {*dir()}; "
    assert loaded(f"{program} assert not missing, missing").isdisjoint({*DRAWING, "click"})
    program = "import agentwatch\ntry: agentwatch.gone\nexcept AttributeError as e: assert 'gone' in str(e)"
    loaded(f"{program}\nelse: raise SystemExit(1)")
    # Without agents, settings and tracebacks, printing a file takes 4 ms less.
    modules = loaded(RUN, PLAIN, "--print")
    assert modules.isdisjoint({"select", "subprocess", "tomllib", "traceback"})
    # The index answers without what reads sessions, which takes 50 ms.
    modules = loaded(RUN, "find", "--path", "app.py")
    assert modules.isdisjoint({"agentwatch.feed.feed", "agentwatch.catalog.contents"})
    assert modules.isdisjoint({"agentwatch.session.events", "orjson"})
    # The formats of files and their list need no package of the extra.
    program = """
from agentwatch.output.export.exporters import exporter_named, exporter_names
assert all(exporter_named(name) for name in exporter_names())
"""
    assert loaded(program).isdisjoint({"opentelemetry", "google", "requests"})


@pytest.mark.system
def test_the_library_loads_neither_a_screen_nor_a_command_line() -> None:
    """Reading a session from a program loads neither Textual, Rich nor Click."""
    for call in (
        "agentwatch.load(path)",
        "agentwatch.summary(path)",
        "next(agentwatch.read(path))",
        "next(agentwatch.follow(path))",
    ):
        with case(call):
            modules = loaded(f"import agentwatch; path = {PLAIN!r}; {call}")
            assert modules.isdisjoint({*DRAWING, "click"})
            assert "orjson" in modules


def test_the_sdk_of_the_server_is_loaded_by_the_server_alone() -> None:
    """The help, printing, and the settings of an agent do without it, which takes 0.6 s to import."""
    for words in (["mcp", "--help"], ["--help"], [PLAIN, "--print"], ["mcp", "--remove", "cursor"]):
        with case(" ".join(words)):
            assert loaded(RUN, *words).isdisjoint({"mcp", "mcp_types", "pydantic", "starlette", "anyio"})


def test_a_list_without_costs_does_not_load_the_price_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table of `sessions` and the help do not import it; `--json` does, until the prices are kept."""
    folder = tmp_path / ".claude" / "projects" / "-src"
    folder.mkdir(parents=True)
    usage = {"input_tokens": 9, "output_tokens": 3}
    message = {"id": "m", "model": "claude-opus-4-5", "role": "assistant", "content": [], "usage": usage}
    line: dict[str, object] = {
        "type": "assistant",
        "sessionId": "s",
        "uuid": "u",
        "requestId": "r",
        "message": message,
    }
    line["timestamp"] = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.000Z}"
    (folder / "0f3a5c1e-0000-4000-8000-000000000001.jsonl").write_text(f"{json.dumps(line)}\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AGENTWATCH_HOME", str(tmp_path / "state"))
    for words, is_loaded in (
        (["--help"], False),
        (["sessions"], False),
        (["sessions", "--json"], True),
        (["sessions", "--json"], False),
    ):
        with case(words):
            assert ("genai_prices" in loaded(RUN, *words)) is is_loaded


@pytest.mark.system
def test_the_screen_begins_without_what_its_first_frame_does_not_show() -> None:
    """Dialogs, rules, episodes, verdicts, lexers and the parsers of Markdown and settings are imported later.

    Every key with an id is known before a dialog is imported, so that settings can name it.
    """
    session = "agentwatch.screen.screens.session"
    later = {
        *("markdown_it", "pygments", "tomllib", "agentwatch.rules.language"),
        *(f"agentwatch.rules.calls.{name}" for name in ("fields", "filter")),
        *(f"agentwatch.analysis.{name}" for name in ("episodes", "files", "markers", "moments", "unread")),
        *(f"agentwatch.analysis.{name}" for name in ("time", "verdict_history", "verdicts")),
        *(f"{session}.{name}" for name in ("box", "box_files", "box_reports", "export")),
        *(f"{session}.{name}" for name in ("finish_summary", "goto", "help", "dialogs")),
    }
    program = f"import {session}.app\nfrom agentwatch.cli.config_file import read_config\nread_config({{}})"
    modules = loaded(program)
    assert modules >= DRAWING  # the check works
    assert modules.isdisjoint(later)
    names = [path.stem for path in (PACKAGE / "screen" / "screens" / "session").glob("[!_]*.py")]
    assert "help" in names
    program = f"""
from importlib import import_module
from agentwatch.screen.keys import bound_keys
before = bound_keys({{}})
for name in {names!r}:
    import_module("{session}." + name)
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
def test_imported_packages_are_dependencies() -> None:
    """Each third-party package that is imported is a declared dependency, and there are no others.

    What only the modules of an extra import, comes with the extra or with what the extra requires.
    """
    modules = {*PACKAGE.rglob("*.py")}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    distributions = packages_distributions()
    wanted = {distribution(wanted) for wanted in project["dependencies"]}
    found = foreign(modules.difference(*OF_EXTRAS.values()))
    assert {distributions[name][0].lower() for name in found} == wanted
    for extra, package in {
        "mcp": "mcp",
        "nats": "nats",
        "otlp": "opentelemetry",
        "prices": "genai_prices",
        "regex": "re2",
    }.items():
        with case(extra):
            names = {distribution(each) for each in project["optional-dependencies"][extra]}
            names |= {distribution(each) for name in list(names) for each in requires(name) or ()}
            found = foreign(OF_EXTRAS[extra]) - foreign(modules - OF_EXTRAS[extra])
            assert package in found
            assert {name for name in found if names.isdisjoint(distributions[name])} == set()
