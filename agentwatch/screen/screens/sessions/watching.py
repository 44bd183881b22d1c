"""Watches the sessions of the machine in a thread, and reports changed rows to the screen."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.agents.session_entry import Key
from agentwatch.base.clock import now_ms
from agentwatch.catalog.row import Row, Rows, Watched, changed_rows
from agentwatch.catalog.row_counts import Publisher
from agentwatch.text.safe import SafeText

if TYPE_CHECKING:
    from agentwatch.screen.screens.sessions.rules import SessionAlarms

_TICK_SECONDS = 0.5
"""The least time between two reports, or readings of state logs and of files of live sessions in view."""
_STILL_SECONDS = 1.0
"""The same while the machine is still."""
_ROW_SECONDS = 2e-5
"""The time between two reports for each row, until all sessions are read: the screen takes 3 µs for a row."""
_MOST_AT_ONCE = 2_000
"""The changed rows of a report at most. The screen takes them in 10 to 20 ms and handles no key then."""
_PART_SECONDS = 0.02
"""The pause between the parts of a larger report, in which the screen takes one and handles keys."""
_YIELD_SECONDS = 0.001
"""The pause after a step that has left work: the screen gets the interpreter's lock."""
_END_SECONDS = 1.0


class Report(NamedTuple):
    rows: Rows
    changed: Sequence[Row]
    vanished: Sequence[Key]
    is_settled: bool = True


class Background:
    """Works in a thread until it is done or stopped. An exception ends it, and is given to `fail`."""

    def __init__(self, name: str, fail: Callable[[Exception], object]) -> None:
        self._fail = fail
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.begin = self._thread.start

    def stop(self) -> None:
        """End the thread after its present step; a disk that hangs is not waited for."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(_END_SECONDS)

    def _run(self) -> None:
        try:
            self._work()
        except Exception as error:  # noqa: BLE001 - the edge of a thread: the app ends, and names the error
            if not self._ended.is_set():
                self._fail(error)
        finally:
            self._close()

    def _work(self) -> None:
        raise NotImplementedError

    def _close(self) -> None:
        raise NotImplementedError


class Watching(Background):
    """Steps a machine in a thread until it is stopped; only the thread steps `machine`, and calls `report`.
    The first rows are reported as soon as they are known, later ones twice a second at most, and more seldom
    while over 25,000 sessions are read. The counts of this machine's rows are written for `status`, if it
    `is_here`. `begin` finds the newest sessions before there is a screen; the rest waits for `start`."""

    def __init__(
        self,
        machine: Watched,
        report: Callable[[Report], object],
        fail: Callable[[Exception], object],
        *,
        is_here: bool = True,
        alarms: SessionAlarms | None = None,
    ) -> None:
        super().__init__("machine", fail)
        self._machine = machine
        self._report = report
        self._publisher = Publisher() if is_here else None
        self._alarms = alarms
        self._is_shown = threading.Event()
        self._woken = threading.Event()

    def start(self) -> None:
        self._is_shown.set()

    def wake(self) -> None:
        """Let the next step and its report come at once: other sessions are in view."""
        self._woken.set()

    def stop(self) -> None:
        self._ended.set()  # before it goes on: the app may be gone
        self._is_shown.set()
        self._woken.set()
        super().stop()

    def _close(self) -> None:
        if self._alarms is not None:
            self._alarms.close()

    def _work(self) -> None:
        reported: Rows = {}
        noted: Sequence[SafeText] = ()
        was_found, reported_at = False, 0.0
        is_reading, judged_at = False, 0.0
        while not self._ended.is_set():
            is_woken = self._woken.is_set()
            self._woken.clear()
            has_more = self._machine.step(now_ms())
            self._is_shown.wait()  # the rest would delay the first frame
            if self._ended.is_set():
                break  # the app may be gone
            rows, notes, now = self._machine.rows, self._machine.notes, time.monotonic()
            is_all = self._machine.is_found and not was_found
            pause = max(_TICK_SECONDS, len(reported) * _ROW_SECONDS) if has_more else _TICK_SECONDS
            is_due = (is_woken and not has_more) or not reported or now >= reported_at + pause
            if is_all or (is_due and (rows is not reported or notes != noted)):
                was_found, reported_at = self._machine.is_found, now
                self._send(_report_of(reported, rows)._replace(is_settled=not has_more), reported)
                reported, noted = rows, notes
            publisher = self._publisher if self._machine.is_found else None
            if publisher is not None and (publisher.has_begun or not has_more):
                publisher.publish(rows, now_ms())
            if self._alarms is not None and (is_reading or now >= judged_at + _TICK_SECONDS):
                is_reading, judged_at = self._alarms.step(rows), now
            has_more |= is_reading
            still = _STILL_SECONDS if self._machine.is_still else _TICK_SECONDS
            self._woken.wait(_YIELD_SECONDS if has_more else still)

    def _send(self, report: Report, before: Rows) -> None:
        """Report changed rows, a few thousand at a time; `before` are the rows of the report before."""
        changed = report.changed
        known = before
        for start in range(0, len(changed) - _MOST_AT_ONCE, _MOST_AT_ONCE):
            part = changed[start : start + _MOST_AT_ONCE]
            known = {**known, **{row.key: row for row in part}}
            self._report(Report(known, part, (), is_settled=False))
            self._ended.wait(_PART_SECONDS)
        rest = max(len(changed) - 1, 0) // _MOST_AT_ONCE * _MOST_AT_ONCE
        self._report(report._replace(changed=changed[rest:]))


def _report_of(before: Rows, rows: Rows) -> Report:
    changed = changed_rows(before, rows)
    came = sum(row.key not in before for row in changed)
    has_all = len(rows) == len(before) + came
    return Report(rows, changed, () if has_all else [key for key in before if key not in rows])
