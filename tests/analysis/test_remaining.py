"""What is left of a session's work: open failures, the verdict of the tests, and changed files."""

from __future__ import annotations

from agentwatch.analysis.remaining import Changed, ChangeHistory, remaining_words
from agentwatch.analysis.verdict_history import VerdictHistory
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.rules.calls.facts import CallFacts
from agentwatch.screen.panes.calls.list import CallList
from tests.builders.screen.app import bundled
from tests.builders.screen.lines import init, result, shell
from tests.conftest import Saver


def words_of(feed: Feed) -> list[str]:
    """Return what is left at the end of a session, in words."""
    changes, verdicts, facts = ChangeHistory(feed.session), VerdictHistory(feed), CallFacts(feed)
    while changes.update(0.0) | verdicts.update(0.0) | facts.episodes.update():
        pass
    calls = CallList(feed.session, facts)
    calls.sync()
    changed = changes.at(len(feed.session.ended_calls))
    return [str(words) for words, _ in remaining_words(verdicts.verdicts, calls.open_failures(), changed)]


def feed_of(path: object) -> Feed:
    """Return a feed that has read a recording."""
    feed = Feed(open_saved(path))  # type: ignore[arg-type]
    feed.advance()
    return feed


def test_each_change_counts_from_its_moment_on() -> None:
    """Until the first edit nothing was changed; each change counts from the call that made it."""
    feed = feed_of(bundled("demo"))
    changes = ChangeHistory(feed.session)
    while changes.update(0.0):
        pass
    found = [changes.at(ended) for ended in range(len(feed.session.ended_calls) + 1)]
    assert found[0] == found[7] == Changed()
    assert [each.files for each in found] == sorted(each.files for each in found)
    assert found[-1] == Changed(files=2, added=36, removed=3)
    assert words_of(feed) == ["tests ✓ 17 passed", "2 files +36 −3"]


def test_a_failure_is_open_until_it_is_repeated_with_success(recording: Saver) -> None:
    """A search without a match is not a failure, and a test run has its own words."""

    def ran(number: int, command: str, exit_code: int = 0, output: str = "") -> bytes:
        return shell(number, exit_code, output).replace(f"echo {number}".encode(), command.encode())

    lines = init() + ran(1, "git push --tags", 128) + ran(2, "make lint", 2) + ran(3, "grep x y", 1)
    lines += ran(4, "pytest -q", 1, "1 failed, 4 passed in 0.1s") + ran(5, "pytest -q", 1, "2 failed in 0.1s")
    found = words_of(feed_of(recording(lines + result())))
    assert found == ["tests ✗ 2 failed since #4", "make lint failed #2 and 1 more"]
    lines += ran(6, "make lint") + ran(7, "pytest -q", 0, "5 passed in 0.1s")
    found = words_of(feed_of(recording(lines + result())))
    assert found == ["tests ✓ 5 passed", "git push failed #1"]
    lines += ran(8, "git push --tags 2>&1")
    assert words_of(feed_of(recording(lines + result()))) == ["tests ✓ 5 passed"]
