"""Reads the fields of a call for rules, and makes the tests of a field that is more than one value."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from agentwatch.agents.tool import Phrase
from agentwatch.rules.calls.commands import Command, read_command
from agentwatch.rules.calls.facts import CallFacts
from agentwatch.rules.calls.fields import CALL_FIELDS, CREATES, NAMES_OF_KINDS
from agentwatch.rules.language.conditions import Partly, Readers, Test, Value, any_matches
from agentwatch.rules.language.matchers import (
    WILDCARDS,
    has_wildcard,
    literal_of,
    name_matcher,
    path_matcher,
    text_matcher,
    word_matcher,
)
from agentwatch.session.actions import began_ms
from agentwatch.session.call import Call
from agentwatch.session.counts import known_sum
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.limits import most_used
from agentwatch.session.session import calls_by_outcome, own_calls
from agentwatch.session.tool_kind import MOST_COMMAND
from agentwatch.text.paths import named

if TYPE_CHECKING:
    from agentwatch.analysis.episodes import Episodes

_FILES = frozenset({ToolKind.READ, ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE})
_READING = frozenset({ToolKind.READ, ToolKind.SEARCH})


def paths_of(call: Call, cwd: str | None) -> tuple[str, ...] | Partly | None:
    """Return the paths of a call, relative to the cwd and absolute, with `..` resolved; None if unknown. The
    paths of a command are those of its words that may be paths. Links are not followed: the files are those
    of another time, and perhaps of another machine."""
    words = words_of(call)
    if not words and call.kind in _FILES:
        return None
    found = _both(words, cwd)
    return _known_in(command_in(call), found) if call.kind is ToolKind.EXECUTE else found


def _read_paths(call: Call, cwd: str | None) -> tuple[str, ...] | Partly | None:
    if call.kind is ToolKind.EXECUTE:
        command = command_in(call)
        return _known_in(command, _both(command.read, cwd))
    return paths_of(call, cwd) if call.kind in _READING else ()


def command_in(call: Call) -> Command:
    """Return what the command of a call does. A script in another language than the shell's is not read."""
    found = read_command(call.command or "")
    is_script = call.phrase == Phrase.USED and (call.command or "").startswith(call.tool)
    return found._replace(is_whole=False) if is_script or call.command is None else found


def _known_in(command: Command, found: tuple[str, ...]) -> tuple[str, ...] | Partly:
    """Return what was found in a command; it may be only a part of what there is."""
    return found if command.is_whole else Partly(found)


def _both(words: tuple[str, ...], cwd: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for word in words for each in _named(word, cwd)[:2]))


def words_of(call: Call) -> tuple[str, ...]:
    if call.kind is ToolKind.EXECUTE:
        return command_in(call).words
    if not call.more_paths:
        return (call.path,) if call.path else ()
    return tuple(path for path in (call.path, *call.more_paths) if path)


def is_outside(call: Call, cwd: str | None) -> bool | None:
    """Return whether a call acts on a file outside the cwd; None if its path or the cwd is unknown. `~`
    counts as outside, unless the cwd is below it too, as in a redacted recording. A word of a command counts
    only if it is a path with `/` or `..`. A path that begins with a variable is unknown."""
    words = words_of(call)
    otherwise: bool | None = False
    if call.kind is ToolKind.EXECUTE:
        words = tuple(word for word in words if "/" in word or word in ("~", ".."))
        otherwise = False if command_in(call).is_whole else None
    if not words:
        return None if call.kind in _FILES else otherwise
    if cwd is None:
        return None
    is_redacted = cwd.startswith("~")
    if any((word[0] == "~" and not is_redacted) or _named(word, cwd)[2] for word in words if word[0] != "$"):
        return True
    return None if any(word[0] == "$" for word in words) else otherwise


_TEMPORARY = ("/tmp/", "/var/tmp/", "/var/folders/")  # noqa: S108 - only compared


def deleted_places(call: Call, cwd: str | None) -> tuple[str, ...] | None:
    """Return where the files are that a call deletes: `inside` or `outside` of the cwd, or `temporary`. If
    one place is unknown, the result is None, unless another one is outside."""
    words = words_of(call) if call.kind is ToolKind.DELETE else ()
    found: set[str | None] = set() if words or call.kind is not ToolKind.DELETE else {None}
    if call.kind is ToolKind.EXECUTE:
        command = command_in(call)
        words, found = command.deleted, set() if command.is_whole else {None}
    for word in words:
        if word[0] == "$":
            found.add(None)
        elif word[0] == "~":
            found.add("inside" if cwd is not None and cwd.startswith("~") else "outside")
        elif cwd is None and word[0] != "/":
            found.add(None)
        else:
            path, _, is_out = _named(word, cwd)
            is_temporary = path.removeprefix("/private").startswith(_TEMPORARY)
            found.add("inside" if not is_out and cwd else "temporary" if is_temporary else "outside")
    if None in found and "outside" not in found:
        return None
    return tuple(sorted(filter(None, found)))


@lru_cache(maxsize=4096)
def _named(path: str, cwd: str | None) -> tuple[str, str, bool]:
    """Return the absolute path, the path relative to the cwd, and whether it is outside the cwd."""
    key, shown, is_outside = named(path, cwd)
    return key, shown if is_outside else posixpath.normpath(shown), is_outside


_LEAST_OF_AN_OUTCOME = 3
"""The number of letters from which a word can be the beginning of an outcome, while it is being typed."""
_NO_NAMES: tuple[str, ...] = ()
MAIN = "main"
_Cwd = Callable[[Call], str | None]
"""Returns the folder of the run of a call; None if unknown."""
_WORD = re.compile(r"[\w.-]+")
_QUOTES = ("'", '"', "\\\n", "\\", "$")
"""Characters that the shell removes from a word: `r''m` is `rm`."""


def call_readers(facts: CallFacts) -> Readers[Call]:
    values: dict[str, Callable[[Call], Value]] = {
        "tool": _tool,
        "kind": lambda call: call.kind.value,
        "outcome": lambda call: call.outcome.value,
        "exit": lambda call: call.exit_code,
        "duration": facts.duration_ms,
        "started": facts.started_ms,
        "lines_added": lambda call: call.lines_added,
        "lines_removed": lambda call: call.lines_removed,
        "phase": lambda call: "started" if call.outcome is Outcome.RUNNING else "ended",
        "group": lambda call: call.group,
        "model": facts.model,
        "target": lambda call: call.target or _NO_NAMES,
        "error": lambda call: call.error or _NO_NAMES,
        **_command_values(facts.cwd),
        "adds": facts.added_lines,
        "idle": facts.idle_ms,
        "acted": facts.acted,
        "verdict": facts.verdict,
        "text": facts.text,
        **_count_values(facts),
        **_run_values(facts),
    }
    own = {**_command_tests(facts.cwd), "agent": lambda wanted: _agent_test(wanted, facts)}
    return Readers(values, _word_test, own, began_ms)


def command_readers(cwd: str | None) -> Readers[Call]:
    """Return the readers of what is in a command that has not run. Its other fields are unknown."""
    unknown = dict.fromkeys((field.name for field in CALL_FIELDS), lambda _call: None)
    values: dict[str, Callable[[Call], Value]] = {**unknown, "tool": _tool, **_command_values(lambda _: cwd)}
    return Readers(values, _word_test, _command_tests(lambda _: cwd))


def _command_values(cwd: _Cwd) -> dict[str, Callable[[Call], Value]]:
    return {
        "command": _in_text(lambda command: (command,)),
        "path": lambda call: paths_of(call, cwd(call)),
        "outside": lambda call: _outside(call, cwd(call)),
        "program": _PROGRAMS,
        "runs": _RUNS,
        "deletes": lambda call: deleted_places(call, cwd(call)),
        "reads": lambda call: _read_paths(call, cwd(call)),
        "secret": _in_text(_secrets_in),
    }


def _command_tests(cwd: _Cwd) -> dict[str, Callable[[str], Test[Call]]]:
    return {
        "path": lambda glob: _path_test(glob, cwd),
        "reads": lambda glob: _reads_test(glob, cwd),
        "program": lambda glob: _test_in_command(_PROGRAMS, glob, literal_of(glob)),
        "runs": lambda glob: _test_in_command(
            _RUNS, glob, max(_WORD.findall(literal_of(glob)), key=len, default="")
        ),
    }


def _word_test(word: str) -> Test[Call]:
    """Return the test for a word in lower case. Only `*` makes a word a glob: targets may contain `x[0]` and
    `why?`."""
    matches = word_matcher(word)
    begins_outcome = len(word) >= _LEAST_OF_AN_OUTCOME

    def test(call: Call) -> bool:
        if matches(call.tool) or (call.target is not None and matches(call.target)):
            return True
        return begins_outcome and call.outcome.startswith(word)

    return test if word not in list(Outcome) else lambda call: call.outcome.value == word


def _count_values(facts: CallFacts) -> dict[str, Callable[[Call], Value]]:
    def counted(count: Callable[[Episodes, int], int]) -> Callable[[Call], Value]:
        def read(call: Call) -> Value:
            counts = facts.counts(call)
            return None if counts is None else count(counts, call.number)

        return read

    return {
        "repeat": facts.repeat,
        "tries": counted(lambda counts, number: counts.tries(number)),
        "cycle": counted(lambda counts, number: counts.cycle(number)),
        "reread": counted(lambda counts, number: counts.reread(number)),
    }


def _run_values(facts: CallFacts) -> dict[str, Callable[[Call], Value]]:
    def counted(outcome: Outcome) -> Callable[[Call], Value]:
        return lambda _call: calls_by_outcome(facts.session).get(outcome, 0)

    def tokens(_call: Call) -> Value:
        found = facts.session.tokens
        return known_sum((found.input, found.output))

    def elapsed(_call: Call) -> Value:
        began = facts.session.runs[0].began_seen_ms if facts.session.runs else None
        now = facts.session.last_seen_ms if facts.now_ms is None else facts.now_ms
        return None if began is None or now is None else max(now - began, 0)

    def limit(_call: Call) -> Value:
        now_ms = facts.session.last_seen_ms if facts.now_ms is None else facts.now_ms
        return None if now_ms is None else most_used(facts.session.limits.windows, now_ms)

    return {
        "calls": lambda _call: own_calls(facts.session),
        "failed": counted(Outcome.FAILED),
        "rejected": counted(Outcome.REJECTED),
        "elapsed": elapsed,
        "cost": lambda _call: facts.session.tokens.cost_usd,
        "tokens": tokens,
        "context": lambda _call: facts.context_percent,
        "limit": limit,
    }


def _tool(call: Call) -> Value:
    more = (CREATES,) if call.is_new_file else _NO_NAMES
    return (call.tool, call.kind.value, *NAMES_OF_KINDS.get(call.kind, _NO_NAMES), *more)


def _outside(call: Call, cwd: str | None) -> Value:
    found = is_outside(call, cwd)
    if found is None:
        return None
    return ("cwd",) if found else _NO_NAMES


def programs_of(call: Call) -> tuple[str, ...]:
    return command_in(call).programs if call.kind is ToolKind.EXECUTE else _NO_NAMES


def _in_text(found: Callable[[str], tuple[str, ...]]) -> Callable[[Call], Value]:
    """Return the reader of what is in the text of a command; nothing is in a call of another tool."""

    def value(call: Call) -> Value:
        command = call.command
        if command is None:
            return None if call.kind is ToolKind.EXECUTE else _NO_NAMES
        return found(command) if len(command) < MOST_COMMAND else Partly(found(command))

    return value


def _in_command(found: Callable[[Command], tuple[str, ...]]) -> Callable[[Call], Value]:
    """Return the reader of what a command does; a call of another tool does nothing of it."""

    def value(call: Call) -> Value:
        if call.command is None:
            return None if call.kind is ToolKind.EXECUTE else _NO_NAMES
        command = command_in(call)
        return _known_in(command, found(command))

    return value


_PROGRAMS = _in_command(lambda command: command.programs)
_RUNS = _in_command(lambda command: command.runs)


@lru_cache(maxsize=16)
def _secrets_in(command: str) -> tuple[str, ...]:
    from agentwatch.output.redact.secrets.scanner import find  # 20 ms, which few rules need

    return tuple(each.kind for each in find(command))


def _path_test(glob: str, cwd: _Cwd) -> Test[Call]:
    matches, literal = path_matcher(glob), literal_of(glob)
    in_cwd: dict[int, bool] = {}
    """Whether the cwd of a run contains the letters, by its number."""

    def test(call: Call) -> bool | None:
        is_in_cwd = in_cwd.get(call.run)
        if is_in_cwd is None:
            folder = cwd(call)
            is_in_cwd = literal in (folder or "").lower()
            if folder is not None:
                in_cwd[call.run] = is_in_cwd
        if not is_in_cwd:
            if call.kind is ToolKind.EXECUTE:
                if not _may_contain(call, literal):
                    return False
            elif (words := words_of(call)) and not any(literal in word.lower() for word in words):
                return False
        return any_matches(paths_of(call, cwd(call)), matches)

    return test


def _reads_test(glob: str, cwd: _Cwd) -> Test[Call]:
    """Return the test for a file that a call reads. `cat .en?` reads `.env`."""
    matches, literal = path_matcher(glob), literal_of(glob)
    folder, _, name = glob.lower().rpartition("/")
    in_folder = path_matcher(folder) if folder not in ("", "**") else None
    sample = name.replace("*", "x")

    def is_read(path: str) -> bool:
        if matches(path):
            return True
        given, _, last = path.rpartition("/")
        if not has_wildcard(last) or (last[0] in "*?" and sample[:1] == "."):  # bash leaves out `.env`
            return False
        return name_matcher(last)(sample) and (in_folder is None or in_folder(given))

    def test(call: Call) -> bool | None:
        command = call.command
        if command is not None and not _may_contain(call, literal) and WILDCARDS.isdisjoint(command):
            return False
        return any_matches(_read_paths(call, cwd(call)), is_read)

    return test


def _test_in_command(read: Callable[[Call], Value], glob: str, word: str) -> Test[Call]:
    """Return the test for a value that a command contains only if it contains a word."""
    matches = name_matcher(glob)

    def test(call: Call) -> bool | None:
        if call.command is not None and not _may_contain(call, word):
            return False
        return any_matches(read(call), matches)

    return test


def _agent_test(wanted: str, facts: CallFacts) -> Test[Call]:
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


def _may_contain(call: Call, literal: str) -> bool:
    command = call.command
    if command is None or len(command) >= MOST_COMMAND:
        return True
    lowered = command.lower()
    if literal in lowered or "~" in literal or "$'" in lowered:  # $HOME is ~
        return True
    for sign in _QUOTES:
        lowered = lowered.replace(sign, "")
    return literal in lowered
