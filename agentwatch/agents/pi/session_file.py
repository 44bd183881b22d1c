"""Decodes the session files of Pi: a header, then entries that form a tree. One whose parent is not the
leaf begins a new branch: the user went back, and left what came after the parent."""

from __future__ import annotations

from agentwatch.agents.fields import Fields, in_words, mapping, number, text
from agentwatch.agents.named_calls import ModelDecoder
from agentwatch.agents.on_disk import time_of
from agentwatch.agents.pi.stream import (
    Calls,
    content_text,
    model_of,
    own_command,
    prompt_text,
    texts,
    tool_calls,
    turn_ended,
    usage,
)
from agentwatch.agents.tool import said
from agentwatch.session.events import (
    Compaction,
    Event,
    Notice,
    Outcome,
    Prompt,
    Retry,
    Rewound,
    RunInfo,
    RunStarted,
    TurnEnded,
    TurnStarted,
    Unknown,
)

# The branch of the tree, and how far the user went back.

_MOST_ENTRIES = 1 << 16
"""The number of newest entries that a branch can begin at. Each takes about 200 bytes."""
_MOST_ANCESTORS = 256
"""How far the common ancestor is searched, if the user goes to a branch that was left before."""
_MOST_ID = 100


class Tree:
    def __init__(self) -> None:
        self._branch: dict[str, int] = {}
        """The ids of the present branch in order, each with the number of prompts up to it."""
        self._parents: dict[str, str | None] = {}
        self._leaf: str | None = None

    def add(self, fields: Fields, *, is_prompt: bool) -> int:
        """Add an entry, and return the number of turns that the user went back before it. An entry without an
        id, as before version 2, continues the branch."""
        entry, parent = text(fields, "id"), text(fields, "parentId")
        if entry is None or len(entry) > _MOST_ID or len(parent or "") > _MOST_ID:
            return 0
        is_root = parent is None and "parentId" in fields
        turns = self._go_to(parent) if parent != self._leaf and (is_root or parent in self._parents) else 0
        self._parents[entry] = parent
        self._append(entry, is_prompt=is_prompt)
        for entries in (self._branch, self._parents):
            if len(entries) > _MOST_ENTRIES:
                del entries[next(iter(entries))]
        return turns

    def _append(self, entry: str, *, is_prompt: bool) -> None:
        turns = self._turns()
        self._branch.pop(entry, None)  # an id that occurs twice is the later entry
        self._branch[entry] = turns + is_prompt
        self._leaf = entry

    def _turns(self) -> int:
        return 0 if self._leaf is None else self._branch.get(self._leaf, 0)

    def _go_to(self, parent: str | None) -> int:
        """Return the number of turns that are left. Those of another branch up to the present one are not
        shown again, and do not count."""
        passed: list[str] = []
        ancestor = parent
        while ancestor is not None and ancestor not in self._branch:
            if len(passed) == _MOST_ANCESTORS:
                return 0
            passed.append(ancestor)
            ancestor = self._parents.get(ancestor)
        before = self._turns()
        while self._branch and next(reversed(self._branch)) != ancestor:
            self._branch.popitem()
        self._leaf = ancestor
        turns = before - self._turns()
        for entry in reversed(passed):
            self._append(entry, is_prompt=False)
        return turns


_SILENT = frozenset(
    {
        *("thinking_level_change", "label", "custom", "context_transform", "ephemeral"),
        *("branch_summary", "title", "title_change", "mode_change", "session_init"),
    }
)
"""Types of entries that report nothing that is shown. The last four are those of omp."""


class PiSessionDecoder(ModelDecoder):
    def __init__(self) -> None:
        self._calls = Calls()
        self._tree = Tree()
        self._forked_ms: int | None = None
        self._repeats_history = False
        """Whether the newest entry is a copy of one of the session from which this one was forked."""
        self._failed: tuple[object, TurnEnded] | None = None
        """The id of the newest answer, and the end that it is, if it failed."""
        self._retries = 0
        """The number of retries since the prompt."""

    def decode(self, fields: Fields) -> list[Event]:
        kind = fields.get("type")
        if kind == "session":
            return [self._run_started(fields)]
        message = mapping(fields.get("message"))
        is_prompt = kind == "message" and message.get("role") == "user"
        turns = self._tree.add(fields, is_prompt=is_prompt)
        events = [*self._copied(fields), *self._events(kind, fields, message)]
        return [Rewound(turns), *events] if turns else events

    def _copied(self, fields: Fields) -> list[Event]:
        """Return whether an entry is older than its session: a fork keeps the ids and times of its copies."""
        at_ms = None if self._forked_ms is None else time_of(fields)
        if at_ms is None or (at_ms < (self._forked_ms or 0)) is self._repeats_history:
            return []
        self._repeats_history = not self._repeats_history
        return [RunInfo(repeats_history=self._repeats_history)]

    def _run_started(self, fields: Fields) -> RunStarted:
        """Read the header. Versions before 2 have the model in it."""
        cwd = text(fields, "cwd")
        self._calls.begin_run(cwd)
        self._tree = Tree()
        self._model = model_of(fields, "modelId")
        is_fork = text(fields, "parentSession") is not None or text(fields, "branchedFrom") is not None
        self._forked_ms = time_of(fields) if is_fork else None
        self._repeats_history = False
        return RunStarted("pi-session", session_id=text(fields, "id"), model=self._model, cwd=cwd)

    def _events(self, kind: object, fields: Fields, message: Fields) -> list[Event]:
        match kind:
            case "message":
                return self._message(fields, message)
            case "model_change":
                return self.used(model_of(fields, "modelId"))
            case "compaction":
                return [Compaction(is_over=True, tokens_before=number(fields, "tokensBefore"))]
            case "custom_message":
                return _custom(fields)
            case "session_info":
                title = text(fields, "name")
                return [] if title is None else [RunInfo(title=title, is_users_title=True)]
            case "context_edit":
                return self._edited(fields)
            case "usage":
                counts = usage(mapping(fields.get("usage")), has_context=False, request=_request(fields))
                return [] if self._repeats_history else counts
            case str() if kind in _SILENT:
                return []
        return [Unknown(f"type {in_words(kind)}")]

    def _edited(self, fields: Fields) -> list[Event]:
        """Read a change of what the model gets. Pi takes a failed answer out of it to ask again, at once or
        after some seconds; the last failure of a turn stays."""
        if self._failed is None or fields.get("targetId") != self._failed[0] or fields.get("replacement"):
            return []
        reason, self._failed = self._failed[1].result or "", None
        self._retries += 1
        return [TurnStarted(is_prompted=False), Retry(reason, self._retries, at_ms=time_of(fields))]

    def _message(self, fields: Fields, message: Fields) -> list[Event]:
        match message.get("role"):
            case "user":
                self._retries = 0
                return [Prompt(prompt_text(message))]
            case "assistant":
                return self._assistant(fields, message)
            case "toolResult":
                call_id, name = text(message, "toolCallId") or "", text(message, "toolName") or ""
                at_ms = time_of(fields)
                return [self._calls.ended(call_id, name, message, message.get("isError"), at_ms=at_ms)]
            case "bashExecution":
                return [own_command(message)]
            case "custom" | "hookMessage":
                return _custom(message)
            case "branchSummary" | "compactionSummary" | "developer" | "system":
                return []
        return [Unknown(f"role {in_words(message.get('role'))}")]

    def _assistant(self, fields: Fields, message: Fields) -> list[Event]:
        """Read a message. It is written when it is complete, before its calls run."""
        at_ms = time_of(fields)
        events = self.used(model_of(message))
        for _, channel, words in texts(message):
            events += said(channel, words, at_ms)
        group = text(fields, "id") or text(message, "responseId")
        for call in tool_calls(message):
            call_id, name = text(call, "id") or "", text(call, "name") or "tool"
            arguments = mapping(call.get("arguments"))
            events.append(self._calls.started(call_id, name, arguments, group=group, at_ms=at_ms))
        ended = turn_ended(message)
        has_failed = ended is not None and ended.outcome is Outcome.FAILED
        self._failed = (fields.get("id"), ended) if ended is not None and has_failed else None
        is_whole = message.get("stopReason") not in ("error", "aborted")
        if not self._repeats_history:
            request = _request(fields)
            events += usage(mapping(message.get("usage")), has_context=is_whole, request=request)
        return events if ended is None else [*events, ended]


def _request(fields: Fields) -> str | None:
    """Return the identity of a request: an entry's id has 8 digits, so that its time belongs to it."""
    entry, at_ms = text(fields, "id"), time_of(fields)
    return None if entry is None or at_ms is None else f"{entry[:_MOST_ID]} {at_ms}"


def _custom(fields: Fields) -> list[Event]:
    """Read a message that an extension added. It may be hidden from the user."""
    words = content_text(fields.get("content"))
    return [Notice(words)] if words and fields.get("display") is not False else []
