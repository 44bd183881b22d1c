"""On a terminal, printed lines are coloured; their text is the one that a pipe gets."""

from __future__ import annotations

import os
import re

import pytest

from agentwatch.cli.stdout import write_line
from agentwatch.text.safe import SafeText, styled
from tests.conftest import case
from tests.harness.on_a_pty import DEMO, in_terminal
from tests.harness.program import ran

LINE = styled((SafeText("Ran pytest "), ""), (SafeText("(failed)"), "failed"), (SafeText("  "), "muted"))
PLAIN = b"Ran pytest (failed)  \n"
COMMANDS: list[tuple[str, ...]] = [
    ("-p", str(DEMO)),
    ("log", str(DEMO)),
    ("show", f"{DEMO}#6"),
    ("show", str(DEMO)),
    ("check", str(DEMO), "--limit", "failed=0", "--limit", "calls=99"),
    ("check", str(DEMO), "--limit", "failed=0", "--explain"),
]
"""Commands whose lines have no width."""
ENVIRON = {"TERM": "xterm-256color", "TZ": "UTC"}


def test_only_a_terminal_gets_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe, `NO_COLOR` and a dumb terminal get the plain text; a blank piece has no code."""
    leader, terminal = os.openpty()
    reader, pipe = os.pipe()
    try:
        for sink, source, environ, expected in (
            (terminal, leader, {"TERM": "xterm"}, b"Ran pytest \x1b[31m(failed)\x1b[0m  \r\n"),
            (terminal, leader, {"TERM": "xterm", "NO_COLOR": "1"}, PLAIN.replace(b"\n", b"\r\n")),
            (terminal, leader, {"TERM": "dumb"}, PLAIN.replace(b"\n", b"\r\n")),
            (pipe, reader, {"TERM": "xterm"}, PLAIN),
        ):
            with case(environ), monkeypatch.context() as patched:
                patched.delenv("NO_COLOR", raising=False)
                for name, value in environ.items():
                    patched.setenv(name, value)
                write_line(LINE, sink)
                assert os.read(source, 100) == expected
    finally:
        for fd in (leader, terminal, reader, pipe):
            os.close(fd)


@pytest.mark.system
def test_the_colours_change_no_text() -> None:
    """Without its codes, a terminal gets the bytes that a pipe gets; `--no-color` leaves them out."""
    for command in COMMANDS:
        with case(command):
            plain = ran(*command, TZ="UTC").stdout.replace(b"\n", b"\r\n")
            printed = []
            for more in ((), ("--no-color",)):
                with in_terminal(*command, *more, env=ENVIRON, size=(400, 40)) as terminal:
                    terminal.wait_exit()
                    printed.append(terminal.raw)
            assert b"\x1b[2m" in printed[0]
            assert re.sub(rb"\x1b\[[0-9;]*m", b"", printed[0]).startswith(plain)
            assert printed[1].startswith(plain)
