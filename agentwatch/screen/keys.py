"""The keys of every screen, in one table.

The bindings of widgets and screens, the help, the palette, the line of keys, the settings and
`docs/reference/keys.md` come from it. It is beside the four layers and imports none of them, because the
settings are checked before a screen is imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from textual.binding import Binding, BindingType


class Shortcut(NamedTuple):
    """A binding."""

    id: str
    """The name in the settings; empty if the user cannot change the keys."""
    keys: str
    """The default keys, as Textual names them."""
    text: str
    """What the keys do, for the help and the palette."""
    place: str
    """The widget or screen that handles the keys; empty for keys that Textual binds itself."""
    action: str = ""
    """The action of that widget or screen."""
    label: str = ""
    """The short words for the line of keys; empty if the line does not show the keys."""
    joins: bool = False
    """Whether the help shows it in the row of the shortcut before it."""


class Topic(NamedTuple):
    """The shortcuts below one heading of the help."""

    title: str
    shortcuts: tuple[Shortcut, ...]

    def rows(self) -> Iterator[list[Shortcut]]:
        """Yield the shortcuts of each row of the help."""
        row: list[Shortcut] = []
        for shortcut in self.shortcuts:
            if row and not shortcut.joins:
                yield row
                row = []
            row.append(shortcut)
        yield row


_LINES = (
    Shortcut("down", "j,down", "one line or call down", "lines", "move(1)"),
    Shortcut("up", "k,up", "one line or call up", "lines", "move(-1)", joins=True),
    Shortcut("page-down", "pagedown,ctrl+f", "one page down", "lines", "move_page(1)"),
    Shortcut("page-up", "pageup,ctrl+b", "one page up", "lines", "move_page(-1)", joins=True),
    Shortcut("half-page-down", "ctrl+d", "half a page down", "lines", "move_page(0.5)"),
    Shortcut("half-page-up", "ctrl+u", "half a page up", "lines", "move_page(-0.5)", joins=True),
    Shortcut("top", "g,home", "go to the top", "lines", "top"),
    Shortcut("bottom", "G,end", "go to the end, and follow a session", "lines", "bottom", joins=True),
)
_COMPLETE = Shortcut(
    "complete", "tab", "while typing a filter: complete the word", "rule bar", "complete", "Complete"
)
_PALETTE = Shortcut("", "ctrl+p", "command palette: every command with its keys, themes", "")
_QUIT = Topic(
    "Quit",
    (
        Shortcut(
            "leave",
            "q",
            "quit (pipes keep recording; asks first if agentwatch started the agent)",
            "screen",
            "app.leave",
            "Quit",
        ),
        Shortcut("", "ctrl+c", "quit, if no text is selected", ""),
        Shortcut("help", "question_mark", "show all keys", "screen", "app.help", "Help"),
        Shortcut("", "ctrl+z", "suspend", "app", "suspend_process"),
    ),
)
SESSION = (
    Topic(
        "Panes",
        (
            Shortcut("transcript", "1", "go to the transcript", "workspace", "pane('transcript')"),
            Shortcut("calls", "2", "go to the calls", "workspace", "pane('calls')", joins=True),
            Shortcut("detail", "3", "go to the detail", "workspace", "pane('detail')", joins=True),
            Shortcut("actions", "4", "go to the actions", "workspace", "pane('log')", joins=True),
            Shortcut("next-pane", "tab", "next pane", "workspace", "next_pane(1)"),
            Shortcut("previous-pane", "shift+tab", "previous pane", "workspace", "next_pane(-1)", joins=True),
            Shortcut(
                "hide-actions",
                "x",
                "show or hide the actions (remembered)",
                "workspace",
                "toggle_actions",
                "Hide",
            ),
            Shortcut(
                "maximise",
                "m",
                "maximize the pane (toggle)",
                "workspace",
                "toggle('is_maximized')",
                "Maximize",
            ),
            Shortcut(
                "open",
                "enter",
                "in the calls: open the detail, or unfold a row of several calls",
                "calls",
                "open",
                "Detail",
            ),
            Shortcut(
                "back",
                "escape",
                "close the search, the maximized pane, the detail or the filter; then go back",
                "workspace",
                "back",
                "Back",
            ),
            Shortcut(
                "previous-line",
                "left_square_bracket",
                "in the transcript: previous call or thought",
                "transcript",
                "choose(-1)",
                "Calls",
            ),
            Shortcut(
                "next-line",
                "right_square_bracket",
                "next call or thought",
                "transcript",
                "choose(1)",
                "Calls",
                joins=True,
            ),
            Shortcut(
                "open-line",
                "enter",
                "open the call, or unfold the thought or the subagent",
                "transcript",
                "open",
                "Open",
                joins=True,
            ),
            Shortcut(
                "open-action",
                "enter",
                "in the actions: open the detail of the selected call",
                "actions",
                "open",
                "Detail",
            ),
            Shortcut(
                "show-in-transcript",
                "backspace",
                "show the selected call in the transcript",
                "workspace",
                "show_in_transcript",
                "Transcript",
            ),
        ),
    ),
    Topic(
        "Moving",
        (
            *_LINES,
            Shortcut(
                "next-failure", "e", "next failure, open ones first", "workspace", "failure(1)", "Failure"
            ),
            Shortcut("previous-failure", "E", "previous failure", "workspace", "failure(-1)", joins=True),
            Shortcut("find", "slash", "search everywhere", "workspace", "find", "Find"),
            Shortcut("next-found", "n", "next match", "workspace", "find_step(1)", joins=True),
            Shortcut("previous-found", "N", "previous match", "workspace", "find_step(-1)", joins=True),
            Shortcut(
                "find-next",
                "down",
                "while typing a search: next match",
                "find bar",
                "step(1)",
                "Next, previous",
            ),
            Shortcut("find-previous", "up", "previous match", "find bar", "step(-1)", joins=True),
            Shortcut("find-back", "escape", "cancel and go back", "find bar", "cancel", "Back", joins=True),
            Shortcut(
                "filter-calls",
                "f",
                "filter calls (failed, tool:edit, path:*.py, duration>50s, OR, -term)",
                "workspace",
                "filter_calls",
                "Filter",
            ),
            Shortcut(
                "drop-filter",
                "escape",
                "while typing: show all calls",
                "filter bar",
                "drop",
                "Clear",
                joins=True,
            ),
            _COMPLETE,
            Shortcut(
                "slowest-calls",
                "s",
                "sort calls by duration, slowest first (toggle)",
                "workspace",
                "slowest_calls",
                "Slowest",
            ),
        ),
    ),
    Topic(
        "View",
        (
            Shortcut("thinking", "t", "show or hide thinking", "workspace", "reasoning", "Thinking"),
            Shortcut(
                "times",
                "c",
                "show or hide times of day in the transcript (remembered)",
                "workspace",
                "times",
                "Times",
            ),
            Shortcut("raw", "r", "show the detail as raw JSON (toggle)", "workspace", "raw", "Raw"),
            Shortcut(
                "fold", "enter,space", "in the detail: fold or unfold the selected branch", "detail", "fold"
            ),
            Shortcut("next-call", "J", "in the detail: next call", "detail", "view('next')", "Calls"),
            Shortcut(
                "previous-call", "K", "previous call", "detail", "view('previous')", "Calls", joins=True
            ),
            Shortcut("left", "h", "in the detail: scroll long lines to the left", "detail", "view('left')"),
            Shortcut("right", "l", "scroll long lines to the right", "detail", "view('right')", joins=True),
            Shortcut("wrap", "w", "wrap or cut long lines", "detail", "view('wrap')", "Wrap", joins=True),
            Shortcut(
                "failing-line",
                "exclamation_mark",
                "in the detail: first failing line of the output, then the next",
                "detail",
                "view('failing')",
                "Failing line",
            ),
            Shortcut(
                "files",
                "F",
                "files, on that of the failing line or the call that is selected",
                "session",
                "files",
                "Files",
            ),
            Shortcut("spent", "T", "time breakdown, tools, tokens", "session", "time", "Time"),
            Shortcut("integrity", "i", "whether the recording is whole", "session", "integrity"),
            Shortcut("copy", "y", "copy the selection, a call with its address", "session", "copy", "Copy"),
            Shortcut(
                "open-file",
                "o",
                "open the call's file at its line, in $VISUAL, $EDITOR or vi",
                "session",
                "open_file",
                "Edit",
            ),
            Shortcut("export", "X", "export the session as a file, without secrets", "session", "export"),
            Shortcut(
                "continue-session",
                "P",
                "continue the session with a prompt, if no process has it open",
                "session",
                "continue_session",
            ),
            _PALETTE,
        ),
    ),
    Topic(
        "The moment",
        (
            Shortcut(
                "pause", "space", "pause, recording continues; again: play from there", "moment", "pause"
            ),
            Shortcut("step-back", "comma", "one event back", "moment", "step(-1)", "Moment"),
            Shortcut("step", "full_stop", "one event forward", "moment", "step(1)", "Moment", joins=True),
            Shortcut(
                "moment-previous-call",
                "less_than_sign",
                "to the end of the previous call",
                "moment",
                "call(-1)",
            ),
            Shortcut(
                "moment-next-call",
                "greater_than_sign",
                "to the end of the next call",
                "moment",
                "call(1)",
                joins=True,
            ),
            Shortcut("moment-at-call", "M", "make the selected call the moment", "moment", "at_call"),
            Shortcut("seconds-back", "left", "5 seconds back", "moment", "move(-5)"),
            Shortcut("seconds-forward", "right", "5 seconds forward", "moment", "move(5)", joins=True),
            Shortcut("minute-back", "shift+left", "1 minute back", "moment", "move(-60)"),
            Shortcut("minute-forward", "shift+right", "1 minute forward", "moment", "move(60)", joins=True),
            Shortcut("faster", "plus,equals_sign", "play faster", "moment", "pace('faster')"),
            Shortcut("slower", "minus", "play slower", "moment", "pace('slower')", joins=True),
            Shortcut("reverse", "R", "play backwards (toggle)", "moment", "pace('reverse')", joins=True),
            Shortcut(
                "live",
                "L",
                "return to the live moment or the end, and say what has happened since",
                "moment",
                "live",
                "Live",
            ),
            Shortcut(
                "go-to",
                "colon",
                "go to a time, +95s, #12, 50%, start, live, end or a bookmark",
                "moment",
                "goto",
                "Go to",
            ),
            Shortcut("bookmark", "b", "set a bookmark at the moment, or remove it", "moment", "bookmark"),
            Shortcut(
                "next-mark", "u", "next mark: bookmark, failure, edit, verdict or turn", "moment", "mark(1)"
            ),
            Shortcut("previous-mark", "U", "previous mark", "moment", "mark(-1)", joins=True),
            Shortcut("test-runs", "V", "test runs, and the files changed before each", "moment", "verdicts"),
            Shortcut(
                "digest",
                "D",
                "what happened in a finished session (toggle), or during your last long absence",
                "moment",
                "digest",
            ),
            Shortcut("time-bar", "B", "show or hide the time bar at the live moment", "moment", "bar"),
        ),
    ),
    Topic(
        "Agent",
        (
            Shortcut(
                "continue-agent", "C", "continue an agent that a rule has paused", "session app", "continue"
            ),
            Shortcut(
                "interrupt-agent",
                "I",
                "interrupt the agent's turn, if agentwatch started it; again: stop it",
                "session",
                "app.interrupt",
            ),
        ),
    ),
    _QUIT,
)
"""The keys of a session."""
SESSIONS = (
    Topic(
        "Sessions",
        (
            Shortcut(
                "open-session",
                "enter",
                "open the session and follow it, or open a folded line",
                "sessions",
                "open",
                "Open",
            ),
            Shortcut(
                "back",
                "escape",
                "close the preview; in a session: return to the list",
                "sessions screen",
                "close_preview",
                "Back",
            ),
            Shortcut(
                "preview",
                "space",
                "show or hide the preview: last lines, open calls",
                "sessions",
                "want('preview')",
                "Preview",
            ),
            Shortcut(
                "why",
                "w",
                "show why the row says what it says: each piece of evidence",
                "sessions",
                "want('why')",
                "Why",
            ),
            Shortcut(
                "next-urgent",
                "e",
                "next session that needs you or failed",
                "sessions",
                "urgent(1)",
                "Next that needs you",
            ),
            Shortcut(
                "previous-urgent",
                "E",
                "previous session that needs you or failed",
                "sessions",
                "urgent(-1)",
                joins=True,
            ),
            Shortcut(
                "ring",
                "r",
                "ring or do not ring when the session needs you (toggle)",
                "sessions",
                "want('ring')",
                "Ring",
            ),
            Shortcut(
                "go-to-terminal",
                "t",
                "switch to the session's terminal (tmux), if known",
                "sessions",
                "want('terminal')",
                "Terminal",
            ),
            Shortcut(
                "answer",
                "A",
                "answer the permission prompt of the session (Claude Code, if switched on)",
                "sessions",
                "want('answer')",
                "Answer",
            ),
            Shortcut(
                "interrupt-session",
                "I",
                "interrupt the turn of an agent that a run of agentwatch started; again: stop it",
                "sessions",
                "want('interrupt')",
            ),
            Shortcut(
                "unfold-session",
                "right,l",
                "show the subagents of the session, or what is folded",
                "sessions",
                "fold(True)",
            ),
            Shortcut(
                "fold-session", "left,h", "fold the subagents again", "sessions", "fold(False)", joins=True
            ),
            Shortcut(
                "mark-session",
                "v",
                "mark the session, or all of a folded line (toggle); d, z and X act on all marked ones",
                "sessions",
                "mark",
                "Mark",
            ),
            Shortcut(
                "archive-session",
                "z",
                "archive the session: hide it once it has ended (toggle)",
                "sessions",
                "want('archive')",
                "Archive",
            ),
            Shortcut(
                "export",
                "X",
                "export the session as a file, without secrets",
                "sessions",
                "want('export')",
                "Export",
            ),
            Shortcut(
                "continue-session",
                "P",
                "continue the session with a prompt, if no process has it open",
                "sessions",
                "want('prompt')",
            ),
            Shortcut("copy-session", "y", "copy the session's id, which is an address", "sessions", "copy"),
            Shortcut(
                "rename-session",
                "ctrl+r",
                "rename one of agentwatch's own recordings",
                "sessions",
                "want('rename')",
            ),
            Shortcut(
                "delete-session",
                "d",
                "delete one of agentwatch's own recordings, after confirmation",
                "sessions",
                "want('removal')",
                "Delete",
            ),
        ),
    ),
    Topic(
        "List",
        (
            *_LINES,
            Shortcut(
                "find-session",
                "slash",
                "search titles and prompts; enter: the contents of all sessions too",
                "home",
                "bar('find')",
                "Find",
            ),
            Shortcut(
                "filter-sessions",
                "f",
                "filter (failed, agent:codex, repo:api, age<2h, OR, -term)",
                "home",
                "bar('filter')",
                "Filter",
            ),
            _COMPLETE,
            Shortcut(
                "clear-search", "escape", "remove the marks; clear the search and the filter", "home", "clear"
            ),
            Shortcut(
                "drop-words",
                "escape",
                "while typing: clear the words",
                "words bar",
                "drop",
                "Clear",
                joins=True,
            ),
            Shortcut(
                "sort-sessions", "s", "sort by state, age or repository (remembered)", "home", "sort", "Sort"
            ),
            Shortcut(
                "show-hidden",
                "a",
                "show hidden sessions: older than a week, archived (toggle)",
                "home",
                "hidden",
                "All",
            ),
            _PALETTE,
        ),
    ),
    _QUIT,
)
"""The keys of the list of sessions."""
SCREENS = (SESSION, SESSIONS)


def shortcuts() -> Iterator[Shortcut]:
    """Yield every shortcut, once for each topic that contains it."""
    return (shortcut for topic in chain(*SCREENS) for shortcut in topic.shortcuts)


_BINDINGS: dict[str, list[BindingType]] = {}
for _each in dict.fromkeys(shortcuts()):
    _BINDINGS.setdefault(_each.place, []).append(
        Binding(
            _each.keys,
            _each.action,
            _each.label,
            show=False,
            tooltip=f"{_each.text[0].upper()}{_each.text[1:]}",
            id=_each.id or None,
        )
    )


def bindings(place: str) -> list[BindingType]:
    """Return the bindings of a widget or screen."""
    return _BINDINGS[place]
