"""The terminal rings, notes and titles what happens while it is watched, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from agentwatch.config import Config
from agentwatch.feed import Feed
from agentwatch.feed.playhead import Replay
from agentwatch.safe_text import SafeText, columns
from agentwatch.screen.terminal.attention import Attention, note_format
from agentwatch.sources.open import saved_source
from tests.builders.lines import completed, delta, init, result, started

PLAIN = {"TERM": "xterm-256color"}
ITERM = PLAIN | {"TERM_PROGRAM": "iTerm.app"}
FOOT = {"TERM": "foot"}
ONLY_TITLE = Config(bell=False, note=False)
NO_TITLE = Config(title=False)
SUCCEEDED, FAILED = result("ok"), result("it broke", subtype="error", is_error=True)
SEQUENCES = re.compile(r"\x1b\[2[23];0t|\x1b\](?:0|9|777;notify);[^\x00-\x1f\x7f-\x9f]*\x07|\x07")


class Watched:
    """A recording that is followed, and what its watcher wrote to the terminal."""

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

    def update(self, words: str = "told", *, is_quiet: bool = False) -> str:
        """Tick, and return what this has written."""
        self._written.clear()
        self.feed.advance()
        self.attention.update(SafeText(words), is_quiet=is_quiet)
        return "".join(self._written)

    def goes_on(self, *lines: bytes, words: str = "told", is_quiet: bool = False) -> str:
        """Let the recording grow and the screen tick; return what this has written."""
        with self._path.open("ab") as file:
            file.write(b"".join(lines))
        return self.update(words, is_quiet=is_quiet)

    def gives_title_back(self) -> str:
        """Return what is written at the end."""
        self._written.clear()
        self.attention.give_title_back()
        return "".join(self._written)


@pytest.mark.parametrize("last", [SUCCEEDED, FAILED])
def test_the_end_of_a_run_rings_once(tmp_path: Path, last: bytes) -> None:
    """The bell rings when the result comes, not before and not again."""
    watched = Watched(tmp_path)
    assert watched.goes_on(init(), started("shell")) == ""
    assert watched.goes_on(completed("shell", result={"failure": {"exitCode": 1}})) == ""
    assert watched.goes_on(last) == "\x07"
    assert watched.update() == watched.goes_on(delta("More.")) == ""


def test_each_run_rings(tmp_path: Path) -> None:
    """A second run's end rings too; so does a run that another follows without a result."""
    watched = Watched(tmp_path)
    assert watched.goes_on(init(), SUCCEEDED) == "\x07"
    assert watched.goes_on(init()) == ""
    assert watched.goes_on(init()) == "\x07"
    assert watched.goes_on(FAILED) == "\x07"


def test_a_stream_that_ends_without_a_result_rings(tmp_path: Path) -> None:
    """A recording that ends in the midst of a run rings, with whatever it held when it was opened."""
    watched = Watched(tmp_path, init(), b'{"half": ')
    (tmp_path / "session.ndjson").rename(tmp_path / "old")
    (tmp_path / "session.ndjson").write_bytes(b"")
    assert watched.update() == "\x07"
    assert watched.feed.is_over


def test_a_file_that_was_over_calls_nobody(tmp_path: Path) -> None:
    """Opening a saved recording rings neither for its result nor for the lack of one."""
    for last in (SUCCEEDED, FAILED, b""):
        watched = Watched(tmp_path, init(), last, follow=False, environ=ITERM)
        assert watched.feed.is_over
        assert watched.update() == watched.update(is_quiet=True) == ""
        assert not watched.attention.is_watching


def test_a_replay_calls_nobody(tmp_path: Path) -> None:
    """What is played again happened another day."""
    path = tmp_path / "session.ndjson"
    path.write_bytes(init() + SUCCEEDED)
    written = list[str]()
    feed = Feed(saved_source(path).reader, Replay(1000, 0))
    attention = Attention(feed, written.append, NO_TITLE, PLAIN)
    while not feed.is_over:
        feed.advance()
        attention.update(SafeText("told"), is_quiet=False)
    assert written == []
    assert not attention.is_watching


def test_history_calls_nobody(tmp_path: Path) -> None:
    """Runs that had ended when the file was opened do not ring, though they are read bit by bit."""
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
        attention.update(SafeText("told"), is_quiet=True)
    assert written == []
    assert attention.is_watching
    assert not any(seen)
    assert watched.goes_on(SUCCEEDED) == "\x07"


def test_a_result_that_comes_with_the_history_rings(tmp_path: Path) -> None:
    """What was written after the file was opened is new, though it is read together with what is old."""
    path = tmp_path / "session.ndjson"
    path.write_bytes(init() + SUCCEEDED[:20])
    written = list[str]()
    feed = Feed(saved_source(path, True).reader)
    attention = Attention(feed, written.append, NO_TITLE, PLAIN)
    with path.open("ab") as file:
        file.write(SUCCEEDED[20:])
    feed.advance()
    attention.update(SafeText("told"), is_quiet=False)
    assert written == ["\x07"]


def test_a_stall_rings_once_an_episode(tmp_path: Path) -> None:
    """The bell rings when it falls quiet, and again only after it was not."""
    watched = Watched(tmp_path, init())
    assert watched.update(is_quiet=True) == "\x07"
    assert watched.update(is_quiet=True) == ""
    assert watched.goes_on(delta("On.")) == ""
    assert watched.update(is_quiet=True) == "\x07"
    assert watched.goes_on(SUCCEEDED, is_quiet=True) == "\x07"
    assert watched.update() == watched.update(is_quiet=True) == ""


def test_a_stall_that_was_there_already_does_not_ring(tmp_path: Path) -> None:
    """A recording that was quiet when it was opened has not fallen quiet."""
    path = tmp_path / "session.ndjson"
    path.write_bytes(init())
    written = list[str]()
    feed = Feed(saved_source(path, True).reader)
    attention = Attention(feed, written.append, NO_TITLE, PLAIN)
    for _ in range(3):
        feed.advance()
        attention.update(SafeText("quiet for 62 s"), is_quiet=True)
    assert written == []


def test_a_note_tells_the_project_and_what_is_going_on(tmp_path: Path) -> None:
    """A note names the folder and says what the status line says, in the terminal's own way."""
    words = "succeeded · 2 calls failed on the way"
    watched = Watched(tmp_path, init(), environ=ITERM)
    assert watched.goes_on(SUCCEEDED, words=words) == f"\x07\x1b]9;agentwatch: app: {words}\x07"
    watched = Watched(tmp_path, init(), environ=FOOT)
    assert watched.goes_on(FAILED, words="failed: no") == "\x07\x1b]777;notify;agentwatch;app: failed: no\x07"
    assert watched.goes_on(init()) == ""
    assert watched.goes_on(init(), words="thinking").endswith("notify;agentwatch;app: unfinished\x07")
    assert watched.goes_on(init(cwd=""), words="thinking") != ""
    assert watched.update("quiet for 9 s", is_quiet=True).endswith("notify;agentwatch;quiet for 9 s\x07")


def test_each_can_be_switched_off(tmp_path: Path) -> None:
    """Bell, note and title are each written alone, and not at all when all are off."""
    for config, told in [
        (Config(note=False, title=False), "\x07"),
        (Config(bell=False, title=False), "\x1b]9;agentwatch: app: told\x07"),
        (ONLY_TITLE, "\x1b]0;agentwatch succeeded – app\x07"),
        (Config(bell=False, note=False, title=False), ""),
    ]:
        watched = Watched(tmp_path, init(), config=config, environ=ITERM)
        assert watched.goes_on(SUCCEEDED) == told


@pytest.mark.parametrize(
    ("environ", "code"),
    [
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
    ],
)
def test_only_a_terminal_that_is_known_gets_a_note(environ: dict[str, str], code: str | None) -> None:
    """OSC 9 or 777 where the terminal is known to show one; elsewhere only the bell."""
    form = note_format(environ)
    assert form is None if code is None else form is not None and form.startswith(f"\x1b]{code}")


def test_the_title_tells_the_state(tmp_path: Path) -> None:
    """The title is kept, then follows the state, is written only when it changes, and is given back."""
    watched = Watched(tmp_path, config=ONLY_TITLE)
    assert watched.update() == watched.gives_title_back() == ""
    assert watched.goes_on(init(cwd="/home/ada/app/")) == "\x1b[22;0t\x1b]0;agentwatch running – app\x07"
    assert watched.goes_on(delta("Some.")) == ""
    assert watched.update(is_quiet=True) == "\x1b]0;agentwatch quiet – app\x07"
    assert watched.goes_on(FAILED, is_quiet=True) == "\x1b]0;agentwatch failed – app\x07"
    assert watched.gives_title_back() == "\x1b[23;0t"
    assert watched.gives_title_back() == ""
    assert watched.update() == "\x1b[22;0t\x1b]0;agentwatch failed – app\x07"


def test_the_title_tells_of_a_file_that_is_over_too(tmp_path: Path) -> None:
    """A title disturbs nobody: it tells the state of what is open, whatever it is."""
    watched = Watched(tmp_path, init(), config=Config(), follow=False)
    watched.gives_title_back()
    assert watched.update() == "\x1b[22;0t\x1b]0;agentwatch unfinished – app\x07"


def test_the_linux_console_gets_no_title(tmp_path: Path) -> None:
    """Old consoles would print it."""
    watched = Watched(tmp_path, init(), config=ONLY_TITLE, environ={"TERM": "linux"})
    assert watched.update() == watched.gives_title_back() == ""


@pytest.mark.parametrize("environ", [ITERM, FOOT])
@pytest.mark.parametrize(
    "hostile",
    [
        "\x1b]52;c;ZXZpbA==\x07",
        "\x9b2J\x9c\x1b\\\x07\x18\x1a",
        "a;b;notify;c\r\n\x00",
        "\u202e" + "漢" * 200,
        "\ud800\U0001f468\u200d\U0001f469",
        "x" * 100_000,
    ],
    ids=["clipboard", "controls", "separators", "wide", "surrogate", "long"],
)
def test_nothing_foreign_acts(tmp_path: Path, environ: dict[str, str], hostile: str) -> None:
    """Whatever the folder and the status hold, what is written is our own sequences and short plain text."""
    watched = Watched(tmp_path, config=Config(), environ=environ)
    written = watched.goes_on(init(cwd=f"/home/{hostile}"))
    written += watched.goes_on(FAILED, words=hostile)
    assert SEQUENCES.sub("", written) == ""
    found = SEQUENCES.findall(written)
    assert len(found) == 5  # the title kept and twice told, bell, note
    for sequence in found:
        text = sequence.partition(";agentwatch")[2].removesuffix("\x07").lstrip(":; ")
        assert ";" not in text
        assert columns(SafeText(text)) <= 80
