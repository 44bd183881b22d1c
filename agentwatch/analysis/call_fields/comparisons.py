"""The tests for the fields `agent`, `path` and `program`, which are more than a comparison of one value.

A path or a command is parsed only if it contains the letters of the glob: in 100,000 calls with different
paths, this takes a third of the time.
"""

from __future__ import annotations

from agentwatch.analysis.call_facts import CallFacts
from agentwatch.analysis.call_fields.commands import read_command
from agentwatch.analysis.call_fields.paths import paths_of, words_of
from agentwatch.events import ToolKind
from agentwatch.rules import Test
from agentwatch.rules.globs import literal_of, name_matcher, path_matcher, text_matcher
from agentwatch.session import Call

MAIN = "main"
_QUOTES = ("'", '"', "\\\n", "\\", "$")
"""Characters that the shell removes from a word: `r''m` is `rm`."""


def path_test(glob: str, facts: CallFacts) -> Test[Call]:
    """Return the test for a file that a call acts on."""
    matches, literal = path_matcher(glob), literal_of(glob)
    in_cwd: dict[int, bool] = {}
    """Whether the cwd of a run contains the letters, by its number."""

    def test(call: Call) -> bool | None:
        is_in_cwd = in_cwd.get(call.run)
        if is_in_cwd is None:
            cwd = facts.cwd(call)
            is_in_cwd = literal in (cwd or "").lower()
            if cwd is not None:
                in_cwd[call.run] = is_in_cwd
        if not is_in_cwd:
            if call.kind is ToolKind.EXECUTE:
                if not _may_contain(call.target, literal):
                    return False
            elif (words := words_of(call)) and not any(literal in word.lower() for word in words):
                return False
        found = paths_of(call, facts.cwd(call))
        return None if found is None else any(map(matches, found))

    return test


def program_test(glob: str) -> Test[Call]:
    """Return the test for a program in the command of a call."""
    matches, literal = name_matcher(glob), literal_of(glob)

    def test(call: Call) -> bool | None:
        if call.kind is not ToolKind.EXECUTE:
            return False
        if call.target is None:
            return None
        return _may_contain(call.target, literal) and any(map(matches, read_command(call.target).programs))

    return test


def agent_test(wanted: str, facts: CallFacts) -> Test[Call]:
    """Return the test for `agent:main`, for `agent:12`, or for a word of the call that started a subagent."""
    wanted = wanted.lower()
    matches = text_matcher(wanted)
    number = wanted.removeprefix("#")

    def test(call: Call) -> bool:
        if call.parent is None:
            return MAIN.startswith(wanted)
        if number.isdecimal():
            return f"{call.parent}" == number
        if not 0 < call.parent <= len(facts.session.calls):
            return False
        parent = facts.session.calls[call.parent - 1]
        return matches(parent.tool) or matches(parent.target or "")

    return test


def _may_contain(command: str | None, literal: str) -> bool:
    """Return whether a word of a command may contain a text in lower case."""
    if command is None:
        return False
    lowered = command.lower()
    if literal in lowered or "~" in literal:  # $HOME is ~
        return True
    for sign in _QUOTES:
        lowered = lowered.replace(sign, "")
    return literal in lowered
