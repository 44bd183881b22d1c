"""What the list says about a session: its state, its clocks, its project and its counts.

Every text of a session is foreign and is made safe here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.agents.state_report import State
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import LIVE, Ground
from agentwatch.recording.acts import receipt_words
from agentwatch.recording.saved import has_both_directions
from agentwatch.screen.screens.sessions.tmux import pane_of
from agentwatch.session.agent_process import NO_FACTS, AgentFacts, is_contradiction
from agentwatch.session.events import Outcome
from agentwatch.text import UNKNOWN
from agentwatch.text.amounts import about_dollars, dollars, plain_markdown, short_count
from agentwatch.text.durations import age_words, countdown, in_seven_columns
from agentwatch.text.safe import SafeText, cut, cut_middle, safe_line, title_line, wrapped
from agentwatch.text.signs import ASKS_SIGN, MINUS, SIGNS
from agentwatch.text.times import coming, day_or_time

if TYPE_CHECKING:
    from agentwatch.catalog.digest.digest import LastTests
    from agentwatch.catalog.evidence import Proof
    from agentwatch.screen.widgets.line_view import Spans

_MOST_TEXT = 400
"""The greatest length of a text, which is more than the widest terminal shows."""
_ACT_MS = 5 * 60_000
_ACT_COLUMNS = 10
_WHY_COLUMNS = 80
_MOST_SHOWN = 10**9
"""A larger count is no real one, and is not shown."""


class StateWords(NamedTuple):
    sign: str
    word: str
    style: str

    def __str__(self) -> str:
        return f"{self.sign} {self.word}"


_LOST = StateWords("?", "lost", "returned")
"""A session that ran on another machine, which is silent: it may still run."""
_LOST_TOUCH = "lost touch"
_STATES = {
    State.STARTING: StateWords("◐", "starts", "working"),
    State.WORKING: StateWords("◐", "works", "working"),
    State.ASKS: StateWords(ASKS_SIGN, "asks", "asks"),
    State.LIMITED: StateWords("‖", "limit", "returned"),
    State.QUIET: StateWords("?", "quiet", "returned"),
    State.YOUR_TURN: StateWords("›", "turn", "plain"),
    State.SHELL: StateWords("›", str(State.SHELL), "plain"),
    State.TURN_FAILED: StateWords("✗", "failed", "failed"),
    State.SUCCEEDED: StateWords("✓", "ended", "succeeded"),
    State.FAILED: StateWords("✗", "failed", "failed"),
    State.CANCELLED: StateWords(SIGNS[Outcome.CANCELLED], "ended", "cancelled"),
    State.UNFINISHED: StateWords("◌", "ended", "unfinished"),
    State.UNKNOWN: StateWords("–", "unknown", "muted"),
}
_RULE_COLUMNS = 30
_QUOTED = (State.YOUR_TURN, State.SHELL)
_SENTENCES = re.compile(r"(?<=[.!?…。！？])\s+")


def foreign(text: str) -> SafeText:
    """Return the beginning of a foreign text as one line of safe text."""
    return safe_line(text[:_MOST_TEXT])


def state_words(row: Row, now_ms: int, *, is_dated: bool = False) -> StateWords:
    """Return the state of a session; `?` after the word marks an inferred one. A session that has ended shows
    the time of day, or the day if it was not today; `is_dated` if a heading has that day."""
    if row.lost_ms is not None:
        return _LOST
    status = row.status
    words = _STATES[status.state]
    if status.state not in LIVE:
        ended_ms = status.since_ms or row.seen_ms
        mark = "?" if status.ground is Ground.INFERRED else ""
        word = words.word if ended_ms is None else day_or_time(ended_ms, ended_ms if is_dated else now_ms)
        return words._replace(word=f"{word}{mark}")
    if status.state is State.WORKING:
        words = words._replace(word="tool" if status.is_calling else "model")
    if status.ground is Ground.INFERRED and status.state is not State.QUIET:  # quiet is always inferred
        sign = "!?" if status.state is State.ASKS else words.sign
        words = words._replace(sign=sign, word=f"{words.word}?")
    return words


_WEIGHTS = {
    "decided": "What decides",
    "outweighed": "What does not count",
    "missing": "What would say more",
}
_GROUNDS = {Ground.SAID: "reported", Ground.INFERRED: "inferred", Ground.UNKNOWN: "unknown"}
_AGE = 8


def why(row: Row, proofs: Iterable[Proof], now_ms: int, width: int) -> Iterator[Spans]:
    words, status, room = state_words(row, now_ms), row.status, max(width - _AGE, 1)
    state = _LOST.word if row.lost_ms is not None else str(status.state)
    since_ms = status.since_ms if row.lost_ms is None else row.lost_ms
    since = "" if since_ms is None else age_words(now_ms - since_ms)
    if since:
        since = f" for {since}" if status.state in LIVE else f" {since} ago"
    ground = "" if status.state is State.UNKNOWN else f" · {_GROUNDS[status.ground]}"
    yield [(SafeText(f"{words.sign} {state}"), words.style), (SafeText(f"{since}{ground}"), "plain")]
    yield [
        (
            cut(
                title_line(f"{row.agent or UNKNOWN} {row.address or row.id}  {row.title[:_MOST_TEXT]}"), width
            ),
            "muted",
        )
    ]
    for weight, group in groupby(proofs, lambda proof: proof.weight):
        yield [(SafeText(""), "plain")]
        yield [(SafeText(_WEIGHTS[weight]), "strong")]
        for proof in group:
            age = "" if proof.since_ms is None else age_words(now_ms - proof.since_ms)
            for at, line in enumerate(wrapped(safe_line(proof.what), room)):
                yield [(SafeText(f"{age if at == 0 else '':<{_AGE}}"), "muted"), (line, "plain")]
            if proof.source:
                kind, _, place = safe_line(proof.source).partition(" ")
                place = cut_middle(SafeText(place), max(room - len(kind) - 1, 1))
                yield [(SafeText(f"{'':{_AGE}}{kind} {place}".rstrip()), "muted")]


def facts_of(row: Row | None) -> AgentFacts:
    if row is None or row.status.state is not State.ASKS or row.status.ground is not Ground.SAID:
        return NO_FACTS
    return AgentFacts(asks=row.status.now or "you", asks_since_ms=row.status.since_ms)


def since_words(row: Row, now_ms: int) -> str:
    """Return how long the state lasts, or an ended session took, or since when its machine is silent."""
    if row.lost_ms is not None:
        return in_seven_columns(now_ms - row.lost_ms, is_over=False)
    if row.status.state not in LIVE:
        return "" if row.duration_ms is None else in_seven_columns(row.duration_ms, is_over=True)
    since_ms = row.status.since_ms
    return "" if since_ms is None else in_seven_columns(now_ms - since_ms, is_over=False)


def activity_clock(row: Row, now_ms: int) -> str:
    """Return how long the activity of a session lasts, `0:48`; empty if the state lasts as long. Of a
    question that answers itself, it is the time that is left: `answers itself in 0:12`."""
    status = row.status
    if left := time_left(row, now_ms):
        return f"answers itself in {left}"
    if row.lost_ms is not None or status.now_since_ms in (None, status.since_ms) or status.state not in LIVE:
        return ""
    return in_seven_columns(now_ms - status.now_since_ms, is_over=False)


def time_left(row: Row, now_ms: int) -> str:
    """Return how long it takes until the question of a session answers itself, `0:12`; empty for never."""
    is_asking = row.status.state is State.ASKS and row.lost_ms is None
    return countdown(row.status.until_ms, now_ms) if is_asking else ""


def activity(row: Row, now_ms: int | None = None) -> SafeText:
    """Return what a session does now, what it waits for, or how it ended; first a rule that was hit. With
    `now_ms`, it begins with what the user did last."""
    if now_ms is not None and (acted := last_act(row, now_ms)):
        does = activity(row)
        return SafeText(f"{acted} · {does}" if does else acted)
    if row.alarm:
        name, does = cut(foreign(row.alarm), _RULE_COLUMNS), activity(row._replace(alarm=""))
        return SafeText(f"▲ {name} · {does}" if does else f"▲ {name}")
    now, state = foreign(row.status.now), row.status.state
    if row.lost_ms is not None:
        return SafeText(f"{_LOST_TOUCH}, last: {now}" if now else _LOST_TOUCH)
    if state is State.LIMITED:
        return SafeText(f"{now} {until}" if (until := until_words(row)) else now)
    if state in LIVE:
        return SafeText(f"“{now}”") if now and state in _QUOTED else now
    if state is State.SUCCEEDED and not now and (said := last_sentence(row.last_text)):
        return SafeText(f"“{said}”")
    if not now or is_contradiction(now):
        return now or SafeText(state)
    return SafeText(f"{state}: {now}")


def until_words(row: Row) -> SafeText:
    """Return the end of a usage limit, such as `until 14:00`; empty if the session waits for no limit."""
    status = row.status
    if status.state is not State.LIMITED or status.until_ms is None or row.lost_ms is not None:
        return SafeText("")
    return SafeText(f"until {coming(status.until_ms, status.since_ms or status.until_ms)}")


def last_sentence(text: str) -> SafeText:
    """Return the last sentence of an answer; empty if it has no words."""
    lines = map(plain_markdown, reversed(text[-_MOST_TEXT:].splitlines()))
    return safe_line(_SENTENCES.split(next(filter(None, lines), "").strip())[-1])


def is_quote(row: Row) -> bool:
    """Return whether the activity is the end of the last answer, whose last words matter most."""
    state, now = row.status.state, row.status.now
    is_answer = (
        bool(now) if state in _QUOTED else state is State.SUCCEEDED and not now and bool(row.last_text)
    )
    return bool(is_answer) and row.lost_ms is None and not row.alarm


def title(row: Row) -> SafeText:
    """Return the title of a session; `●` marks one that needs the user and was not looked at since."""
    lead = "└ " if row.parent is not None else ""
    lead += "● " if row.is_marked else ""
    named = title_line(row.title[:_MOST_TEXT])
    if row.status.state is State.STARTING:
        return SafeText(lead + (named or "no line yet"))
    return SafeText(lead + (named or ("no prompt yet" if row.is_read else "…")))


def way_to_answer(row: Row, key: str) -> SafeText:
    if row.host:
        return SafeText(f"answer it on {safe_line(row.host)}")
    if (pane := pane_of(row.tmux)) is not None:
        return SafeText(f"{key}: answer it in its terminal, tmux {pane.words}")
    process = "" if row.pid is None else f" (process {row.pid})"
    if row.is_own and has_both_directions(row.path):
        return SafeText(f"answer it in its editor{process}")
    return SafeText(f"answer it in its terminal{process}")


def repository(row: Row, *, is_short: bool = False) -> SafeText:
    """Return the repository after its machine's name; `is_short` names the publisher, not the machine."""
    place = foreign((is_short and row.publisher) or row.place)
    return SafeText((f"{place}:" if place else "") + (foreign(row.repo) or UNKNOWN))


def branch(row: Row) -> SafeText:
    """Return the branch, such as ` ⎇ main`; empty if it is unknown."""
    return SafeText(f" ⎇ {foreign(row.branch)}") if row.branch else SafeText("")


def worktree(row: Row) -> SafeText:
    """Return the worktree, such as ` (retry)`; empty for the main worktree, or if the branch has its name."""
    name = row.worktree
    return SafeText(f" ({foreign(name)})") if name and name not in (row.branch, row.repo) else SafeText("")


def title_suffix(row: Row) -> str:
    """Return what follows the title, such as `+2 sub`, `no ring` or `archived`."""
    words = []
    if row.subagents:
        words.append(f"+{short_count(row.subagents)} sub")
    if not row.rings:
        words.append("no ring")
    if row.is_archived:
        words.append("archived")
    return " · ".join(words)


def last_act(row: Row, now_ms: int) -> SafeText:
    """Return the user's last act, such as `sent 8 s: interrupt`; empty after 5 minutes."""
    if not row.acts or not 0 <= (age_ms := now_ms - row.acts[-1].at_ms) < _ACT_MS:
        return SafeText("")
    act = row.acts[-1]
    words = f"{receipt_words(act)} {age_words(age_ms)}: {cut(foreign(act.act), _ACT_COLUMNS)}"
    return SafeText(f"{words}: {cut(foreign(act.why), _WHY_COLUMNS)}" if act.why else words)


def succeeded(row: Row) -> str:
    """Return the calls that succeeded, `31 ✓`; without outcomes, all calls, `31 ↵`; else a dash."""
    if row.calls is None or not _is_count(row.calls):
        return UNKNOWN
    if row.failed is None:
        return f"{short_count(row.calls)} {SIGNS[Outcome.RETURNED]}"
    others = row.failed + (row.rejected or 0) + (row.cancelled or 0) + row.open_calls
    return f"{short_count(max(row.calls - others, 0))} ✓"


def failed(row: Row) -> str:
    return f"{short_count(row.failed)} ✗" if row.failed and _is_count(row.failed) else ""


def context(row: Row) -> str:
    """Return the share of the context that is used, `62 %`, or else its tokens; a dash if it is unknown."""
    used, size = row.context_used, row.context_size
    if used is None or not _is_count(used):
        return UNKNOWN
    return f"{min(100 * used // size, 999)} %" if size is not None and size > 0 else short_count(used)


def cost(row: Row) -> str:
    """Return the cost that the agent reports, `$1.20`, or else the estimated cost, `≈ $12.40`, or a dash."""
    known = row.cost_usd
    if known is None and row.uses:
        from agentwatch.catalog.kept_prices import cost_of

        estimate = cost_of(row)
        return about_dollars(estimate) if estimate is not None and _is_count(estimate) else UNKNOWN
    return dollars(known) if known is not None and _is_count(known) else UNKNOWN


def changed_lines(row: Row) -> str:
    """Return the changed lines, such as `+120 −33`; empty if there are none."""
    counts = ((row.lines_added, "+"), (row.lines_removed, MINUS))
    return " ".join(f"{sign}{short_count(count)}" for count, sign in counts if count and _is_count(count))


def tests(row: Row) -> str:
    """Return the tests, such as `✓ 17`, `✗ 2`, or `✓ 17?` if a file changed since; empty if unknown."""
    found = row.tests
    if found is None:
        return ""
    count = found.failed if found.is_red else found.passed
    number = f" {short_count(count)}" if count and _is_count(count) else ""
    return f"{SIGNS[_colour(found)]}{number}{'?' if found.is_stale and not found.is_red else ''}"


def tests_words(row: Row) -> str:
    """Return the tests in words, such as `tests ✓ 17, a file changed since`; empty if unknown."""
    found, shown = row.tests, tests(row)
    if found is None:
        return ""
    return f"tests {shown.rstrip('?')}{', a file changed since' if found.is_stale else ''}"


def tests_style(row: Row) -> str:
    found = row.tests
    return "muted" if found is None or found.is_stale else str(_colour(found))


def _colour(found: LastTests) -> Outcome:
    return Outcome.FAILED if found.is_red else Outcome.SUCCEEDED


def age(row: Row, now_ms: int) -> str:
    """Return the age, such as `45 s`, `12 min`, `3 h` or `2 d`; empty if it is unknown."""
    return "" if row.began_ms is None else age_words(now_ms - row.began_ms)


def _is_count(count: float | None) -> bool:
    return count is not None and 0 <= count < _MOST_SHOWN
