"""The filter of a list of sessions, in the language of rules with the fields of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from operator import attrgetter
from typing import Final

from agentwatch.agents.state_report import State
from agentwatch.base.clock import now_ms
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import LIVE, Group
from agentwatch.recording.acts import ACT_NAMES
from agentwatch.rules.calls.fields import CALL_FIELDS
from agentwatch.rules.language.completion import Offer, offers
from agentwatch.rules.language.completion import Value as Offered
from agentwatch.rules.language.conditions import Readers, Test, Value
from agentwatch.rules.language.errors import RuleError
from agentwatch.rules.language.matchers import has_wildcard, name_matcher, word_matcher
from agentwatch.rules.language.parser import typed
from agentwatch.rules.language.vocabulary import Field, Measure, Vocabulary
from agentwatch.session.limits import most_used
from agentwatch.text.safe import safe_line

Matches = Callable[[Row], bool]
_LEAST_OF_A_STATE = 3
"""The least letters of a word that can be the beginning of a state, while it is being typed."""
_FAILED = "failed"
_STATES: Final = tuple(dict.fromkeys((*(state.value for state in State), *(group.value for group in Group))))
ROW_FIELDS: Final = (
    Field("agent", Measure.NAME, "the agent, or the beginning of its name", example="agent:codex"),
    Field("repo", Measure.TEXT, "a part of the repository's name", example="repo:api"),
    Field("branch", Measure.TEXT, "a part of the branch", example="branch:fix*"),
    Field("worktree", Measure.TEXT, "a part of the worktree's name", example="worktree:lows"),
    Field(
        "host", Measure.TEXT, "a part of the machine's name, or of its publisher's", example="host:buildbox"
    ),
    Field("state", Measure.TEXT, "a part of the state or group", _STATES, example="state:ended"),
    Field("title", Measure.TEXT, "a part of the title", example='title:"settings page"'),
    Field("model", Measure.TEXT, "a part of the model's name", example="model:opus"),
    Field(
        "tests",
        Measure.NAME,
        "the newest verdict of tests",
        ("green", "red", "none"),
        True,
        example="tests:red",
    ),
    Field(
        "acted", Measure.NAME, "what you did to it through agentwatch", ACT_NAMES, True, example="acted:allow"
    ),
    Field("calls", Measure.COUNT, "the number of calls", example="calls>100"),
    Field("failed", Measure.COUNT, "the number of failed calls", example="failed>3"),
    Field("rejected", Measure.COUNT, "the number of calls that were refused", example="rejected>0"),
    Field("cancelled", Measure.COUNT, "the number of cancelled calls", example="cancelled>0"),
    Field("subagents", Measure.COUNT, "the number of subagents", example="subagents>0"),
    Field("lines_added", Measure.COUNT, "the lines that the session added", example="lines_added>500"),
    Field("lines_removed", Measure.COUNT, "the lines that the session removed", example="lines_removed>100"),
    Field("context", Measure.PERCENT, "how full the model's context is", example="context>80%"),
    Field("limit", Measure.PERCENT, "how full the fullest usage limit is", example="limit>80%"),
    Field("age", Measure.DURATION, "the time since the session began", example="age<2h"),
    Field("silent", Measure.DURATION, "the time since the last line", example="silent>10m"),
    Field("duration", Measure.DURATION, "how long it took, or has taken so far", example="duration>1h"),
)
_SYNONYMS = {
    **dict.fromkeys(("status", "outcome", "is"), "state"),
    **dict.fromkeys(("project", "repository", "folder"), "repo"),
    **dict.fromkeys(("machine", "server"), "host"),
    **dict.fromkeys(("name", "prompt"), "title"),
    **dict.fromkeys(("time", "took"), "duration"),
    **dict.fromkeys(("idle", "quiet"), "silent"),
    "verdict": "tests",
    "started": "age",
}
_OF_CALLS = {field.name: "calls, for the filter of a session" for field in CALL_FIELDS}
ROWS: Final = Vocabulary.of(
    ROW_FIELDS,
    {*(state.value for state in State), _FAILED},
    {name: where for name, where in _OF_CALLS.items() if name not in _SYNONYMS},
    synonyms=_SYNONYMS,
)


def row_filter(text: str) -> Matches | None:
    """Return the test of the words before the first mistake of a filter; None without words. A word must
    occur in the title, in what the session does now, or in the name of its agent, machine, repository, branch
    or worktree; or be the beginning of its state (at least three letters, so that it matches while it is
    typed). Several states select the sessions in any of them; `failed` also those whose last turn failed."""
    condition = typed(text, ROWS).condition
    if condition is None:
        return None
    test = condition.bind(_READERS)
    return lambda row: test(row) is True


def row_filter_problem(text: str) -> RuleError | None:
    return typed(text, ROWS).problem


def row_filter_offers(text: str, rows: Iterable[Row]) -> list[Offer]:
    """How the last word of a filter can continue: with fields, states, or values of the sessions."""
    return offers(text, ROWS, partial(_values, rows))


def _values(rows: Iterable[Row], field: str) -> Iterable[Offered]:
    read = _TEXTS.get(field)
    if read is None or field == "title":
        return ()
    return [Offered(safe_line(each)) for each in sorted({read(row) for row in rows})]


_TEXTS: dict[str, Callable[[Row], str]] = {
    **{name: attrgetter(name) for name in ("agent", "repo", "branch", "worktree", "title", "model")},
    "host": attrgetter("place"),
}
_NUMBERS = ("calls", "failed", "rejected", "cancelled", "subagents", "lines_added", "lines_removed")


def _text(name: str) -> Callable[[Row], Value]:
    read = _TEXTS[name]
    return lambda row: read(row) or ()


def _age(row: Row) -> Value:
    return None if row.began_ms is None else now_ms() - row.began_ms


def _context(row: Row) -> Value:
    if not row.context_size or row.context_used is None:
        return None
    return 100 * row.context_used / row.context_size


def _agent_test(wanted: str) -> Test[Row]:
    lowered = wanted.lower()
    if has_wildcard(wanted):
        matches = name_matcher(wanted)
        return lambda row: matches(row.agent)
    return lambda row: row.agent.lower().startswith(lowered)


def _word_test(word: str) -> Test[Row]:
    if word in ROWS.alternatives:
        states = {word, State.TURN_FAILED} if word == _FAILED else {word}
        return lambda row: row.status.state in states
    matches = word_matcher(word)

    def test(row: Row) -> bool:
        texts = (row.title, row.status.now, row.agent, row.place, row.repo, row.branch, row.worktree)
        if any(map(matches, texts)):
            return True
        return len(word) >= _LEAST_OF_A_STATE and row.status.state.startswith(word)

    return test


_READERS: Final = Readers[Row](
    {
        **{name: _text(name) for name in _TEXTS},
        "state": lambda row: (row.status.state.value, row.group.value),
        "tests": lambda row: "none" if row.tests is None else "red" if row.tests.is_red else "green",
        "acted": lambda row: None if row.host else tuple({each.act: None for each in row.acts}),
        **{name: attrgetter(name) for name in _NUMBERS},
        "context": _context,
        "limit": lambda row: most_used(row.limits, now_ms()),
        "age": _age,
        "silent": lambda row: None if row.seen_ms is None else now_ms() - row.seen_ms,
        "duration": lambda row: _age(row) if row.status.state in LIVE else row.duration_ms,
    },
    _word_test,
    {"agent": _agent_test},
    attrgetter("began_ms"),
)
