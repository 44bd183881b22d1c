"""The files of a session: what was done to each, and which changes are suspicious."""

from pathlib import Path
from typing import Any

from agentwatch.analysis.files import FileAction, TouchedFile, TouchedFiles, is_back_to_start
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.session.call import Place
from agentwatch.session.events import Outcome, RunStarted, ToolEnded, ToolKind
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from agentwatch.text.paths import named
from tests.builders.lines import CWD, completed, init, result, session, started
from tests.conftest import case

FAILED = {"error": {"error": "no such file"}}


def call(tool: str, number: int, path: str, outcome: Any = None, at_ms: int | None = None) -> bytes:
    """Return a call about a file, from its start to its end."""
    returned = FAILED if outcome is FAILED else {"success": outcome or {"path": path}}
    ids: dict[str, Any] = {"call_id": f"c-{number}", "at_ms": at_ms, "path": path}
    return started(tool, **ids) + completed(tool, result=returned, **ids)


def edit(number: int, path: str, before: str | None, after: str | None, at_ms: int | None = None) -> bytes:
    """Return an edit with the file's contents; without `before` the file is new."""
    diff = None if after is None else f"-{before}\n+{after}"
    returned = {
        "beforeFullFileContent": before,
        "afterFullFileContent": after,
        "diffString": diff,
        "linesAdded": 2,
    }
    returned = {key: value for key, value in returned.items() if value is not None}
    return call("edit", number, path, returned | ({} if before is None else {"linesRemoved": 1}), at_ms)


def touched(*lines: bytes) -> TouchedFiles:
    found = TouchedFiles(session(init(), *lines))
    assert not found.update()
    return found


def only(*lines: bytes) -> TouchedFile:
    [file] = touched(*lines).newest_first()
    return file


def test_paths_and_contents_of_files(tmp_path: Path) -> None:
    """Inside the cwd is decided by the rules of the agent's system, for the run that touched the file; a
    redacted path begins with `~`. Relative and differently cased paths are one file. A file is back to its
    start if its contents before the first and after the last change are equal.
    """
    cases: list[tuple[str, str | None, str, bool]] = [
        ("/home/ada/app/src/a.py", "/home/ada/app", "src/a.py", False),
        ("src/../a.py", "/home/ada/app/", "a.py", False),
        ("../x.py", "/home/ada/app", "/home/ada/x.py", True),
        ("/home/ada/apple/a.py", "/home/ada/app", "/home/ada/apple/a.py", True),
        ("/home/ada/app", "/home/ada/app", ".", False),
        ("/etc/passwd", "/", "etc/passwd", False),
        ("/etc/passwd", None, "/etc/passwd", False),
        ("~/.bashrc", "/home/ada/app", "~/.bashrc", False),
        ("C:\\Users\\Ada\\App\\src\\a.py", "c:\\users\\ada\\app", "src\\a.py", False),
        ("c:/Users/Ada/App/a.py", "C:\\Users\\Ada\\App\\", "a.py", False),
        ("src/a.py", "C:\\Users\\Ada", "src\\a.py", False),
        ("D:\\secret.txt", "C:\\Users\\Ada", "D:\\secret.txt", True),
        ("\\\\host\\share\\a", "C:\\Users", "\\\\host\\share\\a", True),
        ("/c/Users/Ada/a.py", "C:\\Users\\Ada", "/c/Users/Ada/a.py", False),
        ("C:\\x", "/home/ada", "C:\\x", False),
    ]
    for path, cwd, shown, is_outside in cases:
        with case((path, cwd, shown)):
            assert named(path, cwd)[1:] == (shown, is_outside)
    assert only(call("read", 1, "a.py"), call("read", 2, f"{CWD}/a.py")).file_actions[FileAction.READ] == 2
    macos = TouchedFiles(
        session(
            init("/private/tmp/x"), call("read", 1, "/tmp/x/a.py"), call("read", 2, "/private/tmp/x/a.py")
        )
    )
    macos.update()
    assert [(file.shown, file.is_outside) for file in macos.newest_first()] == [("a.py", False)]
    windows = TouchedFiles(
        session(init("C:\\App"), call("read", 1, "c:/app/A.py"), call("read", 2, "C:\\App\\a.py"))
    )
    windows.update()
    assert len(windows.newest_first()) == 1
    assert only(call("read", 1, "/etc/hosts")).is_outside
    assert not only(call("read", 1, "hosts")).is_outside
    assert named("~/mill/src/a.py", "~/mill") == ("~/mill/src/a.py", "src/a.py", False)
    assert named("~/.bashrc", "~/mill") == ("~/.bashrc", "~/.bashrc", True)
    # A file may be back to its start.
    other_cases: list[tuple[list[bytes], bool | None]] = [
        ([edit(1, "a", "x", "y"), edit(2, "a", "y", "x")], True),
        ([edit(1, "a", "x", "y"), edit(2, "a", "y", "z")], False),
        ([edit(1, "a", "x", "x")], True),
        ([edit(1, "a", None, "x"), call("delete", 2, "a")], True),
        ([edit(1, "a", "", "x"), call("delete", 2, "a")], False),
        ([edit(1, "a", None, "x")], False),
        ([call("write", 1, "a"), call("delete", 2, "a")], None),
        ([call("delete", 1, "a")], None),
        ([call("delete", 1, "a"), edit(2, "a", None, "x")], None),
        ([call("read", 1, "a")], None),
        ([edit(1, "a", "x", "y"), call("edit", 2, "a", FAILED), edit(3, "a", "y", "x")], True),
        ([edit(1, "a", "x", "y"), edit(2, "a", "y", "x"), started("edit", "c-3", path="a")], None),
        ([edit(1, "a", "x", "y"), call("edit", 2, "a", {"linesRemoved": 1})], None),
        ([edit(1, "a", "x", "y" * (1 << 20)), edit(2, "a", "y", "x")], None),
        ([call("edit", 1, "a", {"beforeFullFileContent": "x", "afterFullFileContent": "x"})], True),
    ]
    for lines, expected in other_cases:
        with case(lines):
            other_path = tmp_path / "session.ndjson"
            other_path.write_bytes(b"".join([init(), *lines, result()]))
            feed = Feed(open_saved(other_path, False))
            while not feed.is_over:
                feed.advance()
            found = TouchedFiles(feed.session)
            found.update()
            [other_file] = found.newest_first()
            assert is_back_to_start(other_file, feed) is expected


def test_file_actions_are_counted_separately() -> None:
    """Reads, edits, creations and deletions; a failed call was tried, and what one without an outcome did
    is unknown. A listing or a command is none; a call about several files counts for each, but not its
    lines. An edit or deletion is unread if no earlier call has read or created the file; a parallel read is
    too late. Calls that are read in any portions give the same files, the last touched first; the order by
    name does not depend on time.
    """
    file = only(
        call("read", 1, "a.py"),
        call("read", 2, "a.py"),
        edit(3, "a.py", "x", "y"),
        edit(4, "a.py", "y", "z"),
        call("delete", 5, "a.py"),
        edit(6, "a.py", None, "new"),
    )
    assert file.file_actions == {
        FileAction.READ: 2,
        FileAction.EDITED: 2,
        FileAction.DELETED: 1,
        FileAction.CREATED: 1,
    }
    assert (file.lines_added, file.lines_removed) == (6, 2)
    assert [one.number for one in file.calls] == [1, 2, 3, 4, 5, 6]
    file = only(call("read", 1, "a.py"))
    assert file.lines_added is None
    assert file.lines_removed is None
    file = only(call("edit", 1, "a.py", FAILED), started("delete", "c-2", path="a.py"))
    assert file.file_actions == {FileAction.TRIED: 2}
    assert file.unread is None
    lines = started("edit", path="a.py") + completed("edit", result={"later": {"linesAdded": 3}})
    file = only(lines)
    assert file.file_actions == {FileAction.TRIED: 1}
    assert file.may_be_changed
    assert file.lines_added is None
    found = touched(
        call("ls", 1, CWD),
        started("shell", "c-2", command="rm a.py") + completed("shell", "c-2", {"success": {"exitCode": 0}}),
        started("grep", "c-3", pattern="x", path="a.py") + completed("grep", "c-3", {"success": {}}),
    )
    assert found.newest_first() == []
    assert found.calls_read == 3
    read = Session()
    ended = ToolEnded("c", None, "apply_patch", ToolKind.EDIT, Outcome.SUCCEEDED, "Edited file", True)
    several = ended._replace(path="a.py", more_paths=("b.py", "a.py"), lines_added=7, lines_removed=2)
    one = ended._replace(call_id="d", path="b.py", lines_added=3)
    for event in (RunStarted("x", cwd="/src"), several, one):
        apply_line(read, [event], Place(0, 1, None))
    files = TouchedFiles(read)
    files.update()
    shown = [(file.shown, len(file.calls), file.lines_added) for file in files.by_name()]
    assert shown == [("a.py", 1, None), ("b.py", 2, 3)]
    assert files.by_name()[0].file_actions == {FileAction.EDITED: 1}
    # A change of an unread file is marked.
    cases: list[tuple[list[bytes], FileAction | None]] = [
        ([edit(1, "a.py", "x", "y")], FileAction.EDITED),
        ([call("delete", 1, "a.py")], FileAction.DELETED),
        ([edit(1, "a.py", "x", "y"), call("delete", 2, "a.py")], FileAction.EDITED),
        ([call("read", 1, "a.py"), edit(2, "a.py", "x", "y")], None),
        ([edit(1, "a.py", None, "x"), edit(2, "a.py", "x", "y"), call("delete", 3, "a.py")], None),
        ([call("read", 1, "a.py", FAILED), edit(2, "a.py", "x", "y")], FileAction.EDITED),
        ([edit(1, "a.py", "x", "y"), call("read", 2, "a.py"), edit(3, "a.py", "y", "z")], FileAction.EDITED),
        ([call("read", 1, "b/../a.py"), edit(2, f"{CWD}/a.py", "x", "y")], None),
    ]
    for other_lines, mark in cases:
        with case(other_lines):
            assert only(*other_lines).unread is mark
    other_file = only(
        started("edit", "c-1", path="a.py"),
        call("read", 2, "a.py"),
        completed("edit", "c-1", {"success": {"beforeFullFileContent": "x"}}, path="a.py"),
    )
    assert other_file.unread is FileAction.EDITED
    # The calls are taken some at a time.
    last_lines = [init(), *(call("read", number, f"{number % 3}.py", at_ms=number) for number in range(10))]
    whole, slowly = TouchedFiles(session(*last_lines)), TouchedFiles(session(*last_lines))
    whole.update()
    takes = 1
    while slowly.update(3):
        takes += 1
    assert takes == 4
    assert not slowly.update()
    assert [vars_of(last_file) for last_file in slowly.newest_first()] == [
        vars_of(last_file) for last_file in whole.newest_first()
    ]
    last_found = touched(
        call("read", 1, "b.py", at_ms=1000), call("read", 2, "a.py"), call("read", 3, "b.py", at_ms=3000)
    )
    assert [(last_file.shown, last_file.last_ms) for last_file in last_found.newest_first()] == [
        ("b.py", 3000),
        ("a.py", None),
    ]
    assert [last_file.shown for last_file in last_found.by_name()] == ["a.py", "b.py"]


def vars_of(file: TouchedFile) -> tuple[object, ...]:
    """Return the values by which two files are compared."""
    return file.shown, file.file_actions, [call.number for call in file.calls], file.last_ms
