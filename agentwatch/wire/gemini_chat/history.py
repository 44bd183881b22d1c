"""The conversation so far: the prompts and answers that a later line may replace or remove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentwatch.events import Channel, Event, Rewound, Text, TextEnded, TextRetracted

_MOST_ENTRIES = 50_000
_DROPPED_AT_ONCE = 1000
_MOST_CHARACTERS = 1 << 20
"""The text of the newest answers that is kept, because a line may replace an answer before them."""
_MOST_REWRITTEN = 100
"""The number of answers after a replaced one. The agent itself replaces only its last message."""


@dataclass(slots=True)
class Entry:
    """A prompt or an answer."""

    key: str
    """The id of its message; empty for a message without one."""
    is_prompt: bool
    length: int
    """The number of its characters."""
    digest: int
    text: str | None
    """Its text; None if it is too old to be kept."""
    at_ms: int | None

    @classmethod
    def of(cls, key: str, text: str, *, is_prompt: bool, at_ms: int | None = None) -> Entry:
        """Return the entry of a message."""
        return cls(key, is_prompt, len(text), hash(text.strip()), text, at_ms)

    def equals(self, other: Entry) -> bool:
        """Return whether the entry of another line is the same, apart from spaces around its text."""
        return self.is_prompt is other.is_prompt and self.digest == other.digest


class History:
    """The prompts and answers in order, at most 50,000. The oldest are dropped."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._numbers: dict[str, int] = {}
        """The number of each message's entry, counted from the first entry of all."""
        self._dropped = 0
        """The number of entries that were dropped."""
        self._kept_from = 0
        """The first entry whose text is kept."""
        self._characters = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def is_complete(self) -> bool:
        """Whether no entry has been dropped."""
        return self._dropped == 0

    @property
    def ends_in_answer(self) -> bool:
        """Whether the last entry is an answer."""
        return bool(self._entries) and not self._entries[-1].is_prompt

    def replace_all(self, entries: Sequence[Entry]) -> None:
        """Replace all entries without an event: the agent shortened the conversation."""
        self._entries, self._numbers = [], {}
        self._dropped = self._kept_from = self._characters = 0
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> list[Event]:
        """Append an entry. Return the events of an answer; those of a prompt are left to the caller."""
        if entry.key:
            self._numbers[entry.key] = self._dropped + len(self._entries)
        self._entries.append(entry)
        self._characters += entry.length
        while self._characters > _MOST_CHARACTERS and self._kept_from < len(self._entries):
            self._forget_text(self._entries[self._kept_from])
            self._kept_from += 1
        events = [] if entry.is_prompt else _texts(entry)
        if len(self._entries) > _MOST_ENTRIES:
            self._drop_oldest()
        return events

    def find(self, key: str) -> int | None:
        """Return the place of a message's entry; None for a message without an entry."""
        number = self._numbers.get(key, -1) - self._dropped
        return number if number >= 0 else None

    def put(self, number: int, entry: Entry) -> list[Event]:
        """Replace an entry. Return the events if it is an answer with another text.

        The answers after it are written again. If they are too old to be kept, nothing changes.
        """
        before = self._entries[number]
        if before.equals(entry) or before.is_prompt or entry.is_prompt:
            return []
        after = [each for each in self._entries[number + 1 :][:_MOST_REWRITTEN] if not each.is_prompt]
        is_kept = all(each.text is not None for each in after)
        if not is_kept or len(self._entries) - number > _MOST_REWRITTEN:
            return []
        self._forget_text(before)
        self._entries[number] = entry
        self._characters += entry.length
        retracted = before.length + sum(each.length for each in after)
        events: list[Event] = [TextRetracted(retracted)] if retracted else []
        return [*events, *(event for each in (entry, *after) for event in _texts(each))]

    def common(self, entries: Sequence[Entry]) -> int:
        """Return the number of entries at the beginning that are the same."""
        pairs = zip(self._entries, entries, strict=False)
        least = min(len(self._entries), len(entries))
        return next((number for number, (old, new) in enumerate(pairs) if not old.equals(new)), least)

    def cut(self, number: int) -> list[Event]:
        """Remove the entries from a number on, and return what that means for the turns and the text.

        Prompts without an answer stay turns: the agent drops the prompt of a request that failed.
        """
        removed = self._entries[number:]
        del self._entries[number:]
        self._kept_from = min(self._kept_from, number)
        for entry in removed:
            self._forget_text(entry)
            self._numbers.pop(entry.key, None)
        if all(entry.is_prompt for entry in removed):
            return []
        first = next((nth for nth, entry in enumerate(removed) if entry.is_prompt), len(removed))
        turns = sum(entry.is_prompt for entry in removed)
        characters = sum(entry.length for entry in removed[:first])
        events: list[Event] = [Rewound(turns)] if turns else []
        return [*events, TextRetracted(characters)] if characters else events

    def _forget_text(self, entry: Entry) -> None:
        if entry.text is not None:
            self._characters -= entry.length
            entry.text = None

    def _drop_oldest(self) -> None:
        for entry in self._entries[:_DROPPED_AT_ONCE]:
            self._forget_text(entry)
            if self._numbers.get(entry.key, self._dropped) < self._dropped + _DROPPED_AT_ONCE:
                self._numbers.pop(entry.key, None)
        del self._entries[:_DROPPED_AT_ONCE]
        self._dropped += _DROPPED_AT_ONCE
        self._kept_from = max(self._kept_from - _DROPPED_AT_ONCE, 0)


def _texts(entry: Entry) -> list[Event]:
    """Return the events of an answer. It is an entry of the transcript, so that it can be retracted."""
    if not entry.text:
        return []
    return [Text(Channel.ANSWER, entry.text, entry.at_ms), TextEnded(Channel.ANSWER, entry.at_ms)]
