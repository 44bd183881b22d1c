"""The numbered diffs of Pi's edits become unified diffs."""

from __future__ import annotations

from agentwatch.agents.pi.stream import changed_lines, unified

NUMBERED = """\
    ...
  9 i
-10 old
+10 new
+11 more
 11 k
    ...
 40 x
-41 gone"""


def test_a_numbered_diff_becomes_hunks() -> None:
    """Left out lines divide the hunks; the second begins later in the new file by what the first added."""
    assert unified({"diff": NUMBERED}) == "\n".join(
        [
            *("@@ -9,3 +9,4 @@", " i", "-old", "+new", "+more", " k"),
            *("@@ -40,2 +41,1 @@", " x", "-gone"),
        ]
    )
    assert changed_lines({"diff": NUMBERED}) == (2, 2)


def test_an_added_line_has_its_new_number() -> None:
    """A hunk that begins with an added line begins at that line of the new file."""
    assert unified({"diff": "+1 a\n+2 b"}) == "@@ -1,0 +1,2 @@\n+a\n+b"
    assert unified({"diff": "+0 a"}) == "@@ -0,0 +0,1 @@\n+a"


def test_other_forms_are_kept() -> None:
    """A unified diff of a newer version is used as it is; so is a diff that has no numbers."""
    assert unified({"diff": NUMBERED, "patch": "@@ -1 +1 @@\n-a\n+b"}) == "@@ -1 +1 @@\n-a\n+b"
    assert unified({"diff": "-a\n+b"}) == "-a\n+b"
    assert unified({}) is None
    assert changed_lines({}) == (None, None)
