"""Unified diffs are counted and split by their hunks, not by how their lines begin."""

from __future__ import annotations

import time

import pytest

from agentwatch.agents.changes import changed_lines, per_file
from tests.conftest import case


def test_changed_lines_are_those_of_the_hunks() -> None:
    """Headers are no changed lines, but lines of a hunk that look like headers are."""
    cases: list[tuple[str, tuple[int, int]]] = [
        ("", (0, 0)),
        ("no diff", (0, 0)),
        ("@@ -1 +1,2 @@\n a\n+b\n", (1, 0)),
        ("--- a\n+++ b\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n", (1, 1)),
        ("@@ -1 +1 @@\n--- old\n+++ new\n", (1, 1)),
        ("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n", (1, 1)),
        ("@@ -1,9 +1,9 @@\n-a\n+b\ndiff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n", (2, 2)),
        ("@@ -0,0 +1,2 @@\n+\n+x\n", (2, 0)),
        ("@@ class Tide\n-a\n+b\n@@\n-c\n\n d\n", (1, 2)),
        ("+a\n-b\n-c\n", (1, 2)),
        ("@@ -1 +1 @@\n-a\n+b\n+after the hunk\n", (1, 1)),
    ]
    for diff, counts in cases:
        with case(diff):
            assert changed_lines(diff) == counts


def test_a_diff_of_several_files_is_split() -> None:
    """Each part has its own header, paths and counts, and the parts together are the diff."""
    diff = (
        "diff --git a/one.py b/one.py\nindex 1..2\n--- a/one.py\t2026-01-01\n+++ b/one.py\r\n"
        "@@ -1 +1 @@\n-a\n+b\n"
        "--- /dev/null\n+++ b/two.py\n@@ -0,0 +1,2 @@\n+a\n+b\n"
        "--- three.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
        "--- four\n+++ five\n@@\n-x\n--- six\n+++ seven\n@@\n+y"
    )
    found = list(per_file(diff))
    assert [(each.old_path, each.path, each.added, each.removed) for each in found] == [
        ("one.py", "one.py", 1, 1),
        (None, "two.py", 2, 0),
        ("three.py", None, 0, 1),
        ("four", "five", 0, 1),
        ("six", "seven", 1, 0),
    ]
    assert "\n".join(each.text for each in found) == diff


def test_a_git_header_alone_begins_a_file() -> None:
    """A file that was only renamed has a header and no hunk."""
    diff = "diff --git a/x b/y\nrename from x\ndiff --git a/z b/z\n@@ -1 +1 @@\n-a\n+b"
    assert [(each.added, each.removed) for each in per_file(diff)] == [(0, 0), (1, 1)]


@pytest.mark.costs
def test_a_large_diff_is_read_in_linear_time() -> None:
    """A diff of a million lines takes seconds at most, whatever its lines are."""
    began = time.process_time()
    for line in ("+x\n", "@@\n", "--- a\n+++ b\n", "@@ -1 +1 @@\n"):
        changed_lines(line * 100_000)
    assert time.process_time() - began < 10
