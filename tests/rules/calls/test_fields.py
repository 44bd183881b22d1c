"""Each field of a call has the value that the session knows, for every agent, or is unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.feed.feed import Feed
from agentwatch.rules.calls.facts import CallFacts
from agentwatch.rules.calls.fields import CALL_FIELDS, CALLS, LIVE, RUN_FIELDS
from agentwatch.rules.calls.readers import call_readers
from agentwatch.rules.language.errors import RuleError
from agentwatch.rules.language.parser import parse
from agentwatch.session.events import Limits, LimitWindow, Outcome, Tokens, ToolKind, Usage, UsageScope
from tests.conftest import case
from tests.rules.calls.made import called, ends, feed_of, run, selected, starts, unknown


@pytest.fixture
def feed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Feed:
    """Return a feed of six calls: two commands, a new file, an edit, a read and one that runs."""
    events = [
        run(),
        starts("1", target="git push origin", at_ms=1000),
        ends("1", outcome=Outcome.FAILED, at_ms=61_000, error="exit 128", exit_code=128),
        starts("2", "Write", ToolKind.EDIT, "new.py", path="/home/me/project/new.py", at_ms=62_000),
        ends("2", "Write", ToolKind.EDIT, at_ms=62_100, is_new_file=True, added=40),
        starts("3", "Edit", ToolKind.EDIT, "hosts", path="/etc/hosts", at_ms=400_000),
        ends("3", "Edit", ToolKind.EDIT, Outcome.REJECTED, at_ms=400_100, error="denied by the user"),
        *called("4", "Read", ToolKind.READ, ".env", path="/home/me/project/.env"),
        *called("5", "Task", ToolKind.DELEGATE, "Find the callers"),
        starts("6", target="sudo rm -rf /tmp/x | tee log"),
    ]
    return feed_of(events, tmp_path, monkeypatch)


def test_a_rule_selects_calls(feed: Feed) -> None:
    """Tools are matched by name and by kind, programs and paths in all words of a command."""
    cases: list[tuple[str, list[int]]] = [
        ("tool:bash", [1, 6]),
        ("tool:execute", [1, 6]),
        ("tool:shell", [1, 6]),
        ("tool:edit", [2, 3]),
        ("tool:write", [2]),
        ("tool:subagent", [5]),
        ("kind:read", [4]),
        ("outcome:failed", [1]),
        ("outcome:failed OR outcome:rejected", [1, 3]),
        ("failed rejected", [1, 3]),
        ("fail", [1]),
        ("exit>0", [1]),
        ("exit:128", [1]),
        ("duration>=60s", [1]),
        ("duration<1s", [2, 3]),
        ("started>1m", [2, 3]),
        ("idle>5m", [3]),
        ("lines_added:40", [2]),
        ("phase:started", [6]),
        ("phase:ended", [1, 2, 3, 4, 5]),
        ("model:*opus", [1, 2, 3, 4, 5, 6]),
        ("agent:main -phase:started", [1, 2, 3, 4, 5]),
        ("target:push", [1]),
        ("error:denied", [3]),
        ("error:exit*", [1]),
        ("-error:exit*", [2, 3, 4, 5, 6]),
        ("command:push", [1]),
        ('command:"git push*"', [1]),
        (r"command:re:/push\s+o/", [1]),
        ("program:rm", [6]),
        ("program:tee program:sudo", [6]),
        ("path:hosts", [3]),
        ("path:/etc/**", [3]),
        ("path:**/.env*", [4]),
        ("path:new.py", [2]),
        ("path:/tmp/**", [6]),
        ("outside:cwd", [3, 6]),
        ("tool:edit -outside:cwd", [2]),
        ("callers", [5]),
        ("*push*", [1]),
        ("calls>5 failed:1 rejected:1", [1, 2, 3, 4, 5, 6]),
        ("failed>1", []),
        ("elapsed>8s", [1, 2, 3, 4, 5, 6]),
    ]
    for rule, numbers in cases:
        with case(rule):
            assert selected(rule, feed) == numbers


def test_what_the_agent_does_not_report_is_unknown(feed: Feed) -> None:
    """A term about an unknown value is neither true nor false, and neither is its opposite."""
    cases: list[tuple[str, list[int]]] = [
        ("exit:0", [2, 3, 4, 5, 6]),
        ("duration>1s", [6]),
        ("lines_removed>0", [1, 2, 3, 4, 5, 6]),
        ("idle>1s", [1, 4, 5, 6]),
        ("verdict:red", [6]),
        ("cost>1", [1, 2, 3, 4, 5, 6]),
        ("tool:read exit>0", [4]),
        ("path:x", []),
    ]
    for rule, numbers in cases:
        with case(rule):
            assert unknown(rule, feed) == numbers
            assert unknown(f"-({rule})", feed) == numbers


def test_a_running_call_has_a_duration_if_the_present_time_is_known(feed: Feed) -> None:
    """The duration of a running call grows with the present time, from the arrival of its start."""
    facts = CallFacts(feed)
    started = feed.session.calls[5].started
    assert started is not None
    assert started.seen_ms is not None
    facts.now_ms = started.seen_ms + 90_000
    assert selected("duration>80s", feed, facts) == [6]
    assert selected("elapsed>95s", feed, facts) == [1, 2, 3, 4, 5, 6]
    facts.now_ms += 20_000
    assert selected("duration>100s", feed, facts) == [6]


def test_tokens_and_cost_are_those_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`tokens`, `cost`, `context` and `limit` are compared as far as the agent reports them."""
    tokens = Tokens(input=1500, output=500, cost_usd=2.5, context_used=80, context_size=100)
    limits = Limits((LimitWindow("5h", 62.0, 1 << 50), LimitWindow("7d", 99.0, 1)))
    events = [run(), *called("1", "Bash", ToolKind.EXECUTE, "ls"), Usage(tokens, UsageScope.RUN), limits]
    feed = feed_of(events, tmp_path, monkeypatch)
    for rule in ("tokens:2k", "cost>2 cost<3", "context:80%", "limit:62"):
        assert selected(rule, feed) == [1]
    feed.session.last_seen_ms = None
    assert selected("limit>1%", feed) == []


def test_a_value_is_that_of_this_moment(feed: Feed) -> None:
    """The test that was made before a call ended says the new outcome afterwards."""
    test = parse("outcome:running", CALLS).bind(call_readers(CallFacts(feed)))
    call = feed.session.calls[5]
    assert test(call) is True
    call.outcome = Outcome.FAILED
    assert test(call) is False


def test_wrong_rules_of_a_filter() -> None:
    """A filter has no fields of the run, and an error names the right word."""
    cases: list[tuple[str, str]] = [
        ("failed>3", '"failed" is a field of --on and check'),
        ("file:x", 'unknown field "file" (did you mean path?)'),
        ("status:failed", 'unknown field "status" (did you mean outcome?)'),
        ("outcome:fialed", 'outcome is never "fialed" (did you mean failed?)'),
        ("tool:edti", 'tool is never "edti" (did you mean edit?); if it is, quote it'),
        ("tool:shel", 'tool is never "shel" (did you mean shell?); if it is, quote it'),
        ("agent:mian", 'agent is never "mian" (did you mean main?); if it is, quote it'),
        ("outside:home", 'outside is never "home": it is cwd'),
    ]
    for rule, reason in cases:
        with case(rule):
            with pytest.raises(RuleError) as caught:
                parse(rule, CALLS)
            assert caught.value.reason == reason


def test_names_of_other_tools() -> None:
    """A tool may have any name; one that looks like a slip is quoted, or has a wildcard."""
    for rule in ['tool:"edti"', "tool:edti*", "tool:WebFetch", "tool:MultiEdit", "tool:Bash"]:
        with case(rule):
            assert parse(rule, CALLS).fields == {"tool"}


def test_every_field_can_be_read(feed: Feed) -> None:
    """Each field of the vocabulary has a reader, and an example that parses."""
    for field in (*CALL_FIELDS, *RUN_FIELDS):
        rule = field.example or f"{field.name}:x"
        test = parse(rule, LIVE).bind(call_readers(CallFacts(feed)))
        assert {test(call) for call in feed.session.calls} <= {True, False, None}
        assert parse(rule, LIVE).fields == {field.name}


def test_the_other_words_of_fields_are_no_fields() -> None:
    """A synonym names a field that exists, and is not a field."""
    assert set(LIVE.synonyms.values()) <= set(LIVE.fields)
    assert not set(LIVE.synonyms) & set(LIVE.fields)
