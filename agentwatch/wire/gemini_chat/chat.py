"""The state of one chat: reads its messages, which later lines may write again, replace or remove."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.events import (
    Channel,
    Compaction,
    Event,
    Notice,
    Outcome,
    Prompt,
    RunInfo,
    Text,
    TextEnded,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    Unknown,
)
from agentwatch.wire.fields import Fields, in_words, items, text
from agentwatch.wire.gemini_chat.calls import CallLine, call_events, call_of
from agentwatch.wire.gemini_chat.history import Entry, History
from agentwatch.wire.gemini_chat.known import Known, new_usage, remember
from agentwatch.wire.gemini_chat.messages import (
    Author,
    author_of,
    content_text,
    folder_in,
    message_text,
    prompt_text,
    shell_command,
    thoughts_in,
)
from agentwatch.wire.on_disk.iso_time import time_of

_MOST_MESSAGES = 50_000
_MOST_CALLS = 10_000
_MOST_ID = 128
"""The length of an id that is kept. The ids of messages have 36 characters."""
_MOST_REASON = 4096
_ANSWERS = ("gemini", "model")
_CALLS = (ToolStarted, ToolEnded)
_NOTICES = ("info", "warning", "error")
_CANCELLED = "Request cancelled."
"""What the agent notes when the user interrupts it."""


class Chat:
    """One chat: the messages that were read, and what they say about the present turn."""

    def __init__(self) -> None:
        self._history = History()
        self._known: dict[str, Known] = {}
        """The messages by id; the oldest are dropped."""
        self._ended: dict[str, None] = {}
        """The calls that have ended, by id; the oldest are dropped."""
        self._model: str | None = None
        self._cwd = ""
        self._awaits_end = False
        """Whether the last message is an answer without calls. It ends the turn, unless its calls follow."""
        self._is_over = False
        """Whether the end of the present turn was reported."""

    def found_folder(self, folder: str | None) -> str | None:
        """Keep the first working directory that is found, and return it; None for any other."""
        if not folder or self._cwd:
            return None
        self._cwd = folder.rstrip("/\\")
        return folder

    def message(self, fields: Fields) -> list[Event]:
        """Return the events of a message: what is new in it, if it was read before."""
        kind = fields.get("type")
        if kind == "user":
            return self._user(fields)
        if kind in _ANSWERS:
            return self._answer(fields)
        if kind in _NOTICES:
            return self._notice(fields)
        return [Unknown(f"type {in_words(kind)}")]

    def _user(self, fields: Fields) -> list[Event]:
        message = message_text(fields)
        match author_of(fields, message):
            case Author.RESULTS:
                self._awaits_end = False
                return []
            case Author.CONTEXT:
                cwd = self.found_folder(folder_in(message))
                return [RunInfo(cwd=cwd)] if cwd else []
            case Author.SHELL:
                is_known = self._is_known(fields)
                return [] if is_known else [Notice(f"you ran {shell_command(message)}", time_of(fields))]
            case Author.SUMMARY | Author.AGENT:
                return []
        cwd = self.found_folder(folder_in(message))
        return [*([RunInfo(cwd=cwd)] if cwd else []), *self._prompt(fields)]

    def _prompt(self, fields: Fields) -> list[Event]:
        prompt = prompt_text(fields)
        if not prompt:
            return []
        entry = Entry.of(_key(fields), prompt, is_prompt=True)
        if self._history.find(entry.key) is not None:
            return []
        closing = self.close()
        self._is_over = False
        self._history.add(entry)
        return [*closing, Prompt(prompt)]

    def _answer(self, fields: Fields) -> list[Event]:
        """Read an answer: what is new in it, if it was written before."""
        facts, new = self._facts(fields), []
        message, key = message_text(fields), _key(fields)
        if message:
            entry = Entry.of(key, message, is_prompt=False, at_ms=time_of(fields))
            number = self._history.find(key)
            new += self._history.add(entry) if number is None else self._history.put(number, entry)
        calls = _calls(fields)
        new += self._call_events(calls)
        self._is_over = self._is_over and not new
        self._awaits_end = not calls and bool(message)
        is_cancelled = bool(calls) and all(call.fields.get("status") == "cancelled" for call in calls)
        return [*facts, *new, *(self._ends(Outcome.CANCELLED) if is_cancelled and new else [])]

    def _call_events(self, calls: list[CallLine]) -> list[Event]:
        """Return the events of the calls that had not ended when their message was read before."""
        events: list[Event] = []
        for call in calls:
            if call.call_id not in self._ended:
                events += call_events(call, self._cwd)
                if not call.is_open:
                    remember(self._ended, call.call_id, None, _MOST_CALLS)
        return events

    def _facts(self, fields: Fields) -> list[Event]:
        """Return the model, the new thoughts and the new tokens of an answer."""
        events: list[Event] = []
        model = text(fields, "model")
        if model is not None and model != self._model:
            self._model = model
            events.append(RunInfo(model=model))
        known = self._known.get(_key(fields))
        if known is None:
            known = Known()
            remember(self._known, _key(fields), known, _MOST_MESSAGES)
        thoughts = thoughts_in(fields)
        at_ms = time_of(fields)
        for thought in filter(None, thoughts[known.thoughts :]):
            events += [Text(Channel.REASONING, thought, at_ms), TextEnded(Channel.REASONING, at_ms)]
        known.thoughts = max(known.thoughts, len(thoughts))
        if isinstance(fields.get("tokens"), dict):
            events += new_usage(known, fields["tokens"], at_ms)
        return events

    def _notice(self, fields: Fields) -> list[Event]:
        if self._is_known(fields):
            return []
        message = _bounded(message_text(fields) or content_text(fields.get("displayContent")))
        is_error = fields.get("type") == "error"
        events: list[Event] = [Notice(message, time_of(fields), is_error=is_error)] if message else []
        if is_error:
            return [*events, *self._ends(Outcome.FAILED, message or None)]
        return [*events, *self._ends(Outcome.CANCELLED)] if message.strip() == _CANCELLED else events

    def _ends(self, outcome: Outcome, reason: str | None = None) -> list[Event]:
        """Return the end of the present turn, unless it was reported before."""
        self._awaits_end = False
        if self._is_over:
            return []
        self._is_over = True
        return [TurnEnded(outcome, result=reason)]

    def close(self) -> list[Event]:
        """Return the end of a turn whose answer is complete."""
        return self._ends(Outcome.SUCCEEDED) if self._awaits_end else []

    def _is_known(self, fields: Fields) -> bool:
        """Return whether a message without parts that change was read before."""
        key = _key(fields)
        if key and key in self._known:
            return True
        remember(self._known, key, Known(), _MOST_MESSAGES)
        return False

    def replaced(self, messages: list[Fields]) -> list[Event]:
        """Replace all messages: keep those at the beginning that are the same, and read the others.

        If the messages contain a summary that is new, the agent shortened the conversation: what was said
        stays, and nothing in them is new.
        """
        entries = [_entry(message) for message in messages]
        present = [entry for entry in entries if entry is not None]
        summaries = [_key(message) for message in messages if _is_summary(message)]
        is_shortened = any(key not in self._known for key in summaries)
        for key in summaries:
            remember(self._known, key, Known(), _MOST_MESSAGES)
        if len(self._history) and (is_shortened or not self._history.is_complete):
            self._history.replace_all(present)
            return [Compaction(is_over=True)] if is_shortened else []
        same = self._history.common(present)
        is_cut, state = same < len(self._history), (self._awaits_end, self._is_over)
        events = self._history.cut(same)
        is_rewound = bool(events)
        for message in _without_first(messages, entries, same):
            events += self.message(message)
        if same == len(present) and not any(type(event) in _CALLS for event in events):
            ends_well = is_rewound and self._history.ends_in_answer
            self._awaits_end, self._is_over = (ends_well, state[1] and not is_rewound) if is_cut else state
        return events

    def rewound(self, key: str) -> list[Event]:
        """Remove a message and those after it; all messages, if it is not known."""
        number = self._history.find(_bounded_key(key))
        events = self._history.cut(number or 0)
        self._awaits_end = self._history.ends_in_answer
        self._is_over = False
        return events


def _calls(fields: Fields) -> list[CallLine]:
    return [call_of(value) for value in items(fields.get("toolCalls")) if isinstance(value, dict)]


def _without_first(messages: list[Fields], entries: list[Entry | None], most: int) -> Iterator[Fields]:
    """Yield the messages without the texts of the first prompts and answers, which were read before.

    Args:
        messages: The messages.
        entries: The prompt or answer in each of them.
        most: The number of the prompts and answers.
    """
    for message, entry in zip(messages, entries, strict=True):
        if entry is None or most == 0:
            yield message
        else:
            most -= 1
            if not entry.is_prompt:
                yield {**message, "content": "", "parts": ""}


def _entry(fields: Fields) -> Entry | None:
    """Return the entry of a message; None if it is neither a prompt nor an answer with a text."""
    message, kind = message_text(fields), fields.get("type")
    if kind in _ANSWERS:
        at_ms = time_of(fields)
        return Entry.of(_key(fields), message, is_prompt=False, at_ms=at_ms) if message else None
    if kind != "user" or author_of(fields, message) is not Author.USER:
        return None
    prompt = prompt_text(fields)
    return Entry.of(_key(fields), prompt, is_prompt=True) if prompt else None


def _is_summary(fields: Fields) -> bool:
    return fields.get("type") == "user" and author_of(fields, message_text(fields)) is Author.SUMMARY


def _key(fields: Fields) -> str:
    """Return the id of a message; empty for a message without one."""
    return _bounded_key(text(fields, "id") or "")


def _bounded_key(key: str) -> str:
    return key if len(key) <= _MOST_ID else f"{hash(key)}"


def _bounded(message: str) -> str:
    return f"{message[: _MOST_REASON - 1]}…" if len(message) > _MOST_REASON else message
