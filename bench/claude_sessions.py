"""Writes a session of any size in Claude Code's `stream-json` with partial messages.

Its pieces of text and the payloads of its calls are those of `sessions.py` with the same seed, so that the
formats can be compared. Each block comes as deltas and again as a whole. A quarter of the lines or more count
thinking tokens.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from random import Random
from typing import Any

from payloads import CWD, Body, Payloads

_SESSION_ID = "7d3c5a10-64f1-4a0e-9b0c-2f6f3d0c8e55"
_MODEL = "claude-sonnet-5"
_PIECES = 8192


class ClaudeSession:
    """Generates one session, message by message."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        payloads = Payloads(seed + 1)
        self._pieces = payloads.pieces(_PIECES, 20, 60)
        self._calls = [_claudes(body) for body in payloads.typical_bodies()]
        self._messages = self._count = 0

    def begin(self) -> list[str]:
        """Return the init line."""
        facts = {"cwd": CWD, "model": _MODEL, "tools": ["Bash"], "permissionMode": "default"}
        return [self._line({"type": "system", "subtype": "init", "claude_code_version": "2.1.330", **facts})]

    def message(self) -> list[str]:
        """Return the lines of one message: its reasoning, its text and its calls, and their results."""
        self._messages += 1
        head: dict[str, Any] = {
            "id": f"msg_{self._messages:024d}",
            "type": "message",
            "role": "assistant",
            "model": _MODEL,
        }
        usage = {"input_tokens": 3, "cache_read_input_tokens": 20_000, "output_tokens": 7}
        lines = [self._event({"type": "message_start", "message": {**head, "content": [], "usage": usage}})]
        blocks: list[tuple[dict[str, Any], list[dict[str, str]]]] = []
        for kind, most in (("thinking", 40), ("text", 66)):
            pieces = self._some(most)
            deltas = [{"type": f"{kind}_delta", kind: piece} for piece in pieces]
            blocks.append(({"type": kind, kind: "".join(pieces)}, deltas))
        results = []
        for _ in range(1 + int(self._random.random() * 4)):
            self._count += 1
            call_id = f"toolu_{self._count:024d}"
            name, arguments, words, structured = self._calls[int(self._random.random() * len(self._calls))]
            block = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
            written = json.dumps(arguments, ensure_ascii=False)
            cuts = range(0, len(written), 40)
            deltas = [
                {"type": "input_json_delta", "partial_json": written[cut : cut + 40]} for cut in cuts[:200]
            ]
            blocks.append((block, deltas))
            content = [{"tool_use_id": call_id, "type": "tool_result", "content": words, "is_error": False}]
            answer = {"role": "user", "content": content}
            results.append(self._line({"type": "user", "message": answer, "tool_use_result": structured}))
        for index, (block, deltas) in enumerate(blocks):
            start = {"type": "content_block_start", "index": index, "content_block": {"type": block["type"]}}
            lines.append(self._event(start))
            for number, delta in enumerate(deltas):
                lines.append(self._event({"type": "content_block_delta", "index": index, "delta": delta}))
                if block["type"] == "thinking" or number % 4 == 0:
                    counts = {"estimated_tokens": number, "estimated_tokens_delta": 1}
                    lines.append(self._line({"type": "system", "subtype": "thinking_tokens", **counts}))
            message: dict[str, Any] = {**head, "content": [block], "stop_reason": None, "usage": usage}
            lines.append(self._line({"type": "assistant", "message": message, "parent_tool_use_id": None}))
            lines.append(self._event({"type": "content_block_stop", "index": index}))
        lines.append(self._event({"type": "message_stop"}))
        return lines + results

    def end(self) -> list[str]:
        """Return the last message and the result."""
        facts = {"is_error": False, "num_turns": self._messages, "duration_ms": 3_600_000, "result": "Done."}
        message = {"id": "msg_end", "role": "assistant", "content": [{"type": "text", "text": "Done."}]}
        return [
            self._line({"type": "assistant", "message": message, "parent_tool_use_id": None}),
            self._line({"type": "result", "subtype": "success", "total_cost_usd": 1.5, **facts}),
        ]

    def _some(self, most: int) -> list[str]:
        count = 8 + int(self._random.random() * (most - 8))
        start = int(self._random.random() * (_PIECES - count))
        return [json.loads(f'"{piece}"') for piece in self._pieces[start : start + count]]

    def _event(self, event: dict[str, Any]) -> str:
        return self._line({"type": "stream_event", "event": event, "parent_tool_use_id": None})

    def _line(self, fields: dict[str, Any]) -> str:
        digits = f"{self._random.getrandbits(128):032x}"
        parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
        ids = {"session_id": _SESSION_ID, "uuid": "-".join(parts)}
        return json.dumps({**fields, **ids}, ensure_ascii=False, separators=(",", ":")) + "\n"


def _claudes(body: Body) -> tuple[str, dict[str, Any], str, dict[str, Any]]:
    """Return a call as Claude Code has it: the tool, the arguments, and the result as text and as fields."""
    (key, call), *_ = json.loads(f"{{{body.completed}}}").items()
    given, result = call.get("args", {}), next(iter(call["result"].values()))
    path = given.get("path", CWD)
    match key:
        case "readToolCall":
            content = result["content"]
            numbered = "\n".join(f"{n}\t{line}" for n, line in enumerate(content.split("\n"), 1))
            count = content.count("\n") + 1
            file = {"filePath": path, "content": content, "numLines": count, "totalLines": count}
            return "Read", {"file_path": path}, numbered, {"type": "text", "file": {**file, "startLine": 1}}
        case "editToolCall":
            lines = result["diffString"].split("\n")[3:]
            patch = [{"oldStart": 1, "oldLines": 3, "newStart": 1, "newLines": 3, "lines": lines}]
            structured = {"filePath": path, "oldString": "a", "newString": "b", "structuredPatch": patch}
            arguments = {"file_path": path, "old_string": "a", "new_string": "b"}
            return "Edit", arguments, f"The file {path} has been updated.", structured
    output = result.get("stdout") or json.dumps(result)
    arguments = {"command": given.get("command", "make"), "description": "Build the project"}
    return "Bash", arguments, output, {"stdout": output, "stderr": "", "interrupted": False}


def main() -> None:
    """Write the session that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT", help="output file; an existing file is replaced")
    parser.add_argument("--megabytes", type=float, default=2.0, help="approximate size (default: 2)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    session, size = ClaudeSession(given.seed), 0
    with given.out.open("wb", buffering=1 << 20) as out:
        size += out.write("".join(session.begin()).encode())
        while size < given.megabytes * 1_000_000:
            size += out.write("".join(session.message()).encode())
        size += out.write("".join(session.end()).encode())
    print(json.dumps({"bytes": size}))


if __name__ == "__main__":
    main()
