"""Every payload, in every field shown on the screen of a real terminal: it is visible and does not act.

The terminals are tall, so that all of a pane is visible at once and no test has to scroll.
"""

import re
import sys
from pathlib import Path

import pytest

from tests.builders.lines import final, init, result, user
from tests.builders.packed import (
    DETAILED,
    SAID,
    called,
    detailed,
    facts,
    failed,
    mark,
    marks_in,
    marks_of,
    said,
)
from tests.builders.payloads import CLASSES, PAYLOADS, WIDTHS
from tests.conftest import Saver
from tests.harness.on_a_pty import in_terminal
from tests.harness.terminal_oracle import acting, copied, taken_apart
from tests.harness.viewer import Viewer, watched

pytestmark = pytest.mark.system

TEXTS = list(PAYLOADS.values())
SHORT = [text[:40] for text in TEXTS]
NARROW = list((CLASSES["strings"] | CLASSES["controls"] | CLASSES["asking"]).values())
"""The first of the texts, whose width is unambiguous."""
SHARES = 4


@pytest.mark.parametrize("share", range(SHARES))
def test_in_the_transcript(recording: Saver, share: int) -> None:
    """In prompt, thinking, text and notices; on the integrity screen, and under the help."""
    texts = TEXTS[share::SHARES]
    with watched(str(recording(said(texts) + failed("\n".join(texts))))) as viewer:
        viewer.see("", marks_of("e", texts))
        viewer.press("t")
        viewer.see("z", marks_of(SAID, texts))
        viewer.wait_for("what happened, time, tests, files, checks", "?")
        viewer.see("q", marks_of(SAID, texts))
        viewer.press("i")
        viewer.see("5", marks_of("e", texts))
        viewer.see("q", marks_of(SAID, texts))


def test_in_the_calls(recording: Saver) -> None:
    """In command, error, tool and file of a call: in the table, the actions and the transcript."""
    path = recording(init() + called(SHORT) + result())
    with watched(str(path), size=(160, 360)) as viewer:
        viewer.terminal.wait_until(lambda: b"succeeded" in viewer.terminal.raw, what="the end")
        viewer.press("2")
        viewer.see("z", marks_of("hj", SHORT) | marks_of("i", NARROW))
        viewer.see("4", marks_of("hj", SHORT) | marks_of("k", NARROW))


def test_in_the_detail(recording: Saver) -> None:
    """In arguments, output, diff, content, errors and reasons of a call, and in its recorded line."""
    path = recording(init() + detailed(TEXTS) + result())
    with watched(str(path), size=(160, 480)) as viewer:
        viewer.terminal.wait_until(lambda: b"succeeded" in viewer.terminal.raw, what="the end")
        viewer.press("2", "g")
        viewer.wait_for("✓ shell", "z")
        viewer.wait_for("more fields", "3")
        viewer.see("j ", marks_of("l", TEXTS))
        viewer.see("r", marks_of("l", TEXTS[:100]), folded=10)
        viewer.press("r")
        for places in DETAILED[1:]:
            viewer.wait_for("✓ shell", "2")
            viewer.press("j")
            viewer.see("3", marks_of(places.removeprefix("u"), TEXTS))
        viewer.see("j j ", marks_of("u", TEXTS))


def rows_of(viewer: Viewer, number: int) -> tuple[str, str]:
    """Return the header and the status line once both show a text, the header in each of five facts."""
    sign = f"x{number}x"

    def found() -> tuple[str, str] | None:
        header, status = viewer.terminal.line(0), viewer.terminal.line(1)
        return (header, status) if header.count(sign) == 5 and sign in status else None

    return viewer.terminal.wait_until(found, what=sign)


def test_in_the_fields_of_a_run(recording: Saver) -> None:
    """In model, cwd, session, permission mode and key source of a run, its running command and result."""
    path = recording(b"")
    every = mark("x", SHORT)
    with watched("-f", str(path), size=(2600, 10), bells=len(every) // 6 + 2) as viewer:
        for row in (every[first : first + 6] for first in range(0, len(every), 6)):
            with path.open("ab") as file:
                file.write(facts(" ".join(row)))
            rows_of(viewer, int(row[0].split("x")[1]))
        with path.open("ab") as file:
            file.write(failed(" ".join(mark("y", SHORT))))
        viewer.terminal.wait_for(re.compile(r"\A ✗ failed [^\n]*\n y0y"))


def test_on_the_standard_error_of_an_agent(recording: Saver, tmp_path: Path) -> None:
    """In the pane of the agent's stderr, and in its last lines after the agent has failed."""
    said_last = tmp_path / "stderr"
    lines = [text.replace("\n", " ") for text in mark("x", SHORT)]
    said_last.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass") + b"\n\x9b31mx \xff\x90$q\n")
    script = "import sys; f, g = sys.argv[1:]; sys.stdout.buffer.write(open(f, 'rb').read());"
    script += "sys.stderr.buffer.write(open(g, 'rb').read()); sys.exit(3)"
    stream = recording(init() + called(SHORT[:9]) + failed(SHORT[0]))
    command = [sys.executable, "-c", script, str(stream), str(said_last)]
    with watched("run", "--", *command, size=(160, 260)) as viewer:
        viewer.see("", marks_of("h", SHORT[:9]))
        viewer.press("4")
        viewer.see("z", marks_of("x", SHORT))
        viewer.wait_for("the agent's stderr: x171x", "q")
    assert viewer.status == 3


def test_in_the_list_of_saved_sessions(home: Path) -> None:
    """In the prompts of the saved sessions, on the screen that lists them and where they are printed."""
    (home / "sessions").mkdir(parents=True)
    for number, text in enumerate(mark("x", SHORT)):
        path = home / "sessions" / f"20261101-120000-{number:06}.ndjson"
        path.write_bytes(init(model=text) + user(text) + result(text))
    with watched(size=(120, 190)) as viewer:
        viewer.see("", marks_of("x", SHORT))
    with in_terminal("sessions", size=(200, 40), env={"NO_COLOR": "1"}) as terminal:
        terminal.wait_exit()
        plain = terminal.raw
        assert marks_in(plain) >= marks_of("x", SHORT)
        assert taken_apart(plain).sequences == []
        assert acting(plain.decode().replace("\r\n", "\n")) == []
    with in_terminal("sessions", size=(200, 40)) as terminal:
        terminal.wait_exit()
        assert taken_apart(terminal.raw).text == plain
        rows = [line for line in terminal.raw.splitlines() if marks_in(line)]
        assert len(rows) == len(SHORT)
        [colours] = {tuple(taken_apart(row).sequences) for row in rows}  # one more would be that of a text
        assert set(colours[::2]) <= {b"\x1b[%sm" % code for code in (b"1", b"2", b"32", b"36")}
        assert set(colours[1::2]) == {b"\x1b[0m"}
        heading = (b"\x1b[2m", b"\x1b[0m")
        assert taken_apart(terminal.raw).sequences == [*heading, *colours * len(rows)]


def test_copied_text_is_safe(recording: Saver) -> None:
    """Text copied with `y` from each pane, or with the mouse, is safe and has no line end at its end."""
    texts = [f"{text}\n\n" for text in SHORT[::3]]
    session = init() + user("".join(texts)) + final("".join(texts)) + called(texts) + failed(texts[-1])
    with watched(str(recording(session)), size=(120, 40)) as viewer:
        terminal = viewer.terminal
        terminal.wait_for("recording whole")
        for number, pane in enumerate("123", 1):
            terminal.send(f"{pane}y")  # the first pane may have the focus already: its key draws nothing
            terminal.wait_until(lambda n=number: len(copied(terminal.raw)) == n, 20, "copy")  # type: ignore[misc]
        viewer.press("1", "g")
        terminal.wait_for("› ")
        terminal.send("\x1b[<0;6;5M\x1b[<32;30;20M\x1b[<32;40;30M\x1b[<0;40;30m")
        terminal.wait_until(lambda: len(copied(terminal.raw)) == 4, 20, "copy of what is selected")
    transcript, _, _, selected = copied(terminal.raw)
    assert all(text and not acting(text) and not text.endswith("\n") for text in copied(terminal.raw))
    assert "␛]52;c;cm0gLXJmIH4K␇" in transcript
    assert "\n" in selected


WIDE = [text[:60] for text in WIDTHS.values()]


def sides(viewer: Viewer) -> set[str]:
    """Return the characters on the sides of all frames, between their upper and lower corners."""
    screen, found = viewer.terminal.screen, set()
    for top in range(screen.lines):
        for x in range(screen.columns):
            if screen.buffer[top][x].data in {"╭", "╮"}:
                y = top + 1
                while y < screen.lines and screen.buffer[y][x].data not in {"╰", "╯"}:
                    found.add(screen.buffer[y][x].data)
                    y += 1
    return found


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    """Save a session with these texts in every field."""
    path = tmp_path / "case.ndjson"
    asked = user("\n".join(mark("a", WIDE)))
    path.write_bytes(init() + detailed(WIDE) + called(WIDE) + asked + result())
    return path


@pytest.mark.parametrize("columns", [160, 111])
def test_the_frames_are_straight(session_file: Path, columns: int) -> None:
    """In transcript, calls, detail and actions no text moves a frame, at any width."""
    with watched(str(session_file), size=(columns, 200)) as viewer:
        viewer.see("", marks_of("a", WIDE))
        viewer.press("4", "g", "2", "g")
        for _ in range(6):
            viewer.terminal.wait_until(lambda: sides(viewer) == {"│"}, what="straight frames")
            viewer.press("j")


def test_the_clocks_are_in_one_column(session_file: Path) -> None:
    """In the calls table every clock ends in the same column, and all of them are visible."""
    with watched(str(session_file), size=(160, 200)) as viewer:
        viewer.see("", marks_of("a", WIDE))
        viewer.press("2")
        viewer.see("z", marks_of("h", WIDE))
        screen = viewer.terminal.screen
        lines = {y: viewer.terminal.line(y) for y in range(screen.lines)}
        calls = {y: line for y, line in lines.items() if re.match(r"[▐ ┌│└]* *\d+ [✗↵] ", line)}
        rows = [y for y, line in calls.items() if " ms " not in line]  # the others have no known duration
        clocks = [[x for x in range(160) if screen.buffer[y][x].data == "–"] for y in rows]
        ends = [found[-1] for found in clocks if found]
    assert len(rows) >= 2 * len(WIDE)
    assert len(ends) == len(rows)
    assert len(set(ends)) == 1
