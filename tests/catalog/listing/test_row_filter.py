"""The words of the filter of a list select sessions by their names, states and numbers."""

from agentwatch.agents.state_report import State
from agentwatch.base import clock
from agentwatch.catalog.digest.digest import LastTests
from agentwatch.catalog.row_filter import ROW_FIELDS, ROWS, row_filter, row_filter_offers, row_filter_problem
from agentwatch.rules.language.parser import parse
from agentwatch.session.limits import Reported
from agentwatch.text.times import time_of_day
from tests.catalog.listing.made_rows import ASKING, row
from tests.conftest import case

WORDS: list[tuple[str, bool]] = [
    ("port", True),
    ("PORT settings", True),
    ("port missing", False),
    ("npm", True),
    ("web-api", True),
    ("lows", True),
    ("codex", True),
    ("agent:codex", True),
    ("agent:co", True),
    ("agent:dex", False),
    ("repo:api", True),
    ("repo:tests", False),
    ("branch:fix", True),
    ("branch:main", False),
    ("host:build", True),
    ("host:other", False),
    ("state:asks", True),
    ("state:needs", True),
    ("state:working", False),
    ("asks", True),
    ("asks working", True),
    ("working", False),
    ("as", False),
    ("ask", True),
    ("failed", False),
    ("please", False),
    ('"npm ci"', True),
    ("agent:codex npm:ci", True),
    ("agent:claude npm:ci", False),
    ("agent:codex repo:api port asks", True),
    ("agent:codex repo:api port failed", False),
]


def test_a_filter_matches_all_of_its_words() -> None:
    """Each word is sought in the names, the title and the activity; a word with a colon in its field. Blanks
    do not filter. `failed` selects both; other states are selected by their own names only."""
    for text, is_match in WORDS:
        with case(text):
            matches = row_filter(text)
            assert matches is not None
            assert matches(ASKING) is is_match
    assert row_filter(" \t ") is None
    matches = row_filter("failed")
    assert matches is not None
    assert {state for state in State if matches(row("a", state))} == {State.FAILED, State.TURN_FAILED}
    matches = row_filter("succeeded unknown")
    assert matches is not None
    assert {state for state in State if matches(row("a", state))} == {State.SUCCEEDED, State.UNKNOWN}


FIELDS: list[tuple[str, bool]] = [
    ("calls>100 failed>3", True),
    ("failed>4", False),
    ("failed failed>3", False),
    ("asks (failed>9 OR context>=80%)", True),
    ("context>80%", False),
    ("limit>60%", True),
    ("limit>62%", False),
    ("lines_added>500 -lines_removed>100", True),
    ("tests:red", True),
    ("tests:green OR tests:none", False),
    ("age>1h age<3h", True),
    ("silent>50m silent<70m", True),
    ("duration>1h", True),
    ("branch:fix*", True),
    ("branch:*ix", False),
    ("-branch:main", True),
    ("model:opus", False),
    ("subagents>0", False),
    ("*page", True),
    ("agent:*dex", True),
    ('title:"settings page"', True),
]


def test_fields_are_compared() -> None:
    """Numbers, times, shares and globs are those of the language of rules."""
    now_ms = clock.now_ms()
    full = ASKING._replace(
        calls=120,
        failed=4,
        context_used=80,
        context_size=100,
        limits=(Reported("5h", 62.0, None, now_ms), Reported("7d", 99.0, now_ms - 1, now_ms)),
        lines_added=600,
        lines_removed=3,
        tests=LastTests(True, 3, 1),
        began_ms=now_ms - 7_200_000,
        seen_ms=now_ms - 3_600_000,
    )
    began = time_of_day(full.began_ms)
    for text, is_match in (*FIELDS, (f"{began}..{began}", True), (f"-{began}..{began}", False)):
        with case(text):
            matches = row_filter(text)
            assert matches is not None
            assert matches(full) is is_match


def test_a_filter_selects_what_is_known_before_a_mistake() -> None:
    """A session without a number is selected neither by a term about it nor by its opposite. A mistake is
    named, and the words before it select sessions."""
    for text in ("limit<50%", "calls>0", "-calls>0", "context<50%", "age>1s", "duration<1h"):
        with case(text):
            matches = row_filter(text)
            assert matches is not None
            assert matches(ASKING._replace(calls=None, began_ms=None)) is False
    problem = row_filter_problem("port stat:asks")
    assert problem is not None
    assert problem.reason == 'unknown field "stat" (did you mean state?)'
    matches = row_filter("port stat:asks")
    assert matches is not None
    assert matches(ASKING)
    assert row_filter_problem("port") is None
    assert row_filter("stat:asks") is None


def test_the_bar_offers_every_field() -> None:
    """Fields, states and the names of the sessions are offered. Each field has an example that can be
    compared with a row."""
    cases: list[tuple[str, list[str]]] = [
        ("ag", ["agent:", "age>"]),
        ("agent:c", ["agent:claude", "agent:codex"]),
        ("port repo:", ["port repo:Web-API", "port repo:web"]),
        ("state:your", ['state:"your turn"']),
        ("title:", []),
        ("work", ["worktree:", "working"]),
    ]
    others = ASKING._replace(agent="claude", repo="web"), ASKING._replace(agent="", repo="")
    rows = [ASKING, *others]
    for text, words in cases:
        with case(text):
            assert [offer.text for offer in row_filter_offers(text, rows)] == words
    for field in ROW_FIELDS:
        assert parse(field.example, ROWS).fields == {field.name}
        matches = row_filter(field.example)
        assert matches is not None
        matches(ASKING)
    assert set(ROWS.synonyms.values()) <= set(ROWS.fields)


def test_a_field_of_calls_and_a_misspelt_state() -> None:
    """An error says where a field belongs; a part of a state is not a mistake."""
    cases: list[tuple[str, str | None]] = [
        ("tool:edit", '"tool" is a field of calls, for the filter of a session'),
        ("outcome:failed", 'unknown field "outcome" (did you mean state?)'),
        ("state:endd", 'state is never "endd" (did you mean ended?); if it is, quote it'),
        ("state:ende", None),
    ]
    for words, reason in cases:
        with case(words):
            problem = row_filter_problem(words)
            assert (None if problem is None else problem.reason) == reason
