"""Decodes the files in which Gemini keeps its chats.

The lines are those of gemini-cli 0.39 to 0.61 (`packages/core/src/services/chatRecordingService.ts`). A
message is written again whenever it changes, with the same id: an answer at first without its calls, and with
them when all calls of the batch have ended. `$set` may replace all messages, and `$rewindTo` removes a
message and those after it. No line says that a turn has ended well.
"""

from __future__ import annotations

from agentwatch.events import Event, RunInfo, RunStarted
from agentwatch.wire.fields import Fields, items, mapping, text
from agentwatch.wire.gemini_chat.chat import Chat

FORMAT = "gemini-chat"


class Decoder:
    """Decodes the lines of a chat into events."""

    def __init__(self) -> None:
        self._chat = Chat()
        self._session_id: str | None = None

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        if "$rewindTo" in fields:
            return self._chat.rewound(text(fields, "$rewindTo") or "")
        if "$set" in fields:
            return self._changed(mapping(fields["$set"]))
        if "projectHash" in fields or ("type" not in fields and "sessionId" in fields):
            return self._session_started(fields)
        return self._chat.message(fields)

    def end(self) -> list[Event]:
        """Return the end of the last turn, if its answer is complete."""
        return self._chat.close()

    def _session_started(self, fields: Fields) -> list[Event]:
        """Read the first line. A session that continues in another file repeats it."""
        session_id, closing = text(fields, "sessionId"), []
        is_same = self._session_id is not None and self._session_id == session_id
        if not is_same:
            closing = self._chat.close()
            self._chat, self._session_id = Chat(), session_id
        cwd = self._chat.found_folder(_folder(fields))
        if is_same:
            return [RunInfo(cwd=cwd)] if cwd else []
        return [*closing, RunStarted(FORMAT, session_id=session_id, cwd=cwd)]

    def _changed(self, change: Fields) -> list[Event]:
        """Read a change of the facts about the session, or of all messages."""
        session_id, cwd = text(change, "sessionId"), self._chat.found_folder(_folder(change))
        events: list[Event] = []
        title = text(change, "summary")
        if cwd or title or session_id not in (None, self._session_id):
            self._session_id = session_id or self._session_id
            events.append(RunInfo(session_id=session_id, cwd=cwd, title=title))
        if isinstance(change.get("messages"), list):
            events += self._chat.replaced([mapping(message) for message in change["messages"]])
        return events


def _folder(fields: Fields) -> str | None:
    """Return the first of the session's folders, which only the files of subagents contain."""
    return next((each for each in items(fields.get("directories")) if isinstance(each, str)), None)
