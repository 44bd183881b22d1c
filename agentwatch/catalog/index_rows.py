"""Reads a session that was found on disk into rows of the index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise
from typing import NamedTuple

from agentwatch.agents.opening import saved_source
from agentwatch.agents.session_entry import OWN, Reach, SessionEntry
from agentwatch.analysis.files import CHANGES, FileAction, file_action_of
from agentwatch.analysis.shell import MOST_CACHED, MOST_READ_CHARACTERS, READERS, main_program, segments_of
from agentwatch.analysis.verdict_history import State, call_verdict, final_verdicts
from agentwatch.analysis.verdicts import Source, Verdict
from agentwatch.base.faults import Fault, reading
from agentwatch.catalog.index_schema import Row, changed_ns_of, path_of, row_of, value_of
from agentwatch.catalog.repository import Repositories
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.rules.calls.readers import words_of
from agentwatch.session.call import Call, Pieces, Place
from agentwatch.session.counts import Use, Uses, complete_sum
from agentwatch.session.events import Outcome, Tokens, ToolKind
from agentwatch.session.reducers import forget_texts
from agentwatch.session.session import Session, calls_by_outcome, own_calls, repeated_calls
from agentwatch.sources.file import FileSource
from agentwatch.sources.stores.intake import StoreSource
from agentwatch.text.paths import last_name, named

# The words by which calls of the same command are counted together.

_GROUPED = frozenset(
    (
        *("git", "gh", "cargo", "go", "dotnet", "mvn", "gradle", "gradlew", "mvnw", "make", "just", "task"),
        *("docker", "podman", "docker-compose", "kubectl", "helm", "terraform", "aws", "gcloud", "az"),
        *("pip", "pip3", "apt", "apt-get", "brew", "systemctl", "bundle", "rake", "rails", "composer"),
        *("mix", "swift", "flutter", "dart", "deno", "nx", "turbo", "nix", "bazel", "conda", "rustup"),
    )
)
"""Programs whose first argument says what they do."""
_RUNNERS = frozenset({"npm", "pnpm", "yarn", "bun"})
"""Programs that run the scripts of a package: `npm run build`, `npm test`."""
_MANAGERS = frozenset({*_RUNNERS, "uv", "poetry", "pipenv", "hatch", "pdm"})
_STARTERS = frozenset({"run", "exec", "dlx", "x"})
"""Words after a manager, before the program that it starts."""
_INTERPRETERS = frozenset({"python", "python3"})
_BEFORE = frozenset({"cd", "echo", "printf", "true"})
"""Programs that are the purpose of a command only if it has no other."""
_KEYWORDS = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{", "(", "time", "nice"})
_NO_PROGRAMS = frozenset(
    (
        *("", "for", "in", "case", "esac", "fi", "done", "}", ")", "set", "export", "unset", "local"),
        *("source", ".", "[", "[[", "exit", "return", "trap", "wait", "read", "shift", "break", "continue"),
    )
)
_NAME = re.compile(r"[a-z][a-z0-9:._-]{0,40}")
_LIMIT = re.compile(r"timeout (?:-\S{1,20} ){0,4}[0-9.]{1,9}[smhd]? ")
_NUMBER = re.compile(r"[0-9]{4,40}|(?=[0-9a-f]{0,7}[0-9])[0-9a-f]{8,64}")
"""A number, a date or a hash in the name of a script."""
_MOST_SHOWN = 60


@lru_cache(MOST_CACHED)
def command_of(command: str) -> str | None:
    """Return what a command runs, without its arguments: equal for calls that do the same with other files.

    Only the first 2,000 characters of the command are read. That is the program that the command is about,
    with its first argument if that says what the program does; None if no program is found.

    Example:
        >>> command_of("cd web && npm run build 2>&1 | tail -3"), command_of("git push origin main")
        ('npm run build', 'git push')
        >>> command_of("uv run pytest -q tests/api | tail -1"), command_of("python -c 'import sys'")
        ('pytest', 'python -c')
    """
    parts = [_Run(part.words) for part in segments_of(command)]
    named = [part for part in parts if part.is_named]
    for passed_over in (READERS | _INTERPRETERS, READERS, _BEFORE):
        for part in named:
            if part.program not in passed_over:
                return part.name()[:_MOST_SHOWN]
    return named[0].name()[:_MOST_SHOWN] if named else None


class _Run:
    def __init__(self, words: str) -> None:
        self._tokens = _LIMIT.sub("", words).split(" ")
        while len(self._tokens) > 1 and self._tokens[0] in _KEYWORDS:
            del self._tokens[0]
        bare = self._tokens[0] if self._tokens[0] in _INTERPRETERS else ""
        self.program = main_program(" ".join(self._tokens)) or bare

    @property
    def is_named(self) -> bool:
        return self.program not in _NO_PROGRAMS and not self.program.startswith(("#", "$", "`"))

    def name(self) -> str:
        words, program = self._tokens, self.program
        at = next((at for at, word in enumerate(words) if program in word), len(words))
        for word, following in pairwise(words[: at + 1]):
            if word in _INTERPRETERS and following == "-c":
                return f"{word} -c"
        before, after = words[:at], words[at + 1 :]
        name = _NUMBER.sub("N", program)
        manager = next((at for at, word in enumerate(before) if word in _MANAGERS), None)
        if manager is not None:
            return _managed(before[manager], before[manager + 1 :], name)
        first = _first_argument(after) if program in _GROUPED else None
        return f"{name} {first}" if first else name


def _managed(manager: str, between: list[str], name: str) -> str:
    """The words of a command that a package manager runs: a program, or a script of the package."""
    starter = next((word for word in between if word in _STARTERS), None)
    if starter is None:
        return f"{manager} {name}"
    return f"{manager} run {name}" if starter == "run" and manager in _RUNNERS else name


def _first_argument(after: list[str]) -> str | None:
    """The first argument if it is a word. Long options before it are skipped."""
    first = next((word for word in after if not word.startswith("--")), "")
    return first if _NAME.fullmatch(first) else None


# The rows of the calls of a session: each call with its verdict, and each file that a call changed.


def call_row(call: Call, verdict: Verdict | None) -> Row:
    command = call.target or "" if call.kind is ToolKind.EXECUTE else None
    return row_of(
        (
            *(call.number, call.tool, call.kind.value),
            None if command is None else main_program(command),
            None if command is None else command_of(command[:MOST_READ_CHARACTERS]),
            *(call.target, call.path, call.outcome.value, call.error, call.exit_code),
            *(call.started_ms, call.ended_ms, call.duration_ms, call.lines_added, call.lines_removed),
            *(call.parent_call, *_verdict_values(verdict), call.call_id),
        )
    )


def verdicts_of(feed: Feed) -> dict[int, Verdict]:
    """Return the verdicts by call number. Reading the outputs again takes 14 % of the time of the session."""
    found = ((call.number, call_verdict(feed, call)) for call in feed.session.calls)
    return {number: verdict for number, verdict in found if verdict is not None}


def edit_rows(call: Call, cwd: str | None, root: str | None) -> list[Row]:
    """A row for each file that a call has changed. Relative paths begin at `cwd`; those in `root`, the
    repository, become relative to it."""
    if call.kind not in CHANGES or file_action_of(call) is FileAction.TRIED:
        return []
    paths = (named(path, cwd)[0] for path in (call.path, *call.more_paths) if path)
    files = dict.fromkeys(value_of(named(path, root)[1]) for path in paths)
    lines = (call.lines_added, call.lines_removed) if len(files) == 1 else (None, None)
    return [row_of((call.number, file, *lines)) for file in files]


_MOST_PATHS = 100


def path_rows(call: Call, cwd: str | None) -> list[Row]:
    """A row for each file that a call names, also in a command: the name of the file in small letters, and
    its path."""
    paths = dict.fromkeys([value_of(named(word, cwd)[0]) for word in words_of(call)[:_MOST_PATHS]])
    return [row_of((call.number, path, last_name(path).lower())) for path in paths]


def _verdict_values(verdict: Verdict | None) -> tuple[str | int | None, ...]:
    if verdict is None:
        return (None,) * 5
    colour = "red" if verdict.is_red else "green" if verdict.is_green else "none"
    counts, has_counts = verdict.counts, verdict.source is Source.PATTERN or any(verdict.counts)
    passed = counts.passed if has_counts and verdict.is_of_tests else None
    failed = counts.failed + counts.errors if has_counts else None
    return colour, verdict.tool, verdict.source.value, passed, failed


# When a session began, and for how long it was active, without the time between its turns.

_MOST_SILENT_MS = 3_600_000
"""What a longer silence within a turn counts: the user was asked something, or the machine slept."""


@dataclass(slots=True)
class _Turn:
    number: tuple[int, int]
    """The number of its run, and its own number in it; 0 for what comes before the first prompt."""
    began_ms: int | None = None
    active_ms: int = 0
    reported_ms: int | None = None
    is_copy: bool = False
    """Whether its lines say that they are copied from another session."""


class Activity:
    """The observer of a feed that notes the times of its lines."""

    def __init__(self, session: Session) -> None:
        self.began_ms: int | None = None
        self._session = session
        self._last_ms = 0
        self._timed = (0, 0)
        self._is_over = False
        self._turns = [_Turn((0, 0))]

    def applied(self, place: Place, pieces: Pieces | None) -> None:
        """The time from the end or the last line of a turn to the first line of another is not activity."""
        session, turn = self._session, self._turns[-1]
        run = session.runs[-1] if session.runs else None
        number = (0, 0) if run is None else (len(session.runs), len(run.turn_starts))
        if number != turn.number:
            self._turns.append(turn := _Turn(number))
        turn.is_copy = turn.is_copy or session.repeats_history
        if run is not None and run.turn_result is not None:
            turn.reported_ms = run.turn_result.duration_ms
        last_ms = place.seen_ms
        if last_ms is None:
            return
        first_ms = last_ms if pieces is None else pieces.first_ms
        if self.began_ms is None:
            self.began_ms = self._last_ms = first_ms
        if turn.began_ms is None:
            turn.began_ms = first_ms
        is_next = self._is_over or (self._timed[1] > 0 and number != self._timed)
        for at_ms in (first_ms,) if pieces is None else (first_ms, last_ms):
            silent_ms = at_ms - self._last_ms
            if silent_ms > 0:  # lines may be out of order
                self._last_ms = at_ms
                turn.active_ms += 0 if is_next else min(silent_ms, _MOST_SILENT_MS)
            is_next = False
        self._timed, self._is_over = number, run is not None and run.is_over

    def paused(self, _offset: int, _session: Session, _decoder: object) -> None:
        """Do nothing."""

    def turns(self) -> list[Row]:
        """The session's own turns: the number of each, when it began, and its active time."""
        is_reported = self._reported_ms() is not None
        return [
            row_of((place, turn.began_ms, (turn.reported_ms or 0) if is_reported else turn.active_ms))
            for place, turn in enumerate(self._turns)
            if turn.number[1] and not turn.is_copy and turn.began_ms is not None
        ]

    def active_ms(self) -> int | None:
        """How long the own turns took together, None if unknown: the durations that the agent reports if each
        turn has one, otherwise the times of the lines."""
        copies = [turn for turn in self._turns if turn.is_copy]
        if (reported_ms := self._reported_ms()) is not None:
            return reported_ms - sum(turn.reported_ms or 0 for turn in copies)
        return sum(turn.active_ms for turn in self._turns if not turn.is_copy) or None

    def _reported_ms(self) -> int | None:
        """Return None unless each turn has a duration."""
        return complete_sum([run.duration_of_turns_ms for run in self._session.runs])


_MOST_PROMPT = 500
_STEP_SECONDS = 0.2


class Rows(NamedTuple):
    """The rows of a session, with values in the order of the columns of the schema."""

    session: Row
    calls: list[Row]
    edits: list[Row]
    paths: Sequence[Row] = ()
    requests: Sequence[Row] = ()
    turns: Sequence[Row] = ()


def rows_of(found: SessionEntry, repositories: Repositories) -> Rows:
    """Read a session to its end. One that cannot be read has only the row with the reason."""
    try:
        with reading(found.path), closing(_opened(found)) as source:
            feed, activity = _read(source)
            verdicts = verdicts_of(feed)
            tests = final_verdicts(feed, lambda call: verdicts.get(call.number)).state
    except (OSError, Fault) as problem:
        session = Session()
        return Rows(
            _session_row(found, session, Activity(session), None, repositories, str(problem)), [], [], []
        )
    session = feed.session
    calls: list[Row] = []
    edits: list[Row] = []
    paths: list[Row] = []
    for call in islice(session.calls, repeated_calls(session), None):
        calls.append(call_row(call, verdicts.get(call.number)))
        cwd = session.runs[call.run - 1].cwd or found.metadata.cwd
        edits += edit_rows(call, cwd, repositories.root(cwd) if cwd else None)
        paths += path_rows(call, cwd)
    uses = session.uses or Uses(by_request=True)
    requests = [_request_row(key, *used) for key, used in uses.requests.items()]
    requests += [_request_row(f"{_NO_REQUEST}{at}", *used) for at, used in enumerate(uses.others.items())]
    turns = activity.turns() if uses.requests else []
    row = _session_row(found, session, activity, tests, repositories, None)
    return Rows(row, calls, edits, paths, requests, turns)


_NO_REQUEST = "\n"
"""The first character of the key of requests without an id. No id of an agent begins with it."""


def _request_row(key: str, use: Use, tokens: Tokens) -> Row:
    """The row of a request, or of all requests without an id that cost alike."""
    return row_of((key, *tokens[:4], tokens.written, tokens.written_1h, *use))


def _opened(found: SessionEntry) -> FileSource | StoreSource:
    """A subagent that is a session of its own is not joined to its parent."""
    if found.reach in (Reach.STORE, Reach.PARTS):
        return saved_source(found.path, is_alone=True)
    return FileSource(open_saved(found.path))


def _read(source: FileSource | StoreSource) -> tuple[Feed, Activity]:
    """Read a session without its texts."""
    feed = Feed(source.reader)
    feed.takes_agent_times = True
    feed.session.uses, feed.session.only_counts = Uses(by_request=True), True
    feed.observer = activity = Activity(feed.session)
    while not feed.is_over:
        feed.advance(_STEP_SECONDS)
        forget_texts(feed.session)
    return feed, activity


def _session_row(
    found: SessionEntry,
    session: Session,
    activity: Activity,
    tests: State | None,
    repositories: Repositories,
    problem: str | None,
) -> Row:
    run, metadata = session.run, found.metadata
    session.exit_code = metadata.exit_code
    is_recording = found.agent == OWN
    cwd = run.cwd or metadata.cwd
    outcomes, tokens = calls_by_outcome(session), session.tokens
    prompt = next((prompt for each in session.runs if (prompt := each.prompt) is not None), metadata.prompt)
    seen_ms = found.changed_ns // 10**6 if session.last_seen_ms is None else session.last_seen_ms
    values = {
        "path": path_of(found),
        "agent": (session.agent_name if is_recording else None) or found.agent,
        "session_id": (run.session_id if is_recording else None) or found.id,
        "parent": found.parent,
        "is_recording": int(is_recording),
        "format": session.format,
        "title": metadata.title or run.title,
        "prompt": prompt[:_MOST_PROMPT],
        "model": run.model or metadata.model,
        "cwd": cwd,
        "repository": repositories.of(cwd).name if cwd else None,
        "branch": run.branch or metadata.branch,
        "outcome": None if problem else session.outcome,
        "tests": tests,
        "began_ms": metadata.began_ms if activity.began_ms is None else activity.began_ms,
        "seen_ms": seen_ms,
        "active_ms": activity.active_ms(),
        "turns": session.turns,
        "calls": own_calls(session),
        "failed": outcomes.get(Outcome.FAILED, 0),
        "rejected": outcomes.get(Outcome.REJECTED, 0),
        "cancelled": outcomes.get(Outcome.CANCELLED, 0),
        "input_tokens": tokens.input,
        "cached_tokens": tokens.cached,
        "output_tokens": tokens.output,
        "cost_usd": tokens.cost_usd,
        "size": found.size,
        "changed_ns": changed_ns_of(found),
        "problem": problem,
    }
    return row_of(values.values())
