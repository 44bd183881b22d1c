"""How long does it take to list the saved sessions?

`agentwatch sessions` prints them, and the list of all sessions draws them. Each session is a copy of one
generated recording with a prompt of its own. It is older than a week, so the hidden sessions are asked for.
Ten times as many sessions should take at most ten times as long. Times are wall clock.

The second table has sessions of today: how long the first list takes, which reads them, and the next ones,
which read only what has changed since.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from measure import AGENTWATCH, MILLISECONDS, command_line, environment, head, row, run, session
from terminal import Terminal

PROMPT = b"Mend it."
NEWEST, OLDEST = b"newestwords", b"oldestwords"
_END_KEY = b"\x1b[F"
_POLL_SECONDS = 0.05
_ENDED = 1_767_225_600
"""The first second of 2026, in which the oldest session ended."""


class Listing(NamedTuple):
    """How long listing took, in seconds since the command was started."""

    first: float
    """Until the newest session was printed, or drawn."""
    last: float
    """Until the oldest session was printed, or drawn."""


def main() -> None:
    """Measure 1,000 and 10,000 sessions."""
    parser = command_line(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    counts, rounds = ((10, 100), 1) if given.smoke else ((1000, 10_000), given.rounds)
    recording, _ = session(given.folder, "typical", megabytes=0.1)
    head("sessions", "printed: newest, ms", "printed: all, ms", "list: newest, ms", "list: oldest, ms")
    for count in counts:
        home = _home(given.folder, count, recording.read_bytes())
        printed = [_print(home) for _ in range(rounds)]
        chosen = [_choose(home) for _ in range(rounds)]
        cells = [
            min(getattr(each, name) for each in way) for way in (printed, chosen) for name in Listing._fields
        ]
        row(count, *(f"{seconds * MILLISECONDS:.0f}" for seconds in cells))
    count = 30 if given.smoke else 1800
    home = _home(given.folder, count, recording.read_bytes(), time.time() - 3 * 3600 - count)
    head(f"{count:,} sessions of today", "first, ms (CPU)", "next, ms (CPU)", "next / first (CPU)")
    os.environ["AGENTWATCH_HOME"] = str(home)
    for words in (("--all",), ("--since", "2h")):
        argv = (*AGENTWATCH, "sessions", *words)
        first, following = [], []
        for _ in range(rounds):
            (home / "digests.jsonl").unlink(missing_ok=True)
            first.append(run(argv))
            following.append(run(argv))
        (wall, cpu), (wall_next, cpu_next) = (
            (min(each.wall for each in some), min(each.cpu for each in some)) for some in (first, following)
        )
        cells = [f"{1000 * a:.0f} ({1000 * b:.0f})" for a, b in ((wall, cpu), (wall_next, cpu_next))]
        row(f"`sessions {' '.join(words)}`", *cells, f"{wall_next / wall:.2f} ({cpu_next / cpu:.2f})")


def _home(folder: Path, count: int, recording: bytes, ended: float = _ENDED) -> Path:
    """Return a home with `count` sessions, which is made once and kept; `ended` is when the oldest ended."""
    home = folder / (f"saved-{count}" if ended == _ENDED else f"saved-today-{count}")
    sessions = home / "sessions"
    is_made = home.exists()
    sessions.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        words = {0: OLDEST, count - 1: NEWEST}.get(number, b"prompt %d" % number)
        path = sessions / f"20260101-{number:06}-000aaaaaa.ndjson"
        if not is_made:
            path.write_bytes(recording.replace(PROMPT, words, 1))
        os.utime(path, (ended + number, ended + number))
    return home


def _print(home: Path) -> Listing:
    env = environment(AGENTWATCH_HOME=str(home))
    began = time.perf_counter()
    with subprocess.Popen(
        (*AGENTWATCH, "sessions", "--all"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
    ) as child:
        assert child.stdout is not None
        first_line = child.stdout.readline()
        first = time.perf_counter() - began
        rest = child.stdout.read()
        last = time.perf_counter() - began
    if NEWEST not in first_line or OLDEST not in rest:
        raise SystemExit("a session is missing")
    return Listing(first, last)


def _choose(home: Path) -> Listing:
    with Terminal((*AGENTWATCH,), home=home) as terminal:
        terminal.wait_for(rb"OLDER THAN 7 DAYS")
        terminal.press(b"a")
        terminal.expect(NEWEST, OLDEST)
        until = time.monotonic() + 60
        first = None
        while (first is None or not terminal.has_occurred(OLDEST)) and time.monotonic() < until:
            terminal.read(_POLL_SECONDS)
            if terminal.has_occurred(NEWEST):
                first = first or time.monotonic() - terminal.started
                terminal.press(_END_KEY)
        if first is None or not terminal.has_occurred(OLDEST):
            raise SystemExit("a session is missing")
        return Listing(first, time.monotonic() - terminal.started)


if __name__ == "__main__":
    main()
