"""The search of a session, and the bytes that a query rejects."""

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.analysis.search import MOST_MATCHES, Match, Query, Search, Side
from agentwatch.feed.feed import Feed
from agentwatch.text.safe import safe_text
from tests.builders.lines import (
    PROPERTY,
    completed,
    delta,
    feed_of,
    init,
    result,
    started,
    thought,
    thought_through,
    user,
)
from tests.conftest import case

Saver = Callable[..., Feed]


@pytest.fixture
def saved(tmp_path: Path) -> Saver:
    """Return a function that saves a recording of these lines and reads it to its end."""

    def save(*lines: bytes, follow: bool = False) -> Feed:
        path = tmp_path / "session.ndjson"
        path.write_bytes(b"".join(lines))
        return feed_of(path, follow=follow)

    return save


def complete(feed: Feed, text: str, entry: int = 0, offset: int = 0) -> Search:
    """Return a search that has covered the whole session."""
    search = Search(feed, text, entry, offset)
    search.advance()
    assert search.is_complete
    return search


def places(feed: Feed, text: str) -> list[str]:
    """Return descriptions of the places where a text is found, in order."""
    search = complete(feed, text)
    return [search.place(match) for match in search.found]


def call(number: int, command: str, stdout: str) -> bytes:
    """Return a shell call from start to end."""
    call_id = f"c-{number}"
    done = {"success": {"exitCode": 0, "stdout": stdout}}
    return started("shell", call_id, command=command) + completed("shell", call_id, done, command=command)


def test_everything_that_is_shown_is_found(saved: Saver) -> None:
    """Prompt, thinking, text, target, arguments and result are searched in the order of arrival, a target
    once. An upper-case letter makes case count.
    """
    feed = saved(
        init(),
        user("find the Needle"),
        thought("a needle?"),
        thought_through(),
        delta("A needle, and a needle."),
        call(1, "grep needle", "12: needle\n14: needle\n"),
        started("edit", "c-9", path="/home/ada/app/x.py", strReplace={"oldText": "needle"}),
        completed("edit", "c-9", {"error": {"error": "no needle"}}),
        result("A needle, and a needle."),
    )
    assert places(feed, "needle") == [
        "prompt",
        "thinking",
        *["text"] * 2,
        "#1 shell grep needle",
        *["#1 shell grep needle, result"] * 2,
        "#2 edit x.py",
        "#2 edit x.py, arguments",
        "#2 edit x.py, result",
    ]
    feed = saved(init(), delta("Café CAFÉ"), call(1, "make", "CAFÉ Café"), result("Café CAFÉ"))
    assert len(complete(feed, "café").found) == 4
    assert len(complete(feed, "Café").found) == 2
    assert complete(feed, "cAfé").found == []
    feed = saved(init(), call(1, "make needle", ""), call(2, "make needle\nmake needle", ""), result(""))
    assert places(feed, "needle") == [
        "#1 shell make needle",
        "#2 shell make needle ⏎ +1 line",
        "#2 shell make needle ⏎ +1 line, arguments",
    ]


def test_escapes_hide_nothing(saved: Saver) -> None:
    """Text is found in any JSON escaping, in a nested string, in a subagent's steps and across marks of
    Markdown, in the form in which it is shown.
    """
    cases: list[tuple[str, str]] = [
        ('say "hi"', 'say "hi" twice'),
        ("one two", "one\ntwo"),
        ("東京", "in 東京 now"),
        ("naïve", "so naïve a"),
        ("a\\b", "x a\\b y"),
        ("🦀", "a 🦀 b"),
        ("a/b", "see a/b"),
        ("␛[31m", "\x1b[31mred"),
        ("<U+202E>", "a \u202e b"),
        ("202E", "a \u202e b"),
        ("9b", "a \x9b b"),
    ]
    for is_ascii in [True, False]:
        for query, shown in cases:
            with case((is_ascii, query)):
                line = json.loads(completed("shell", "c-1", {"success": {"stdout": shown}}, command="x"))
                written = json.dumps(line, ensure_ascii=is_ascii).encode() + b"\n"
                feed = saved(
                    init(), started("shell", "c-1", command="x"), written, delta(shown), result(shown)
                )
                assert places(feed, query) == ["#1 shell x, result", "text"]
    line = completed("shell", "c-1", {"success": {"stdout": "QQQ"}}, command="x")
    hidden = line.replace(b"QQQ", b"".join(b"\\u%04x" % ord(char) for char in "needle"))
    feed = saved(init(), started("shell", "c-1", command="x"), hidden, result(""))
    assert places(feed, "Needle".lower()) == ["#1 shell x, result"]
    arguments = json.dumps({"query": 'a "quoted" word'})
    line = started("mcp", "c-1").replace(b'"args": {}', b'"args": ' + json.dumps(arguments).encode())
    feed = saved(init(), line, result(""))
    assert places(feed, 'a "quoted" word') == ["#1 mcp , arguments".replace(" ,", ",")]
    steps: list[object] = [
        {"toolCall": {"readToolCall": {"args": {"path": "/a"}, "result": {"success": {"totalLines": 54}}}}},
        {"toolCall": {"editToolCall": {"args": {"path": "/b"}, "result": {"permissionDenied": {}}}}},
    ]
    feed = saved(
        init(),
        started("task", "c-1", description="look"),
        completed("task", "c-1", {"success": {"conversationSteps": steps}}),
        result(""),
    )
    for words in ("Read file", "54 lines", "permission denied"):
        assert places(feed, words) == ["#1 task look, result"], words
    text = "I **oil** the\nwheel. **Note**: see [the docs](x)."
    feed = saved(init(), delta(text), result(text))
    for phrase in ("oil the wheel", "note: see the docs", "**oil**"):
        assert places(feed, phrase) == ["text"], phrase


def history(count: int) -> list[bytes]:
    """Return numbered texts and calls."""
    made = [init()]
    for number in range(count):
        made += [delta(f"word {number} hit. Another hit. "), call(number, f"echo {number}", "one hit\n" * 2)]
    return made


def test_each_match_is_found_once(saved: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each match is found once, however a text or a line is cut for searching. During a search, first
    match, steps and numbers are None until known, and never wrong.
    """
    text = "".join(f"{'x' * (number % 23)} the needle\t" for number in range(60))
    outputs = [text] + [f"{'x' * length} the needle" for length in range(120)]
    calls = (call(number, "make", output) for number, output in enumerate(outputs))
    feed = saved(init(), delta(text), *calls, result(text))
    whole = complete(feed, "the needle").found
    assert len(whole) == 60 * 2 + 120
    for size in (111, 128, 150):
        monkeypatch.setattr("agentwatch.analysis.search._CHUNK", size)
        monkeypatch.setattr("agentwatch.analysis.search._PIECE_BYTES", size)
        assert complete(feed, "the needle").found == whole
        assert complete(feed, "the needle", 0, 777).found == whole
    # An incomplete search is never wrong.
    for begin in [0, 20, 40, 59, 60]:
        with case(begin):
            feed = saved(*history(30), result(""))
            whole = complete(feed, "hit").found
            expected = next((match for match in whole if match.entry >= begin), whole[-1])
            search = Search(feed, "hit", begin)
            known: Counter[str] = Counter()
            while not search.is_complete:
                search.advance(0)
                assert search.first() in (None, expected)
                for match in random.Random(len(search.found)).sample(search.found, min(len(search.found), 3)):
                    number = search.number(match)
                    assert number in (None, whole.index(match) + 1)
                    known["number"] += number is not None and not search.is_complete
                    for direction in (1, -1):
                        step = search.step(match, direction)
                        assert step in (whole[(whole.index(match) + direction) % len(whole)], None)
                        known["step" if step else "none"] += 1
            assert known["step"]
            assert known["none"]
            assert bool(known["number"]) == (begin < 30)
            assert search.found == whole


@pytest.mark.costs
def test_a_slice_is_short(saved: Saver) -> None:
    """A long recording is searched in slices of about the given time."""
    big = "lorem ipsum " * 20_000
    feed = saved(init(), *(call(number, "make", big) for number in range(60)), delta(big * 4), result(""))
    search = Search(feed, "needle")
    longest = slices = 0.0
    while not search.is_complete:
        begun = time.thread_time()
        search.advance(0.002)
        longest = max(longest, time.thread_time() - begun)
        slices += 1
    assert slices > 5
    assert longest < 0.03


def test_a_search_steps_in_both_directions(saved: Saver, tmp_path: Path) -> None:
    """The first match is the next after the start position, or the last of all; steps wrap around. An
    action sorts before its arguments, and these before its result. Growing text, new calls and late results
    are found when they arrive, in their order. The search pauses after MOST_MATCHES matches and reports it;
    a step beyond them resumes it.
    """
    feed = saved(*history(10), result(""))
    whole = complete(feed, "hit").found
    assert whole == sorted(whole)
    assert len(whole) == 40
    for entry, offset in ((0, 0), (6, 12), (7, 0), (19, 0), (30, 0)):
        search = complete(feed, "hit", entry, offset)
        assert search.found == whole
        ahead = (match for match in whole if match >= (entry, Side.TEXT, offset))
        assert search.first() == next(ahead, whole[-1])
        assert [search.number(match) for match in whole] == list(range(1, 41))
        for index, match in enumerate(whole):
            assert search.step(match, 1) == whole[(index + 1) % 40]
            assert search.step(match, -1) == whole[index - 1]
    # Matches sort in display order.
    first, second, third = Match(1, Side.TEXT, 9), Match(1, Side.ARGUMENTS, 0), Match(1, Side.RESULT, 0)
    assert sorted([third, first, second]) == [first, second, third]
    # Matches that come late.
    other_feed = saved(init(), delta("a nee"), follow=True)
    other_search = complete(other_feed, "needle")
    assert other_search.found == []
    path = tmp_path / "session.ndjson"
    for lines in (
        delta("dle needle") + delta(" nee") + delta("dle"),
        started("shell", "c-1", command="x"),
        started("shell", "c-2", command="needle"),
        completed("shell", "c-1", {"success": {"stdout": "needle"}}, command="x"),
        completed("shell", "c-2", {"success": {"stdout": "no"}}, command="needle") + delta("needle"),
    ):
        with path.open("ab") as file:
            file.write(lines)
        other_feed.advance()
        other_search.advance()
    assert other_search.found == complete(other_feed, "needle").found
    assert [other_search.place(other_match) for other_match in other_search.found] == [
        *["text"] * 3,
        "#1 shell x, result",
        "#2 shell needle",
        "text",
    ]
    # A very common word pauses the search.
    other_feed = saved(init(), call(1, "make", "zz " * (MOST_MATCHES + 5)), result(""))
    other_search = complete(other_feed, "zz")
    assert other_search.is_full
    assert len(other_search.found) == MOST_MATCHES
    assert other_search.step(other_search.found[-1], 1) is None
    other_search.advance()
    assert not other_search.is_full
    assert len(other_search.found) == MOST_MATCHES + 5
    assert other_search.step(other_search.found[MOST_MATCHES - 1], 1) == other_search.found[MOST_MATCHES]


TEXT = st.text(st.sampled_from('ab Kk\u212a"\\\n\tßéİſK東<>+2\u202e\x1b\u200d🦀'), min_size=1, max_size=8)


@PROPERTY
@given(text=TEXT, start=st.integers(0, 7), length=st.integers(1, 5), is_ascii=st.booleans())
def test_no_matching_line_is_rejected(text: str, start: int, length: int, is_ascii: bool) -> None:
    """If the shown text matches a query, the bytes of its line are never rejected, in any escaping."""
    shown = safe_text(text)
    written = json.dumps(text, ensure_ascii=is_ascii).encode(errors="surrogatepass")
    for typed in (shown[start : start + length], shown[start : start + length].lower()):
        query = Query(typed)
        if query.words and query.pattern.search(shown):
            assert not query.missing(query.needles, written)
