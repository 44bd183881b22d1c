"""Turns rows into lines, in the order in which things happened.

A row has only its last state. A call that has ended therefore becomes two lines: one for its start, as the
row was then, and one for its end. A reader who followed the session from its beginning got the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from agentwatch.sources.stores.json_values import as_line
from agentwatch.wire.opencode.rows import (
    MessageRow,
    Object,
    PartRow,
    Rows,
    SessionRow,
    as_object,
    as_text,
    as_time,
)

_OPEN = ("pending", "running")
_BEGUN_KEYS = (
    *("id", "sessionID", "role", "parentID", "agent", "mode", "model", "modelID", "providerID", "path"),
    *("summary", "variant"),
)
"""The members of a message that it has from its beginning."""
_Moment = tuple[int, Object]
"""A line, and the time at which it was true for the first time, in milliseconds since the epoch."""


@dataclass(slots=True)
class _Message:
    """What the lines of a message's parts depend on."""

    role: str | None = None
    is_summary: bool = False
    begun: int = 0
    completed: int | None = None
    until: int | None = None
    """When the next message of its session began; None if there is no next message yet."""
    latest: int = 0
    """The time of the latest of its moments."""
    is_announced: bool = False
    is_ended: bool = False


class SessionLines:
    """Makes the lines of one session and its subagents' sessions."""

    def __init__(self) -> None:
        self._session: bytes | None = None
        self._messages: dict[str, _Message] = {}
        self._ended: set[str] = set()
        """The ids of the parts whose last line was made."""
        self._open: dict[str, int] = {}
        """A hash of the last line of each part that may still change, by its id."""
        self._calls: dict[str, list[tuple[int, str]]] = {}
        """For each subagent's session, the start and the call_id of the calls that it works for."""
        self._root: str | None = None
        self._reverted_to: str | None = None
        self._newest: dict[str, _Message] = {}
        """The newest message of each session."""

    def of(self, rows: Rows) -> list[bytes]:
        """Return the lines of rows that are new or have changed."""
        moments: list[_Moment] = []
        for message in sorted(rows.messages, key=lambda row: (_begun(row), row.id)):
            self._know(message)
            moments += self._announced(message)
        depth = {session.id: number for number, session in enumerate(rows.sessions)}
        self._root = rows.sessions[0].id

        def order(row: PartRow) -> tuple[int, int, str, str]:
            begun = self._messages[row.message_id].begun if row.message_id in self._messages else 0
            return depth[row.session_id], begun, row.message_id, row.id

        for part in sorted(rows.parts, key=order):
            moments += self._part(part)
        for message in rows.messages:
            moments += self._completed(message)
        moments.sort(key=lambda moment: moment[0])
        lines = self._session_lines(rows.sessions[0])
        for time, fields in moments:
            self._add_agent(fields, time)
            line = as_line({**fields, "timestamp": time} if time else fields)
            lines += [] if line is None else [line]
        return lines + self._reverted(rows.sessions[0])

    def _session_lines(self, session: SessionRow) -> list[bytes]:
        """Return the line of the session that is shown, if it is new or has changed."""
        fields: Object = {"type": "session", "timestamp": session.created, "sessionID": session.id}
        line = as_line({**fields, "info": session.info})
        if line is None or line == self._session:
            return []
        self._session = line
        return [line]

    def _reverted(self, session: SessionRow) -> list[bytes]:
        """Return a line that the user went back to an earlier message, if that is new.

        It follows the messages that are no part of the conversation any more.
        """
        if session.reverted_to == self._reverted_to:
            return []
        self._reverted_to = session.reverted_to
        if session.reverted_to is None:
            return []
        info = {**session.info, "revert": {"messageID": session.reverted_to}}
        line = as_line({"type": "session", "timestamp": None, "sessionID": session.id, "info": info})
        return [] if line is None else [line]

    def _know(self, row: MessageRow) -> None:
        """Note what the lines of a message's parts depend on."""
        message = self._messages.setdefault(row.id, _Message())
        time = as_object(row.data.get("time"))
        message.role = as_text(row.data.get("role"))
        message.is_summary = row.data.get("summary") is True
        message.begun = _begun(row)
        message.completed = as_time(time.get("completed"))
        message.latest = max(message.latest, message.begun)
        before = self._newest.get(row.session_id)
        if before is None or before.begun <= message.begun:
            self._newest[row.session_id] = message
            if before is not None and before is not message:
                before.until = message.begun

    def _announced(self, row: MessageRow) -> list[_Moment]:
        message = self._messages[row.id]
        if message.is_announced:
            return []
        message.is_announced = True
        info = {key: row.data[key] for key in _BEGUN_KEYS if key in row.data}
        if not isinstance(info.get("summary"), bool):
            info.pop("summary", None)  # the changes of all files since the user's message
        return [(message.begun, _message_line(row, {**info, "time": {"created": message.begun or None}}))]

    def _completed(self, row: MessageRow) -> list[_Moment]:
        """Return the line for the end of a model's message."""
        message = self._messages[row.id]
        has_ended = message.completed is not None or row.data.get("error") is not None
        if message.is_ended or not has_ended or message.role != "assistant":
            return []
        message.is_ended = True
        time = max(message.completed or 0, message.latest)
        return [(time, _message_line(row, row.data))]

    def _part(self, row: PartRow) -> list[_Moment]:
        """Return the lines that are due for a part."""
        if row.id in self._ended:
            return []
        message = self._messages.setdefault(row.message_id, _Message())
        if row.data.get("type") == "tool":
            return self._call(row, message)
        time = as_object(row.data.get("time"))
        has_text = row.data.get("type") in ("text", "reasoning")
        if has_text and not as_text(row.data.get("text")):
            return []
        is_final = not has_text or message.role != "assistant" or message.completed is not None
        began = self._began(row, message, as_time(time.get("start")))
        return self._due(row, message, began, is_final=is_final or as_time(time.get("end")) is not None)

    def _call(self, row: PartRow, message: _Message) -> list[_Moment]:
        state = as_object(row.data.get("state"))
        time = as_object(state.get("time"))
        began = self._began(row, message, as_time(time.get("start")))
        self._note_subagent(row, state, began)
        if state.get("status") in _OPEN:
            return self._due(row, message, began, is_final=False)
        moments: list[_Moment] = []
        if row.id not in self._open:
            running = {"status": "running", "input": state.get("input"), "time": {"start": time.get("start")}}
            moments.append((began, _part_line(row, message, {**row.data, "state": running})))
        ended = max(as_time(time.get("end")) or 0, began)
        return moments + self._due(row, message, ended, is_final=True)

    def _note_subagent(self, row: PartRow, state: Object, began: int) -> None:
        """Note the subagent's session that a call has started or continued, if it has."""
        session_id = as_text(as_object(state.get("metadata")).get("sessionId"))
        call_id = as_text(row.data.get("callID"))
        if session_id is not None and call_id is not None:
            calls = self._calls.setdefault(session_id, [])
            if all(call_id != known for _, known in calls):
                calls.append((began, call_id))

    def _due(self, row: PartRow, message: _Message, time: int, *, is_final: bool) -> list[_Moment]:
        """Return the line of a part, unless its last line was the same."""
        fields = _part_line(row, message, row.data)
        message.latest = max(message.latest, time)
        if is_final:
            self._ended.add(row.id)
            self._open.pop(row.id, None)
            return [(time, fields)]
        digest = hash(as_line(fields))
        if self._open.get(row.id) == digest:
            return []
        self._open[row.id] = digest
        return [(time, fields)]

    def _began(self, row: PartRow, message: _Message, own: int | None) -> int:
        """Return when a part began.

        The time of its row is used only if it lies within its message: of an imported session, the rows have
        the time of the import.
        """
        if own is not None:
            return own
        end = message.until if message.completed is None else message.completed
        if row.created is not None and message.begun <= row.created and (end is None or row.created <= end):
            return max(row.created, message.latest)
        return message.latest

    def _add_agent(self, fields: Object, time: int) -> None:
        """Add the call that a subagent's line belongs to."""
        session_id = fields["sessionID"]
        if session_id == self._root:
            return
        calls = self._calls.get(session_id, [])
        earlier = [call_id for began, call_id in calls if began <= time]
        fields["agent"] = earlier[-1] if earlier else calls[0][1] if calls else session_id


def _begun(row: MessageRow) -> int:
    """Return when a message began; its row has another time if the session was imported."""
    return as_time(as_object(row.data.get("time")).get("created")) or row.created or 0


def _message_line(row: MessageRow, info: Object) -> Object:
    return {
        "type": "message",
        "timestamp": None,
        "sessionID": row.session_id,
        "info": {**info, "id": row.id, "sessionID": row.session_id},
    }


def _part_line(row: PartRow, message: _Message, data: Object) -> Object:
    about: Object = {"id": row.message_id, "role": message.role}
    if message.is_summary:
        about["summary"] = True
    ids = {"id": row.id, "messageID": row.message_id, "sessionID": row.session_id}
    return {
        "type": "part",
        "timestamp": None,
        "sessionID": row.session_id,
        "message": about,
        "part": {**data, **ids},
    }
