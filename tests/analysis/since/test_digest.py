"""The digest grows with its session, and reads it in small pieces."""

from __future__ import annotations

from pathlib import Path

from agentwatch.analysis.seen import mark
from agentwatch.analysis.since import Digest
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from tests.builders.lines import completed, delta, init, result, started, user
from tests.builders.moment.slow_digest import complete, session_at
from tests.conftest import Saver


def shell(number: int, exit_code: int = 0) -> bytes:
    """Return a shell call from start to end."""
    call_id = f"s-{number}"
    body = {"success" if not exit_code else "failure": {"exitCode": exit_code}}
    return started("shell", call_id, command="make") + completed("shell", call_id, body, command="make")


def opened(path: Path) -> Feed:
    """Return a feed that has read a recording and follows it."""
    feed = Feed(open_saved(path, follow=True))
    feed.advance()
    return feed


def test_a_digest_grows_with_its_session(recording: Saver) -> None:
    """Calls that end later are added: a repetition that succeeds closes a failure."""
    path = recording(init(), shell(1))
    feed = opened(path)
    digest = Digest(feed, mark(feed.session, feed.offset, None))
    assert complete(digest).happened.is_nothing
    with path.open("ab") as file:
        file.write(shell(2, 1) + started("read", "r-1", path="/a"))
    feed.advance()
    assert [each.call.number for each in complete(digest).failures.newest_first()] == [2]
    assert [call.number for call in digest.running] == [3]
    with path.open("ab") as file:
        file.write(shell(3))
    feed.advance()
    assert complete(digest).failures.newest_first() == []
    assert digest.happened.calls == 2


def test_prompts_are_counted_across_runs(recording: Saver) -> None:
    """The number of prompts has those of later runs, and not those before the moment."""
    path = recording(init(), user("One."), result(""))
    feed = opened(path)
    digest = Digest(feed, mark(feed.session, feed.offset, None))
    assert digest.turns == 0
    with path.open("ab") as file:
        file.write(user("Two.") + result("") + init() + user("Three.") + delta("a"))
    feed.advance()
    assert digest.turns == 2
    assert digest.happened.ending is None
    assert Digest(feed, mark(session_at([], 0), 0, None)).turns == 3


def test_a_digest_reads_in_small_pieces(recording: Saver) -> None:
    """An update reads at most as many calls as it may, and reports that more are left."""
    feed = opened(recording(init(), *map(shell, range(10))))
    digest = Digest(feed, mark(session_at([], 0), 0, None))
    assert digest.update(most=4)
    assert [count.calls for count in digest.kinds.values()] == [4]
    assert digest.update(most=4)
    assert [count.calls for count in digest.kinds.values()] == [8]
