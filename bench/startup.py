"""How long until agentwatch has printed or drawn something?

`--help`, `--version` and `--print` of a small file are compared with a Python process that does nothing. The
first glyph of an opened file is compared with that of a Textual app with one Static. The time until header,
newest call and newest text are on the screen is measured too. Rounds are interleaved. Times are wall clock;
ratios also use CPU time, which other load on the machine hardly affects.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from measure import (
    AGENTWATCH,
    HERE,
    Cost,
    command_line,
    head,
    interleaved,
    median_and_least,
    row,
    run,
    session,
)
from opening import ONE_STATIC, Glyph, first_glyph, open_session

_DOES_IT_IMPORT = """
import sys
from agentwatch.cli.app import main
try:
    main()
except SystemExit:
    print("textual" in sys.modules)
"""


def main() -> None:
    """Measure the commands that print and exit, then those that draw."""
    parser = command_line(__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    rounds = 2 if given.smoke else given.rounds
    small = str(HERE.parent / "recordings" / "plain.ndjson")
    asked = {"--help": ["--help"], "--version": ["--version"], "--print, small": ["--print", small]}
    ours = {name: (*AGENTWATCH, *words) for name, words in asked.items()}
    commands: dict[str, Sequence[str]] = {"python -c pass": (sys.executable, "-c", "pass"), **ours}
    costs = interleaved(commands, rounds)
    head("command", "ms, median (least)", "x", "x, CPU", "imports Textual")
    for name, spent in costs.items():
        loads = _imports_textual(asked[name]) if name in asked else "–"
        row(name, *_against(spent, costs["python -c pass"]), loads)
    print()
    _measure_screen(given.folder, rounds)


def _imports_textual(words: list[str]) -> str:
    output = run((sys.executable, "-c", _DOES_IT_IMPORT, *words), keep_output=True).stdout
    return "yes" if output.endswith(b"True\n") else "no"


def _measure_screen(folder: Path, rounds: int) -> None:
    path, facts = session(folder, "typical", megabytes=2)
    floors, glyphs, openings = [], [], []
    for _ in range(rounds):
        floors.append(first_glyph(ONE_STATIC))
        glyphs.append(first_glyph((*AGENTWATCH, str(path))))
        openings.append(open_session(path, facts["calls"]))
    head("on a terminal", "ms, median (least)", "x", "x, CPU")
    row("a Textual app with one Static, first glyph", *_against(floors, floors))
    row("2 MB, first glyph", *_against(glyphs, floors))
    screens = [Glyph(opening.screen, opening.cpu) for opening in openings]
    row("2 MB, header, newest call and text", *_against(screens, floors))


def _against(costs: Sequence[Cost | Glyph], floors: Sequence[Cost | Glyph]) -> tuple[str, str, str]:
    """Return the median and minimum wall time, and the ratios of wall and CPU minima to the floor's."""
    ratios = (
        min(cost.wall for cost in costs) / min(floor.wall for floor in floors),
        min(cost.cpu for cost in costs) / min(floor.cpu for floor in floors),
    )
    wall, cpu = (f"{ratio:.2f}" for ratio in ratios)
    return median_and_least([cost.wall for cost in costs]), wall, cpu


if __name__ == "__main__":
    main()
