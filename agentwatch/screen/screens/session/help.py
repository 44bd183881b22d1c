"""The help screen: every key with its current binding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import HorizontalGroup, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agentwatch.screen.terminal.keymap import bound_keys, key_label

Rows = tuple[tuple[str, str], ...]
"""Keys, and what they do."""

_QUIT: Rows = (
    ("{help}", "show all keys"),
    ("ctrl+z", "suspend"),
)
_MOVING: Rows = (
    ("{down}, {up}", "one line or call down; up"),
    ("{page-down}, {page-up}", "one page down; up"),
    ("{half-page-down}, {half-page-up}", "half a page down; up"),
)
KEYS: tuple[tuple[str, Rows], ...] = (
    (
        "Panes",
        (
            (
                "{transcript} {calls} {detail} {actions}, {next-pane}, {previous-pane}",
                "go to transcript, calls, detail or actions; next pane; previous pane",
            ),
            ("{hide-actions}", "show or hide the actions (remembered)"),
            ("{maximise}", "maximize the pane (toggle)"),
            (
                "{open}, {back}",
                "open the detail of the selected call, or unfold its row; go back",
            ),
            (
                "{previous-line} {next-line} {open-line}",
                "in the transcript: previous or next call or thought; open it",
            ),
            ("{open-action}", "in the actions: open the detail of the selected call"),
            ("{show-in-transcript}", "show the selected call in the transcript"),
        ),
    ),
    (
        "Moving",
        (
            *_MOVING,
            ("{top}, {bottom}", "go to the top; go to the end and follow"),
            (
                "{next-failure}, {previous-failure}",
                "next failed call; previous failed call",
            ),
            (
                "{find} {next-found} {previous-found}",
                "search everywhere; next match; previous match",
            ),
            (
                "{find-next} {find-previous} {find-back}",
                "while typing a search: next match; previous match; cancel and go back",
            ),
            (
                "{filter-calls}, {drop-filter}",
                "filter calls (failed, tool:edit, path:*.py, duration>50s, OR, -term); show all",
            ),
            ("{complete}", "while typing a filter: complete the word"),
            ("{slowest-calls}", "sort calls by duration, slowest first (toggle)"),
        ),
    ),
    (
        "View",
        (
            ("{thinking}", "show or hide thinking"),
            ("{times}", "show or hide times of day in the transcript (remembered)"),
            ("{raw}", "show the detail as raw JSON (toggle)"),
            ("{fold}", "in the detail: fold or unfold the selected branch"),
            ("{next-call}, {previous-call}", "in the detail: next call; previous call"),
            ("{left} {right}, {wrap}", "in the detail: scroll long lines sideways; wrap or cut them"),
            ("{failing-line}", "in the detail: first failing line of the output, then the next"),
            ("{files}", "files: read, edited, created, deleted"),
            ("{spent}", "time breakdown, tools, tokens"),
            ("{integrity}", "integrity details"),
            ("{copy}", "copy the selection"),
            ("{open-file}", "open the call's file at its line, in $VISUAL, $EDITOR or vi"),
            ("{export}", "export the session as a file, without secrets"),
            ("ctrl+p", "command palette: every command with its keys, themes"),
        ),
    ),
    (
        "The moment",
        (
            ("{pause}", "pause, recording continues; again: play from there"),
            ("{step-back} {step}", "one event back; forward"),
            ("{moment-previous-call} {moment-next-call}", "to the end of the previous call; of the next"),
            ("{seconds-back} {seconds-forward}", "5 seconds back; forward"),
            ("{minute-back} {minute-forward}", "1 minute back; forward"),
            ("{faster}, {slower}, {reverse}", "faster; slower; play backwards (toggle)"),
            ("{live}", "return to the live moment, and say what has happened since"),
            ("{go-to}", "go to a time, +95s, #12, 50%, start, live or a bookmark"),
            ("{bookmark}", "set a bookmark at the moment, or remove it"),
            ("{next-mark}, {previous-mark}", "next bookmark, failure, edit, verdict or turn; previous"),
            ("{test-runs}", "test runs, and the files changed before each"),
            ("{digest}", "what happened during your last long absence"),
            ("{time-bar}", "show or hide the time bar at the live moment"),
        ),
    ),
    (
        "Quit",
        (
            ("{continue-agent}", "continue an agent that a rule has paused"),
            ("{leave} ctrl+c", "quit (pipes keep recording; asks first if agentwatch started the agent)"),
            *_QUIT,
        ),
    ),
)
"""The help text of each key of a session; `{pause}` is replaced by the keys of the binding with that id."""

LIST_KEYS: tuple[tuple[str, Rows], ...] = (
    (
        "Sessions",
        (
            ("{open-session}", "open the session and follow it, or open a folded line"),
            ("{back}", "in a session: return to the list; in the list: close the preview"),
            ("{preview}", "show or hide the preview: last lines, open calls"),
            ("{next-urgent}, {previous-urgent}", "next session that needs you or failed; previous"),
            ("{ring}", "ring or do not ring when the session needs you (toggle)"),
            ("{go-to-terminal}", "switch to the session's terminal (tmux), if known"),
            (
                "{unfold-session}, {fold-session}",
                "show the subagents of the session, or what is folded; hide",
            ),
            ("{copy-session}", "copy the session's id, which is an address"),
            ("{rename-session}, {delete-session}", "rename or delete one of agentwatch's own recordings"),
        ),
    ),
    (
        "List",
        (
            *_MOVING,
            ("{top}, {bottom}", "first session; last session"),
            ("{find-session}", "search titles and prompts; enter: the contents of all sessions too"),
            ("{filter-sessions}", "filter (failed, agent:codex, repo:api, age<2h, OR, -term)"),
            ("{complete}", "while typing a filter: complete the word"),
            (
                "{clear-search}, {drop-words}",
                "clear the search and the filter; while typing: clear the words",
            ),
            ("{sort-sessions}", "sort by state, age or repository"),
            ("{show-hidden}", "show hidden sessions: older than a week, archived (toggle)"),
            ("ctrl+p", "command palette: every command with its keys, themes"),
        ),
    ),
    ("Quit", (("{leave} ctrl+c", "quit"), *_QUIT)),
)
"""The help text of each key of the list of sessions."""

COMPARISON_HELP: tuple[tuple[str, Rows], ...] = (
    (
        "Differences",
        (
            ("{next-difference}, {previous-difference}", "next difference; previous difference"),
            ("{open-pair}", "show both calls in full, or unfold equal calls"),
            ("{next-view}, {previous-view}", "next view: calls, files and tests, final texts; previous view"),
            ("{equal-calls}", "show or fold all equal calls (toggle)"),
            ("{open-a}, {open-b}", "open the session of A or of B at the selected call"),
            ("{back}", "in a session: return to the comparison; in a comparison: return to the calls"),
            ("{copy-addresses}", "copy the addresses of the selected calls, one per line"),
            ("ctrl+p", "command palette: every command with its keys, themes"),
        ),
    ),
    ("Moving", (*_MOVING, ("{top}, {bottom}", "first line; last line"))),
    ("Quit", (("{leave} ctrl+c", "quit"), *_QUIT)),
)
"""The help text of each key of a comparison."""


class Help(ModalScreen[None]):
    """Every key and what it does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "dismiss", "Back", show=False, id="help"),
        Binding("escape,q,enter", "dismiss", "Back", show=False),
    ]

    def __init__(self, rebound: Mapping[str, str], topics: tuple[tuple[str, Rows], ...] = KEYS) -> None:
        """Create the screen.

        Args:
            rebound: The user's own key bindings, by binding id; they replace the defaults.
            topics: The keys to show, by topic.
        """
        super().__init__()
        self._topics = topics
        self._keys = {name: " ".join(map(key_label, keys)) for name, keys in bound_keys(rebound).items()}

    def compose(self) -> ComposeResult:
        """Lay out the keys and their descriptions in two columns."""
        with VerticalScroll(id="help", classes="dialog"):
            for title, rows in self._topics:
                yield Static(Content.styled(title, "bold $text-accent"))
                for keys, does in rows:
                    with HorizontalGroup():
                        yield Static(Content.styled(keys.format_map(self._keys), "bold"), classes="key")
                        yield Static(Content(does), classes="does")
