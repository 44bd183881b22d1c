"""The keys of every screen, one line a key: for the bindings, the help, the palette, the line of keys, the
settings and `docs/reference/keys.md`. It is beside the four layers and imports none of them, because the
settings are checked before a screen is imported."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, pairwise, takewhile
from typing import NamedTuple

from textual.binding import Binding, BindingType, InvalidBinding
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, format_key

from agentwatch.text.safe import cut, safe_line


class Key(NamedTuple):
    id: str
    """The id of the binding; empty if the user cannot change the keys."""
    keys: str
    """The keys by Textual's names; empty for a command that only the palette has."""
    place: str
    """The widget or screen that handles the keys; empty for keys that Textual binds itself."""
    action: str
    text: str
    label: str = ""
    """The label in the line of keys; empty if the line does not show the keys."""
    joins: bool = False
    """Whether the help shows it in the row of the key before it."""


class Topic(NamedTuple):
    title: str
    shortcuts: tuple[Key, ...]

    def rows(self) -> Iterator[list[Key]]:
        row: list[Key] = []
        for key in self.shortcuts:
            if row and not key.joins:
                yield row
                row = []
            row.append(key)
        yield row


def row_words(row: Sequence[Key]) -> str:
    """Return what the keys of a row do; a beginning that two texts share is written once."""
    texts = [each.text.split() for each in row]
    said = [0]
    for before, after in pairwise(texts):
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(before, after[:-1], strict=False))
        said.append(sum(1 for _ in alike))
    return "; ".join(" ".join(text[first:]) for text, first in zip(texts, said, strict=True))


_and = partial(Key, joins=True)

_LINES = (
    Key("down", "j,down", "lines", "move(1)", "one line or call down"),
    _and("up", "k,up", "lines", "move(-1)", "one line or call up"),
    Key("page-down", "pagedown,ctrl+f", "lines", "move_page(1)", "one page down"),
    _and("page-up", "pageup,ctrl+b", "lines", "move_page(-1)", "one page up"),
    _and("half-page-down", "ctrl+d", "lines", "move_page(0.5)", "half a page down"),
    _and("half-page-up", "ctrl+u", "lines", "move_page(-0.5)", "half a page up"),
    Key("top", "g,home", "lines", "top", "go to the top"),
    _and("bottom", "G,end", "lines", "bottom", "go to the end, and follow a session"),
)
_COMPLETE = _and("complete", "tab", "rule bar", "complete", "while typing: complete", "Complete")
_PALETTE = Key("", "ctrl+p", "", "", "command palette: every command, themes")
_PANES = (
    Key("transcript", "1", "workspace", "pane('transcript')", "go to the transcript"),
    _and("calls", "2", "workspace", "pane('calls')", "go to the calls"),
    _and("detail", "3", "workspace", "pane('detail')", "go to the detail"),
    _and("stderr", "4", "workspace", "pane('stderr')", "go to stderr"),
    Key("next-pane", "tab", "workspace", "next_pane(1)", "next pane"),
    _and("previous-pane", "shift+tab", "workspace", "next_pane(-1)", "previous pane"),
    Key("maximise", "z", "workspace", "toggle('is_maximized')", "maximize the pane (toggle)", "Maximize"),
    Key("open", "enter", "calls", "open", "in the calls: open the detail, or unfold the row", "Detail"),
    Key("back", "escape", "workspace", "back", "close what was opened last; then go back", "Back"),
    Key("previous-line", "left_square_bracket", "transcript", "choose(-1)", "call or thought above", "Calls"),
    _and("next-line", "right_square_bracket", "transcript", "choose(1)", "call or thought below", "Calls"),
    _and("open-line", "enter", "transcript", "open", "open or unfold a line", "Open"),
    Key("show-in-transcript", "backspace", "workspace", "in_transcript", "show in transcript", "Transcript"),
)
_MOVING = (
    *_LINES,
    Key("next-failure", "e", "workspace", "failure(1)", "next failure in time", "Failure"),
    _and("previous-failure", "E", "workspace", "failure(-1)", "previous failure"),
    Key("find", "slash", "workspace", "find", "search everywhere", "Find"),
    _and("next-found", "n", "workspace", "find_step(1)", "next match"),
    _and("previous-found", "N", "workspace", "find_step(-1)", "previous match"),
    Key("find-next", "down", "find bar", "step(1)", "while searching: next match", "Next, previous"),
    _and("find-previous", "up", "find bar", "step(-1)", "while searching: previous match"),
    _and("find-back", "escape", "find bar", "cancel", "while searching: cancel", "Back"),
    Key("filter-calls", "f", "workspace", "filter_calls", "filter calls", "Filter"),
    _and("drop-filter", "escape", "filter bar", "drop", "while typing: clear", "Clear"),
    _COMPLETE,
    Key("slowest-calls", "s", "workspace", "slowest_calls", "slowest calls first (toggle)", "Slowest"),
)
_VIEW = (
    Key("thinking", "t", "workspace", "reasoning", "show or hide thinking", "Thinking"),
    _and("times", "c", "workspace", "times", "show or hide times of day", "Times"),
    _and("hide-stderr", "x", "workspace", "toggle_stderr", "show or hide stderr", "Hide"),
    Key("whole-line", "enter", "stderr", "open", "stderr: show the whole line", "Whole line"),
    _and("wrap-stderr", "w", "stderr", "wrap", "stderr: wrap long lines", "Wrap"),
    Key("fold", "enter,space", "detail", "fold", "detail: fold a branch"),
    _and("next-call", "J", "detail", "view('next')", "detail: next call", "Calls"),
    _and("previous-call", "K", "detail", "view('previous')", "detail: previous call", "Calls"),
    Key("left", "h", "detail", "view('left')", "detail: scroll left"),
    _and("right", "l", "detail", "view('right')", "detail: scroll right"),
    _and("wrap", "w", "detail", "view('wrap')", "detail: wrap long lines", "Wrap"),
    Key("failing-line", "exclamation_mark", "detail", "view('failing')", "next failing line", "Failing line"),
    _and("raw", "r", "workspace", "raw", "detail: raw JSON (toggle)", "Raw"),
    Key("session-box", "i", "session", "session_box", "what happened, time, tests, files, checks", "Session"),
    Key("digest", "", "session", "session_box('happened')", "session: what happened"),
    _and("spent", "", "session", "session_box('time')", "session: time breakdown, tools, tokens"),
    _and("test-runs", "", "session", "session_box('tests')", "session: test runs"),
    _and("files", "", "session", "session_box('files')", "session: files"),
    _and("integrity", "", "session", "session_box('checks')", "session: whether the recording is whole"),
    Key("copy", "y", "session", "copy", "copy the selection, a call with its address", "Copy"),
    Key("open-file", "o", "session", "open_file", "open the call's file at its line in your editor", "Edit"),
    Key("export", "X", "session", "export", "export the session, without secrets"),
    _PALETTE,
)
_MOMENT = (
    Key("pause", "space", "moment", "pause", "pause, or play from there"),
    _and("faster", "plus,equals_sign", "moment", "pace('faster')", "play faster"),
    _and("slower", "minus", "moment", "pace('slower')", "play slower"),
    Key("step-back", "comma", "moment", "step(-1)", "one event back", "Moment"),
    _and("step", "full_stop", "moment", "step(1)", "one event forward", "Moment"),
    Key("moment-previous-call", "less_than_sign", "moment", "call(-1)", "to the end of the previous call"),
    _and("moment-next-call", "greater_than_sign", "moment", "call(1)", "to the end of the next call"),
    Key("moment-at-call", "", "moment", "at_call", "make the selected call the moment"),
    Key("seconds-back", "", "moment", "move(-5)", "5 seconds back"),
    _and("seconds-forward", "", "moment", "move(5)", "5 seconds forward"),
    Key("minute-back", "", "moment", "move(-60)", "1 minute back"),
    _and("minute-forward", "", "moment", "move(60)", "1 minute forward"),
    Key("reverse", "", "moment", "pace('reverse')", "play backwards (toggle)"),
    Key("live", "L", "moment", "live", "return to live or the end; say what was missed", "Live"),
    Key("go-to", "colon", "moment", "goto", "go to a time, +95s, #12, 50%, end or a bookmark", "Go to"),
    Key("bookmark", "m", "moment", "bookmark", "set a bookmark at the moment, or remove it"),
    Key("time-bar", "", "moment", "bar", "show or hide the time bar at the live moment"),
)
_AGENT = (
    Key("continue-session", "P", "session", "app.act('prompt')", "continue the session with a prompt"),
    Key("continue-agent", "C", "session app", "continue", "resume a paused agent"),
    _and("interrupt-agent", "I", "session", "app.act('interrupt')", "interrupt or stop the agent"),
    Key("answer", "A", "session", "app.act('answer')", "answer its permission prompt"),
)
_QUIT = (
    Key("leave", "q", "screen", "app.leave", "quit (asks about your agent)", "Quit"),
    _and("", "ctrl+c", "", "", "copy or quit"),
    _and("", "ctrl+z", "app", "suspend_process", "suspend"),
    Key("help", "question_mark", "screen", "app.help", "the keys of the pane; again: all keys", "Help"),
)
_LIST = (
    Key("open-session", "enter", "sessions", "open", "open the session, or open a folded line", "Open"),
    Key("back", "escape", "sessions screen", "close_preview", "close the preview, or the session", "Back"),
    Key("preview", "space", "sessions", "want('preview')", "show or hide the preview", "Preview"),
    Key("why", "w", "sessions", "want('why')", "show why the row says what it says", "Why"),
    Key("next-urgent", "e", "sessions", "urgent(1)", "next that needs you or failed", "Next that needs you"),
    _and("previous-urgent", "E", "sessions", "urgent(-1)", "previous that needs you or failed"),
    Key("ring", "r", "sessions", "want('ring')", "ring when the session needs you (toggle)", "Ring"),
    Key("go-to-terminal", "t", "sessions", "want('terminal')", "switch to its terminal (tmux)", "Terminal"),
    Key("answer", "A", "sessions", "want('answer')", "answer its permission prompt", "Answer"),
    Key("interrupt-session", "I", "sessions", "want('interrupt')", "interrupt its turn; again: stop it"),
    Key("unfold-session", "right,l", "sessions", "fold(True)", "show the subagents, or what is folded"),
    _and("fold-session", "left,h", "sessions", "fold(False)", "fold the subagents again"),
    Key("mark-session", "v", "sessions", "mark", "mark it, or a folded line, for d, z and X", "Mark"),
    Key("archive-session", "z", "sessions", "want('archive')", "hide it once ended (toggle)", "Archive"),
    Key("export", "X", "sessions", "want('export')", "export the session, without secrets", "Export"),
    Key("continue-session", "P", "sessions", "want('prompt')", "continue the session with a prompt"),
    Key("copy-session", "y", "sessions", "copy", "copy the session's id, which is an address"),
    Key("rename-session", "ctrl+r", "sessions", "want('rename')", "rename its recording"),
    Key("delete-session", "d", "sessions", "want('removal')", "delete its recording (asks first)", "Delete"),
)
_FINDING = (
    *_LINES,
    Key("find-session", "slash", "home", "bar('find')", "search titles and prompts; enter: contents", "Find"),
    Key("filter-sessions", "f", "home", "bar('filter')", "filter (failed, agent:codex, age<2h)", "Filter"),
    _COMPLETE,
    Key("clear-search", "escape", "home", "clear", "remove the marks; clear the search and the filter"),
    _and("drop-words", "escape", "words bar", "drop", "while typing: clear the words", "Clear"),
    Key("sort-sessions", "s", "home", "sort", "sort by state, age or repository (remembered)", "Sort"),
    Key("show-hidden", "a", "home", "hidden", "show old and archived sessions (toggle)", "All"),
    _PALETTE,
)
SESSION = (
    Topic("Panes", _PANES),
    Topic("Moving", _MOVING),
    Topic("View", _VIEW),
    Topic("The moment", _MOMENT),
    Topic("Agent", _AGENT),
    Topic("Quit", _QUIT),
)
SESSIONS = (
    Topic("Sessions", _LIST),
    Topic("List", _FINDING),
    Topic("Quit", _QUIT),
)
SCREENS = (SESSION, SESSIONS)


def shortcuts() -> Iterator[Key]:
    return (shortcut for topic in chain(*SCREENS) for shortcut in topic.shortcuts)


PALETTE_ONLY = "palette_only_"
"""Begins the key of a command without one: nobody can press it, and the user's own key replaces it."""
_BINDINGS: dict[str, list[BindingType]] = {}
for _each in dict.fromkeys(shortcuts()):
    _BINDINGS.setdefault(_each.place, []).append(
        Binding(
            _each.keys or f"{PALETTE_ONLY}{_each.id}",
            _each.action,
            _each.label,
            show=False,
            tooltip=f"{_each.text[0].upper()}{_each.text[1:]}",
            id=_each.id or None,
        )
    )


def bindings(place: str) -> list[BindingType]:
    return _BINDINGS[place]


# The keys of every binding: the defaults, the user's own, and a check of the user's keys. A binding that can
# be rebound has an id, by which config.toml refers to it.

_MODIFIERS = frozenset(("ctrl", "shift", "alt", "meta", "super", "hyper"))
_SHOWN_COLUMNS = 40
_NAMED_KEYS = frozenset(("enter", "backspace", "delete"))
"""Keys shown by name; Textual has signs for them that few people know."""


class InvalidKeys(Exception):
    """The user's keys cannot be bound; the message names the binding and the reason."""


def bound_keys(rebound: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the keys of each binding that can be rebound, by its id, those of `Config.keys` included."""
    found: dict[str, dict[str, None]] = {}
    for each in shortcuts():
        if each.id:
            found.setdefault(each.id, {}).update(dict.fromkeys(filter(None, each.keys.split(","))))
    return {name: list(keys) for name, keys in found.items()} | {
        name: _keys_of(value) for name, value in rebound.items()
    }


def check_keys(keys: Mapping[str, str]) -> None:
    """Raise `InvalidKeys` unless each binding exists, and each key can be pressed and has one meaning."""
    defaults, pressed = bound_keys({}), bound_keys(keys)
    for name in keys:
        if name not in defaults:
            raise InvalidKeys(
                f"unknown binding {_shortened(name)}; known bindings: {', '.join(sorted(defaults))}"
            )
        for key in pressed[name]:
            if not _can_be_pressed(key):
                shown = _shortened(key.strip()) or "an empty string"
                raise InvalidKeys(f"{name}: {shown} is not a key (examples: f, ctrl+g, space)")
    for name in keys:
        for other in sorted(other for other in defaults.keys() - {name} if _can_meet(name, other)):
            shared = set(pressed[name]) & set(pressed[other]) - (set(defaults[name]) & set(defaults[other]))
            if shared:  # defaults share a key only where a focused pane or field handles it first
                raise InvalidKeys(f"{name}: {min(shared)} is already the key of {other}; rebind that too")


def key_label(key: str) -> str:
    """Return how a key is shown: `↓`, `esc`, `?` for `question_mark`, `ctrl+.` for `ctrl+full_stop`."""
    modifiers, _, name = key.rpartition("+")
    label = name if name in _NAMED_KEYS else format_key(name)
    return f"{modifiers}+{label}" if modifiers else label


def _keys_of(value: str) -> list[str]:
    try:
        return [made.key for made in Binding.make_bindings([Binding(value, "press")])]
    except InvalidBinding:
        return [value]


def _can_meet(name: str, other: str) -> bool:
    return any(
        {name, other} <= {each.id for topic in screen for each in topic.shortcuts} for screen in SCREENS
    )


def _can_be_pressed(key: str) -> bool:
    *modifiers, name = key.split("+")
    if not _MODIFIERS.issuperset(modifiers):
        return False
    if name in {*Keys, *KEY_NAME_REPLACEMENTS.values()} or (len(name) == 1 and name.isprintable()):
        return True
    ascii_names = (unicodedata.name(chr(code)).lower() for code in range(33, 127))
    if name in (each.replace("-", "_").replace(" ", "_") for each in ascii_names):  # `less_than_sign`
        return True
    try:
        return name.islower() and bool(unicodedata.lookup(name.replace("_", " ")))
    except KeyError:
        return False


def _shortened(text: str) -> str:
    return cut(safe_line(text), _SHOWN_COLUMNS)
