"""Sessions with test runs and edits, as recordings."""

from tests.builders.screen.lines import BEGAN_MS, CWD, ended, init, started


def run_of_tests(number: int, failed: int, command: str = "pytest -q", output: str | None = None) -> bytes:
    """Return a call that ran 20 tests, of which some failed."""
    call_id, args, at_ms = f"t-{number}", {"command": command}, BEGAN_MS + number * 1000
    if output is None:
        output = f"{failed} failed, {20 - failed} passed in 0.3s" if failed else "20 passed in 0.2s"
    result = {"success": {"exitCode": 1 if failed else 0, "stdout": output}}
    return started(call_id, "shell", dict(args), at_ms) + ended(
        call_id, "shell", dict(args), result, at_ms + 10
    )


def edit(number: int, path: str, *, is_failed: bool = False) -> bytes:
    """Return an edit of a file in the project, which adds four lines and removes two."""
    call_id, args, at_ms = f"e-{number}", {"path": f"{CWD}/{path}"}, BEGAN_MS + number * 1000
    success = {"success": {"linesAdded": 4, "linesRemoved": 2, "beforeFullFileContent": "a"}}
    result = {"error": {"errorMessage": "no such text"}} if is_failed else success
    return started(call_id, "edit", dict(args), at_ms) + ended(
        call_id, "edit", dict(args), result, at_ms + 10
    )


STORY = (
    init()
    + edit(1, "src/mill.py")
    + run_of_tests(2, 12)
    + edit(3, "src/mill.py")
    + edit(4, "src/wheel.py")
    + edit(5, "src/mill.py")
    + edit(6, "src/race.py", is_failed=True)
    + run_of_tests(7, 1)
    + run_of_tests(8, 0)
)
"""Three test runs: `✗12 ✗1 ✓`."""
