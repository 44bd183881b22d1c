"""What the source may contain: one reader of the clock, plain prose, and no path beside the repository."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

import pytest

from tests.conftest import ROOT, case

PACKAGE = ROOT / "agentwatch"
READERS = {
    *("time.time", "time.time_ns", "time.CLOCK_REALTIME", "datetime.date.today", "uuid.uuid1"),
    *(f"datetime.datetime.{name}" for name in ("now", "today", "utcnow")),
}
ARGUMENTS = {"time.localtime": 1, "time.gmtime": 1, "time.ctime": 1, "time.asctime": 1, "time.strftime": 2}
"""With how many arguments a function does not read the clock."""
IMPORTED = re.compile(r"^\s*(?:import|from) (?:time|datetime|uuid)\b", re.MULTILINE)


def readings(source: str) -> set[str]:
    """Return the full names of what a module reads the time of day by."""
    if not IMPORTED.search(source):
        return set()
    tree = ast.parse(source)
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            imported |= {each.asname or each.name: f"{module}{each.name}" for each in node.names}

    def full(node: ast.AST) -> str:
        first, dot, rest = ast.unparse(node).partition(".")
        return f"{imported.get(first, first)}{dot}{rest}"

    used = {full(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute | ast.Name)}
    called = [(full(node.func), len(node.args)) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return used & READERS | {name for name, count in called if count < ARGUMENTS.get(name, 0)}


def test_only_the_clock_reads_the_time_of_day() -> None:
    """Every other module asks `agentwatch.base.clock`, so that a test sets the present in one place.

    It may turn a time that it has into a date.
    """
    found = {
        str(path.relative_to(PACKAGE)): readings(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")
    }
    assert {name: what for name, what in found.items() if what} == {"base/clock.py": {"time.time_ns"}}
    for source in (
        "import time\ntime.time()",
        "import time as t\nread = t.time_ns",
        "from time import time as now\nnow()",
        "import time\ntime.clock_gettime(time.CLOCK_REALTIME)",
        "import time\ntime.strftime('%H')",
        "from time import localtime\nlocaltime()",
        "import datetime\ndatetime.date.today()",
        "from datetime import UTC, datetime\ndatetime.now(UTC)",
        "from uuid import uuid1\nuuid1()",
    ):
        with case(source):
            assert readings(source)
    assert not readings("import time\ntime.strftime('%H', time.localtime(0)), time.monotonic(), row.now")


def levels_above(node: ast.AST, depth: int) -> int | None:
    """Return how many folders above the repository a path leads; None if it does not begin at its root."""
    match node:
        case ast.Name(id="ROOT" | "_ROOT"):
            return 0
        case ast.Call(func=ast.Name(id="Path"), args=[ast.Name(id="__file__")]):
            return -depth
        case ast.Call(func=ast.Attribute(value=inner, attr="resolve" | "absolute")):
            return levels_above(inner, depth)
        case ast.Attribute(value=inner, attr="parent"):
            steps = [".."]
        case ast.Subscript(
            value=ast.Attribute(value=inner, attr="parents"), slice=ast.Constant(value=int(at))
        ):
            steps = [".."] * (at + 1)
        case ast.BinOp(left=inner, op=ast.Div(), right=ast.Constant(value=str(name))):
            steps = name.split("/")
        case _:
            return None
    if (level := levels_above(inner, depth)) is None:
        return None
    for step in steps:
        if step == "..":
            level += 1
        elif level <= 0:  # a folder beside the repository does not lead back into it
            level -= 1
    return level


def paths_beside(source: str, depth: int) -> list[int]:
    """Return the lines of a module that lead to a folder beside the repository."""
    if not re.search(r"__file__|ROOT\b|\.\./shared\b", source):
        return []
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.expr)]
    found = {node.lineno for node in nodes if (levels_above(node, depth) or 0) > 0}
    found |= {
        number for number, line in enumerate(source.splitlines(), 1) if re.search(r"\.\./shared\b", line)
    }
    return sorted(found)


def test_no_decoder_calls_hash() -> None:
    """Its numbers differ from process to process, and the state of a decoder goes to another one."""
    calls = re.compile(r"(?<![\w.])hash\(")
    agents = {str(path.relative_to(PACKAGE)): path for path in PACKAGE.glob("agents/**/*.py")}
    assert len(agents) > 100
    found = {name for name, path in agents.items() if calls.search(path.read_text("utf-8"))}
    assert found == {"agents/opencode/store.py"}  # a store stays in its process


def test_the_tests_read_nothing_beside_the_repository() -> None:
    """No path of the tests leads out of the repository: a clone has all that they need.

    A path above the root is found however it is written; one below it is none.
    """
    tests = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "examples").rglob("*.py")]
    names = {
        path.relative_to(ROOT): path.read_text("utf-8") for path in tests if path.name != "test_source.py"
    }
    assert len(names) > 500
    found = {str(name): paths_beside(source, len(name.parts)) for name, source in names.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}
    for source, is_beside in (
        ('ROOT.parent / "shared"', True),
        ('ROOT / ".." / "recordings"', True),
        ('(ROOT / "tests" / "../../x").read_text()', True),
        ("Path(__file__).parent.parent.parent", True),
        ("Path(__file__).resolve().parents[2]", True),
        ('_ROOT.parents[0] / "x"', True),
        ('open("../shared/x")', True),
        ('ROOT / "tests"', False),
        ('(ROOT / "tests" / "x.py").parent.parent', False),
        ("Path(__file__).resolve().parents[1]", False),
        ('Path("a").parent.parent.parent', False),
    ):
        with case(source):
            assert bool(paths_beside(source, 2)) is is_beside


def test_each_test_states_a_fact() -> None:
    """Each test of the project has a docstring."""
    begins = re.compile(r'^(?:async )?def (test_\w+)\([^)]*\) -> None:.*\n(    """)?', re.MULTILINE)
    for path in (ROOT / "tests").rglob("test_*.py"):
        with case(path.relative_to(ROOT)):
            assert [name for name, fact in begins.findall(path.read_text("utf-8")) if not fact] == []


ROOMS = (
    *("analysis", "api", "base", "catalog", "cli", "feed", "output", "recording", "remote", "rules"),
    *("session", "sources", "text"),
)
"""The rooms whose texts were rewritten."""
PATTERNS = {
    "is not a": re.compile(r"(?<!there )(?<!There )\b(?:is|are) no (?!longer\b)[a-z]+"),
    "say whose it is where it is named": re.compile(r"(?:^|[.:;] )Of [^.]*?,"),
    "continues, or name the activity": re.compile(r"\b(?:goes|go|went|going) on\b(?! with\b)"),
    "received, or reported": re.compile(r"\b(?:heard|hears)\b"),
    "does not exist, or was removed": re.compile(r"\b(?:is|are|was|be) gone\b"),
    "poll, or view": re.compile(r"\b(?:looks?|looked|looking) at\b"),
}
"""The patterns, by the words to write instead."""


def prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring and comment of a module, each on one line."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, " ".join(text.split())
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


def faults(source: str) -> list[str]:
    """Return the line, the words and the advice for each pattern that a module's prose contains."""
    return [
        f"{line}: {found[0]!r}: write {advice!r}"
        for line, text in prose(source)
        for advice, pattern in PATTERNS.items()
        for found in pattern.finditer(text)
    ]


@pytest.mark.system
def test_the_prose_is_plain_technical_english() -> None:
    """No docstring and no comment of the rooms below the screen has a phrase that a reader stumbles over."""
    paths = [path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))]
    assert len(paths) > 200
    for path in paths:
        with case(path.relative_to(ROOT)):
            assert faults(path.read_text("utf-8")) == []
    for words, is_fault in (
        ("A mask is no secret.", True),
        ("There is no file, and it is no longer kept.", False),
        ("Of a larger folder, the rest is not listed.", True),
        ("The rest of a larger folder is not listed.", False),
        ("The session goes on.", True),
        ("Its machine was not heard for 90 s.", True),
        ("The file is gone.", True),
        ("The rule looks at calls.", True),
        ("A thread looks up the time.", False),
    ):
        with case(words):
            assert bool(faults(f'"""{words}"""\n')) is is_fault
            assert bool(faults(f"x = 1  # {words}\n")) is is_fault
