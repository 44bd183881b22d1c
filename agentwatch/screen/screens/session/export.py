"""Exports the session from the screen: a dialog with the formats, and the process that writes the file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread
from typing import ClassVar, Literal

from textual.app import App
from textual.binding import Binding, BindingType

import agentwatch
from agentwatch.base.faults import NOT_EXECUTABLE
from agentwatch.output.export.exporters import FORMATS
from agentwatch.screen.screens.session.dialogs import KeyDialog
from agentwatch.text.safe import SafeText, safe_line

_START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from agentwatch.cli.start import main; main()"
"""Code for `python -P -c`: `-P` leaves out modules in the working directory, which may be the agent's."""
_MOST_SAID = 4096


_FILES = {name: each for name, each in FORMATS.items() if each.key}


class ExportDialog(KeyDialog[str]):
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(each.key, f"dismiss('{name}')", name) for name, each in _FILES.items()),
        Binding("X", "dismiss", "Cancel"),
    ]

    def __init__(self, sessions: int) -> None:
        what = "the session" if sessions == 1 else f"{sessions:,} sessions"
        keys = ((each.key, each.words) for each in _FILES.values())
        super().__init__([f"Export {what}, redacted, to the working directory"], keys)


def offer_export(app: App[object], addresses: Sequence[Path | str]) -> None:
    """Ask for a format, and export the sessions of paths or addresses."""
    if not addresses:
        app.notify("this session has no recording to export", severity="warning", markup=False)
        return

    def export(name: str | None) -> None:
        if name is not None:
            app.notify(f"exporting as {name} …", markup=False)
            Thread(target=write_exports, args=(addresses, name, report), daemon=True).start()

    def report(words: SafeText, *, is_failed: bool) -> None:
        severity: Literal["error", "information"] = "error" if is_failed else "information"
        if app.is_running:
            app.call_from_thread(app.notify, words, severity=severity, timeout=15, markup=False)

    app.push_screen(ExportDialog(len(addresses)), export)


def write_exports(addresses: Sequence[Path | str], name: str, report: Callable[..., object]) -> None:
    """Export sessions, one after the other, and report the last result, or how many were exported."""
    results = [_exported(each, name) for each in addresses]
    problems = [words for words, is_failed in results if is_failed]
    if len(results) == 1:
        report(results[0][0], is_failed=bool(problems))
    elif problems:
        report(
            SafeText(f"{len(problems):,} of {len(results):,} not exported: {problems[-1]}"), is_failed=True
        )
    else:
        report(SafeText(f"exported {len(results):,} sessions as {name}"), is_failed=False)


def _exported(address: Path | str, name: str) -> tuple[SafeText, bool]:
    """Return a message about an export, and whether the export has failed."""
    named = address if isinstance(address, str) else os.path.abspath(address)
    said, code = run_agentwatch(["export", "--to", name, "--", named])
    return safe_line(said or f"the export ended with exit code {code}"), code != 0


def run_agentwatch(words: Sequence[str], *, takes_stdout: bool = False) -> tuple[str, int]:
    """Run a command of agentwatch, which writes to no terminal and outlives the screen. Return its last line
    on stderr, or with `takes_stdout` its last line on stdout (foreign text), and its exit code."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(agentwatch.__file__)))
    with TemporaryFile() as said:
        try:
            code = subprocess.run(
                [sys.executable, "-P", "-c", _START, folder, *words],
                stdin=subprocess.DEVNULL,
                stdout=said if takes_stdout else subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,
                check=False,
            ).returncode
        except OSError as error:
            return f"cannot {words[0]}: {(error.strerror or str(error)).lower()}", NOT_EXECUTABLE
        said.seek(max(0, said.seek(0, os.SEEK_END) - _MOST_SAID))
        last = said.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
    return last.removeprefix("agentwatch: "), code
