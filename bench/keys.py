"""How long until a key press takes effect, and until the screen is right after a change of its size?

Keys that move through the calls and jump through the transcript are pressed with 100,000 calls and a million
deltas, both while they load and after. Then the width of the terminal changes with a million deltas of text
loaded. The visible part is right from the moment at which its words no longer change.
"""

from __future__ import annotations

from pathlib import Path

from grid import Grid
from measure import AGENTWATCH, MILLISECONDS, command_line, head, percentile, row, session
from pressing import Presser, down_and_up
from sessions import LAST_WORDS
from terminal import Terminal

_ROWS = 48
_COLUMNS = (130, 160)
_TOP_ROWS = 3
_WATCHED_SECONDS = 3.0
_JOINED_SECONDS = 300.0
_PREVIEW = "… calls".encode()
"""What the header shows while only the preview is loaded."""


def main() -> None:
    """Measure keys, then size changes."""
    parser = command_line(__doc__)
    parser.add_argument("--deltas", type=int, default=1_000_000)
    parser.add_argument("--presses", type=int, default=60)
    parser.add_argument("--sizes", type=int, default=6)
    given = parser.parse_args()
    deltas, presses, sizes = (60_000, 4, 1) if given.smoke else (given.deltas, given.presses, given.sizes)
    path, facts = session(given.folder, "calls", deltas=deltas)
    joined = f"{facts['calls']:,} calls".encode()
    head("keys", "pressed", "p50", "p95", "longest")
    loaded = f"{facts['calls']:,} calls, {facts['deltas']:,} deltas"
    with Terminal((*AGENTWATCH, str(path)), size=(_COLUMNS[1], _ROWS)) as terminal:
        _press_while_loading(f"j and k, while it loads: {loaded}", terminal, joined, presses)
        _press_loaded(loaded, terminal, presses)
    print()
    path, facts = session(given.folder, "deltas", deltas=deltas)
    _resize(path, facts, sizes)


def _press_while_loading(name: str, terminal: Terminal, joined: bytes, presses: int) -> None:
    """Press keys until everything is loaded or enough were pressed, then wait for the rest to load."""
    terminal.expect(joined)
    terminal.wait_for(_PREVIEW)
    presser = Presser(terminal)
    presser.begin(b"gjj")
    key = down_and_up()
    while not terminal.has_occurred(joined) and len(presser.answers) < presses:
        presser.press(key())
    row(name, *presser.cells())
    terminal.wait_for(joined, seconds=_JOINED_SECONDS)


def _press_loaded(loaded: str, terminal: Terminal, presses: int) -> None:
    presser = Presser(terminal)
    terminal.press(b"G")
    terminal.read_for(0.5)
    presser.begin(b"k")
    for _ in range(presses):
        presser.press(b"k")
    row(f"k, loaded: {loaded}", *presser.cells())
    answers = []
    terminal.press(b"1")
    for number in range(presses):
        terminal.read_for(0.1)
        key, wanted = (b"g", b"Mend it") if number % 2 == 0 else (b"G", LAST_WORDS.encode())
        answers.append(-terminal.press(key) + terminal.wait_for(wanted))
    times = (f"{percentile(answers, share) * MILLISECONDS:.0f} ms" for share in (0.5, 0.95, 1.0))
    row("g and G in the transcript, loaded", len(answers), *times)


def _resize(path: Path, facts: dict[str, int], sizes: int) -> None:
    joined = f"{facts['calls']:,} calls".encode()
    took = []
    with Terminal((*AGENTWATCH, str(path)), size=(_COLUMNS[1], _ROWS), keep=True) as terminal:
        terminal.wait_for(joined, seconds=_JOINED_SECONDS)
        terminal.read_for(1)
        for number in range(sizes):
            terminal.chunks.clear()
            columns = _COLUMNS[number % 2]
            at = terminal.resize(columns, _ROWS)
            terminal.read_for(_WATCHED_SECONDS)
            took.append(_right_at(terminal.chunks, columns) - at)
    times = (f"{percentile(took, share) * MILLISECONDS:.0f} ms" for share in (0.5, 1.0))
    head("another width", "changed", "p50", "longest")
    row(f"{facts['text_bytes'] / 1e6:.0f} MB of text in {facts['deltas']:,} deltas", len(took), *times)


def _right_at(chunks: list[tuple[float, bytes]], columns: int) -> float:
    """Return the time from which the rows below the header show their final words."""
    grid, frames = Grid(columns, _ROWS), []
    for at, data in chunks:
        grid.take(data)
        frames.append((at, grid.words(_TOP_ROWS, _ROWS)))
    final = frames[-1][1] if frames else []
    if not any(LAST_WORDS in line for line in final):
        raise SystemExit(f"the newest text is not on the screen: {final}")
    right = frames[-1][0]
    for at, words in reversed(frames):
        if words != final:
            break
        right = at
    return right


if __name__ == "__main__":
    main()
