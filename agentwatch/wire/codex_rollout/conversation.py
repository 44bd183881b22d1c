"""The prompts, answers and thoughts of a rollout, and the turns that they begin."""

from __future__ import annotations

from collections.abc import Iterable

from agentwatch.events import Channel, Event, Outcome, Prompt, Text, TextEnded, TurnEnded, TurnStarted
from agentwatch.wire.codex_rollout.texts import Copies, Prompts, Twins
from agentwatch.wire.fields import Fields, items, mapping, text
from agentwatch.wire.json_line import whole_text

_NO_TEXT = "[image]"
"""The prompt of a message without a text."""


class Conversation:
    """Decodes the texts of a rollout. A turn begins with a prompt, or with the first answer without one."""

    def __init__(self) -> None:
        self._is_announced = False
        """Whether a turn was announced that has neither a prompt nor an answer yet."""
        self._awaits_answer = False
        """Whether the newest prompt has no answer yet."""
        self._prompts = Prompts()
        self._prompt_twins, self._answer_twins = Twins(), Twins()
        self._answers = Copies()
        self._thoughts = Copies()

    def announce_turn(self) -> None:
        """Note that a turn starts. Codex also starts one to compact the context, without a prompt."""
        self._is_announced = not self._awaits_answer
        self.begin_step()

    def begin_step(self) -> None:
        """Note that all texts so far have their copies: the model called a tool, or its turn is over."""
        self._answers.clear()
        self._thoughts.clear()

    def after_prompts(self, events: list[Event]) -> list[Event]:
        """Return the events of an answer or a call after those that they imply.

        These are prompts that no event has confirmed, and the start of a turn that has no prompt.
        """
        before = self.late_prompts()
        if events and self._is_announced:
            self._is_announced = False
            before.append(TurnStarted())
        self._awaits_answer = self._awaits_answer and not events
        return [*before, *events]

    def late_prompts(self) -> list[Event]:
        """Return the prompts that no event has confirmed. What follows them shows that none will."""
        return [self._prompt(each) for each in self._prompts.take()]

    def turn_ended(self, ended: TurnEnded) -> list[Event]:
        """End the turn. One without a prompt and an answer is a compaction: it is no turn of the user's."""
        is_empty = self._is_announced and ended.outcome is Outcome.SUCCEEDED
        prompts = [] if is_empty else self.late_prompts()
        self._prompts.drop_items()
        self._is_announced = self._awaits_answer = False
        self.begin_step()
        return [] if is_empty else [*prompts, ended]

    def message_item(self, item: Fields, at_ms: int | None) -> list[Event]:
        """Return the events of a message of the user or of the model."""
        pieces = map(mapping, items(item.get("content")))
        texts = [whole_text(found) for piece in pieces if (found := text(piece, "text")) is not None]
        role, answer = item.get("role"), "".join(texts)
        if role == "user" and _is_users(item):
            for found in texts:
                self._prompts.add_item(found)
        elif role == "assistant" and answer and self._answers.is_new_item(text(item, "id"), answer):
            return self.after_prompts(_block(Channel.ANSWER, answer, at_ms))
        return []

    def reasoning_item(self, item: Fields, at_ms: int | None) -> list[Event]:
        """Return the parts of the model's reasoning that did not come as an event."""
        key = text(item, "id")
        parts = _parts(items(item.get("summary")) or items(item.get("content")))
        return self._thought([each for each in parts if self._thoughts.is_new_item(key, each)], at_ms)

    def prompt(self, found: str, *, is_item: bool = False) -> list[Event]:
        """Return the prompt of an event, unless it came as an item of the model or as another event.

        Args:
            found: The text.
            is_item: Whether the event is the completed item of a paginated history.
        """
        found = whole_text(found) or _NO_TEXT
        if self._prompt_twins.is_second(found, is_item=is_item):
            return []
        return [self._prompt(found)] if self._prompts.is_new_event(found) else []

    def answer(
        self, found: str | None, key: str | None, at_ms: int | None, *, is_item: bool = False
    ) -> list[Event]:
        """Return the answer of an event, unless it came as an item of the model or as another event.

        Args:
            found: The text; None without one.
            key: The id of the message; None without one.
            at_ms: The time of the line.
            is_item: Whether the event is the completed item of a paginated history.
        """
        found = whole_text(found or "")
        if not found or self._answer_twins.is_second(found, is_item=is_item):
            return []
        if not self._answers.is_new_event(key, found):
            return []
        return self.after_prompts(_block(Channel.ANSWER, found, at_ms))

    def thought(self, given: Iterable[object], key: str | None, at_ms: int | None) -> list[Event]:
        """Return the parts of the model's reasoning in an event that did not come as an item."""
        return self._thought(
            [each for each in _parts(given) if self._thoughts.is_new_event(key, each)], at_ms
        )

    def _prompt(self, found: str) -> Prompt:
        self._is_announced, self._awaits_answer = False, True
        return Prompt(found)

    def _thought(self, parts: list[str], at_ms: int | None) -> list[Event]:
        events = [event for part in parts for event in _block(Channel.REASONING, part, at_ms)]
        return self.after_prompts(events) if events else []


def _parts(given: Iterable[object]) -> list[str]:
    """Return the texts among parts of reasoning, each a text or an object with one."""
    found = [each if isinstance(each, str) else text(mapping(each), "text") for each in given]
    return [whole_text(each) for each in found if each]


def _block(channel: Channel, found: str, at_ms: int | None) -> list[Event]:
    return [Text(channel, found, at_ms), TextEnded(channel, at_ms)]


def _is_users(item: Fields) -> bool:
    """Return whether a message may be the user's. Version 0.169 says for each piece who wrote it."""
    said = mapping(item.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
    kinds = [kind for kind in items(said) if isinstance(kind, str)]
    return not kinds or any(kind.startswith("user.") for kind in kinds)
