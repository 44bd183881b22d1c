"""Paths of calls are resolved by their words, relative to the folder of the session."""

from __future__ import annotations

from agentwatch.rules.calls.commands import deleted_places, is_outside, paths_of
from agentwatch.session.call import Call
from agentwatch.session.events import ToolKind
from tests.conftest import case


def call(path: str | None = None, command: str | None = None, *more: str) -> Call:
    """Return a call about a file, or one of a command."""
    kind = ToolKind.EXECUTE if command is not None else ToolKind.EDIT
    return Call(1, 1, "c", "t", "p", target=command, path=path, more_paths=more, kind=kind)


def test_a_path_is_absolute_and_relative() -> None:
    """A path has both names, with `..` resolved, and `/private` of macOS left out."""
    cases: list[tuple[str, str | None, list[str]]] = [
        ("a.py", "/w", ["/w/a.py", "a.py"]),
        ("/w/src/../a.py", "/w", ["/w/a.py", "a.py"]),
        ("../x/a.py", "/w", ["/x/a.py"]),
        ("/etc//hosts", "/w", ["/etc/hosts"]),
        ("a.py", None, ["a.py"]),
        ("/private/tmp/x/a", "/tmp/x", ["/tmp/x/a", "a"]),
        ("/tmp/x/a", "/private/tmp/x", ["/tmp/x/a", "a"]),
        (r"C:\w\src\a.py", r"C:\w", [r"c:\w\src\a.py", "src\\a.py"]),
    ]
    for path, cwd, names in cases:
        with case((path, cwd)):
            assert list(paths_of(call(path), cwd) or ()) == names


def test_a_file_is_outside_the_folder_of_the_session() -> None:
    """`..` is resolved, a longer name with the same beginning is another folder, and `~` is outside.

    In a redacted recording the folder of the session begins with `~` too.
    """
    cases: list[tuple[str | None, str | None, bool | None]] = [
        ("a.py", "/w", False),
        ("/w/a.py", "/w", False),
        ("/w", "/w", False),
        ("/wide/a.py", "/w", True),
        ("/w/../x", "/w", True),
        ("src/../../x", "/w", True),
        ("src/../x", "/w", False),
        ("~/x", "/w", True),
        ("/private/tmp/x/a", "/tmp/x", False),
        ("/tmp/y/a", "/private/tmp/x", True),
        (r"C:\w\a.py", r"C:\w", False),
        (r"c:\W\a.py", r"C:\w", False),
        (r"C:\w\..\x", r"C:\w", True),
        (r"D:\w\a.py", r"C:\w", True),
        ("/etc/hosts", None, None),
        (None, "/w", None),
        ("~/p/a.py", "/home/ada/p", True),
        ("~/p/a.py", "~/p", False),
        ("~/other/a.py", "~/p", True),
        ("/etc/hosts", "~/p", True),
    ]
    for path, cwd, is_out in cases:
        with case((path, cwd)):
            assert is_outside(call(path), cwd) is is_out


def test_a_command_is_outside_if_one_of_its_words_is() -> None:
    """Only words with `/` or `..` count; a path that begins with a variable is unknown."""
    cases: list[tuple[str, bool | None]] = [
        ("rm -rf build", False),
        ("rm -rf ./build/x", False),
        ("rm -rf /w/build", False),
        ("rm -rf /", True),
        ("rm -rf ..", True),
        ("cd .. && rm -rf x/y", True),
        ("cd web && rm ../a", False),
        ("ls > /tmp/log", True),
        ("ls > /dev/null 2>&1", False),
        ("git -C ../other push", True),
        ("cp a $HOME/.ssh/config", True),
        ("cp a $PLACE/x", None),
        ("cp a $PLACE/x /etc/y", True),
        ("curl https://x.io/a", False),
        ("", False),
    ]
    for command, is_out in cases:
        with case(command):
            assert is_outside(call(command=command), "/w") is is_out


def test_a_call_has_several_paths() -> None:
    """All files of a call are compared."""
    assert is_outside(call("a", None, "/etc/b"), "/w") is True
    assert set(paths_of(call("a", None, "b"), "/w") or ()) == {"/w/a", "a", "/w/b", "b"}
    assert paths_of(call(), "/w") is None


def test_where_deleted_files_are() -> None:
    """A folder for temporary files is not the user's; one outside decides, however many are unknown."""
    deleted = Call(1, 1, "c", "t", "p", path="/w/a", kind=ToolKind.DELETE)
    unnamed = Call(1, 1, "c", "t", "p", kind=ToolKind.DELETE)
    cases: list[tuple[Call, str | None, tuple[str, ...] | None]] = [
        (call(command="rm a /w/b"), "/w", ("inside",)),
        (call(command="rm /tmp/x /private/var/folders/y"), "/w", ("temporary",)),
        (call(command="rm /tmp"), "/w", ("outside",)),
        (call(command="rm a"), "/tmp/w", ("inside",)),
        (call(command="rm a"), None, None),
        (call(command="rm /a"), None, ("outside",)),
        (call(command="rm $X"), "/w", None),
        (call(command="rm $X /a b"), "/w", ("inside", "outside")),
        (call(command="rm ~/x"), "/w", ("outside",)),
        (call(command="rm ~/p/x"), "~/p", ("inside",)),
        (call(command="ls /a"), "/w", ()),
        (call("/etc/x"), "/w", ()),
        (deleted, "/w", ("inside",)),
        (deleted, "/v", ("outside",)),
        (unnamed, "/w", None),
    ]
    for each, cwd, places in cases:
        with case((each.target, cwd)):
            assert deleted_places(each, cwd) == places
