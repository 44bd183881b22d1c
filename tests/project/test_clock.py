"""Only the clock of the package reads the time of day, so that a test sets the present in one place."""

from __future__ import annotations

import ast

from tests.conftest import ROOT, case

PACKAGE = ROOT / "agentwatch"
READERS = {
    *("time.time", "time.time_ns", "time.CLOCK_REALTIME", "datetime.date.today", "uuid.uuid1"),
    *(f"datetime.datetime.{name}" for name in ("now", "today", "utcnow")),
}
ARGUMENTS = {"time.localtime": 1, "time.gmtime": 1, "time.ctime": 1, "time.asctime": 1, "time.strftime": 2}
"""With how many arguments a function does not read the clock."""


def readings(source: str) -> set[str]:
    """Return the full names of what a module reads the time of day by."""
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
    """Every other module asks `agentwatch.base.clock`; it may turn a time that it has into a date."""
    found = {
        str(path.relative_to(PACKAGE)): readings(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")
    }
    assert {name: what for name, what in found.items() if what} == {"base/clock.py": {"time.time_ns"}}


def test_each_way_to_read_the_time_of_day_is_found() -> None:
    """A module imported under another name, a name imported from it, and a call without a time are found."""
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
