"""How long until a recording of a gigabyte is on the screen, and until all of it is loaded?

The first screen has the header, the newest call and the newest text. It is compared with the first glyph of a
Textual app with one Static, and with the first screen of a recording of 2 MB. Loading everything is compared
with a bare loop of `orjson.loads` over the same lines. Rounds are interleaved, and the minimum counts.
"""

from __future__ import annotations

import sys

from measure import (
    AGENTWATCH,
    BARE_LOOP,
    MILLISECONDS,
    Cost,
    command_line,
    head,
    megabytes,
    row,
    run,
    session,
)
from opening import ONE_STATIC, Glyph, Opening, first_glyph, open_session


def main() -> None:
    """Measure a small and a large recording."""
    parser = command_line(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=float, default=1000)
    given = parser.parse_args()
    large, rounds = (10, 1) if given.smoke else (given.megabytes, given.rounds)
    sessions = [session(given.folder, "typical", megabytes=size) for size in (2, large)]
    floors: list[Glyph] = []
    glyphs: list[list[Glyph]] = [[] for _ in sessions]
    loops: list[list[Cost]] = [[] for _ in sessions]
    openings: list[list[Opening]] = [[] for _ in sessions]
    for _ in range(rounds):
        floors.append(first_glyph(ONE_STATIC))
        for (path, facts), bare, glyph, opened in zip(sessions, loops, glyphs, openings, strict=True):
            bare.append(run((sys.executable, "-c", BARE_LOOP, str(path))))
            glyph.append(first_glyph((*AGENTWATCH, str(path))))
            opened.append(open_session(path, facts["calls"]))
    head(
        "recording",
        "first glyph",
        "first screen",
        "x of one Static",
        "joined",
        "x of bare",
        "CPU",
        "peak RSS",
    )
    floor = min(each.wall for each in floors)
    row("none: one Static", f"{floor * MILLISECONDS:.0f} ms", *("–" for _ in range(6)))
    for (_, facts), bare, glyph, opened in zip(sessions, loops, glyphs, openings, strict=True):
        drawn = f"{min(each.wall for each in glyph) * MILLISECONDS:.0f} ms"
        row(megabytes(facts["bytes"]), drawn, *_cells(floor, bare, opened))


def _cells(floor: float, bare: list[Cost], opened: list[Opening]) -> tuple[str, ...]:
    screen, joined = min(each.screen for each in opened), min(each.joined for each in opened)
    cpu, peak = min(each.cpu for each in opened), max(each.peak_bytes for each in opened)
    wall, bare_cpu = min(each.wall for each in bare), min(each.cpu for each in bare)
    first = (f"{screen * MILLISECONDS:.0f} ms", f"{screen / floor:.2f}")
    whole = (f"{joined:.2f} s", f"{joined / wall:.2f}", f"{cpu:.2f} s, {cpu / bare_cpu:.2f} x of bare")
    return (*first, *whole, megabytes(peak))


if __name__ == "__main__":
    main()
