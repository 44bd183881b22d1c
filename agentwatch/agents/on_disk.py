"""What the decoders of agents' own files share: the facts of the run, times, the tree of lines, and turns."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from agentwatch.agents.fields import Fields, text
from agentwatch.session.events import Event, Notice, Outcome, RunInfo, TurnEnded, TurnStarted

_ONE_LINER = "sdk-cli"
"""The entry point of Claude Code if another program starts it for one prompt, with `-p`."""
_NO_BRANCH = "HEAD"
"""What Claude Code and Qwen Code write outside of a repository, and with a commit checked out."""


class SessionFacts:
    def __init__(self) -> None:
        self._session_id: object = None
        self._cwd: object = None
        self._branch: object = None
        self._version: object = None
        self._mode: object = None
        self._model: object = None
        self.folder = ""
        """The first working directory, without a trailing separator: paths are shown relative to it."""

    def new(self, fields: Fields, model: str | None = None) -> RunInfo | None:
        """Return None without new facts. A resumed session may begin with lines of an earlier one."""
        get = fields.get  # called for each line; very few differ from the line before
        session_id, cwd, version = get("sessionId"), get("cwd"), get("version")
        mode, branch = get("permissionMode"), get("gitBranch")
        if (
            (session_id is None or session_id == self._session_id)
            and (cwd is None or cwd == self._cwd)
            and (version is None or version == self._version)
            and (mode is None or mode == self._mode)
            and (model is None or model == self._model)
            and (not branch or branch == self._branch)
        ):
            return None
        self._session_id, self._cwd = session_id or self._session_id, cwd or self._cwd
        self._version, self._mode = version or self._version, mode or self._mode
        self._model, self._branch = model or self._model, branch or self._branch
        found = RunInfo(
            session_id=text(fields, "sessionId"),
            model=model,
            cwd=text(fields, "cwd"),
            permission_mode=text(fields, "permissionMode"),
            agent_version=text(fields, "version"),
            branch="" if branch == _NO_BRANCH else text(fields, "gitBranch") or None,
            is_one_liner=get("entrypoint") == _ONE_LINER,
        )
        self.folder = self.folder or (found.cwd or "").rstrip("/\\")
        return found


# ISO 8601 times.

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_MOST_CHARACTERS = 40
"""The longest form that an agent writes has 32: `2026-11-21T22:51:18.264000000Z`."""


def iso_ms(value: object) -> int | None:
    """Return None for a value that is not a time. A time without a zone is in UTC.

    Example:
        >>> iso_ms("2026-11-21T22:50:55.616Z")
        1795301455616
    """
    return _ms(value) if isinstance(value, str) and len(value) <= _MOST_CHARACTERS else None


def time_of(fields: Fields) -> int | None:
    return iso_ms(fields.get("timestamp"))


@lru_cache(maxsize=8)
def _ms(value: str) -> int | None:
    """Return the time that a text contains. The same line is asked for its time several times."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MILLISECOND


# The tree of a transcript's lines, which shows that the user went back.
# Each line names the line before it, its parent. A prompt whose parent is not in the last turn begins
# another branch there: the turns after the parent are no longer part of the conversation. Other lines
# with two children are not such branches: the results of parallel calls, progress lines, attachments.

_MOST_LINES = 1 << 14
"""The most lines in each of two generations, 3 MB. Over more, only a rewind to a prompt is found."""
_MOST_ID = 100
_LINE_ID_LENGTH = 36
"""The length of a UUID. An id of another form may be the same in several lines."""


class _Recent:
    def __init__(self) -> None:
        self.new: dict[str, int] = {}
        self.old: dict[str, int] = {}

    def __getitem__(self, line: str) -> int | None:
        found = self.new.get(line)
        return self.old.get(line) if found is None else found

    def __setitem__(self, line: str, turn: int) -> None:
        if len(line) > _MOST_ID:
            return
        if len(self.new) >= _MOST_LINES:
            self.old, self.new = self.new, {}
        self.new[line] = turn


class Tree:
    """The number of the turn that each line belongs to, on the branch that leads to it."""

    def __init__(self) -> None:
        self.turns = 0
        self._lines = _Recent()
        self._before_prompts = _Recent()
        """The parents of prompts: a user goes back to a prompt, and writes another in its place."""
        self._starts_without_parent = False
        self._has_parents = False
        """Whether a line has named its parent. In a file without parents, every prompt follows the last."""

    def has(self, line: object) -> bool:
        """Return whether a line was added before: a resumed session may repeat its history."""
        if not isinstance(line, str) or len(line) != _LINE_ID_LENGTH:
            return False
        return line in self._lines.new or line in self._lines.old

    def add(self, line: object, parent: object, *, is_of_last_turn: bool = False) -> None:
        """Add a line that is not a prompt: to the turn of its parent, or else to the last one."""
        turn: int | None = None
        if isinstance(parent, str):
            self._has_parents = True
            turn = None if is_of_last_turn else self._lines[parent]
        if isinstance(line, str):
            self._lines[line] = self.turns if turn is None else turn

    def add_answer(self, line: object, parent: object, *, begins_turn: bool) -> None:
        self.turns += begins_turn
        self.add(line, parent, is_of_last_turn=begins_turn)

    def add_prompt(self, line: object, parent: object, *, begins_turn: bool) -> int:
        """Add a prompt, and return the number of turns that are not part of the present branch any more.
        `begins_turn`: it begins a turn, and not the agent's own activity before it."""
        turn = self.turns
        if isinstance(parent, str):
            self._has_parents = True
            found = self._lines[parent]
            found = self._before_prompts[parent] if found is None else found
            turn = turn if found is None else min(found, turn)
            self._before_prompts[parent] = turn
        elif parent is None and (self._has_parents or not self.turns):
            turn = 0 if self._starts_without_parent else turn
            self._starts_without_parent = self._starts_without_parent or not self.turns
        rewound = self.turns - turn
        self.turns = turn + (begins_turn or rewound > 0)
        if isinstance(line, str):
            self._lines[line] = self.turns
        return rewound


# The turns of a session, if no line ends them.


class Turns:
    """The present turn. No line starts one: a command of the user starts a turn without a prompt, and the
    end of a background task continues the last turn."""

    def __init__(self) -> None:
        self._outcome: Outcome | None = None
        self._message_id: str | None = None
        self._is_answering = False
        self._prompt_id: str | None = None
        self.awaits_prompt = False
        """Whether the present turn has begun without a prompt."""
        self._is_notified = False
        """Whether the newest line after the end of the turn is that of a background task which has ended."""

    def noticed(self, *, is_task: bool) -> None:
        self._is_notified = is_task

    def prompted(self, prompt_id: str | None) -> None:
        self._outcome, self._prompt_id = None, prompt_id
        self._is_answering = self.awaits_prompt = self._is_notified = False

    def is_present(self, prompt_id: str | None) -> bool:
        return prompt_id is not None and prompt_id == self._prompt_id

    def resumed(self, message_id: str | None) -> TurnStarted | None:
        if self._outcome is None or (message_id and message_id == self._message_id):
            return None
        self._outcome, self.awaits_prompt = None, not self._is_notified
        return TurnStarted(is_prompted=self.awaits_prompt)

    def wrote(self, message_id: str | None) -> None:
        self._message_id, self._is_answering = message_id, True

    def end(
        self, outcome: Outcome, result: str | None = None, *, duration_ms: int | None = None
    ) -> Iterator[Event]:
        """Yield the end of the present turn. One that has ended well may still get its duration."""
        if self._outcome is None or (duration_ms is not None and self._outcome is outcome):
            self._is_notified = self._is_notified and self._outcome is not None
            self._outcome, self.awaits_prompt = outcome, False
            yield TurnEnded(outcome, result, duration_ms=duration_ms)

    def answered(self) -> Iterator[Event]:
        """Yield the end of the turn, if the agent has answered: its hooks run after its answer."""
        if self._is_answering:
            yield from self.end(Outcome.SUCCEEDED)

    def interrupted(self, message_id: str | None, at_ms: int | None) -> Iterator[Event]:
        """A prompt that the user wrote before may already have begun the next turn."""
        if message_id is not None and message_id == self._message_id and not self._is_answering:
            yield Notice("interrupted by the user", at_ms)
            return
        yield from self.end(Outcome.CANCELLED)
