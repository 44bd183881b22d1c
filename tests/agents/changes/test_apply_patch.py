"""The patches of `apply_patch` become one unified diff for each file."""

from __future__ import annotations

import time

import pytest

from agentwatch.agents.changes import (
    ChangeKind,
    FileChange,
    line_count,
    patch_in_command,
    patched_files,
    summed,
)
from agentwatch.session.events import ToolKind
from tests.conftest import case

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


def test_each_file_of_a_patch_is_a_change() -> None:
    """A new file has all its lines added, a deleted one has no diff, a moved one has both paths."""
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


@pytest.mark.parametrize(
    "patch", ["", "*** Update File: a\n+x", "text", "*** Begin Patch\n+x\n*** End Patch"]
)
def test_what_is_no_patch_has_no_files(patch: str) -> None:
    """A text without a begin, or without a file, changes nothing."""
    assert patched_files(patch) == []


def test_a_patch_may_have_spaces_and_no_end() -> None:
    """The tool tolerates spaces around the marks, CR LF, and a cut-off patch has its lines so far."""
    (change,) = patched_files("<<'EOF'\r\n  *** Begin Patch\r\n *** Update File: a b.py \r\n@@\r\n-x\r\n\r\n")
    assert (change.path, change.added, change.removed) == ("a b.py", 0, 1)
    (empty,) = patched_files("*** Begin Patch\n*** Add File: e\n*** End Patch")
    assert (empty.diff, empty.added) == ("--- /dev/null\n+++ e", 0)


def test_a_command_applies_a_patch_if_it_runs_the_tool() -> None:
    """Only the program `apply_patch` makes a patch of what follows it."""
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


def test_a_call_is_described_by_all_its_changes() -> None:
    """Files that are all new are created, all gone deleted; counts are known only if all are."""
    add = FileChange("a", ChangeKind.ADD, "", 2, 0)
    delete = FileChange("b", ChangeKind.DELETE)
    assert summed([add, add])[:3] == (ToolKind.EDIT, "Created new file", ("a",))
    assert summed([delete])[:3] == (ToolKind.DELETE, "Deleted file", ("b",))
    assert summed([add, delete])[1:] == ("Edited file", ("a", "b"), None, None, False)
    assert summed([])[1:] == ("Edited file", (), None, None, False)
    assert summed([add]).added == 2


def test_the_lines_of_a_content_are_counted() -> None:
    """A last line counts with and without its end."""
    for content, lines in [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n", 1)]:
        with case(content):
            assert line_count(content) == lines


@pytest.mark.costs
def test_a_large_patch_is_read_in_linear_time() -> None:
    """A patch of 100,000 files or lines takes seconds at most."""
    began = time.process_time()
    for line in ("*** Update File: a\n", "+x\n", "*** Begin Patch\n"):
        patched_files("*** Begin Patch\n*** Update File: b\n" + line * 100_000)
    assert time.process_time() - began < 10
