"""Synthetic sessions of Claude Code with a known truth: what they contain is noted while they are written."""

import json
from dataclasses import dataclass, field
from random import Random
from typing import Any

Json = dict[str, Any]
CWD = "/home/ada/tidepool"
MODEL = "claude-sonnet-5"
_WORDS = (
    "the tide",
    " is low.",
    "\n\n",
    "🌊",
    "干潮",
    '"',
    "\\",
    "- one\n",
    "`x`",
    " ",
    "{",
    "}",
    "\u2028",
    "é",
)
_ASIDES: tuple[Json, ...] = (
    {"type": "system", "subtype": "thinking_tokens", "estimated_tokens": 4, "estimated_tokens_delta": 4},
    {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed"}},
    {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning", "utilization": 0.9}},
    {"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10, "retry_delay_ms": 512.5},
    {"type": "tool_progress", "tool_use_id": "x", "elapsed_time_seconds": 3},
    {"type": "system", "subtype": "hook_response", "hook_name": "Stop", "exit_code": 2, "stderr": "no"},
)


@dataclass
class Ending:
    """How a call ends: its result line, and the outcome that follows from it."""

    outcome: str
    content: str
    is_error: bool | None = None
    structured: Any = None
    exit_code: int | None = None
    is_denied: bool = False


_SHELL = (
    Ending("succeeded", "ok", False, {"stdout": "ok", "stderr": "", "interrupted": False}),
    Ending("succeeded", "ok"),
    Ending("failed", "Exit code 3\nno such file", True, "Error: Exit code 3\nno such file", 3),
    Ending("failed", "Exit code 127", True, exit_code=127),
    Ending("rejected", "This command requires approval", True, "Error: This command requires approval"),
    Ending("rejected", "PreToolUse:Bash hook error: BLOCKED", True),
    Ending("rejected", "The rules say no", True, is_denied=True),
    Ending("cancelled", "", False, {"stdout": "", "stderr": "", "interrupted": True}),
    Ending("cancelled", "[Request interrupted by user for tool use]", True),
    Ending("returned", "Command running in background with ID: b1", None, {"backgroundTaskId": "b1"}),
)
_FILE = (
    Ending("succeeded", "1\tone\n2\ttwo"),
    Ending("failed", "<tool_use_error>File does not exist.</tool_use_error>", True, "Error: File"),
    Ending("rejected", "The user doesn't want to proceed with this tool use. STOP", True, "User rejected"),
)
_TOOLS: tuple[tuple[str, str, Json, str | None, tuple[Ending, ...]], ...] = (
    ("Bash", "execute", {"command": "pytest -q\nmake", "timeout": 9}, "pytest -q ⏎ +1 line", _SHELL),
    ("Read", "read", {"file_path": f"{CWD}/src/a.py"}, "src/a.py", _FILE),
    ("Edit", "edit", {"file_path": "/etc/x", "old_string": "a", "new_string": "b"}, "/etc/x", _FILE),
    ("Write", "edit", {"file_path": f"{CWD}/b 🌊.md", "content": "x\n"}, "b 🌊.md", _FILE),
    ("Grep", "search", {"pattern": r"\.tide\b"}, r"\.tide\b", _FILE[:2]),
    ("mcp__sea__read_tide", "mcp", {"at": "noon"}, "sea read_tide", _FILE[:2]),
    ("TodoWrite", "plan", {"todos": [{"content": "x", "status": "pending"}]}, None, _FILE[:1]),
    ("Beachcomb", "other", {"path": "/shore"}, "Beachcomb /shore", _FILE),
)


@dataclass
class Story:
    """A session that is written line by line, and the summary that it must have."""

    random: Random
    is_partial: bool
    lines: list[Json] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    calls: list[Json] = field(default_factory=list)
    runs: int = 0
    turns: int = 0
    outcome: str = "unfinished"
    session_id: str = "s-0"
    tokens: dict[str, int] = field(default_factory=dict)
    cost: float | None = None
    """The cost of the process, as its result lines have it; `turns` and `tokens` are those of all runs."""
    _earlier_cost: float | None = None
    _messages: int = 0
    _denials: list[str] = field(default_factory=list)
    _below: dict[str, int] = field(default_factory=dict)
    """The tokens of the subagents in this turn, which its result line leaves out."""

    def write(self) -> None:
        """Write a session of up to three runs with up to three turns each."""
        for number in range(self._number(1, 3)):
            if number == 0 or self._chance():
                self.session_id = f"s-{number}"
            is_same = number > 0 and self.session_id != f"s-{number}"
            if not is_same or self.outcome == "unfinished":
                self.runs += 1
                self._earlier_cost, self.cost = self._whole_cost(), None
            for _ in range(self._number(1, 3)):
                self.turns += 1
                self._turn()
                if self.outcome == "unfinished":
                    break

    def data(self) -> bytes:
        return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in self.lines)

    def truth(self) -> Json:
        """Return the members of the summary that the session determines."""
        return {
            "format": "claude-code",
            "session_id": self.session_id,
            "outcome": self.outcome,
            "text": "".join(self.text),
            "runs": self.runs,
            "turns": self.turns,
            "tokens": {key: self.tokens.get(key) for key in ("input", "cached", "output")},
            "cost_usd": self._whole_cost(),
            "calls": self.calls,
            "unknown": 0,
            "malformed": 0,
        }

    def _whole_cost(self) -> float | None:
        known = [cost for cost in (self._earlier_cost, self.cost) if cost is not None]
        return sum(known) if known else None

    def _turn(self) -> None:
        self.outcome, self._denials = "unfinished", []
        if self._chance():
            self._line({"type": "system", "subtype": "hook_started", "hook_id": "h"})
        init = {"type": "system", "subtype": "init", "cwd": CWD, "model": MODEL, "tools": ["Bash"]}
        self._line({**init, "claude_code_version": "2.1.330", "permissionMode": "default"})
        if self._chance():
            self._line({"type": "user", "message": {"role": "user", "content": "Go on."}, "isReplay": True})
        live = {"input": 0, "cached": 0}
        self._below = {"input": 0, "cached": 0, "output": 0}
        for _ in range(self._number(0, 4)):
            self._message(None, live)
            if self._chance(8):
                self._compact()
        if self._chance(6):
            for key, count in live.items():
                if count + self._below[key]:
                    self.tokens[key] = self.tokens.get(key, 0) + count + self._below[key]
            return
        self._end(live)

    def _end(self, live: dict[str, int]) -> None:
        kind = self._number(0, 4)
        self.outcome = ("succeeded", "succeeded", "failed", "failed", "cancelled")[kind]
        facts: Json = ({}, {}, {"is_error": True}, {}, {"terminal_reason": "aborted_tools"})[kind]
        subtype = "success" if kind < 3 else ("error_max_turns", "error_during_execution")[kind - 3]
        self.cost = (self.cost or 0.0) + 0.25
        usage = {
            "input_tokens": 0,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": live["cached"],
        }
        usage |= {"input_tokens": live["input"] - live["cached"], "output_tokens": 50}
        for key, count in (*live.items(), ("output", 50)):
            self.tokens[key] = self.tokens.get(key, 0) + count + self._below[key]
        denials = [
            {"tool_name": "Bash", "tool_use_id": call_id, "tool_input": {}} for call_id in self._denials
        ]
        result = {"type": "result", "subtype": subtype, "is_error": kind > 2, "usage": usage, "num_turns": 1}
        words = {"result": self.text[-1] if self.text else ""} if kind < 3 else {"errors": ["No more."]}
        last = {"permission_denials": denials, "total_cost_usd": self.cost, **words, **facts}
        self._line({**result, **last})

    def _message(self, agent: str | None, live: dict[str, int]) -> None:
        """Write a message: reasoning, text and calls, and the results of the calls in any order."""
        self._messages += 1
        head = {"id": f"msg_{self._messages}", "role": "assistant", "model": MODEL, "content": []}
        usage = {"input_tokens": 3, "cache_read_input_tokens": 100 * self._messages, "output_tokens": 1}
        is_streamed = self.is_partial and agent is None
        blocks: list[Json] = []
        if self._chance():
            blocks.append({"type": "thinking", "thinking": self._words(), "signature": "x"})
        if self._chance():
            blocks.append({"type": "text", "text": self._words() or "Hm"})
        started = [self._call(agent, blocks) for _ in range(self._number(0, 3))]
        if not blocks:
            return
        counted = live if agent is None else self._below
        counted["input"] += 3 + 100 * self._messages
        counted["cached"] += 100 * self._messages
        if agent is not None:
            self._below["output"] += 1
        if is_streamed:
            self._event({"type": "message_start", "message": {**head, "usage": usage}})
        for index, block in enumerate(blocks):
            self._aside()
            if is_streamed:
                self._deltas(index, block)
            if block["type"] == "text" and agent is None:
                self.text.append(block["text"])
            call = next((call for call, use, _ in started if use is block), None)
            if call is not None:
                self.calls.append(call)
            message = {**head, "content": [block], "usage": usage}
            self._line({"type": "assistant", "message": message, "parent_tool_use_id": agent})
            if is_streamed:
                self._event({"type": "content_block_stop", "index": index})
        if is_streamed:
            self._event({"type": "message_stop"})
        self.random.shuffle(started)
        delegates = [call for call, use, _ in started if use["name"] == "Task"]
        for _ in range(len(delegates) * self._number(0, 2)):  # the lines of parallel subagents interleave
            self._message(delegates[self._number(0, len(delegates) - 1)]["call_id"], live)
        for call, _, ending in started:
            if not self._chance(10):
                self._result(call, ending, agent)

    def _call(self, agent: str | None, blocks: list[Json]) -> tuple[Json, Json, Ending]:
        call_id = f"toolu_{self._messages}_{len(blocks)}"
        name, kind, arguments, target, endings = self.random.choice(_TOOLS)
        if agent is None and self._chance(4):
            name, kind, arguments, target = "Task", "delegate", {"description": "Look", "prompt": "x"}, "Look"
            endings = _FILE[:2]
        block = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
        blocks.append(block)
        call = {"call_id": call_id, "agent": agent, "tool": name, "kind": kind, "target": target}
        return {**call, "outcome": "unfinished", "exit_code": None}, block, self.random.choice(endings)

    def _result(self, call: Json, ending: Ending, agent: str | None) -> None:
        call |= {"outcome": ending.outcome, "exit_code": ending.exit_code}
        block: Json = {"type": "tool_result", "tool_use_id": call["call_id"], "content": ending.content}
        if ending.is_error is not None:
            block["is_error"] = ending.is_error
        if ending.outcome == "rejected":
            self._denials.append(call["call_id"])
        if ending.is_denied:
            self._line({"type": "system", "subtype": "permission_denied", "tool_use_id": call["call_id"]})
        line: Json = {"type": "user", "message": {"role": "user", "content": [block]}}
        if ending.structured is not None and (agent is None or not isinstance(ending.structured, str)):
            line["tool_use_result"] = ending.structured
        self._line({**line, "parent_tool_use_id": agent, "timestamp": "2026-11-20T14:03:07.250Z"})

    def _deltas(self, index: int, block: Json) -> None:
        kind = block["type"]
        self._event({"type": "content_block_start", "index": index, "content_block": {"type": kind}})
        key, name = {"text": ("text", "text_delta"), "thinking": ("thinking", "thinking_delta")}.get(
            kind, ("partial_json", "input_json_delta")
        )
        words = block[key] if key in block else json.dumps(block["input"])
        while words:
            cut = self._number(1, 9)
            delta = {"type": name, key: words[:cut]}
            self._event({"type": "content_block_delta", "index": index, "delta": delta})
            words = words[cut:]
            if kind == "thinking":
                self._line(_ASIDES[0])

    def _compact(self) -> None:
        self._line({"type": "system", "subtype": "status", "status": "compacting"})
        self._line({"type": "system", "subtype": "status", "status": None, "compact_result": "success"})
        metadata = {"trigger": "auto", "pre_tokens": 900, "post_tokens": 90}
        self._line({"type": "system", "subtype": "compact_boundary", "compact_metadata": metadata})
        summary = {"role": "user", "content": "This session is being continued."}
        self._line({"type": "user", "message": summary, "isSynthetic": True, "parent_tool_use_id": None})

    def _aside(self) -> None:
        if self._chance(3):
            self._line(self.random.choice(_ASIDES))

    def _event(self, event: Json) -> None:
        self._line({"type": "stream_event", "event": event, "parent_tool_use_id": None})

    def _line(self, fields: Json) -> None:
        self.lines.append({**fields, "session_id": self.session_id, "uuid": f"u-{len(self.lines)}"})

    def _words(self) -> str:
        return "".join(self.random.choices(_WORDS, k=self._number(0, 8)))

    def _number(self, least: int, most: int) -> int:
        return self.random.randint(least, most)

    def _chance(self, of: int = 2) -> bool:
        return self.random.randrange(of) == 0


def story(seed: int, *, is_partial: bool) -> Story:
    made = Story(Random(seed), is_partial)
    made.write()
    return made
