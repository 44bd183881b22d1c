"""A call as one line of the text format: phrase, target and outcome."""

from typing import Any

from agentwatch.catalog.states import asked_words, call_words
from agentwatch.output.summary import call_members
from agentwatch.session.actions import action, brief_action, shown_action, shown_target, target
from agentwatch.session.call import Call
from agentwatch.session.events import Permission, ToolKind
from agentwatch.session.rules import question_words
from agentwatch.text.amounts import first_line
from agentwatch.text.safe import columns
from tests.builders.lines import call, completed, session, started
from tests.catalog.digest.made_events import after
from tests.catalog.digest.made_events import started as begun
from tests.conftest import case


def read_ok(lines: int) -> bytes:
    """Return the end of a read of this many lines."""
    return completed("read", result={"success": {"totalLines": lines}})


EDITED = {"success": {"linesAdded": 3, "linesRemoved": 1, "beforeFullFileContent": "x"}}


ACTIONS: list[tuple[tuple[bytes, ...], str, str | None]] = [
    (
        (started("read", path="/home/ada/app/README.md"), read_ok(54)),
        "Read file README.md (54 lines)",
        "Read file",
    ),
    (
        (started("edit", path="src/app.py"), completed("edit", result=EDITED)),
        "Edited file src/app.py (+3 -1)",
        "Edited file",
    ),
    (
        (
            started("shell", command="pytest -q"),
            completed("shell", result={"failure": {"exitCode": 1, "stderr": "no"}}),
        ),
        "Ran terminal command pytest -q (failed: exit 1)",
        "Ran terminal command",
    ),
    (
        (
            started("write", path="summary.txt"),
            completed("write", result={"success": {"path": "/home/ada/app/summary.txt", "linesCreated": 19}}),
        ),
        "Created new file summary.txt (19 lines)",
        "Created new file",
    ),
    (
        (
            started("webFetch", url="https://example.com"),
            completed("webFetch", result={"rejected": {"reason": "no"}}),
        ),
        "Fetched web page https://example.com (rejected)",
        "Fetched web page",
    ),
    (
        (started("shell", command="sleep 600"),),
        "Ran terminal command sleep 600 (unfinished)",
        "Ran terminal command",
    ),
    (
        (started("shell", command="true"), completed("shell", result={"success": {"exitCode": 0}})),
        "Ran terminal command true",
        "Ran terminal command",
    ),
    (
        (
            started("edit", path="new.py"),
            completed(
                "edit",
                result={"success": {"linesAdded": 2, "linesRemoved": 0, "afterFullFileContent": "x"}},
            ),
        ),
        "Created new file new.py (2 lines)",
        "Created new file",
    ),
    (
        (started("updateTodos"), completed("updateTodos", result={"success": {}})),
        "Updated to-do list",
        None,
    ),
    ((started("weather", place="Zermatt"),), "Used tool weather Zermatt (unfinished)", "Used tool"),
    (
        (completed("grep", result={"error": {"error": "bad\npattern"}}),),
        "Searched files (failed: bad)",
        None,
    ),
]


def test_an_action_is_phrase_target_and_outcome() -> None:
    """A line is the phrase, the target, and the outcome in brackets; the brief line is the phrase alone."""
    for lines, shown, brief in ACTIONS:
        with case(shown):
            found = call(*lines)
            assert action(found) == shown
            assert brief is None or brief_action(found) == brief
    # A call that has not ended is shown as running.
    [running] = session(started("shell", command="make"), is_over=False).calls
    assert action(running) == "Ran terminal command make (running)"
    # A call without arguments has an empty target, and its line has no gap in that place. A long reason is
    # cut, so that the action stays below 200 columns.
    found = call(completed("read", result={"error": {}}))
    assert (target(found), action(found)) == ("", "Read file (failed: error)")
    found = call(completed("read", result={"error": {"error": "x" * 1_000_000}}))
    assert columns(action(found)) < 200
    # An unknown line count is left out, not shown as 0.
    found = Call(1, 1, "c", "edit", "Edited file", "a", lines_added=3)
    found.outcome = call(completed("edit", result=EDITED)).outcome
    assert action(found) == "Edited file a (+3)"
    # No target, reason or tool name breaks the line or prints a control character.
    for text in HOSTILE:
        with case(ascii(text)):
            for each in (
                call(started("read", path=text)),
                call(started("shell", command=text), completed("shell", result={"error": {"error": text}})),
                call(started("weather\n" + text, place=text)),
            ):
                for line in (action(each), brief_action(each), target(each)):
                    assert len(line.splitlines()) <= 1
                    assert line.isprintable()
    # A target of 200 columns is shown whole; a longer one is cut to 200 and ends with an ellipsis.
    for char in ("x", "日", "e\u0301", "🦀"):
        with case(char):
            width = 2 if char in "日🦀" else 1
            fits, too_long = char * (200 // width), char * (200 // width + 1)
            assert target(call(started("grep", pattern=fits))) == fits
            cut = target(call(started("grep", pattern=too_long)))
            assert cut.endswith("…")
            assert 200 - width < columns(cut) <= 200
            assert too_long.startswith(cut.removesuffix("…"))


def test_one_line_that_stands_for_many_says_so() -> None:
    """Every view of a command has the sign, also if its first line is cut; the summary has all of it."""
    command = "ls -la\nrm -rf ~/x"
    asked = Permission("Bash", None, call_id="c", target=command)
    shown = Call(1, 1, "c", "Bash", "Ran terminal command", command, kind=ToolKind.EXECUTE)
    digest, read = after(begun("c", target=command), asked), session(started("shell", command=command))
    [opened] = digest.open_calls.values()
    views: list[str] = [action(shown), shown_action(shown), shown_action(shown, "waits"), shown_target(shown)]
    views += [question_words(asked), asked_words(opened), call_words(opened), digest.question]
    views.append(action(read.calls[0]))
    for view in views:
        with case(view):
            assert "ls -la ⏎ +1 line" in view
            assert "rm -rf" not in view
    assert call_members(shown)["command"] == command
    assert call_members(shown)["target"] == "ls -la ⏎ +1 line"
    for text, line in (
        (f"{'x' * 300}\ny\nz", f"{'x' * 188}… ⏎ +2 lines"),
        ("\n\n ls \n\n", "ls"),
        ("cd web &&\nmake", "make"),
        ("cd web &&\nmake\nls", "make ⏎ +1 line"),
    ):
        with case(text[:9]):
            shown.target = text
            assert shown_target(shown) == line
            [opened] = after(begun("c", target=text)).open_calls.values()
            assert len(asked_words(opened)) <= 200
            assert opened.target.endswith(first_line(text)[1])


HOSTILE: list[Any] = [
    "a\nb",
    "a\r\nb\rc",
    "a\x1b[2Jb\x07\x00",
    "a\u2028b\u2029c\x85d\x0b\x0ce",
    "\u202egnp.exe",
    "\x1b]0;title\x07",
    "::error::x\n##[error]y",
    "\ud800",
]
