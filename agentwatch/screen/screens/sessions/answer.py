"""Permission prompts that can be answered from the list, and the box that shows one. The box shows the whole
input of the tool, and allows only an input that was shown to its end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from itertools import chain
from typing import ClassVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from agentwatch.agents.session_entry import Key
from agentwatch.catalog.hooks.answers import Answers, Ended, PermissionQuestion
from agentwatch.catalog.row import Row
from agentwatch.rules.check.risks import risks_in
from agentwatch.screen.screens.sessions.words import foreign
from agentwatch.screen.widgets.input_bar import InputBar
from agentwatch.screen.widgets.line_view import PopupLines, Spans, rows_in_view
from agentwatch.text.safe import SafeText, exact_line, fitting, safe_line, signs_in

_MOST_SHOWN = 20_000
"""The longest input that can be allowed here; a longer one can only be denied."""
_MOST_TOOL = 200
_MOST_REASON = 1000
_TWICE_SECONDS = (0.2, 5.0)
"""The least and the greatest time between the two `y`: a key that is held down repeats sooner."""
_OVER_SECONDS = 2.0
_PROBLEM_SECONDS = 10.0
_THERE = "answered there"
Decision = tuple[str, str]


class QuestionView(PopupLines):
    """The whole input of a tool; a line that does not fit continues below, after `↳`."""

    def __init__(self, question: PermissionQuestion) -> None:
        super().__init__(exact_line(question.tool[:_MOST_TOOL]), self._laid_out, id="question")
        self._texts, left = list[tuple[SafeText, str, list[tuple[int, int]]]](), _MOST_SHOWN
        for pieces, style in _lines(question):
            text, risks = "", list[tuple[int, int]]()
            is_shown = left >= 0
            for piece, is_risk in pieces:
                shown = exact_line(piece[: max(left, 0)])
                risks += [(len(text), len(text) + len(shown))] if is_risk else []
                text, left = text + shown, left - len(piece)
            if is_shown:
                line = SafeText(text)
                self._texts.append((line, style, sorted({*risks, *signs_in(line)})))
            left -= 1
        self.hidden = max(-left - 1, 0)
        """The number of characters that are not shown."""
        if self.hidden:
            self._texts.append((SafeText(f"… {self.hidden:,} more characters are not shown"), "failed", []))
        self.is_seen = False

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.look()

    def look(self) -> None:
        self.is_seen |= 0 < self.line_count() == rows_in_view(self).stop

    def _laid_out(self, width: int) -> Iterator[Spans]:
        return chain.from_iterable(_rows(*each, width) for each in self._texts)


class AnswerBox(ModalScreen[Decision | None]):
    """Asks for the answer to one question: `y` twice allows the call once, `n` denies it."""

    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "allow", "Allow once", show=False),
        Binding("n", "deny", "Deny", show=False),
        Binding("escape,q", "back", "Back", show=False),
    ]

    def __init__(self, question: PermissionQuestion, name: SafeText) -> None:
        super().__init__()
        self.question = question
        self._view = QuestionView(question)
        self._session = Static(Content(f" {name}"), id="question-session")
        self._keys = Static(id="question-keys")
        self._bar = InputBar("Deny", "a reason for the agent, or none", id="reason")
        self._pressed_at: float | None = None
        self.is_over = False
        """Whether the question was answered elsewhere."""

    def compose(self) -> ComposeResult:
        with Vertical(id="question-box"):
            yield self._session
            yield self._view
            yield self._keys
            yield self._bar

    def on_mount(self) -> None:
        self.set_focus(self._view, scroll_visible=False)
        self._show_keys()
        self.on_screen_resume()

    def on_screen_resume(self) -> None:
        """Close the box if its question is over."""
        if self.is_over and self.is_current:
            self.dismiss(None)

    def withdraw(self, words: str) -> None:
        """Report what has become of the question, and close the box soon. Until then keys that were meant for
        the box do nothing, neither in the box nor in the list."""
        if self.is_over:
            return
        self.is_over = True
        self._bar.display, self._keys.display = False, True
        self.set_focus(self._view, scroll_visible=False)
        self._keys.update(
            Content.assemble((f" {words}", "$text-warning"), ("  esc", "$text-accent bold"), " Back")
        )
        self.set_timer(_OVER_SECONDS, self.on_screen_resume)

    def action_allow(self) -> None:
        """Allow the call, if `y` was pressed before and the whole input was shown."""
        if self.is_over:
            return
        now, before = time.monotonic(), self._pressed_at
        self._view.look()
        self._pressed_at = None
        if self._view.hidden:
            self._show_keys("it cannot be shown whole, so only the agent's own screen can allow it")
        elif not self._view.is_seen:
            self._view.action_move_page(1)
            self._show_keys("first read it to its end")
        elif before is not None and _TWICE_SECONDS[0] <= now - before <= _TWICE_SECONDS[1]:
            self.dismiss(("allow", ""))
        else:
            self._pressed_at = now
            self._show_keys("press y again to allow it once")

    def action_deny(self) -> None:
        if self.is_over:
            return
        self._pressed_at = None
        self._keys.display = False
        self._bar.show_text("", takes_keys=True)
        self._bar.show_note(SafeText("enter deny · esc back"))
        self._bar.input.max_length = _MOST_REASON

    def action_back(self) -> None:
        """Close the bar for the reason; without it, leave the question open."""
        if not self._bar.display:
            self.dismiss(None)
            return
        self._bar.display, self._keys.display = False, True
        self.set_focus(self._view, scroll_visible=False)
        self._show_keys()

    @on(Input.Submitted)
    def _deny(self, event: Input.Submitted) -> None:
        event.stop()
        if not self.is_over:
            self.dismiss(("deny", event.value.strip()))

    def _show_keys(self, note: str = "") -> None:
        pieces: list[tuple[str, str]] = []
        for key, does in (("y y", "Allow once"), ("n", "Deny"), ("esc", "Back")):
            pieces += [(key, "$text-accent bold"), (f" {does}  ", "")]
        pieces += [(f"\n {note}", "$text-warning")] if note else []
        self._keys.update(Content.assemble(" ", *pieces))


class PermissionPrompts:
    """Opens the questions of hooks. `show` is called when the set of sessions that can be answered changes.
    `runs` returns whether the agent of a session runs."""

    def __init__(self, app: App[None], show: Callable[[], None], runs: Callable[[Key], bool]) -> None:
        self._app, self._show, self._runs = app, show, runs
        self._box: AnswerBox | None = None
        self._answers = Answers(
            os.environ, lambda: app.call_later(self._changed), lambda end: app.call_later(self._ended, end)
        )
        self.start, self.close = self._answers.start, self._answers.close

    @property
    def sessions(self) -> frozenset[Key]:
        """The sessions with a question that can be answered."""
        return frozenset(question.key for question in self._answers.questions.values())

    def question(self, row: Row) -> PermissionQuestion | None:
        """Return the oldest question of a session of this machine."""
        asked = (each for each in self._answers.questions.values() if each.key == row.key and not row.host)
        return next(asked, None)

    def open(self, question: PermissionQuestion, name: SafeText) -> None:
        if self._box is not None:
            return
        box = self._box = AnswerBox(question, name)

        def answer(decision: Decision | None) -> None:
            self._box = None
            if decision is not None and not self._answers.answer(question, *decision):
                self._app.notify(_THERE, markup=False)
            self._show()

        self._app.push_screen(box, answer)

    def _changed(self) -> None:
        if self._answers.problem:
            words = safe_line(self._answers.problem)
            self._app.notify(words, severity="error", timeout=_PROBLEM_SECONDS, markup=False)
        self._show()

    def _ended(self, end: Ended) -> None:
        words = {
            "sent": "allowed once" if end.act == "allow" else "denied",
            "elsewhere": _THERE,
            "refused": "not answered: it is switched off in the settings, or cannot be recorded",
            "expired": _THERE if self._runs(end.question.key) else "its agent has ended",
        }.get(end.receipt, f"{end.act}: whether the agent took it is unknown")
        box = self._box
        if box is not None and box.question is end.question:
            box.withdraw(words)
        elif end.act:
            self._app.notify(f"{foreign(end.question.tool)}: {words}", markup=False)
        self._changed()


_Pieces = list[tuple[str, bool]]
"""A line in pieces, and whether each is dangerous."""


def _lines(question: PermissionQuestion) -> Iterator[tuple[_Pieces, str]]:
    """Yield the lines of an input, each with its style. Our own lines are not indented, and a foreign name
    follows `input: `, so that neither can be mistaken for the other."""
    fields = dict(question.input)
    for name in sorted(fields, key=lambda name: name != "command"):  # the command before the others
        yield [(f"input: {name}", False)], "accent"
        cwd = question.cwd if name == "command" else None
        risks = risks_in(fields[name][:_MOST_SHOWN], cwd, is_command=name == "command")
        yield from ((pieces, "plain") for pieces in _in_pieces(fields[name], risks))
    yield [("folder of the session", False)], "accent"
    yield [("  ", False), (question.cwd, False)], "plain"


def _in_pieces(text: str, risks: list[tuple[int, int]]) -> Iterator[_Pieces]:
    """Yield the lines of a text; `⏎` is at the end of one that joins two commands."""
    pieces: _Pieces = [("  ", False)]
    at = 0
    for begin, end in [*risks, (len(text), len(text))]:
        for part, is_risk in ((text[at : max(begin, at)], False), (text[max(begin, at) : end], True)):
            first, *lines = part.split("\n")
            pieces.append((first, is_risk))
            for line in lines:
                yield [*pieces, *([(" ⏎", True)] if part == "\n" and is_risk else ())]
                pieces = [("  ", False), (line, is_risk)]
        at = max(end, at)
    yield pieces


def _rows(text: SafeText, style: str, risks: list[tuple[int, int]], width: int) -> Iterator[Spans]:
    """Yield the rows of a line, with what is dangerous in it, or was not to be seen, in another style."""
    start, lead = 0, SafeText("")
    while True:
        end = fitting(text, start, max(width - len(lead), 1))
        yield [(lead, "muted"), *_marked(text, start, end, style, risks)]
        start, lead = end, SafeText("  ↳ ")
        if start >= len(text):
            return


def _marked(text: SafeText, start: int, end: int, style: str, risks: list[tuple[int, int]]) -> Spans:
    spans: Spans = []
    for risk in risks:
        begin, stop = max(risk[0], start), min(risk[1], end)
        if begin < stop:
            spans += [(SafeText(text[start:begin]), style), (SafeText(text[begin:stop]), "failed")]
            start = stop
    return [*spans, (SafeText(text[start:end]), style)]
