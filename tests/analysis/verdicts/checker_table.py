"""The closing lines of linters, type checkers and make, from real logs."""

from __future__ import annotations

from tests.analysis.verdicts.lines import GREEN, RED, of

CHECKERS = [
    *of(
        "tsc",
        ("plain", "t.ts(1,7): error TS2322: Type 'a' is not assignable", RED, "1 error", 2),
        (
            "pretty, several files",
            "a.ts:1:7 - error TS2322: x\nb.ts:1:7 - error TS1: y\n\nFound 2 errors in 2 files.",
            *(RED, "2 errors", 2),
        ),
        ("pretty, one error", "Found 1 error in t.ts:1", RED, "1 error", 2),
        (
            "pretty, the same file",
            "Found 2 errors in the same file, starting at: t.ts:1",
            *(RED, "2 errors", 2),
        ),
        ("without a file", "error TS18003: No inputs were found in config file.", RED, "1 error", 2),
    ),
    *of(
        "eslint",
        ("error", "✖ 1 problem (1 error, 0 warnings)", RED, "1 error", 1),
        ("only warnings", "✖ 2 problems (0 errors, 2 warnings)", GREEN, "2 warnings", 0),
    ),
    *of(
        "ruff",
        ("found", "Found 2 errors.", RED, "2 errors", 1),
        ("all fixed", "Found 3 errors (3 fixed, 0 remaining).", GREEN, "no errors", 0),
        ("some fixed", "Found 3 errors (2 fixed, 1 remaining).", RED, "1 error", 1),
        ("passed", "All checks passed!", GREEN, "no errors", 0),
    ),
    *of(
        "mypy",
        ("found", "Found 2 errors in 1 file (checked 3 source files)", RED, "2 errors", 1),
        ("blocked", "Found 1 error in 1 file (errors prevented further checking)", RED, "1 error", 2),
        ("Success", "Success: no issues found in 12 source files", GREEN, "no errors", 0),
    ),
    *of(
        "make",
        ("a recipe failed", "make: *** [Makefile:2: all] Error 1", RED, "make failed", 2),
        ("no rule", "make[2]: *** No rule to make target 'x'.  Stop.", RED, "make failed", 2),
    ),
]
"""What tsc, eslint and make print in green is nothing."""
