"""Decodes the chats of gemini-cli 0.39 to 0.61 (`packages/core/src/services/chatRecordingService.ts`). A
message is written again when it changes: an answer at first without its calls, then with the ended batch.
`$set` may replace all messages, `$rewindTo` removes one and those after it. No line says that a turn
ended well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeVar

from agentwatch.agents.blocks import binary_block, returned_block
from agentwatch.agents.changes import argument_blocks
from agentwatch.agents.fields import SUBAGENT, Fields, digest_of, in_words, items, mapping, number, text
from agentwatch.agents.gemini.stream import (
    argument_facts,
    ending,
    exit_code_in,
    plan_in,
    shown_facts,
    tool_named,
)
from agentwatch.agents.on_disk import iso_ms, time_of
from agentwatch.agents.subagents import SubagentDecoder
from agentwatch.agents.tool import Tool, remember, said
from agentwatch.session.blocks import Block, ChangeBlock, ErrorBlock
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    Notice,
    Outcome,
    Prompt,
    Rewound,
    RunInfo,
    RunStarted,
    TextRetracted,
    Tokens,
    ToolEnded,
    ToolKind,
    ToolStarted,
    TurnEnded,
    Unknown,
    Usage,
    UsageScope,
)

# The conversation so far: prompts and answers that a later line may replace or remove.

_MOST_MESSAGES = 50_000
_DROPPED_AT_ONCE = 1000
_MOST_CHARACTERS = 1 << 20
"""The text of the newest answers that is kept, because a line may replace an answer before them."""
_MOST_REWRITTEN = 100
"""The number of answers after a replaced one. The agent itself replaces only its last message."""


@dataclass(slots=True)
class Entry:
    key: str
    is_prompt: bool
    length: int
    digest: int
    text: str | None
    """Its text; None if it is too old to be kept."""
    at_ms: int | None
    is_left_out: bool = False

    @classmethod
    def of(cls, key: str, text: str, *, is_prompt: bool, at_ms: int | None = None) -> Entry:
        return cls(key, is_prompt, len(text), digest_of(text.strip()), text, at_ms)

    def equals(self, other: Entry) -> bool:
        """Return whether the entry of another line is the same, apart from spaces around its text."""
        return self.is_prompt is other.is_prompt and self.digest == other.digest


class History:
    """The prompts and answers in order, at most 50,000. The oldest are dropped."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._numbers: dict[str, int] = {}
        self._dropped = 0
        self._kept_from = 0
        self._characters = 0
        self.is_repeated = False
        self._repeated = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def is_complete(self) -> bool:
        return self._dropped == 0

    @property
    def ends_in_answer(self) -> bool:
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
        if len(self._entries) > _MOST_MESSAGES:
            self._drop_oldest()
        return events

    def find(self, key: str) -> int | None:
        number = self._numbers.get(key, -1) - self._dropped
        return number if number >= 0 else None

    def put(self, number: int, entry: Entry) -> list[Event]:
        """Return the events of a new text: the later answers are written again, if they are not too old."""
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

    def begin_again(self) -> None:
        """Note that the agent records its context again, and probably all messages after it."""
        self.is_repeated, self._repeated = bool(self._entries) and self.is_complete, 0

    def repeats(self, entry: Entry) -> bool:
        """Return whether the agent records an entry again: all have new ids then, in the same order."""
        if not self.is_repeated:
            return False
        place = self._present(self._repeated)
        if place == len(self._entries) or not self._entries[place].equals(entry):
            self.is_repeated = False
            return False
        before = self._entries[place]
        self._numbers.pop(before.key, None)
        before.key = entry.key
        if entry.key:
            self._numbers[entry.key] = place
        self._repeated = place + 1
        return True

    def common(self, entries: Sequence[Entry]) -> tuple[int, int]:
        place = same = 0
        for entry in entries:
            place = self._present(place)
            if place == len(self._entries) or not self._entries[place].equals(entry):
                return same, place
            place, same = place + 1, same + 1
        return same, self._present(place)

    def leave_out(self, place: int) -> bool:
        """Leave out the entries from a place on if they are the last turn, and return whether they are."""
        last = self._entries[place:]
        if not last or any(entry.is_prompt for entry in last[1:]):
            return False
        for entry in last:
            entry.is_left_out = True
        return True

    def _present(self, place: int) -> int:
        while place < len(self._entries) and self._entries[place].is_left_out:
            place += 1
        return place

    def cut(self, number: int) -> list[Event]:
        """Remove the entries from a number on, and return what that means for the turns and the text. Prompts
        without an answer stay turns: the agent drops the prompt of a request that failed."""
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
    return said(Channel.ANSWER, entry.text, entry.at_ms)


# The texts of a message: of the user, of the model, and of the agent.

_CONTEXT = "<session_context>"
_CONTEXT_END = "</session_context>"
_SETUP = ("Reminder:", "My setup is complete")
_SUMMARY = "<state_snapshot>"
_SHELL = "I ran the following shell command:"
_CONTINUE = "System: Please continue."
_OF_THE_AGENT = (
    _CONTEXT,
    _SUMMARY,
    "<hook_context>",
    _CONTINUE,
    "This is the Gemini CLI. We are setting up the context",
    "Here is the user's editor context",
    "Here is a summary of changes in the user's editor context",
)
"""The beginnings of messages that the agent itself writes in the name of the user."""
_REFERENCED = "--- Content from referenced files ---"
"""The beginning of the files that a prompt names with `@`; they follow the prompt in the same message."""
_FOLDERS = "Workspace Directories:"
_MOST_CONTEXT = 4096


class Author(Enum):
    USER = "user"
    SHELL = "shell"
    """The user ran a command, whose output the model is shown."""
    CONTEXT = "context"
    SUMMARY = "summary"
    """The agent, which replaced the conversation by a summary."""
    RESULTS = "results"
    AGENT = "agent"


def content_text(content: object) -> str:
    parts = content if isinstance(content, list) else [content]
    return "".join(_part_text(part) for part in parts)


def message_text(fields: Fields) -> str:
    return content_text(fields["content"] if "content" in fields else fields.get("parts"))


def prompt_text(fields: Fields) -> str:
    """Return what the user typed: without the context before it, and the files that the prompt names."""
    typed = content_text(fields.get("displayContent"))
    return typed or _after_context(message_text(fields)).partition(_REFERENCED)[0].rstrip()


def _after_context(message: str) -> str:
    if not message.lstrip().startswith(_CONTEXT):
        return message
    words = message.partition(_CONTEXT_END)[2].lstrip()
    return "" if words.startswith(_SETUP) else words


def author_of(fields: Fields, message: str) -> Author:
    parts = items(fields.get("content"))
    if any("functionResponse" in mapping(part) for part in parts):
        return Author.RESULTS
    message = message.lstrip()
    if message.startswith(_CONTEXT):
        return Author.USER if _after_context(message) else Author.CONTEXT
    if message.startswith(_SUMMARY):
        return Author.SUMMARY
    if message.startswith(_SHELL):
        return Author.SHELL
    return Author.AGENT if message.startswith(_OF_THE_AGENT) else Author.USER


def shell_command(message: str) -> str:
    lines = (line.strip() for line in message[:_MOST_CONTEXT].split("\n")[1:])
    return next((line for line in lines if line and not line.startswith("```")), "")


def folder_in(message: str) -> str | None:
    """Return the first of the workspace directories in the context, which is the working directory."""
    if not message.lstrip().startswith(_CONTEXT):
        return None
    _, found, rest = message[:_MOST_CONTEXT].partition(_FOLDERS)
    for line in rest.split("\n")[1:] if found else ():
        entry = line.strip()
        if entry:
            return entry.removeprefix("- ") if entry.startswith("- ") else None
    return None


def thoughts_in(fields: Fields) -> list[str]:
    found = []
    for thought in items(fields.get("thoughts")):
        words = [text(mapping(thought), key) for key in ("subject", "description")]
        found.append("\n\n".join(word for word in words if word))
    return found


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    fields = mapping(part) if isinstance(part, dict) else {}
    return "" if fields.get("thought") is True else text(fields, "text") or ""


# The calls of a message, which are written when all calls of their batch have ended.

_OPEN = frozenset(("validating", "scheduled", "executing", "awaiting_approval"))


class CallLine(NamedTuple):
    call_id: str
    name: str
    tool: Tool
    fields: Fields
    arguments: Fields

    @property
    def is_open(self) -> bool:
        status = self.fields.get("status")
        return isinstance(status, str) and status in _OPEN

    @property
    def shown(self) -> object:
        """What the agent showed of the result: a text, or an object such as the change of a file."""
        return displayed(self.fields.get("resultDisplay"))

    @property
    def exit_code(self) -> int | None:
        """The exit code of a command that failed, whose status is `success` too (0.61); None without one. The
        text for the model names it after the output. A line of the output that looks like it is shown."""
        for part in items(self.fields.get("result")):
            returned = mapping(mapping(mapping(part).get("functionResponse")).get("response"))
            code = exit_code_in(text(returned, "output"))
            shown = self.shown
            if code is not None and not (
                isinstance(shown, str) and shown.rstrip().endswith(f"Exit Code: {code}")
            ):
                return code
        return None


def call_of(value: object) -> CallLine:
    fields = mapping(value)
    name = text(fields, "name") or "unknown"
    tool = tool_named(name, text(fields, "displayName"))
    return CallLine(text(fields, "id") or "", name, tool, fields, mapping(fields.get("args")))


def call_events(call: CallLine, cwd: str) -> list[Event]:
    started = call.tool.started(call.call_id, call.name, call.arguments, cwd=cwd)
    if call.is_open:
        return [started]
    result = ending(call.fields.get("status"), reason_of(call.fields))
    if (
        result.outcome is Outcome.SUCCEEDED
        and call.tool.kind is ToolKind.EXECUTE
        and (code := call.exit_code)
    ):
        result = result._replace(outcome=Outcome.FAILED, error=f"exit {code}", exit_code=code)
    is_success = result.outcome is Outcome.SUCCEEDED
    if is_success:
        facts = shown_facts(call.tool, call.shown, argument_facts(call.name, call.arguments))
        result = result._replace(facts=facts)
    ended = call.tool.ended(
        call.call_id, call.name, result, has_arguments=True, at_ms=iso_ms(call.fields.get("timestamp"))
    )
    events: list[Event] = [
        ended._replace(target=started.target, path=started.path, more_paths=started.more_paths)
    ]
    plan = plan_in(call.tool, call.arguments) if is_success else None
    events += [] if plan is None else [plan]
    if result.unknown_status is not None:
        events.append(Unknown(f"status {result.unknown_status} of a call"))
    return events


def reason_of(call: Fields) -> str | None:
    if call.get("status") == "success":
        return None
    for part in items(call.get("result")):
        error = mapping(mapping(mapping(part).get("functionResponse")).get("response")).get("error")
        found = error if isinstance(error, str) and error else text(mapping(error), "message")
        if found:
            return found
    shown = displayed(call.get("resultDisplay"))
    return shown or None if isinstance(shown, str) and "status" in call else None


def displayed(value: object) -> object:
    """Return what the agent showed. The lines of a terminal, which are lists of tokens, become a text."""
    if not isinstance(value, list):
        return value
    lines = ("".join(text(mapping(token), "text") or "" for token in items(line)) for line in value)
    return "\n".join(lines).rstrip()


# A message that may be written again, and what is new when it is.

_Value = TypeVar("_Value")


@dataclass(slots=True)
class Known:
    thoughts: int = 0
    tokens: tuple[int, int, int] = (0, 0, 0)


def new_usage(known: Known, counts: Fields, at_ms: int | None, request: str | None) -> list[Event]:
    """Return the new usage. The input includes cached tokens, the output the thoughts."""
    found = [number(counts, key) or 0 for key in ("input", "tool", "cached", "output", "thoughts")]
    tokens = (found[0] + found[1], found[2], found[3] + found[4])
    if tokens == known.tokens:
        return []
    new = [after - before for after, before in zip(tokens, known.tokens, strict=True)]
    known.tokens = tokens
    usage = Tokens(input=new[0], cached=new[1], output=new[2], context_used=tokens[0] + tokens[2])
    return [Usage(usage, UsageScope.REQUEST, at_ms, request)]


def _keep(found: dict[str, _Value], key: str, value: _Value, most: int) -> None:
    if key:
        remember(found, key, value, most)


# The state of one chat, whose messages later lines may write again, replace or remove.

_MOST_CALLS = 10_000
_MOST_ID = 128
_MOST_REASON = 4096
_ANSWERS = ("gemini", "model")
_CALLS = (ToolStarted, ToolEnded)
_NOTICES = ("info", "warning", "error")
_CANCELLED = "Request cancelled."


class Chat:
    """One chat: the messages that were read, and what they say about the present turn."""

    def __init__(self) -> None:
        self._history = History()
        self._known: dict[str, Known] = {}
        self._ended: dict[str, None] = {}
        self._model: str | None = None
        self._cwd = ""
        self._awaits_end = False
        """Whether the last message is an answer without calls. It ends the turn, unless its calls follow."""
        self._is_over = False
        """Whether the end of the present turn was reported."""
        self._is_cancelled = False

    def found_folder(self, folder: str | None) -> str | None:
        """Keep the first working directory that is found, and return it; None for any other."""
        if not folder or self._cwd:
            return None
        self._cwd = folder.rstrip("/\\")
        return folder

    def message(self, fields: Fields) -> list[Event]:
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
        if message.lstrip().startswith(_CONTEXT):
            self._history.begin_again()
        match author_of(fields, message):
            case Author.RESULTS:
                self._awaits_end = False
                return []
            case Author.SHELL:
                is_known = self._is_known(fields)
                return [] if is_known else [Notice(f"you ran {shell_command(message)}", time_of(fields))]
            case Author.SUMMARY | Author.AGENT:
                return []
            case author:
                cwd = self.found_folder(folder_in(message))
                facts: list[Event] = [RunInfo(cwd=cwd)] if cwd else []
                return facts if author is Author.CONTEXT else [*facts, *self._prompt(fields)]

    def _prompt(self, fields: Fields) -> list[Event]:
        prompt = prompt_text(fields)
        if not prompt:
            return []
        entry = Entry.of(_key(fields), prompt, is_prompt=True)
        if self._history.repeats(entry) or self._history.find(entry.key) is not None:
            return []
        closing = self.close()
        self._is_over = self._is_cancelled = False
        self._history.add(entry)
        return [*closing, Prompt(prompt)]

    def _answer(self, fields: Fields) -> list[Event]:
        message, key = message_text(fields), _key(fields)
        entry = Entry.of(key, message, is_prompt=False, at_ms=time_of(fields)) if message else None
        if self._history.is_repeated and (entry is None or self._history.repeats(entry)):
            return []
        facts, new = self._facts(fields), []
        if entry is not None:
            number = self._history.find(key)
            new += self._history.add(entry) if number is None else self._history.put(number, entry)
        calls = [call_of(each) for each in items(fields.get("toolCalls")) if isinstance(each, dict)]
        new += self._call_events(calls)
        self._is_over = self._is_over and not new
        self._awaits_end = not calls and bool(message)
        is_cancelled = bool(calls) and all(call.fields.get("status") == "cancelled" for call in calls)
        return [*facts, *new, *(self._ends(Outcome.CANCELLED) if is_cancelled and new else [])]

    def _call_events(self, calls: list[CallLine]) -> list[Event]:
        events: list[Event] = []
        for call in calls:
            if call.call_id not in self._ended:
                events += call_events(call, self._cwd)
                if not call.is_open:
                    _keep(self._ended, call.call_id, None, _MOST_CALLS)
        return events

    def _facts(self, fields: Fields) -> list[Event]:
        events: list[Event] = []
        model = text(fields, "model")
        if model is not None and model != self._model:
            self._model = model
            events.append(RunInfo(model=model))
        known = self._known.get(_key(fields))
        if known is None:
            known = Known()
            _keep(self._known, _key(fields), known, _MOST_MESSAGES)
        thoughts = thoughts_in(fields)
        at_ms = time_of(fields)
        for thought in thoughts[known.thoughts :]:
            events += said(Channel.REASONING, thought, at_ms)
        known.thoughts = max(known.thoughts, len(thoughts))
        if isinstance(fields.get("tokens"), dict):
            events += new_usage(known, fields["tokens"], at_ms, _key(fields) or None)
        return events

    def _notice(self, fields: Fields) -> list[Event]:
        if self._is_known(fields):
            return []
        message = message_text(fields) or content_text(fields.get("displayContent"))
        message = f"{message[: _MOST_REASON - 1]}…" if len(message) > _MOST_REASON else message
        is_error = fields.get("type") == "error"
        events: list[Event] = [Notice(message, time_of(fields), is_error=is_error)] if message else []
        if is_error:
            return [*events, *self._ends(Outcome.FAILED, message or None)]
        return [*events, *self._ends(Outcome.CANCELLED)] if message.strip() == _CANCELLED else events

    def _ends(self, outcome: Outcome, reason: str | None = None) -> list[Event]:
        self._awaits_end = False
        self._is_cancelled = outcome is Outcome.CANCELLED
        if self._is_over:
            return []
        self._is_over = True
        return [TurnEnded(outcome, result=reason)]

    def close(self) -> list[Event]:
        return self._ends(Outcome.SUCCEEDED) if self._awaits_end else []

    def _is_known(self, fields: Fields) -> bool:
        key = _key(fields)
        if key and key in self._known:
            return True
        _keep(self._known, key, Known(), _MOST_MESSAGES)
        return False

    def replaced(self, messages: list[Fields]) -> list[Event]:
        """Replace all messages: keep the first ones that are the same, and read the others. With a new
        summary, the agent shortened the conversation: what was said stays, and nothing in them is new."""
        self._history.is_repeated = False
        entries = [_entry(message) for message in messages]
        present = [entry for entry in entries if entry is not None]
        summaries = [_key(message) for message in messages if _is_summary(message)]
        is_shortened = any(key not in self._known for key in summaries)
        for key in summaries:
            _keep(self._known, key, Known(), _MOST_MESSAGES)
        if len(self._history) and (is_shortened or not self._history.is_complete):
            self._history.replace_all(present)
            return [Compaction(is_over=True)] if is_shortened else []
        same, place = self._history.common(present)
        if same == len(present) and self._is_cancelled and self._history.leave_out(place):
            return []
        is_cut, state = place < len(self._history), (self._awaits_end, self._is_over)
        events = self._history.cut(place)
        is_rewound = bool(events)
        for message in _without_first(messages, entries, same):
            events += self.message(message)
            self._history.is_repeated = False  # the context among them repeats none of the others
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


def _without_first(messages: list[Fields], entries: list[Entry | None], most: int) -> Iterator[Fields]:
    for message, entry in zip(messages, entries, strict=True):
        if entry is None or most == 0:
            yield message
        else:
            most -= 1
            if not entry.is_prompt:
                yield {**message, "content": "", "parts": ""}


def _entry(fields: Fields) -> Entry | None:
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
    return _bounded_key(text(fields, "id") or "")


def _bounded_key(key: str) -> str:
    return key if len(key) <= _MOST_ID else f"{digest_of(key)}"


FORMAT = "gemini-chat"


class GeminiChatDecoder:
    def __init__(self) -> None:
        self._chat = Chat()
        self._session_id: str | None = None
        self._subagents = SubagentDecoder(self._of_subagent)

    def decode(self, fields: Fields) -> list[Event]:
        if SUBAGENT in fields:
            return self._subagents.decode(fields)
        if "$rewindTo" in fields:
            return self._chat.rewound(text(fields, "$rewindTo") or "")
        if "$set" in fields:
            return self._changed(mapping(fields["$set"]))
        if "projectHash" in fields or ("type" not in fields and "sessionId" in fields):
            return self._session_started(fields)
        return self._chat.message(fields)

    def _of_subagent(self, _name: str) -> GeminiChatDecoder:
        return GeminiChatDecoder()

    def end(self) -> list[Event]:
        return [*self._chat.close(), *self._subagents.end()]

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


# The time of a line.


def line_time(fields: Fields) -> int | None:
    """Return None without a time. A message is written again with its first time when its calls have ended:
    it is as late as the latest of them."""
    for at_ms in (iso_ms(mapping(fields.get("$set")).get("lastUpdated")), iso_ms(fields.get("startTime"))):
        if at_ms is not None:
            return at_ms
    calls = (iso_ms(mapping(call).get("timestamp")) for call in items(fields.get("toolCalls")))
    times = [at_ms for at_ms in (iso_ms(fields.get("timestamp")), *calls) if at_ms is not None]
    return max(times, default=None)


# The arguments and the result of a call, divided into blocks.


def call_blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    change = mapping(fields.get("$set"))
    messages = items(change.get("messages")) if change else [fields]
    values = (value for message in messages for value in items(mapping(message).get("toolCalls")))
    calls = map(call_of, values)
    found = next((call for call in calls if call.call_id == call_id), None)
    if found is None:
        return
    shown = found.shown
    display = mapping(shown)
    has_change = "fileDiff" in display
    plan = plan_in(found.tool, found.arguments)
    entries = plan.entries if plan else ()
    yield from argument_blocks(found.tool.kind, found.arguments, entries, is_change_known=has_change)
    if has_change:
        before, after = display.get("originalContent"), display.get("newContent")
        yield ChangeBlock(
            text(display, "fileDiff"),
            before=before if isinstance(before, str) else None,
            after=after if isinstance(after, str) else None,
        )
    reason = reason_of(found.fields)
    if reason is not None:
        yield ErrorBlock(reason)
    elif output := _output(found, shown):
        first_line = _first_line(found.arguments) if found.tool.kind is ToolKind.READ else 1
        yield returned_block(found.tool.kind, output, found.tool.phrase, max(first_line, 1))
    yield from part_blocks(found.fields.get("result"))


def _output(call: CallLine, shown: object) -> str:
    """Return the text of a result. The agent shows a command's output, and a summary of other results."""
    if call.tool.kind is ToolKind.EXECUTE and isinstance(shown, str) and shown:
        return shown
    texts = []
    for part in map(mapping, items(call.fields.get("result"))):
        response = mapping(mapping(part.get("functionResponse")).get("response"))
        output = response.get("output")
        texts.append(output if isinstance(output, str) else content_text(response.get("content")))
        texts.append(text(part, "text") or "")
    joined = "\n".join(filter(None, texts))
    return joined or (shown if isinstance(shown, str) else "")


def part_blocks(parts: object) -> Iterator[Block]:
    """A response has parts of its own, which are nested no deeper."""
    for part in map(mapping, items(parts)):
        inner = items(mapping(part.get("functionResponse")).get("parts"))
        for each in (part, *map(mapping, inner)):
            if data := mapping(each.get("inlineData")):
                yield binary_block(text(data, "mimeType"), text(data, "data"))


def _first_line(arguments: Fields) -> int:
    """Return the first line that was read. Older versions give an offset, counted from 0."""
    start = number(arguments, "start_line")
    return (number(arguments, "offset") or 0) + 1 if start is None else start
