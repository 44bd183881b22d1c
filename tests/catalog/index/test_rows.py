"""A session in the index has the verdicts of its calls, the files that it changed, and its active time."""

from pathlib import Path

import pytest

from agentwatch.catalog.index_rows import command_of, edit_rows
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolKind
from tests.analysis.verdict_history.sessions import STORY, edit, run_of_tests
from tests.builders.lines import completed, delta, final, init, result, started, user
from tests.builders.machine.fake import fake_machine
from tests.builders.screen.lines import BEGAN_MS, CWD
from tests.catalog.index.machines import Indexed
from tests.conftest import case

STEM = "20261122-120000-000abcdef"


@pytest.fixture
def indexed(tmp_path: Path) -> Indexed:
    """A machine without sessions, and the path of an index."""
    return Indexed(fake_machine(tmp_path / "machine", with_captures=False), tmp_path / "state" / "index.db")


def test_a_test_run_has_its_verdict(indexed: Indexed) -> None:
    """A call that ran tests has the verdict, its tool, its source and its counts; another call has none."""
    columns = "verdict, verdict_tool, verdict_source, verdict_passed, verdict_failed"
    where = "kind = 'execute' ORDER BY number"
    indexed.record(STEM, STORY)
    indexed.update()
    assert indexed.rows(f"SELECT command, {columns} FROM call WHERE {where}") == [
        ("pytest", "red", "pytest", "pattern", 8, 12),
        ("pytest", "red", "pytest", "pattern", 19, 1),
        ("pytest", "green", "pytest", "pattern", 20, 0),
    ]
    others = indexed.rows(f"SELECT DISTINCT command, {columns} FROM call WHERE kind <> 'execute'")
    assert others == [(None,) * 6]
    # What passed a linter is unknown, a silent tool counts nothing, and tests that did not run are none.
    lint = run_of_tests(1, 1, "ruff check .", "Found 3 errors.") + run_of_tests(2, 0, "npx tsc --noEmit", "")
    indexed.record(STEM, init(), lint, run_of_tests(3, 0, output="no tests ran in 0.01s"))
    indexed.update()
    assert indexed.rows(f"SELECT {columns} FROM call ORDER BY number") == [
        ("red", "ruff", "pattern", None, 3),
        ("green", "tsc", "exit", None, None),
        ("none", "pytest", "pattern", 0, 0),
    ]


def test_a_session_has_the_state_of_its_tests(indexed: Indexed) -> None:
    """The state at the end of a session is that of the last verdict of each command."""
    cases = {
        "green": run_of_tests(1, 2) + run_of_tests(2, 0),
        "red": run_of_tests(1, 0) + run_of_tests(2, 2),
        "changed since": run_of_tests(1, 0) + edit(2, "a.py"),
        "unknown": edit(2, "a.py"),
    }
    for state, lines in cases.items():
        with case(state):
            indexed.record(STEM, init(), lines)
            indexed.update()
            assert indexed.rows("SELECT tests FROM session") == [(state,)]
    # The calls that the user or the agent did not allow are counted.
    refused = started("shell", "c-1", 1, command="rm -r /") + completed("shell", "c-1", {"rejected": {}}, 2)
    indexed.record(STEM, init(cwd=CWD), refused, run_of_tests(2, 0))
    indexed.update()
    assert indexed.rows("SELECT calls, failed, rejected FROM session") == [(2, 0, 1)]


def test_the_files_that_a_session_changed(indexed: Indexed) -> None:
    """Each successful edit is a row with its file and its lines; the path is relative to the repository."""
    call = Call(1, 1, "e-1", "edit", "Edited", path="a\ud800.py", more_paths=("a?.py", "b.py"))
    call.kind, call.outcome, call.lines_added = ToolKind.EDIT, Outcome.SUCCEEDED, 7
    # A path with half a surrogate pair and its replacement are one row, which the index can hold.
    assert edit_rows(call, CWD, CWD) == [(1, "a?.py", None, None), (1, "b.py", None, None)]
    folder = indexed.machine.home / "mill"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
    lines = []
    for number, path in enumerate((f"{folder}/a.py", "b.py", "/etc/hosts", f"{folder}/web/../a.py"), 1):
        success = {"success": {"linesAdded": number, "linesRemoved": 1}}
        lines += [
            started("edit", f"e-{number}", number, path=path),
            completed("edit", f"e-{number}", success, number + 5, path=path),
        ]
    indexed.record(STEM, init(cwd=f"{folder}/web"), *lines, edit(9, "c.py", is_failed=True))
    indexed.update()
    found = indexed.rows(
        "SELECT repository, number, file, lines_added, lines_removed FROM edit ORDER BY number"
    )
    assert found == [
        ("mill", 1, "a.py", 1, 1),
        ("mill", 2, "web/b.py", 2, 1),
        ("mill", 3, "/etc/hosts", 3, 1),
        ("mill", 4, "a.py", 4, 1),
    ]


def active_ms(indexed: Indexed, *lines: bytes) -> int | None:
    indexed.record(STEM, *lines)
    indexed.update()
    [(found,)] = indexed.rows("SELECT active_ms FROM session")
    assert found is None or isinstance(found, int)
    return found


def test_the_active_time_is_reported_or_that_of_the_lines(indexed: Indexed) -> None:
    """The durations that the agent reports are added, run by run; without them the lines count."""
    runs = [init(), user(), delta("Hi", 1000), final("Hi"), result("Hi", duration_ms=5000)]
    again = [init(), user(), delta("So", 90_000_000), final("So"), result("So", duration_ms=700)]
    assert active_ms(indexed, *runs, *again) == 5700
    # The time between two turns is left out.
    first = [delta("Hi", BEGAN_MS), delta(" you", BEGAN_MS + 4000), result("Hi you", duration_ms=None)]
    second = [init(), user(), delta("So", BEGAN_MS + 90_000_000), delta(".", BEGAN_MS + 90_001_000)]
    assert active_ms(indexed, init(), user(), *first, *second) == 5000
    # Lines without times, or with a single one, have no active time.
    assert active_ms(indexed, init(), user(), final("Hi")) is None
    assert active_ms(indexed, init(), user(), delta("Hi", BEGAN_MS)) is None


def test_the_words_that_say_what_a_command_does() -> None:
    """The program is named, with a script or a first argument that says what it does."""
    cases: list[tuple[str, str]] = [
        ("pytest -q tests/api 2>&1 | tail -5", "pytest"),
        ("uv run pytest tests", "pytest"),
        ("timeout 60 python -m pytest -x", "pytest"),
        ("cd web && npm run build", "npm run build"),
        ("npm test", "npm test"),
        ("CI=1 pnpm -r test", "pnpm test"),
        ("yarn exec tsc", "tsc"),
        ("npx tsc --noEmit", "tsc"),
        ("uv sync", "uv sync"),
        ("git --no-pager diff HEAD", "git diff"),
        ("cd git-repo && git push origin main", "git push"),
        ("git -C deep push", "git"),
        ("sudo apt-get install jq", "apt-get install"),
        ("make", "make"),
        ("make lint", "make lint"),
        ("for f in *.py; do ruff check $f; done", "ruff"),
        ("if cargo test --all; then echo ok; fi", "cargo test"),
        ("# first the tests\npytest", "pytest"),
        ("python -c 'import sys; print(sys.path)'", "python -c"),
        ("python manage.py migrate", "manage.py"),
        ("./scripts/run_20261122.sh", "run_N.sh"),
        ("/tmp/0f3a9bc1d2/test.sh", "test.sh"),
        ("./deploy-0f3a9bc1d2.sh", "deploy-N.sh"),
        ("grep -r foo . | wc -l", "grep"),
        ("cd a", "cd"),
        ("echo done && ls", "ls"),
        # Lines that a command gives to a program's stdin are not run by the shell.
        ("python3 - <<'EOF'\nimport os\nprint(os.sep)\nEOF\npytest -q", "pytest"),
        ("cat > run.sh <<EOF\nnpm run build\nEOF", "cat"),
        ("cat <<-END\n\tnpm test", "cat"),
        ("python3 - <<EOF\nimport os\nEOF", "python3"),
    ]
    for command, name in cases:
        with case(command):
            assert command_of(command) == name


def test_a_command_without_a_program_has_no_name() -> None:
    """Words that show no program are not counted as one."""
    for command in ["", "   ", "$TOOL --all", "A=1", "# only a comment"]:
        with case(command):
            assert command_of(command) is None


def test_a_hostile_command_has_a_short_name() -> None:
    """The name has at most 60 characters, and only the first 2,000 characters of the command are read."""
    cases: list[str] = [
        "do " * 50_000,
        "<<EOF\n" * 20_000,
        "cat <<A\n" * 9_000 + "A",
        "1" * 100_000,
        "if " * 90_000,
    ]
    for command in cases:
        with case(command):
            assert len(command_of(command) or "") <= 60
