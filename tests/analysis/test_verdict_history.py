"""How verdicts change over a session, its final state, and what is left of its work."""

import time
from collections.abc import Sequence

import pytest

from agentwatch.analysis import verdict_history
from agentwatch.analysis.open_work import Changed, ChangeHistory, remaining_words
from agentwatch.analysis.verdict_history import (
    CallVerdict,
    FinalVerdicts,
    State,
    VerdictHistory,
    changed_files,
    command_key,
    final_verdicts,
    ribbon_pieces,
)
from agentwatch.analysis.verdicts import verdict
from agentwatch.feed.feed import Feed
from agentwatch.feed.history import History
from agentwatch.recording.saved import open_saved
from agentwatch.rules.calls.facts import CallFacts
from agentwatch.screen.panes.calls.list import CallList
from agentwatch.text.safe import SafeText, columns
from tests.analysis.verdict_history.sessions import STORY, edit, run_of_tests
from tests.builders.lines import feed_of
from tests.builders.screen.app import bundled
from tests.builders.screen.lines import append, ended, init, result, shell, started
from tests.conftest import Saver, case

FOLDER = "/home/me/app"


def test_the_same_command_and_its_files(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blanks, the cwd, time limits, stderr and what only prints the result make no other command; another
    folder and other arguments do. Each file is listed once with its calls in that part, the last change
    first; failed edits are not. If there are too many calls, only the newest are read, and that is
    reported.
    """
    cases: list[str] = [
        *(
            "pytest -q",
            "  pytest   -q ",
            "pytest -q 2>&1",
            "pytest -q | tail -3",
            "pytest -q 2>&1 | tee a | tail",
        ),
        *("pytest -q || true", "pytest -q; echo $?", "pytest -q && echo done", "timeout 60 pytest -q"),
        *("timeout -k 5 2m pytest -q", "time pytest -q", "pytest -q 2>/dev/null", "pytest -q 2> /dev/null"),
        *("cd /home/me/app && pytest -q", "cd /home/me/app; pytest -q", "cd . && pytest -q"),
        *("cd /home/me/app/\npytest -q", "cd '/home/me/app' && pytest -q", "cd web && cd .. && pytest -q"),
    ]
    for command in cases:
        with case(command):
            assert command_key(command, FOLDER) == "pytest -q"
    further: list[tuple[str, str]] = [
        ("cd web && npm test", "cd web && npm test"),
        ("cd /home/me/app/web && npm test | tail", "cd web && npm test"),
        ("cd web && cd js && npm test", "cd web/js && npm test"),
        ("cd /other && pytest", "cd /other && pytest"),
        ("cd ~/app && pytest", "cd ~/app && pytest"),
        ("CI=1 npx  tsc && pytest", "CI=1 npx tsc && pytest"),
        ("pytest -k 'a  b'", "pytest -k 'a  b'"),
        ("ruff check .\npytest", "ruff check . ; pytest"),
        ("pytest -x", "pytest -x"),
        ("cd web", "cd web"),
        ("", ""),
    ]
    for command, key in further:
        with case(command):
            assert command_key(command, FOLDER) == key
    assert command_key("cd /home/me/app && pytest", None) == "cd /home/me/app && pytest"
    # The files of a part.
    session = feed_of(recording(STORY)).session
    files, is_complete = changed_files(session, 2, 6)
    assert is_complete
    assert [(file.shown, [call.number for call in file.calls]) for file in files] == [
        *(("src/mill.py", [3, 5]), ("src/wheel.py", [4]))
    ]
    assert (files[0].lines_added, files[0].lines_removed) == (8, 4)
    assert files[0].last_change is session.calls[4]
    assert [file.shown for file in changed_files(session, 0, 1).files] == ["src/mill.py"]
    assert changed_files(session, 7, 7).files == []
    # Of many calls the newest are read.
    monkeypatch.setattr("agentwatch.analysis.verdict_history._MOST_CALLS", 2)
    files, is_complete = changed_files(feed_of(recording(STORY)).session, 2, 6)
    assert not is_complete
    assert [call.number for file in files for call in file.calls] == [5]


Shown = list[tuple[str, int, str, int | None]]


def killed(number: int, command: str = "pytest -q") -> bytes:
    """Return a call that was interrupted."""
    args: dict[str, object] = {"command": command}
    return started(f"k-{number}", "shell", args) + ended(
        f"k-{number}", "shell", args, {"failure": {"aborted": True}}
    )


def rejected(number: int, command: str = "pytest -q") -> bytes:
    args: dict[str, object] = {"command": command}
    return started(f"r-{number}", "shell", args) + ended(
        f"r-{number}", "shell", args, {"rejected": {"reason": "no"}}
    )


def open_call(number: int, command: str = "pytest -q") -> bytes:
    """Return a call that has not ended."""
    return started(f"o-{number}", "shell", {"command": command})


def shown(found: FinalVerdicts) -> Shown:
    """Return the facts of each command."""
    return [(each.command, each.call.number, each.colour, each.changed_by) for each in found.commands]


def test_what_is_read_is_bounded(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many commands the newest are read and compared, and that others were not is reported."""
    monkeypatch.setattr(verdict_history, "MOST_READ", 3)
    lines = b"".join(run_of_tests(number, number % 2, f"pytest {number}") for number in range(1, 7))
    found = final_verdicts(feed_of(recording(init() + lines)))
    assert [each.call.number for each in found.commands] == [6, 5, 4]
    assert not found.is_complete
    monkeypatch.setattr(verdict_history, "_MOST_KEYED", 3)
    lines = b"".join(run_of_tests(number, 0, f"cat {number}") for number in range(2, 7))
    found = final_verdicts(feed_of(recording(init() + run_of_tests(1, 0) + lines)))
    assert (found.commands, found.is_complete, found.state) == ([], False, State.UNKNOWN)
    monkeypatch.setattr(verdict_history, "_MOST_KEYED", 6)
    assert final_verdicts(feed_of(recording(init() + run_of_tests(1, 0) + lines))).is_complete


@pytest.mark.costs
def test_a_hostile_command_costs_under_5_ms() -> None:
    """No command takes longer, whatever its words are."""
    for piece in ['"', "\\", "cd a && ", "| tail ", "timeout -k 1 ", "2>&1 ", " ", "a=b;"]:
        with case(piece):
            spent = []
            for _ in range(10):
                began = time.thread_time()
                command_key(piece * 5000, "/home/me")
                spent.append(time.thread_time() - began)
            assert min(spent) < 0.005


def test_the_state_of_a_session(recording: Saver) -> None:
    """Each command has its last call, that call's verdict, and the first change after it; without a last
    verdict it has the tool of its earlier one. At an earlier moment only what had ended then counts.
    """
    cases: list[tuple[str, bytes, State, Shown]] = [
        ("green", run_of_tests(1, 0), State.GREEN, [("pytest -q", 1, "green", None)]),
        ("red", run_of_tests(1, 2), State.RED, [("pytest -q", 1, "red", None)]),
        ("no command", edit(1, "a.py"), State.UNKNOWN, []),
        ("no call", b"", State.UNKNOWN, []),
        (
            "the last verdict of the command counts",
            run_of_tests(1, 2) + edit(2, "a.py") + run_of_tests(3, 0),
            State.GREEN,
            [("pytest -q", 3, "green", None)],
        ),
        (
            "a file changed after it",
            run_of_tests(1, 0) + edit(2, "a.py") + edit(3, "b.py"),
            State.CHANGED,
            [("pytest -q", 1, "green", 2)],
        ),
        (
            "an edit failed",
            run_of_tests(1, 0) + edit(2, "a.py", is_failed=True),
            State.GREEN,
            [("pytest -q", 1, "green", None)],
        ),
        (
            "red stays red after an edit",
            run_of_tests(1, 2) + edit(2, "a.py"),
            State.RED,
            [("pytest -q", 1, "red", 2)],
        ),
        (
            "another folder is another command",
            run_of_tests(1, 1) + run_of_tests(2, 0, "cd web && pytest -q"),
            State.RED,
            [("cd web && pytest -q", 2, "green", None), ("pytest -q", 1, "red", None)],
        ),
        (
            "the same command in other words",
            run_of_tests(1, 1) + run_of_tests(2, 0, "pytest -q 2>&1 | tail -3"),
            State.GREEN,
            [("pytest -q", 2, "green", None)],
        ),
        (
            "nothing ran",
            run_of_tests(1, 0) + run_of_tests(2, 0, output="3 deselected in 0.01s"),
            State.UNKNOWN,
            [("pytest -q", 2, "none", None)],
        ),
        ("killed", run_of_tests(1, 0) + killed(2), State.UNKNOWN, [("pytest -q", 2, "none", None)]),
        (
            "killed twice",
            run_of_tests(1, 0) + killed(2) + edit(3, "a.py") + killed(4),
            State.UNKNOWN,
            [("pytest -q", 4, "none", None)],
        ),
        ("still running", run_of_tests(1, 0) + open_call(2), State.UNKNOWN, [("pytest -q", 2, "none", None)]),
        (
            "a rejected call did not run",
            run_of_tests(1, 0) + rejected(2),
            State.GREEN,
            [("pytest -q", 1, "green", None)],
        ),
        (
            "linters count",
            run_of_tests(1, 0)
            + run_of_tests(2, 1, "mypy", "Found 2 errors in 1 file (checked 3 source files)"),
            State.RED,
            [("mypy", 2, "red", None), ("pytest -q", 1, "green", None)],
        ),
        (
            "an old output is no run",
            run_of_tests(1, 0) + run_of_tests(2, 3, "cat pytest.log"),
            State.GREEN,
            [("pytest -q", 1, "green", None)],
        ),
    ]
    for name, lines, state, commands in cases:
        with case(name):
            found = final_verdicts(feed_of(recording(init() + lines), follow=True))
            assert shown(found) == commands
            assert found.state is state
            assert found.is_complete
    # The last result of a tool names it.
    mypy = run_of_tests(1, 0, "mypy", "Success: no issues found in 3 source files")
    found = final_verdicts(feed_of(recording(init() + mypy + killed(2, "mypy") + run_of_tests(3, 0))))
    assert [(each.tool, each.is_of_tests, each.verdict is None) for each in found.commands] == [
        *(("pytest", True, False), ("mypy", False, True))
    ]
    # An earlier moment.
    source = open_saved(recording(STORY + edit(9, "a.py")), follow=False)
    history = History(Feed(source), source)
    history.feed.advance()
    assert final_verdicts(history.feed).state is State.CHANGED
    states = []
    for number in (1, 2, 7, 8):
        place = history.feed.session.calls[number - 1].ended
        assert place is not None
        states.append(final_verdicts(history.at(place.offset + place.length + 1)).state)
    assert states == [State.UNKNOWN, State.RED, State.RED, State.GREEN]


def numbers(read: VerdictHistory) -> list[int]:
    """Return the numbers of the calls whose verdicts are known."""
    return [each.number for each in read.verdicts]


def counted_reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list of the offsets of the lines that are read from now on."""
    offsets: list[int] = []
    line_at = Feed.line_at

    def counted(feed: Feed, place: object) -> bytes:
        offsets.append(place.offset)  # type: ignore[attr-defined]
        return line_at(feed, place)  # type: ignore[arg-type]

    monkeypatch.setattr(Feed, "line_at", counted)
    return offsets


def test_the_verdicts_of_a_session(recording: Saver) -> None:
    """Each test run has its call's number, the moment of its end, and the number of failed tests; what did
    not run tests is not listed. An update reads one call: a new one if there is one, else the newest of the
    old.
    """
    path = recording(STORY)
    feed = feed_of(path)
    read = VerdictHistory(feed)
    assert not read.update(1)
    assert [(each.number, each.is_red, each.failed) for each in read.verdicts] == [
        *((2, True, 12), (7, True, 1), (8, False, 0))
    ]
    data = path.read_bytes()
    for each in read.verdicts:
        call = feed.session.calls[each.number - 1]
        assert feed.session.ended_calls[each.ended_index] is call
        assert call.call_id.encode() in data[: each.moment].splitlines()[-1]
        assert data[each.moment - 1 : each.moment] == b"\n"
    # Only test runs are listed.
    args: dict[str, object] = {"command": "pytest"}
    aborted = started("a", "shell", args) + ended("a", "shell", args, {"failure": {"aborted": True}})
    path = recording(
        init()
        + run_of_tests(1, 0, "mypy", "Success: no issues found in 3 source files")
        + run_of_tests(2, 3, "cat pytest.log")
        + run_of_tests(3, 0, "pytest", "3 deselected in 0.01s")
        + shell(4)
        + aborted
        + run_of_tests(5, 0, "cargo test", "test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured")
    )
    read = VerdictHistory(feed_of(path))
    read.update(1)
    assert numbers(read) == [6]
    # The newest are read first, and new ones before old.
    path = recording(init() + b"".join(run_of_tests(n, n % 2) for n in range(1, 6)))
    feed = feed_of(path, follow=True)
    read = VerdictHistory(feed)
    assert read.verdicts == ()
    assert read.update(0)
    assert numbers(read) == [5]
    append(path, run_of_tests(6, 0))
    feed.advance()
    assert read.update(0)
    assert numbers(read) == [5, 6]
    assert read.update(0)
    assert numbers(read) == [4, 5, 6]
    known = read.verdicts
    append(path, shell(7))
    feed.advance()
    assert read.update(0)
    assert read.verdicts is known


def stale(read: VerdictHistory) -> list[int]:
    """Return the numbers of the calls after whose verdict a file changed."""
    return [each.number for each in read.verdicts if each.is_stale]


def test_the_last_test_runs(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the newest verdict can be stale, if it is green; edits after it are found before it, read
    backwards. The output of a command is read once, and that of a command which only reads files is not.
    Only the newest verdicts are kept, and no older call is read for them.
    """
    path = recording(STORY)
    feed = feed_of(path, follow=True)
    read = VerdictHistory(feed)
    read.update(1)
    assert stale(read) == []
    for lines, numbers_of_stale in (
        (edit(9, "a.py", is_failed=True), []),
        (edit(10, "a.py"), [8]),
        (edit(11, "a.py"), [8]),
        (run_of_tests(12, 0), []),
        (run_of_tests(13, 2) + edit(14, "a.py"), []),
    ):
        append(path, lines)
        feed.advance()
        read.update(1)
        assert stale(read) == numbers_of_stale
    path = recording(STORY + edit(9, "a.py") + shell(10))
    read = VerdictHistory(feed_of(path))
    read.update(1)
    assert stale(read) == [8]
    path = recording(STORY + shell(9))
    read = VerdictHistory(feed_of(path))
    read.update(1)
    assert stale(read) == []
    # Each output is read once.
    offsets = counted_reads(monkeypatch)
    path = recording(STORY + run_of_tests(9, 0, "tail -3 pytest.log"))
    read = VerdictHistory(feed_of(path))
    while read.update(0):
        pass
    read.update(1)
    assert len(offsets) == len(set(offsets)) == 3
    # The number kept is bounded.
    offsets = counted_reads(monkeypatch)
    monkeypatch.setattr(verdict_history, "_MOST_KEPT", 3)
    path = recording(init() + b"".join(run_of_tests(n, 1) for n in range(1, 7)))
    feed = feed_of(path, follow=True)
    read = VerdictHistory(feed)
    assert not read.update(1)
    assert numbers(read) == [4, 5, 6]
    assert len(offsets) == 3
    append(path, run_of_tests(7, 1))
    feed.advance()
    assert not read.update(1)
    assert numbers(read) == [5, 6, 7]


def made(*failed: int | None) -> list[CallVerdict]:
    """Return test runs with these numbers of failed tests; None for a red one without a number."""
    runs = []
    for number, count in enumerate(failed, 1):
        output = "BUILD FAILED in 3s" if count is None else f"{count} failed, 2 passed in 1s"
        found = verdict("pytest", output if count != 0 else "2 passed in 1s", 0 if count == 0 else 1)
        assert found is not None
        runs.append(CallVerdict(100 * number, number, number, found))
    return runs


def test_a_ribbon_shows_the_newest_at_the_right() -> None:
    """A red verdict has its number of failed tests, a stale one a `?`. At any width the ribbon fits and ends
    with the newest, or has the chosen one.
    """
    assert ribbon(made(12, 9, None, 1, 0), 80) == "✗12 ✗9 ✗ ✗1 ✓"
    assert ribbon([], 80) == ""
    *runs, last = made(12, 0, 0)
    assert ribbon([*runs, last._replace(is_stale=True)], 80) == "✗12 ✓ ✓?"
    for width in range(30):
        with case(width):
            runs = made(12, 9, 9, 120, 1, 0, 3, 0)
            shown, whole = ribbon(runs, width), ribbon(runs, 80)
            assert columns(shown) <= width
            if width >= columns(whole):
                assert shown == whole
            elif width >= 3:
                assert shown.startswith("… ")
                assert whole.endswith(shown[1:])
            else:
                assert shown == ""
    for width in range(12, 30):
        with case(width):
            runs = made(*[12, 9, 9, 120, 1, 0, 3, 0] * 4)
            for chosen in range(len(runs)):
                pieces = ribbon_pieces(runs, width, chosen)
                assert sum(columns(piece.words) + 1 for piece in pieces) - 1 <= width
                other_shown = [piece.at for piece in pieces if piece.at is not None]
                assert chosen in other_shown
                assert other_shown == list(range(other_shown[0], other_shown[-1] + 1))
                assert (pieces[0].at is None) == (other_shown[0] > 0)
                assert (pieces[-1].at is None) == (other_shown[-1] < len(runs) - 1)


def ribbon(verdicts: Sequence[CallVerdict], width: int) -> SafeText:
    return SafeText(" ".join(piece.words for piece in ribbon_pieces(verdicts, width)))


def words_of(feed: Feed) -> list[str]:
    """Return what is left at the end of a session, in words."""
    changes, verdicts, facts = ChangeHistory(feed.session), VerdictHistory(feed), CallFacts(feed)
    while changes.update(0.0) | verdicts.update(0.0) | facts.episodes.update():
        pass
    calls = CallList(feed.session, facts)
    calls.sync()
    changed = changes.at(len(feed.session.ended_calls))
    return [str(words) for words, _ in remaining_words(verdicts.verdicts, calls.open_failures(), changed)]


def test_each_change_counts_from_its_moment_on() -> None:
    """Until the first edit nothing was changed; each change counts from the call that made it."""
    feed = feed_of(bundled("demo"))
    changes = ChangeHistory(feed.session)
    while changes.update(0.0):
        pass
    found = [changes.at(ended) for ended in range(len(feed.session.ended_calls) + 1)]
    assert found[0] == found[7] == Changed()
    assert [each.files for each in found] == sorted(each.files for each in found)
    assert found[-1] == Changed(files=2, added=36, removed=3)
    assert words_of(feed) == ["tests ✓ 17 passed", "2 files +36 −3"]


def test_a_failure_is_open_until_it_is_repeated_with_success(recording: Saver) -> None:
    """A search without a match is not a failure, and a test run has its own words."""

    def ran(number: int, command: str, exit_code: int = 0, output: str = "") -> bytes:
        return shell(number, exit_code, output).replace(f"echo {number}".encode(), command.encode())

    lines = init() + ran(1, "git push --tags", 128) + ran(2, "make lint", 2) + ran(3, "grep x y", 1)
    lines += ran(4, "pytest -q", 1, "1 failed, 4 passed in 0.1s") + ran(5, "pytest -q", 1, "2 failed in 0.1s")
    found = words_of(feed_of(recording(lines + result())))
    assert found == ["tests ✗ 2 failed since #4", "make lint failed #2 and 1 more"]
    lines += ran(6, "make lint") + ran(7, "pytest -q", 0, "5 passed in 0.1s")
    found = words_of(feed_of(recording(lines + result())))
    assert found == ["tests ✓ 5 passed", "git push failed #1"]
    lines += ran(8, "git push --tags 2>&1")
    assert words_of(feed_of(recording(lines + result()))) == ["tests ✓ 5 passed"]
