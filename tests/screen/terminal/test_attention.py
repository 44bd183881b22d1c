"""The bell, the desktop notification and the terminal's title report events while a session is watched."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from agentwatch.agents.opening import saved_source
from agentwatch.base.config import Config
from agentwatch.feed.feed import Feed
from agentwatch.screen.terminal.attention import Attention, note_format
from agentwatch.session.events import Event, Outcome, Permission, Prompt, RunStarted, TurnEnded, TurnStarted
from agentwatch.text.safe import SafeText, columns
from tests.builders.lines import completed, delta, init, result, started
from tests.builders.made_agent import MadeSession
from tests.conftest import case

PLAIN = {"TERM": "xterm-256color"}
ITERM = PLAIN | {"TERM_PROGRAM": "iTerm.app"}
FOOT = {"TERM": "foot"}
ONLY_TITLE = Config(bell=False, note=False)
NO_TITLE = Config(title=False)
SUCCEEDED, FAILED = result("ok"), result("it broke", subtype="error", is_error=True)
SEQUENCES = re.compile(r"\x1b\[2[23];0t|\x1b\](?:0|9|777;notify);[^\x00-\x1f\x7f-\x9f]*\x07|\x07")


class Watched:
    """A recording with its `Attention`, and what that writes to the terminal."""

    def __init__(
        self,
        folder: Path,
        *history: bytes,
        config: Config = NO_TITLE,
        environ: Mapping[str, str] = PLAIN,
        follow: bool = True,
    ) -> None:
        self._path = folder / "session.ndjson"
        self._path.write_bytes(b"".join(history))
        self.feed = Feed(saved_source(self._path, follow).reader)
        self._written = list[str]()
        self.attention = Attention(self.feed, self._written.append, config, environ)
        self.update()

    def update(self, words: str = "writing", *, is_quiet: bool = False) -> str:
        """Run one tick, and return what it wrote."""
        self._written.clear()
        self.feed.advance()
        self.attention.update(SafeText(words), is_quiet=is_quiet)
        return "".join(self._written)

    def grow(self, *lines: bytes, words: str = "writing", is_quiet: bool = False) -> str:
        """Append lines, run one tick, and return what it wrote."""
        with self._path.open("ab") as file:
            file.write(b"".join(lines))
        return self.update(words, is_quiet=is_quiet)

    def restore_title(self) -> str:
        self._written.clear()
        self.attention.give_title_back()
        return "".join(self._written)


def test_the_end_of_a_run_rings_once(tmp_path: Path) -> None:
    """The bell rings once when a run ends, its stream ends without a result, or the session falls quiet."""
    # The bell rings when the result of a run arrives, and neither before nor again.
    for last in (SUCCEEDED, FAILED):
        with case(last[:60]):
            watched = Watched(tmp_path)
            assert watched.grow(init(), started("shell")) == ""
            assert watched.grow(completed("shell", result={"failure": {"exitCode": 1}})) == ""
            assert watched.grow(last) == "\x07"
            assert watched.update() == watched.grow(delta("More.")) == ""
    # Each run rings at its end, also a run without a result that another run follows.
    watched = Watched(tmp_path)
    assert watched.grow(init(), SUCCEEDED) == "\x07"
    assert watched.grow(init()) == ""
    assert watched.grow(init()) == "\x07"
    assert watched.grow(FAILED) == "\x07"
    # It does not ring at the end of a turn; it does if the agent is silent, of which no agent tells.
    for leave_to, end, quiet in ((("cursor",), "", "\x07"), (("claude",), "\x07", "\x07")):
        with case(leave_to):
            config = NO_TITLE._replace(leave_to=leave_to)
            watched = Watched(tmp_path, config=config)
            watched.grow(init(), started("shell"))
            assert watched.update(is_quiet=True) == quiet
            assert watched.grow(SUCCEEDED) == end
    # A recording that ends in the middle of a run rings, although it was opened during that run.
    watched = Watched(tmp_path, init(), b'{"half": ')
    (tmp_path / "session.ndjson").rename(tmp_path / "old")
    (tmp_path / "session.ndjson").write_bytes(b"")
    assert watched.update() == "\x07"
    assert watched.feed.is_over
    # An exit code that contradicts the result comes later, and rings once more.
    watched = Watched(tmp_path)
    assert watched.grow(init(), SUCCEEDED) == "\x07"
    watched.feed.session.exit_code = 3
    assert (watched.update(), watched.update()) == ("\x07", "")
    # The bell rings when the session falls quiet, and again only after it was active in between.
    watched = Watched(tmp_path, init())
    assert watched.update(is_quiet=True) == "\x07"
    assert watched.update(is_quiet=True) == ""
    assert watched.grow(delta("On.")) == ""
    assert watched.update(is_quiet=True) == "\x07"
    assert watched.grow(SUCCEEDED, is_quiet=True) == "\x07"
    assert watched.update() == watched.update(is_quiet=True) == ""


def test_what_happened_before_does_not_ring(tmp_path: Path) -> None:
    """History, a finished recording and a stall before the opening do not ring; what comes later does."""
    # Opening a finished recording does not ring, with or without a result.
    for last in (SUCCEEDED, FAILED, b""):
        watched = Watched(tmp_path, init(), last, follow=False, environ=ITERM)
        assert watched.feed.is_over
        assert watched.update() == watched.update(is_quiet=True) == ""
        assert not watched.attention.is_watching
    # Runs that ended before the file was opened do not ring, even when the file is read in steps.
    watched = Watched(tmp_path)
    with (tmp_path / "session.ndjson").open("ab") as file:
        file.write((init() + SUCCEEDED) * 3 + init())
    written = list[str]()
    feed = Feed(saved_source(tmp_path / "session.ndjson", True).reader)
    attention = Attention(feed, written.append, NO_TITLE, PLAIN)
    seen = list[bool]()
    while feed.backlog():
        feed.advance(0)
        seen.append(attention.is_watching)
        attention.update(SafeText("writing"), is_quiet=True)
    assert written == []
    assert attention.is_watching
    assert not any(seen)
    assert watched.grow(SUCCEEDED) == "\x07"
    # A result written after the file was opened rings, even if it is read together with older lines.
    path = tmp_path / "session.ndjson"
    path.write_bytes(init() + SUCCEEDED[:20])
    written = list[str]()
    feed = Feed(saved_source(path, True).reader)
    attention = Attention(feed, written.append, NO_TITLE, PLAIN)
    with path.open("ab") as file:
        file.write(SUCCEEDED[20:])
    feed.advance()
    attention.update(SafeText("writing"), is_quiet=False)
    assert written == ["\x07"]
    # A recording that was quiet when it was opened does not ring.
    path = tmp_path / "session.ndjson"
    path.write_bytes(init())
    written = list[str]()
    feed = Feed(saved_source(path, True).reader)
    attention = Attention(feed, written.append, NO_TITLE, PLAIN)
    for _ in range(3):
        feed.advance()
        attention.update(SafeText("quiet for 62 s"), is_quiet=True)
    assert written == []


def test_a_notification_shows_project_and_status(tmp_path: Path) -> None:
    """A notification has the format of the terminal; bell, notification and title can be switched off."""
    # A notification names the project folder and repeats the status line, in the terminal's own format.
    words = "succeeded in 5.2 s · 4 calls, 2 failed"
    watched = Watched(tmp_path, init(), environ=ITERM)
    assert watched.grow(SUCCEEDED, words=words) == f"\x07\x1b]9;agentwatch: app: {words}\x07"
    watched = Watched(tmp_path, init(), environ=FOOT)
    assert watched.grow(FAILED, words="failed: no") == "\x07\x1b]777;notify;agentwatch;app: failed: no\x07"
    assert watched.grow(init()) == ""
    assert watched.grow(init(), words="thinking").endswith("notify;agentwatch;app: unfinished\x07")
    assert watched.grow(init(cwd=""), words="thinking") != ""
    assert watched.update("quiet for 9 s", is_quiet=True).endswith("notify;agentwatch;quiet for 9 s\x07")
    # A terminal known to show notifications gets OSC 9 or 777; any other gets the bell only.
    for environ, code in (
        (ITERM, "9;"),
        ({"TERM": "xterm-kitty"}, "9;"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WarpTerminal"}, "9;"),
        ({"TERM": "xterm-ghostty"}, "777;"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "777;"),
        ({"TERM": "rxvt-unicode-256color"}, "777;"),
        (FOOT, "777;"),
        (PLAIN, None),
        ({}, None),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, None),
        ({"TERM": "linux"}, None),
        ({"TERM": "screen-256color", "TERM_PROGRAM": "iTerm.app"}, None),
        ({"TERM": "tmux-256color", "TERM_PROGRAM": "tmux"}, None),
        ({"TERM": "foot", "TMUX": "/tmp/tmux-1/default,1,0"}, None),
    ):
        with case(environ):
            form = note_format(environ)
            assert form is None if code is None else form is not None and form.startswith(f"\x1b]{code}")
    # Bell, notification and title can each be switched off; the others still work.
    for config, expected in [
        (Config(note=False, title=False), "\x07"),
        (Config(bell=False, title=False), "\x1b]9;agentwatch: app: writing\x07"),
        (ONLY_TITLE, "\x1b]0;agentwatch succeeded – app\x07"),
        (Config(bell=False, note=False, title=False), ""),
    ]:
        watched = Watched(tmp_path, init(), config=config, environ=ITERM)
        assert watched.grow(SUCCEEDED) == expected


def test_the_title_shows_the_state(tmp_path: Path) -> None:
    """The title follows the state, is written only when it changes, and is restored."""
    # The title is saved, follows the state, is written only when it changes, and is restored.
    watched = Watched(tmp_path, config=ONLY_TITLE)
    assert watched.update() == watched.restore_title() == ""
    assert watched.grow(init(cwd="/home/ada/app/")) == "\x1b[22;0t\x1b]0;agentwatch running – app\x07"
    assert watched.grow(delta("Some.")) == ""
    assert watched.update(is_quiet=True) == "\x1b]0;agentwatch quiet – app\x07"
    assert watched.grow(FAILED, words="waits for the limit") == "\x1b]0;agentwatch limited – app\x07"
    assert watched.update(is_quiet=True) == "\x1b]0;agentwatch failed – app\x07"
    assert watched.restore_title() == "\x1b[23;0t"
    assert watched.restore_title() == ""
    assert watched.update() == "\x1b[22;0t\x1b]0;agentwatch failed – app\x07"
    # The title also shows the state of a recording that was finished when it was opened.
    watched = Watched(tmp_path, init(), config=Config(), follow=False)
    watched.restore_title()
    assert watched.update() == "\x1b[22;0t\x1b]0;agentwatch unfinished – app\x07"
    # The Linux console gets no title, because old consoles print the sequence as text.
    watched = Watched(tmp_path, init(), config=ONLY_TITLE, environ={"TERM": "linux"})
    assert watched.update() == watched.restore_title() == ""


def test_foreign_text_cannot_act(tmp_path: Path) -> None:
    """For any folder and status, only our own sequences with short plain text are written."""
    for environ in (ITERM, FOOT):
        for hostile in (
            "\x1b]52;c;ZXZpbA==\x07",
            "\x9b2J\x9c\x1b\\\x07\x18\x1a",
            "a;b;notify;c\r\n\x00",
            "\u202e" + "漢" * 200,
            "\ud800\U0001f468\u200d\U0001f469",
            "x" * 100_000,
        ):
            with case(ascii(hostile[:60])):
                watched = Watched(tmp_path, config=Config(), environ=environ)
                written = watched.grow(init(cwd=f"/home/{hostile}"))
                written += watched.grow(FAILED, words=hostile)
                assert SEQUENCES.sub("", written) == ""
                found = SEQUENCES.findall(written)
                assert len(found) == 5  # the title saved and set twice, the bell, the notification
                for sequence in found:
                    text = sequence.partition(";agentwatch")[2].removesuffix("\x07").lstrip(":; ")
                    assert ";" not in text
                    assert columns(SafeText(text)) <= 80


BELL = "\x07"
ASKED = Permission("Bash", None, key="q", target="rm -rf build")
DONE = TurnEnded(Outcome.SUCCEEDED, "Done.")
START: list[Event] = [RunStarted("x", cwd="/src/tidepool"), Prompt("Do it.")]


class InTurns:
    """A recording that grows event by event, and what its `Attention` writes to the terminal."""

    def __init__(self, folder: Path, session: MadeSession, config: Config) -> None:
        path = session.save(folder / "x.ndjson")
        path.with_suffix(".times").unlink()
        self._lines = path.read_bytes().splitlines(keepends=True)
        self._path = path
        path.write_bytes(b"".join(self._lines[: len(START)]))
        self._feed = Feed(saved_source(path, True).reader)
        self._written = list[str]()
        self._attention = Attention(self._feed, self._written.append, config, {"TERM": "xterm"})
        self._next = len(START)
        self.tick()

    def tick(self) -> str:
        """Run one tick, and return what it wrote."""
        self._written.clear()
        self._feed.advance()
        self._attention.update(SafeText("words"), is_quiet=False)
        return "".join(self._written)

    def step(self) -> str:
        """Append the next event, run one tick, and return what it wrote."""
        with self._path.open("ab") as file:
            file.write(self._lines[self._next])
        self._next += 1
        return self.tick()


def watched(
    folder: Path, monkeypatch: pytest.MonkeyPatch, events: list[Event], *, title: bool = False
) -> InTurns:
    """Return a session that has begun and whose further events are to come."""
    session = MadeSession([*START, *events])
    session.use(monkeypatch)
    return InTurns(folder, session, Config(title=title, bell=not title))


def test_each_question_and_turn_rings_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bell rings when the agent asks the user and at the end of each turn; the title says so."""
    # The bell rings when the agent asks, not again while the question is open, nor when it is answered.
    answered = ASKED._replace(answer="approved")
    live = watched(tmp_path, monkeypatch, [ASKED, answered, ASKED, DONE])
    assert live.step() == BELL
    assert live.tick() == ""
    assert live.step() == ""
    assert live.step() == BELL
    assert live.step() == BELL
    # Nobody has to answer a question that the agent answers itself.
    assert watched(tmp_path, monkeypatch, [ASKED._replace(is_automatic=True)]).step() == ""
    # The bell rings at the end of each turn of a run.
    live = watched(tmp_path, monkeypatch, [DONE, Prompt("More."), DONE, TurnStarted(), DONE])
    assert [live.step() for _ in range(5)] == [BELL, "", BELL, "", BELL]
    # The end of a turn rings even if the next one has begun when the screen reads both.
    live = watched(tmp_path, monkeypatch, [DONE, Prompt("More.")])
    path = tmp_path / "x.ndjson"
    with path.open("ab") as file:
        file.write(b"".join(live._lines[len(START) :]))
    assert live.tick() == BELL
    # While a question is open, the title of the terminal says so.
    live = watched(tmp_path, monkeypatch, [ASKED, ASKED._replace(answer="denied")], title=True)
    assert "agentwatch asks – tidepool" in live.step()
    assert "agentwatch running – tidepool" in live.step()
