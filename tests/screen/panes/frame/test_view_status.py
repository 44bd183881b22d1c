"""The current time of a session, as the screen shows it."""

from __future__ import annotations

from agentwatch.agents.opening import saved_source
from agentwatch.analysis.silence import is_stalled
from agentwatch.base.clock import now_ms
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.screen.panes.moment import Moment, live_ms
from agentwatch.screen.panes.status_line import view_words
from tests.builders.lines import line
from tests.builders.screen.lines import init, prompt, result
from tests.conftest import Saver


def test_a_saved_recording_is_not_quiet_while_it_is_read(recording: Saver) -> None:
    """While a saved recording is read, the time shown is that of its newest line, so it is not quiet."""
    path = recording(init(), prompt("Mend it."), result())
    path.with_suffix(".times").write_text("0 1000\n")
    feed = Feed(open_saved(path))
    feed.advance(0)
    assert not feed.is_over
    assert live_ms(feed) == feed.session.last_seen_ms == 1000
    assert not is_stalled(feed.session, live_ms(feed))


def test_the_time_goes_on_while_a_recording_grows(recording: Saver) -> None:
    """A followed recording shows the time of our clock."""
    path = recording(init())
    path.with_suffix(".times").write_text("0 1000\n")
    feed = Feed(open_saved(path, follow=True))
    feed.advance()
    before = now_ms()
    shown = live_ms(feed)
    assert shown is not None
    assert before <= shown <= now_ms()


def test_lines_of_no_known_agent_are_mentioned_while_they_are_held(recording: Saver) -> None:
    """Lines that are held because the agent is not known yet are counted, so that nothing is hidden."""
    path = recording(line({"type": "hello"}), line({"type": "hello"}))
    source = saved_source(path, follow=True)
    feed = Feed(source.reader)
    moment = Moment(feed, source.reader)
    feed.advance()
    words = view_words(source, moment, [], below=0)
    assert words == "2 lines of no known agent yet"
