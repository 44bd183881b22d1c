"""Finds the copies of a text: a rollout has each message as a model's item and as an event.

Which of the two comes first depends on the version. Paginated histories give both the same id. Older ones
have no ids, and the event may lack parts of the item's text that Codex does not show, such as citations.
"""

from __future__ import annotations

from collections import deque
from hashlib import blake2b
from typing import NamedTuple

_MOST_WAITING = 64
_MOST_CHARACTERS = 1 << 20
"""The length of the prompts that are kept until the next line shows whether they are the user's."""
_CONTEXT = (
    *("<environment_context", "<user_instructions", "<turn_aborted", "<skills_instructions", "<skill"),
    *("<user_shell_command", "<subagent_notification", "<permissions instructions", "<collaboration_mode"),
    *("<hook_prompt", "<model_switch", "<personality_spec", "<apps_instructions", "<plugins_instructions"),
    *("<recommended_plugins", "<INSTRUCTIONS", "<user_action", "<realtime_conversation", "<goal_context"),
    "# AGENTS.md instructions",
)
"""The beginnings of messages that Codex writes in the name of the user."""
_PLAN = "<proposed_plan>"


class _Waiting(NamedTuple):
    """A text whose copy has not come."""

    key: str | None
    """The id of its message; None if the format has no ids."""
    digest: bytes


class Copies:
    """The texts of one channel whose copy may still come."""

    def __init__(self) -> None:
        self._events: deque[_Waiting] = deque(maxlen=_MOST_WAITING)
        self._items: deque[_Waiting] = deque(maxlen=_MOST_WAITING)

    def is_new_event(self, key: str | None, text: str) -> bool:
        """Return whether the text of an event has not come as an item."""
        waiting = _Waiting(key, _digest(text))
        if _taken(self._items, waiting):
            return False
        self._events.append(waiting)
        return True

    def is_new_item(self, key: str | None, text: str) -> bool:
        """Return whether the text of an item has not come as an event.

        If an event without an id is still waiting for its item, this is that item, even if its text differs.
        """
        waiting = _Waiting(key, _digest(text))
        is_copy = _taken(self._events, waiting)
        if not is_copy and any(each.key is None for each in self._events):
            self._events.remove(next(each for each in self._events if each.key is None))
            is_copy = True
        if _PLAN in text:  # the plan in it comes as an event of its own
            self._events.clear()
        if not is_copy:
            self._items.append(waiting)
        return not is_copy

    def clear(self) -> None:
        """Expect no more copies: what comes next is a later step of the model."""
        self._events.clear()
        self._items.clear()


class Twins:
    """The newest text that one kind of line reported, because some rollouts report it in two.

    A prompt and an answer may be the completed item of a paginated history and an event of the older form, a
    web search an item of the model and an event. Two texts of the same kind of line are never twins.
    """

    def __init__(self) -> None:
        self._last: tuple[bytes, bool] | None = None

    def is_second(self, text: str, *, is_item: bool) -> bool:
        """Return whether the other kind of line has just reported this text.

        Args:
            text: The text.
            is_item: Whether the line is an item.
        """
        digest = _digest(text)
        is_twin = self._last == (digest, not is_item)
        self._last = None if is_twin else (digest, is_item)
        return is_twin


class Prompts:
    """The user's messages. An item may also be written by Codex in the name of the user.

    Most versions write an event for each real prompt, directly before or after its item. An item is therefore
    kept until an event, or the first answer to it, has come.
    """

    def __init__(self) -> None:
        self._events: deque[bytes] = deque(maxlen=_MOST_WAITING)
        self._shown: deque[bytes] = deque(maxlen=_MOST_WAITING)
        """The items that were taken for prompts, because no event had come."""
        self._items: list[str] = []
        self._has_events = False
        """Whether this version writes an event for each prompt."""

    def is_new_event(self, text: str) -> bool:
        """Return whether the text of an event is a prompt that has not come as an item."""
        self._items.clear()
        self._has_events = True
        digest = _digest(text)
        if digest in self._shown:
            self._shown.remove(digest)
            return False
        self._events.append(digest)
        return True

    def add_item(self, text: str) -> None:
        """Keep the text of an item, unless it is the copy of an event or was written by Codex."""
        digest = _digest(text)
        if digest in self._events:
            self._events.remove(digest)
        elif not self._is_context(text.lstrip()) and len(self._items) < _MOST_WAITING:
            self._items.append(text[:_MOST_CHARACTERS])

    def _is_context(self, text: str) -> bool:
        """Return whether Codex wrote a message itself.

        Where prompts have events, a message in a tag is not the user's if it has no event, whatever the tag.
        """
        return text.startswith(_CONTEXT) or (self._has_events and text.startswith("<"))

    def drop_items(self) -> None:
        """Forget the kept items: they were not the user's."""
        self._items.clear()

    def take(self) -> list[str]:
        """Return the kept items, in order: no event came, so they are prompts."""
        taken, self._items = self._items, []
        self._shown.extend(map(_digest, taken))
        return taken


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass")).digest()


def _taken(waiting: deque[_Waiting], found: _Waiting) -> bool:
    """Return whether a text is the copy of one that waits, which is then removed."""
    for each in waiting:
        if each.digest == found.digest or (each.key is not None and each.key == found.key):
            waiting.remove(each)
            return True
    return False
