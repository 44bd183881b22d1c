"""After an absence, a summary reports what happened, and after a long one it offers the digest."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pytest

from agentwatch.base import clock
from agentwatch.base.config import Config
from agentwatch.feed.feed import Feed
from agentwatch.recording.acts import MOST_ACTS, Act, SessionActs, append_act
from agentwatch.recording.alarms import Alarm
from agentwatch.recording.saved import open_saved
from agentwatch.rules.alarms.thread import News
from agentwatch.rules.alarms.tripwire import Action
from agentwatch.screen.screens.session.notices import Notices
from agentwatch.session.agent_process import AgentFacts
from agentwatch.sources.source import News as SourceNews
from agentwatch.text.safe import SafeText
from tests.builders.lines import feed_of
from tests.builders.screen.lines import append, init, shell
from tests.conftest import Saver

MINUTE = 60_000


class Watched:
    """A growing recording with its notices, and a clock."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.feed = feed_of(path, follow=True)
        self.notices = Notices(self.feed, Config(), lambda _: None)
        self._monkeypatch = monkeypatch

    def away(self, ms: int, *lines: bytes) -> str:
        """Take the focus for a time in which lines arrive, and return the summary."""
        assert self.notices.app_blurred()
        assert not self.notices.app_blurred()
        append(self.path, b"".join(lines))
        self.feed.advance()
        self._monkeypatch.setattr(clock, "ahead_ns", clock.ahead_ns + ms * 10**6)
        return self.notices.app_focused("i")


@pytest.fixture
def watched(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(recording(init()), monkeypatch)


def test_a_long_absence_offers_the_digest(watched: Watched) -> None:
    """After five minutes the summary names the key, and the start of the absence is kept."""
    assert (
        watched.away(5 * MINUTE, shell(1), shell(2, 1)) == "5:00 away: 2 calls, 1 failed · i: what happened"
    )
    assert watched.notices.missed is not None
    assert watched.notices.missed.offset == len(init())


def test_a_short_absence_only_has_a_summary(watched: Watched) -> None:
    """Before five minutes nothing is offered, and the digest of an earlier absence stays."""
    assert watched.away(4 * MINUTE, shell(1)).endswith(" away: 1 call")
    assert watched.notices.missed is None
    watched.away(6 * MINUTE, shell(2))
    missed = watched.notices.missed
    assert missed is not None
    assert watched.away(MINUTE, shell(3)).endswith(" away: 1 call")
    assert watched.notices.missed is missed


def test_nothing_that_happened_is_nothing_to_show(watched: Watched) -> None:
    """After an absence in which nothing happened there is no summary and no digest."""
    assert watched.away(10 * MINUTE) == ""
    assert watched.notices.missed is None


def test_without_a_key_nothing_is_offered(watched: Watched) -> None:
    """Without a key for the digest, the summary offers none."""
    watched.notices.app_blurred()
    append(watched.path, shell(1))
    watched.feed.advance()
    assert watched.notices.app_focused().endswith(" ms away: 1 call")
    assert watched.notices.app_focused() == ""


class MadeWatch:
    """Rules that were hit as a test says."""

    alarms: Sequence[Alarm] = ()
    faults: Mapping[str, OSError | None] = MappingProxyType({})
    stopped_by = ""
    has_rules = True

    def __init__(self, *news: News) -> None:
        self._news = [*news]

    def take_news(self) -> list[News]:
        """Return the hits once."""
        news, self._news = self._news, []
        return news

    def announce_by(self, announce: Callable[[SourceNews], object]) -> None:
        """Do nothing."""


def test_each_hit_of_a_rule_is_a_toast_with_its_signal(recording: Saver) -> None:
    """A bell rings, a note notifies, a pause does both; the first toast says that it is an alarm."""
    kinds = (Action.BELL, Action.NOTE, Action.PAUSE)
    watch = MadeWatch(*(News(kind, SafeText(f"rule of {kind}")) for kind in kinds))
    written: list[str] = []
    feed = Feed(open_saved(recording(init()), follow=True))
    notices = Notices(feed, Config(title=False), written.append, watch)
    facts = AgentFacts(pid=7)
    toasts = notices.update(SafeText("writing"), facts, is_quiet=False)
    assert "an alarm, not a sandbox" in toasts[0]
    assert toasts[1:] == ["rule of bell", "rule of note", "rule of pause"]
    assert written == ["\x07", "\x07"]
    assert notices.update(SafeText("writing"), facts, is_quiet=False) == []


def test_no_rule_is_announced_where_only_changes_of_state_are_told(recording: Saver) -> None:
    """A command of `[[sessions.on]]` watches no call."""
    watch = MadeWatch()
    watch.has_rules = False
    feed = Feed(open_saved(recording(init()), follow=True))
    notices = Notices(feed, Config(), list[str]().append, watch)
    assert notices.update(SafeText("writing"), AgentFacts(pid=7), is_quiet=False) == []


def test_what_the_user_does_elsewhere_is_a_toast(watched: Watched) -> None:
    """An act during the session is told once, also one from another window; older acts are not."""
    watched.feed.acts_of = SessionActs(watched.path)

    def toasts() -> list[SafeText]:
        return watched.notices.update(SafeText(""), AgentFacts(), is_quiet=False)

    act = Act(1, "interrupt", "s-1", "list", "SIGINT", "sent")
    append_act(watched.path.with_suffix(".acts"), act)
    assert toasts() == []
    append_act(watched.path.with_suffix(".acts"), act._replace(act="stop", receipt="unknown"))
    assert toasts() == ["acted: stop unconfirmed · SIGINT · list"]
    assert toasts() == []
    for at_ms in range(MOST_ACTS):
        append_act(watched.path.with_suffix(".acts"), act._replace(at_ms=at_ms))
    toasts()
    append_act(watched.path.with_suffix(".acts"), act._replace(act="stop"))
    assert toasts() == ["acted: stop sent · SIGINT · list"], "the oldest act was dropped"
