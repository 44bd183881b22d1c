"""Reads the fields of a call for rules, and makes the tests of a field that is more than one value."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from agentwatch.analysis.episodes import Episodes
from agentwatch.rules.calls.commands import deleted_places, is_outside, paths_of, read_command, words_of
from agentwatch.rules.calls.facts import CallFacts
from agentwatch.rules.calls.fields import CREATES, NAMES_OF_KINDS
from agentwatch.rules.language.conditions import Readers, Test, Value
from agentwatch.rules.language.matchers import (
    literal_of,
    name_matcher,
    path_matcher,
    text_matcher,
    word_matcher,
)
from agentwatch.session.call import Call
from agentwatch.session.counts import known_sum
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.limits import most_used
from agentwatch.session.session import calls_by_outcome

_LEAST_OF_AN_OUTCOME = 3
"""The number of letters from which a word can be the beginning of an outcome, while it is being typed."""
_NO_NAMES: tuple[str, ...] = ()
MAIN = "main"
_WORD = re.compile(r"[\w.-]+")
_QUOTES = ("'", '"', "\\\n", "\\", "$")
"""Characters that the shell removes from a word: `r''m` is `rm`."""


def call_readers(facts: CallFacts) -> Readers[Call]:
    """Return the readers of the fields of the calls of a session.

    Args:
        facts: The facts about its calls.
    """
    values: dict[str, Callable[[Call], Value]] = {
        "tool": _tool,
        "kind": lambda call: call.kind.value,
        "outcome": lambda call: call.outcome.value,
        "exit": _exit,
        "duration": facts.duration_ms,
        "started": facts.started_ms,
        "lines_added": lambda call: call.lines_added,
        "lines_removed": lambda call: call.lines_removed,
        "phase": lambda call: "started" if call.outcome is Outcome.RUNNING else "ended",
        "group": lambda call: call.group,
        "model": facts.model,
        "target": lambda call: call.target or _NO_NAMES,
        "error": lambda call: call.error or _NO_NAMES,
        "command": _in_command(str),
        "path": lambda call: paths_of(call, facts.cwd(call)),
        "outside": lambda call: _outside(call, facts.cwd(call)),
        "program": lambda call: None if _is_unknown_command(call) else programs_of(call),
        "runs": _RUNS,
        "deletes": lambda call: None if _is_unknown_command(call) else deleted_places(call, facts.cwd(call)),
        "secret": _in_command(_secrets_in),
        "adds": facts.added_lines,
        "idle": facts.idle_ms,
        "acted": facts.acted,
        "verdict": facts.verdict,
        "text": facts.text,
        **_count_values(facts),
        **_run_values(facts),
    }
    own: dict[str, Callable[[str], Test[Call]]] = {
        "agent": lambda wanted: agent_test(wanted, facts),
        "path": lambda glob: path_test(glob, facts),
        "program": program_test,
        "runs": runs_test,
    }
    return Readers(values, word_test, own)


def word_test(word: str) -> Test[Call]:
    """Return the test for a word without a field, in lower case.

    The word must occur in the call's tool or target, or be the beginning of its outcome. Only `*` makes it a
    glob: words such as `x[0]` and `why?` occur in targets.
    """
    matches = word_matcher(word)
    begins_outcome = len(word) >= _LEAST_OF_AN_OUTCOME

    def test(call: Call) -> bool:
        if matches(call.tool) or (call.target is not None and matches(call.target)):
            return True
        return begins_outcome and call.outcome.startswith(word)

    return test if word not in list(Outcome) else lambda call: call.outcome.value == word


def _count_values(facts: CallFacts) -> dict[str, Callable[[Call], Value]]:
    """Return the readers of the fields that count how often something was done."""

    def counted(count: Callable[[Episodes, int], int]) -> Callable[[Call], Value]:
        def read(call: Call) -> Value:
            counts = facts.counts(call)
            return None if counts is None else count(counts, call.number)

        return read

    return {
        "repeat": facts.repeat,
        "tries": counted(Episodes.tries),
        "cycle": counted(Episodes.cycle),
        "reread": counted(Episodes.reread),
    }


def _run_values(facts: CallFacts) -> dict[str, Callable[[Call], Value]]:
    """Return the readers of the fields of the session up to now."""

    def counted(outcome: Outcome) -> Callable[[Call], Value]:
        return lambda _call: calls_by_outcome(facts.session).get(outcome, 0)

    def tokens(_call: Call) -> Value:
        found = facts.session.run.tokens
        return known_sum((found.input, found.output))

    def elapsed(_call: Call) -> Value:
        began = facts.session.runs[0].began_seen_ms if facts.session.runs else None
        now = facts.session.last_seen_ms if facts.now_ms is None else facts.now_ms
        return None if began is None or now is None else max(now - began, 0)

    def limit(_call: Call) -> Value:
        now_ms = facts.session.last_seen_ms if facts.now_ms is None else facts.now_ms
        return None if now_ms is None else most_used(facts.session.limits.windows, now_ms)

    return {
        "calls": lambda _call: len(facts.session.calls),
        "failed": counted(Outcome.FAILED),
        "rejected": counted(Outcome.REJECTED),
        "elapsed": elapsed,
        "cost": lambda _call: facts.session.run.tokens.cost_usd,
        "tokens": tokens,
        "context": lambda _call: facts.context_percent,
        "limit": limit,
    }


def _tool(call: Call) -> Value:
    more = (CREATES,) if call.is_new_file else _NO_NAMES
    return (call.tool, call.kind.value, *NAMES_OF_KINDS.get(call.kind, _NO_NAMES), *more)


def _exit(call: Call) -> Value:
    return call.exit_code


def _outside(call: Call, cwd: str | None) -> Value:
    found = is_outside(call, cwd)
    if found is None:
        return None
    return ("cwd",) if found else _NO_NAMES


def programs_of(call: Call) -> tuple[str, ...]:
    """Return the programs in the command of a call; none if it is not a shell call."""
    return read_command(call.target or "").programs if call.kind is ToolKind.EXECUTE else _NO_NAMES


def _in_command(read: Callable[[str], Value]) -> Callable[[Call], Value]:
    """Return the reader of what is in the command of a call; nothing is in a call of another tool."""

    def value(call: Call) -> Value:
        if call.kind is not ToolKind.EXECUTE:
            return _NO_NAMES
        return None if call.target is None else read(call.target)

    return value


_RUNS = _in_command(lambda command: read_command(command).runs)


@lru_cache(maxsize=512)
def _secrets_in(command: str) -> tuple[str, ...]:
    from agentwatch.output.redact.secrets.scanner import find  # 20 ms, which few rules need

    return tuple(each.kind for each in find(command))


def _is_unknown_command(call: Call) -> bool:
    return call.kind is ToolKind.EXECUTE and call.target is None


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


def runs_test(glob: str) -> Test[Call]:
    """Return the test for a program with its arguments, or for a pipeline, in the command of a call."""
    matches = name_matcher(glob)
    word = max(_WORD.findall(literal_of(glob)), key=len, default="")

    def test(call: Call) -> bool | None:
        if call.target is not None and not _may_contain(call.target, word):
            return False
        found = _RUNS(call)
        return any(map(matches, found)) if isinstance(found, tuple) else None

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
