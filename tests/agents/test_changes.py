"""The changes of files, as agents describe them, become diffs."""

import time
from functools import partial
from typing import Any

import pytest

from agentwatch.agents.changes import (
    ChangeKind,
    FileChange,
    argument_blocks,
    changed_lines,
    line_count,
    patch_in_command,
    patch_lines,
    patched_files,
    per_file,
    replaced_lines,
    replaced_texts,
    replacement,
    summed,
    unified_diff,
)
from agentwatch.agents.fields import Fields
from agentwatch.agents.tool import NO_FACTS, Facts
from agentwatch.session.blocks import ChangeBlock, FieldsBlock, PlanBlock, TextBlock
from agentwatch.session.events import PlanEntry, PlanStatus, ToolKind
from tests.conftest import case
from tests.harness.costs import takes_more

PATCH = """*** Begin Patch
*** Add File: new.py
+one
++two
*** Update File: old.py
*** Move to: moved.py
@@ def tide():
-a
+b
+c

 same
*** End of File
*** Delete File: gone.py
*** End Patch
ignored"""


def test_a_patch_describes_its_call() -> None:
    """Each file of a patch is a change, and the call is described by all of them."""
    # A new file has all its lines added, a deleted one has no diff, a moved one both paths. Spaces around
    # the marks, CR LF and a missing end are tolerated; a text without a begin or a file changes nothing.
    assert patched_files(PATCH) == [
        FileChange("new.py", ChangeKind.ADD, "--- /dev/null\n+++ new.py\n@@ -0,0 +1,2 @@\n+one\n++two", 2, 0),
        FileChange(
            "old.py",
            ChangeKind.UPDATE,
            "--- old.py\n+++ moved.py\n@@ def tide():\n-a\n+b\n+c\n \n same",
            2,
            1,
            "moved.py",
        ),
        FileChange("gone.py", ChangeKind.DELETE),
    ]
    for patch in ["", "*** Update File: a\n+x", "text", "*** Begin Patch\n+x\n*** End Patch"]:
        with case(patch):
            assert patched_files(patch) == []
    (change,) = patched_files("<<'EOF'\r\n  *** Begin Patch\r\n *** Update File: a b.py \r\n@@\r\n-x\r\n\r\n")
    assert (change.path, change.added, change.removed) == ("a b.py", 0, 1)
    (empty,) = patched_files("*** Begin Patch\n*** Add File: e\n*** End Patch")
    assert (empty.diff, empty.added) == ("--- /dev/null\n+++ e", 0)
    # Only the program `apply_patch` makes a patch of what follows it.
    cases: list[tuple[str, bool]] = [
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF", True),
        ("cd src && apply_patch <<EOF\n*** Begin Patch\n*** End Patch\nEOF", True),
        ("applypatch '*** Begin Patch\n*** End Patch'", True),
        ("echo apply_patch", False),
        ("cat <<'EOF'\n*** Begin Patch\nEOF", False),
        ("*** Begin Patch", False),
    ]
    for command, is_patch in cases:
        with case(command):
            assert (patch_in_command(command) is not None) is is_patch
    # Files that are all new are created, all gone deleted; counts are known only if all are, and a last
    # line counts without its end.
    add = FileChange("a", ChangeKind.ADD, "", 2, 0)
    delete = FileChange("b", ChangeKind.DELETE)
    assert summed([add, add])[:3] == (ToolKind.EDIT, "Created new file", ("a",))
    assert summed([delete])[:3] == (ToolKind.DELETE, "Deleted file", ("b",))
    assert summed([add, delete])[1:] == ("Edited file", ("a", "b"), None, None, False)
    assert summed([])[1:] == ("Edited file", (), None, None, False)
    assert summed([add]).added == 2
    for content, lines in [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n", 1)]:
        with case(content):
            assert line_count(content) == lines


def test_arguments_are_blocks() -> None:
    """The texts of a change are a diff, the content of a file is one only if the tool edits, a description
    is a remark, and a to-do list stands for its argument.
    """
    arguments = {"path": "a", "edits": [{"old_str": "a", "new_str": "b"}], "note": "x\ny"}
    rest = [FieldsBlock("arguments", {"path": "a"}), TextBlock("note", "x\ny")]
    found = list(argument_blocks(ToolKind.EDIT, arguments))
    assert found == [ChangeBlock("@@ -1,1 +1,1 @@\n-a\n+b"), *rest]
    assert list(argument_blocks(ToolKind.EDIT, arguments, is_change_known=True)) == rest
    arguments = {"content": "x"}
    assert list(argument_blocks(ToolKind.EDIT, arguments)) == [ChangeBlock(None, after="x")]
    both = {"old_string": "a", "new_string": "b", "content": "x"}
    assert list(argument_blocks(ToolKind.EDIT, both)) == [ChangeBlock("@@ -1,1 +1,1 @@\n-a\n+b")]
    assert list(argument_blocks(ToolKind.OTHER, arguments)) == [FieldsBlock("arguments", arguments)]
    assert list(argument_blocks(ToolKind.EDIT, {"content": 1})) == [FieldsBlock("arguments", {"content": 1})]
    further: Fields = {"command": "ls", "description": "List", "dir": "", "list": [], "none": None}
    found = list(argument_blocks(ToolKind.EXECUTE, further))
    assert found == [TextBlock("description", "List"), FieldsBlock("arguments", {"command": "ls"})]
    assert list(argument_blocks(ToolKind.EXECUTE, {"description": 1})) == [
        FieldsBlock("arguments", {"description": 1})
    ]
    entries = (PlanEntry("a", PlanStatus.PENDING),)
    assert list(argument_blocks(ToolKind.PLAN, {"todos": [1]}, entries)) == [PlanBlock(entries)]


def test_replaced_texts_are_counted() -> None:
    """Each pair of texts is found; the lines between the first and the last difference are shown with three
    around.
    """
    cases: list[tuple[Any, Any, tuple[Any, Any]]] = [
        ({"old_string": "a\nb", "new_string": "a"}, [("a\nb", "a")], (0, 1)),
        ({"old_str": "a", "new_str": "a\nb"}, [("a", "a\nb")], (1, 0)),
        ({"old_string": "a", "new_string": "b", "replace_all": True}, [("a", "b")], (None, None)),
        (
            {"edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}, 5]},
            [("a", "b"), ("c", "d")],
            (2, 2),
        ),
        ({"old_string": 5, "new_string": "b"}, [], (None, None)),
        ({"old_string": "a" * (1 << 20), "new_string": "b"}, [("a" * (1 << 20), "b")], (None, None)),
    ]
    for arguments, texts, counts in cases:
        with case((arguments, texts)):
            assert list(replaced_texts(arguments)) == texts
            facts = replaced_lines(arguments)
            assert (facts.lines_added, facts.lines_removed) == counts
    further: list[tuple[str, str, str, tuple[int, int]]] = [
        ("a", "a", "", (0, 0)),
        ("a\n", "a", "", (0, 0)),
        ("a", "b", "@@ -1,1 +1,1 @@\n-a\n+b", (1, 1)),
        ("", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b", (2, 0)),
        ("a\nb", "", "@@ -1,2 +0,0 @@\n-a\n-b", (0, 2)),
        ("a\nb\nc", "a\nB\nc", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c", (1, 1)),
        ("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5\n7", "@@ -3,4 +3,4 @@\n 3\n 4\n 5\n-6\n+7", (1, 1)),
        ("a\na", "a\na\na", "@@ -1,2 +1,3 @@\n a\n a\n+a", (1, 0)),
        ("x\u2028y", "x\u2028z", "@@ -1,1 +1,1 @@\n-x\u2028y\n+x\u2028z", (1, 1)),
    ]
    for old, new, diff, counts in further:
        with case((old, new, diff)):
            found = replacement(old, new)
            assert (found.diff, (found.added, found.removed)) == (diff, counts)


HUNK = {"oldStart": 3, "oldLines": 2, "newStart": 4, "newLines": 3, "lines": [" a", "-b", "+c", "+d"]}


def test_diffs_have_their_hunks_and_files() -> None:
    """Hunks become a diff, and a diff is split into its files."""
    # Each hunk has its own heading and the sizes of its lines; a patch that is empty or of another type
    # has no diff.
    wrong = {
        "oldStart": 9,
        "oldLines": 77,
        "newStart": -4,
        "lines": ["+x", "\\ No newline at end of file", 7],
    }
    assert unified_diff([HUNK, wrong]) == (
        "@@ -3,2 +4,3 @@\n a\n-b\n+c\n+d\n@@ -9,0 +0,1 @@\n+x\n\\ No newline at end of file"
    )
    assert patch_lines([HUNK, wrong]) == Facts(lines_added=3, lines_removed=1)
    cases: list[Any] = [None, [], "x", 5, [None], [{"lines": "x"}], [{"lines": []}]]
    for patch in cases:
        with case(patch):
            assert unified_diff(patch) is None
            assert patch_lines(patch) in (NO_FACTS, Facts(lines_added=0, lines_removed=0))
    # Each part has its own header, paths and counts. Headers are not changed lines, but lines of a hunk
    # that look like headers are.
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
    diff = "diff --git a/x b/y\nrename from x\ndiff --git a/z b/z\n@@ -1 +1 @@\n-a\n+b"
    assert [(each.added, each.removed) for each in per_file(diff)] == [(0, 0), (1, 1)]
    further: list[tuple[str, tuple[int, int]]] = [
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
    for diff, counts in further:
        with case(diff):
            assert changed_lines(diff) == counts


@pytest.mark.costs
def test_a_large_change_is_read_in_linear_time() -> None:
    """A patch, a text or a diff of many lines takes a time that grows with its length."""
    # A patch of 100,000 files or lines takes seconds at most.
    began = time.process_time()
    for line in ("*** Update File: a\n", "+x\n", "*** Begin Patch\n"):
        patched_files("*** Begin Patch\n*** Update File: b\n" + line * 100_000)
    assert time.process_time() - began < 10
    # Ten times the lines take no more than 40 times as long.
    long, short = (partial(replacement, "a\nb\n" * lines, "b\na\n" * lines) for lines in (50_000, 5_000))
    assert not takes_more(long, 40, short, 0.04)
    # A diff of a million lines takes seconds at most, whatever its lines are.
    began = time.process_time()
    for line in ("+x\n", "@@\n", "--- a\n+++ b\n", "@@ -1 +1 @@\n"):
        changed_lines(line * 100_000)
    assert time.process_time() - began < 10
