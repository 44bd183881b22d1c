"""What is left of a session's work: open failures, the verdict of the tests, and changed files."""

from __future__ import annotations

from agentwatch.analysis.standing import Standing, Standings, standing_words
from agentwatch.analysis.verdict_history import VerdictHistory
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from tests.builders.screen.app import bundled
from tests.builders.screen.lines import init, result, shell
from tests.conftest import Saver


def words_of(feed: Feed) -> list[str]:
    """Return what is left at the end of a session, in words."""
    standings, verdicts = Standings(feed.session), VerdictHistory(feed)
    while standings.update(0.0) | verdicts.update(0.0):
        pass
    standing = standings.at(len(feed.session.ended_calls))
    return [str(words) for words, _ in standing_words(feed.session, standing, verdicts.verdicts)]


def feed_of(path: object) -> Feed:
    """Return a feed that has read a recording."""
    feed = Feed(open_saved(path))  # type: ignore[arg-type]
    feed.advance()
    return feed


def test_each_moment_has_its_standing() -> None:
    """Until the first edit nothing is left; each change counts from the call that made it."""
    feed = feed_of(bundled("demo"))
    standings = Standings(feed.session)
    while standings.update(0.0):
        pass
    found = [standings.at(ended) for ended in range(len(feed.session.ended_calls) + 1)]
    assert found[0] == found[7] == Standing()
    assert [each.files for each in found] == sorted(each.files for each in found)
    assert found[-1] == Standing(files=2, added=36, removed=3)
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
