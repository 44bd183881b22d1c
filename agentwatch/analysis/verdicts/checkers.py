"""The closing lines of linters, type checkers and make."""

from __future__ import annotations

import re

from agentwatch.analysis.verdicts.rules import rule
from agentwatch.analysis.verdicts.tally import Counts, Noun, Tally

TYPE_ERROR = "error TS"
"""Part of each error of tsc; the pattern after it is searched only in lines that contain it."""
_TYPE_ERROR = re.compile(r"(?:^|\([0-9]{1,9},[0-9]{1,9}\): |:[0-9]{1,9} - )error TS[0-9]{1,6}: ")
SILENT = frozenset({"tsc", "eslint", "make"})
"""The tools that print no closing line if they succeed."""


def is_type_error(line: str) -> bool:
    """Return whether a line that contains `TYPE_ERROR` is an error of tsc."""
    return _TYPE_ERROR.search(line) is not None


def _found(tally: Tally, found: re.Match[str]) -> None:
    errors = int(found[1])
    tally.says_green |= not errors
    tally.counts = Counts(errors=errors) if errors else tally.counts
    tally.has_closed = True


def _says_green(tally: Tally, _: re.Match[str]) -> None:
    tally.says_green = tally.has_closed = True


def _eslint(tally: Tally, found: re.Match[str]) -> None:
    tally.says_green = True
    tally.replace(Counts(errors=int(found[1]), warnings=int(found[2])))


def _make(tally: Tally, found: re.Match[str]) -> None:
    if not found[1].endswith("(ignored)"):
        tally.says_red = tally.has_closed = True


_CHECK = Noun.PROBLEMS
RULES = (
    rule(
        *("tsc", "F"),
        r"Found <N> errors?(?: in (?:[0-9]{1,9} files?\.|the same file, .{1,300}|\S{1,300}:[0-9]{1,9})"
        r"|\. Watching for file changes\.)$",
        *(_found, _CHECK),
    ),
    rule("eslint", "✖", r"✖ [0-9]{1,9} problems? \(<N> errors?, <N> warnings?\)$", _eslint, _CHECK),
    rule("ruff", "F", r"Found <N> errors?\.$", _found, _CHECK),
    rule(
        *("ruff", "F"),
        r"Found [0-9]{1,9} errors? \([0-9]{1,9} fixed, <N> remaining\)\.$",
        *(_found, _CHECK),
    ),
    rule("ruff", "A", "All checks passed!$", _says_green, _CHECK),
    rule(
        *("mypy", "F"),
        r"Found <N> errors? in [0-9]{1,9} files? "
        r"\((?:checked [0-9]{1,9} source files?|errors prevented .{1,40})\)$",
        *(_found, _CHECK),
    ),
    rule("mypy", "S", "Success: no issues found in [0-9]{1,9} source files?$", _says_green, _CHECK),
    rule("make", "gm", r"(?:g|mingw32-)?make(?:\[[0-9]{1,4}\])?: \*\*\* (.{1,400})$", _make, Noun.BUILD),
)
"""One line of each form. `Found 2 errors.` is a line of ruff and of tsc; the command decides."""
