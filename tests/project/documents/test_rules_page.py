"""The rules of docs/rules.md can be read, and be run over a session."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from agentwatch.catalog.row_filter import ROWS
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.rules.calls.facts import CallFacts
from agentwatch.rules.calls.fields import CALLS, LIVE
from agentwatch.rules.calls.filter import call_filter
from agentwatch.rules.calls.readers import call_readers
from agentwatch.rules.check.rule_file import read_rules
from agentwatch.rules.language.errors import RuleError
from agentwatch.rules.language.parser import parse
from tests.conftest import ROOT, case

PAGE = (ROOT / "docs" / "rules.md").read_text()
BLOCK = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
assert BLOCK is not None
WHENS = [entry["when"] for entry in tomllib.loads(BLOCK[1])["forbid"]]
FILTERS = [
    rule
    for row in re.findall(r"^\| [A-Z][^|]*\? \| (.*) \|$", PAGE, re.MULTILINE)
    for rule in re.findall(r"`([^`]+)`", row)
]


@pytest.fixture(scope="module")
def feed() -> Feed:
    """Return the demo session."""
    found = Feed(open_saved(ROOT / "recordings" / "demo.ndjson"))
    found.advance()
    return found


def test_the_file_of_rules_can_be_read(tmp_path: Path) -> None:
    """The block is a file of rules for `check`: 19 forbidden calls, and limits."""
    assert BLOCK is not None
    path = tmp_path / "rules.toml"
    path.write_text(BLOCK[1])
    assert len(WHENS) == 19
    assert len(read_rules(path)) == 19 + 3


def test_a_rule_is_also_a_filter(feed: Feed) -> None:
    """Each rule selects calls in a filter too, without the one with a regular expression."""
    for when in WHENS:
        with case(when):
            condition = parse(when, LIVE, allows_patterns=True)
            test = condition.bind(call_readers(CallFacts(feed)))
            selected = [call.number for call in feed.session.calls if test(call) is True]
            if "re:/" in when:
                with pytest.raises(RuleError, match="only in rule files"):
                    call_filter(when, CallFacts(feed))
                continue
            matches = call_filter(when, CallFacts(feed))
            assert matches is not None
            assert [call.number for call in feed.session.calls if matches(call)] == selected


def test_the_questions_have_filters(feed: Feed) -> None:
    """Each question about a session has a filter, and most select calls of the demo session."""
    assert len(FILTERS) == 9
    found = 0
    for words in FILTERS:
        matches = call_filter(words, CallFacts(feed))
        assert matches is not None
        found += any(map(matches, feed.session.calls))
    assert found >= 3


def test_what_the_page_calls_a_rule_is_one() -> None:
    """Each rule in the table of the language and after `--on` can be read."""
    table = PAGE.split("| rule | selects |")[1].split("\n\n")[0]
    rules = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    given = re.findall(r"--on '([^']+)' [a-z]+ ", PAGE)
    assert (len(rules), len(given)) == (12, 2)
    for rule in rules:
        parse(rule, LIVE, allows_patterns=True)
    for rule in given:
        parse(rule, LIVE)


def test_every_field_is_in_the_page() -> None:
    """The tables name each field. `docs/reference.py` writes them, and its check finds an old one."""
    fields = {*CALLS.fields, *LIVE.fields, *ROWS.fields}
    assert len(fields) > 20
    assert [name for name in sorted(fields) if f"\n| `{name}` | " not in PAGE] == []
