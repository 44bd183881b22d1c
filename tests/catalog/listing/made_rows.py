"""Rows of a list, with the facts that a test names."""

from collections.abc import Iterable
from pathlib import Path

from agentwatch.agents.state_report import State
from agentwatch.catalog.listing import FoldLine, Heading, Line, Listing, Request, RowLine
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import Ground, SessionStatus

NOW_MS = 1_795_301_454_020
MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS
PLAIN = Row(
    key=("claude", ""),
    agent="claude",
    id="",
    path=Path("/sessions"),
    status=SessionStatus(State.WORKING, Ground.SAID),
    seen_ms=NOW_MS - MINUTE_MS,
)


def row(name: str, state: State = State.WORKING, *, ago_ms: int | None = MINUTE_MS, **facts: object) -> Row:
    """Return a row whose last line is some time old."""
    seen_ms = None if ago_ms is None else NOW_MS - ago_ms
    made = PLAIN._replace(
        key=("claude", name), id=name, status=SessionStatus(state, Ground.SAID, seen_ms), seen_ms=seen_ms
    )
    return made._replace(**facts)  # type: ignore[arg-type]


ASKING = row("s", State.ASKS)._replace(
    agent="codex",
    repo="Web-API",
    branch="fix-lows",
    worktree="lows",
    host="buildbox",
    title="Port the settings page",
    prompts="please port it\nand now the tests",
    status=SessionStatus(State.ASKS, Ground.INFERRED, 1, "shell npm ci"),
)
"""A session that asks, with a word in each text."""


def in_state(old: Row, state: State, now: str = "") -> Row:
    """Return a row in another state, which began now."""
    return old._replace(status=SessionStatus(state, Ground.SAID, NOW_MS, now))


def shown(lines: list[Line] | tuple[Line, ...]) -> list[str]:
    """Return lines as short texts: `# working 2`, `a`, `. b` one step deeper, `+ api` closed."""
    texts = []
    for line in lines:
        match line:
            case Heading(_, count, older=older) if older:
                texts.append(f"# older {count} of {older}")
            case Heading(group, count, _, is_folds, others):
                more = f" + {others}" if others else ""
                texts.append(f"# {'one-liners' if is_folds else group} {count}{more}")
            case RowLine():
                texts.append(f"{'. ' * line.depth}{line.row.id}")
            case FoldLine():
                texts.append(f"{'. ' * line.depth}{'-' if line.is_open else '+'} {line.words}")
    return texts


def listed(rows: Iterable[Row], wanted: Request | None = None) -> Listing:
    listing = Listing()
    if wanted is not None:
        listing.request(wanted)
    listing.update(rows, NOW_MS)
    return listing


def lines(listing: Listing) -> list[str]:
    """Return the lines of a listing as short texts."""
    return shown(list(listing.lines))


def toggle(listing: Listing, name: str) -> None:
    """Open or close the line of a session, or the fold whose words begin so."""
    for line in listing.lines:
        if (isinstance(line, RowLine) and line.row.id == name) or (
            isinstance(line, FoldLine) and line.words.startswith(name)
        ):
            listing.toggle(line)
            return
    raise AssertionError(name)
