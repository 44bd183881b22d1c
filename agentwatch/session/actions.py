"""Formats a call as one line of safe text: phrase, target, and the outcome in brackets. The screen says
in the present tense what runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.text.amounts import first_line, line_counts, plural
from agentwatch.text.safe import Piece, SafeText, cut, exact_line, safe_line, styled
from agentwatch.text.signs import MINUS

_EXECUTE, _SUCCEEDED = ToolKind.EXECUTE, Outcome.SUCCEEDED  # as in `reducers`
TARGET_COLUMNS = 200
ERROR_COLUMNS = 120
_MOST_TARGET_CHARACTERS = 2000
TOOL_COLUMNS = 12
_LONG_TOOL = 7
"""Names of at most this width are never shortened."""
_LEAST_WORD = 4
_MOST_TOOL_CHARACTERS = 60
_TOOL_NAME = re.compile("[A-Za-z0-9_.-]{1,60}")
_TOOL_WORDS = re.compile("[A-Z]?[a-z0-9]{1,60}|[A-Z]{1,60}")
_VAGUE = frozenset({"directory", "execution", "file", "files", "mode"})
"""Last words that do not show what a tool does; the first word does."""
_CLEAR = frozenset({"todo"})
"""First words that show it better than the last."""
_SHARED = frozenset({str(ToolKind.EDIT), str(ToolKind.SEARCH)})
"""Last words that tools of one agent share: `webSearch` and `semSearch`, `Edit` and `NotebookEdit`."""
_FOLDER = re.compile(
    r"""cd[ \t]{1,8}(?:"[^"]{1,400}"|'[^']{1,400}'|(?:[^\s"'\\;&|]|\\.){1,400})[ \t]{0,8}"""
    r"""(?:&&|;)\s{0,8}(?=[^\s\\])"""
)


def action(call: Call, shown: SafeText | None = None) -> SafeText:
    """Return a call as a line of the text format.

    Example:
        >>> call = Call(1, 1, "call-1", "read", "Read file", target="src/app.py", note="54 lines")
        >>> call.outcome = Outcome.SUCCEEDED
        >>> action(call)
        'Read file src/app.py (54 lines)'
    """
    words = [safe_line(call.phrase)]
    if call.target:
        words.append(target(call) if shown is None else shown)
    note = outcome_note(call)
    if note:
        words.append(SafeText(f"({note})"))
    return SafeText(" ".join(words))


def action_pieces(call: Call) -> list[Piece]:
    line, note = action(call), outcome_note(call)
    if not note:
        return [(line, "")]
    style = "muted" if call.outcome is Outcome.SUCCEEDED else str(call.outcome)
    return [(SafeText(line[: -len(note) - 2]), ""), (SafeText(f"({note})"), style)]


def styled_action(call: Call) -> SafeText:
    return styled(*action_pieces(call))


_FORMS = {
    first: forms
    for first, *forms in map(
        str.split,
        (
            "Called Calling call",
            "Created Creating create",
            "Deleted Deleting delete",
            "Edited Editing edit",
            "Fetched Fetching fetch",
            "Found Finding find",
            "Listed Listing list",
            "Ran Running run",
            "Read Reading read",
            "Searched Searching search",
            "Updated Updating update",
            "Used Using use",
        ),
    )
}
"""The words for a call that runs, and for one that waits for the user, by the first word of a phrase."""


def shown_action(call: Call, waits: str = "") -> SafeText:
    """Return a call as the screen shows it: `Wants to run rm -rf build (waits for your permission)`.

    A phrase of a plugin with an unknown first word stays as it is: `Moved file a.py (running)`. `waits`
    is what the call waits for, if it waits for the user: `waits for your permission`.
    """
    note = waits or shown_note(call)
    words = [safe_line(call.phrase)]
    if call.outcome is Outcome.RUNNING:
        first, blank, rest = words[0].partition(" ")
        forms = _FORMS.get(first)
        if forms is not None:
            is_command = call.kind is ToolKind.EXECUTE and bool(call.target)
            rest = "" if is_command else f"{blank}{rest}"  # the command says that it is one
            words = [SafeText(f"Wants to {forms[1]}{rest}" if waits else f"{forms[0]}{rest}")]
            note = SafeText(waits)
    if call.target:
        words.append(target(call))
    if note:
        words.append(SafeText(f"({note})"))
    return SafeText(" ".join(words))


def shown_note(call: Call) -> SafeText:
    """Return the outcome of a call as the screen shows it: `outcome_note`, with `+3 −1` for changed lines."""
    if call.outcome is Outcome.SUCCEEDED and not call.note:
        return SafeText(change_size(call, MINUS) or "")
    return outcome_note(call)


def brief_action(call: Call) -> SafeText:
    """Return only the phrase: `Read file`. The agent's documentation lists it for its own text format."""
    return safe_line(call.phrase)


def target(call: Call) -> SafeText:
    text = call.target or ""
    if len(text) <= TARGET_COLUMNS and text.isascii() and text.isprintable():  # nearly always
        return SafeText(text)
    if call.kind is _EXECUTE and ("\n" in text or len(text) > _MOST_TARGET_CHARACTERS):
        return _command_line(text)
    return cut(exact_line(text), TARGET_COLUMNS)  # the summary of a long session asks it for every call


def shown_target(call: Call) -> SafeText:
    """Return the target of a call without a leading `cd DIR &&` and without the name of its own tool. It is
    one line of at most 200 columns. Filters, copies and the text format use the whole target."""
    text = call.target or ""
    if call.kind is ToolKind.EXECUTE:
        while (found := _FOLDER.match(text)) is not None:
            text = text[found.end() :]
    if text == call.tool:
        text = ""
    text = text.removeprefix(f"{call.tool} ")
    if call.kind is ToolKind.EXECUTE:
        return _command_line(text)
    return cut(exact_line(text[:_MOST_TARGET_CHARACTERS]), TARGET_COLUMNS)


def _command_line(text: str) -> SafeText:
    line, sign = first_line(text)
    line = cut(exact_line(line[:_MOST_TARGET_CHARACTERS]), TARGET_COLUMNS - len(sign))
    return SafeText(f"{line}{sign}")


def outcome_note(call: Call) -> SafeText:
    """Return the outcome of a call in few words: `54 lines`, `+3 -1`, `failed: exit 1`, `rejected`. Empty for
    a call that succeeded without a note and without changed lines."""
    if call.outcome is _SUCCEEDED:
        return safe_line(call.note or change_size(call) or "")
    if call.outcome is Outcome.FAILED and call.error:
        first, _, _ = call.error.strip().partition("\n")
        return cut(safe_line(f"failed: {first}"), ERROR_COLUMNS)
    if call.outcome is Outcome.RETURNED and call.note:
        return safe_line(call.note)
    return safe_line(call.outcome)


@lru_cache(1000)
def shown_tool(tool: str) -> SafeText:
    """Return the name by which the screen shows a tool, in at most 12 columns.

    A long name of several words is its last word, or its first if the last is vague. A name with any other
    character, such as a control character, is only cut: its word could pass for another tool.

    Example:
        >>> shown_tool("updateTodos"), shown_tool("read_file"), shown_tool("Bash")
        ('todos', 'read', 'Bash')
    """
    tool = tool[:_MOST_TOOL_CHARACTERS]
    words = _TOOL_WORDS.findall(tool)
    if len(tool) > _LONG_TOOL and len(words) > 1 and _TOOL_NAME.fullmatch(tool) is not None:
        first, last = words[0].lower(), words[-1].lower()
        if len(last) >= _LEAST_WORD and last not in _SHARED:
            return SafeText(first if first in _CLEAR or last in _VAGUE else last)
    return cut(safe_line(tool), TOOL_COLUMNS)


def count_words(counts: Mapping[Outcome, int]) -> list[SafeText]:
    """Return the number of calls, then the number with each outcome other than succeeded.

    Example:
        >>> count_words({Outcome.SUCCEEDED: 2, Outcome.FAILED: 1})
        ['3 calls', '1 failed']
    """
    words = [plural(sum(counts.values()), "call")]
    words += [f"{count:,} {outcome}" for outcome, count in counts.items() if outcome is not Outcome.SUCCEEDED]
    return [SafeText(word) for word in words]


def ended_ms(call: Call) -> int | None:
    """Return when a call ended; None if unknown. The agent's time is preferred to the arrival of the line."""
    return call.ended.seen_ms if call.ended_ms is None and call.ended is not None else call.ended_ms


def began_ms(call: Call) -> int | None:
    """Return when a call began, or else when it ended; None if neither is known. The agent's time is
    preferred."""
    seen = None if call.started is None else call.started.seen_ms
    return call.started_ms or seen or ended_ms(call)


def change_size(call: Call, minus: str = "-") -> str | None:
    """Return the number of lines that an edit added and removed, `+3 -1`; None if both are unknown."""
    return line_counts(call.lines_added, call.lines_removed, minus) or None
