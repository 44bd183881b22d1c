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

from agentwatch.screen.keymap import bound_keys, key_label

Part = tuple[str, tuple[tuple[str, str], ...]]
"""A heading, and the keys below it with what they do."""

SESSION_KEYS: tuple[Part, ...] = (
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
                "open the detail of the selected call, or unfold its row; go back, in the end to the list",
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
            ("{down}, {up}", "one line or call down; up"),
            ("{page-down}, {page-up}", "one page down; up"),
            ("{half-page-down}, {half-page-up}", "half a page down; up"),
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
                "filter calls (tool, failed, agent:2, part of the target); show all",
            ),
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
            ("{leave} ctrl+c", "quit (pipes keep recording; asks first if agentwatch started the agent)"),
            ("{help}", "show all keys"),
            ("ctrl+z", "suspend"),
        ),
    ),
)
"""The help text of each key; `{pause}` is replaced by the keys of the binding with that id."""

LIST_KEYS: tuple[Part, ...] = (
    (
        "Sessions",
        (
            ("{open-session}, {back}", "open the session and follow it; return to the list as it was"),
            ("{preview}", "show or hide the preview: last lines, open calls, to-do list"),
            ("{go-to-terminal}", "switch to the session's pane of tmux, if it is known"),
            ("{ring}", "ring or do not ring when the session needs you (toggle, remembered)"),
            ("{next-urgent}, {previous-urgent}", "next session that needs you or failed; previous"),
            ("{copy-session}", "copy the id of the session, which is an address"),
            ("{rename-session}", "rename a recording of agentwatch"),
            ("{delete-session}", "delete a recording of agentwatch, after confirmation"),
        ),
    ),
    (
        "List",
        (
            ("{down}, {up}", "next session; previous"),
            ("{page-down}, {page-up}", "one page down; up"),
            ("{half-page-down}, {half-page-up}", "half a page down; up"),
            ("{top}, {bottom}", "first session; last"),
            ("{find-session}", "search titles and prompts; enter searches the contents too"),
            ("{filter-sessions}", "filter: agent:codex, failed, repo:api, a word"),
            ("{clear-search}, {drop-words}", "clear search and filter; clear the words being typed"),
            ("{sort-sessions}", "sort by state, age or repository"),
            ("{show-hidden}", "show or hide hidden sessions (toggle)"),
            ("{unfold-session}, {fold-session}", "show subagents or what is folded; fold it"),
            ("ctrl+p", "command palette: every command with its keys, themes"),
        ),
    ),
    (
        "Quit",
        (
            ("{leave} ctrl+c", "quit"),
            ("{help}", "show all keys"),
            ("ctrl+z", "suspend"),
        ),
    ),
)
"""The same for the list of sessions."""


class Help(ModalScreen[None]):
    """Every key and what it does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "dismiss", "Back", show=False, id="help"),
        Binding("escape,q,enter", "dismiss", "Back", show=False),
    ]

    def __init__(self, rebound: Mapping[str, str], parts: tuple[Part, ...] = SESSION_KEYS) -> None:
        """Create the screen.

        Args:
            rebound: The user's own key bindings, by binding id; they replace the defaults.
            parts: The keys that are shown.
        """
        super().__init__()
        self._parts = parts
        self._keys = {name: " ".join(map(key_label, keys)) for name, keys in bound_keys(rebound).items()}

    def compose(self) -> ComposeResult:
        """Lay out the keys and their descriptions in two columns."""
        with VerticalScroll(id="help", classes="dialog"):
            for title, rows in self._parts:
                yield Static(Content.styled(title, "bold $text-accent"))
                for keys, does in rows:
                    with HorizontalGroup():
                        yield Static(Content.styled(keys.format_map(self._keys), "bold"), classes="key")
                        yield Static(Content(does), classes="does")
