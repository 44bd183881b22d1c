"""A story as the lines of `codex exec --json`."""

import json
import shlex
from collections.abc import Iterator

from tests.builders.codex.story import (
    CWD,
    Command,
    Cut,
    Json,
    Mcp,
    Patch,
    Plan,
    Say,
    Search,
    Step,
    Story,
    Think,
)


class _Items:
    """Makes the lines of items, and counts them."""

    def __init__(self) -> None:
        self.count = 0

    def call(self, before: Json, after: Json, *, announced: bool = True) -> Iterator[Json]:
        """Yield the lines of a call: its start and its end."""
        item_id = f"item_{self.count}"
        self.count += 1
        if announced:
            yield {"type": "item.started", "item": {"id": item_id} | before}
        yield {"type": "item.completed", "item": {"id": item_id} | after}

    def whole(self, item: Json) -> Iterator[Json]:
        """Yield the line of an item that has only an end."""
        yield from self.call({}, item, announced=False)

    def step(self, step: Step, said: list[Json]) -> Iterator[Json]:
        """Yield the lines of a step; `said` has the texts since the last call."""
        given: Json
        over: Json
        match step:
            case Say() | Think():
                kind = "agent_message" if isinstance(step, Say) else "reasoning"
                said.append({"type": kind, "text": step.text})
                yield from self.whole(said[-1])
                return
            case Cut():
                yield {"type": "error", "message": "Reconnecting... 1/5 (stream disconnected)"}
                for item in said:
                    yield from self.whole(item)
                return
            case Plan():
                items = [{"text": text, "completed": done} for text, done in step.entries]
                yield from self.call(*[{"type": "todo_list", "items": items}] * 2)
                return
        said.clear()
        match step:
            case Command():
                given = {"type": "command_execution", "command": f"/bin/bash -lc {shlex.quote(step.script)}"}
                status = "declined" if step.exit_code is None else "failed" if step.exit_code else "completed"
                begun = {"aggregated_output": "", "exit_code": None, "status": "in_progress"}
                over = {"aggregated_output": step.output, "exit_code": step.exit_code, "status": status}
                yield from self.call(given | begun, given | over)
            case Patch():
                changes = [{"path": f"{CWD}/{path}", "kind": kind} for path, kind in step.files]
                given = {"type": "file_change", "changes": changes}
                over = {"status": "completed" if step.succeeds else "failed"}
                announced = len(step.files) > 1
                yield from self.call(given | {"status": "in_progress"}, given | over, announced=announced)
            case Mcp():
                given = {"type": "mcp_tool_call", "server": step.server, "tool": step.tool, "arguments": {}}
                error = None if step.error is None else {"message": step.error}
                over = {"error": error, "status": "failed" if error else "completed", "result": None}
                yield from self.call(given | {"status": "in_progress"}, given | over)
            case Search():
                yield from self.whole({"type": "web_search", "query": step.query})


def stream(story: Story) -> bytes:
    items = _Items()
    lines: list[Json] = [{"type": "thread.started", "thread_id": "t-1"}]
    for turn in story.turns:
        lines.append({"type": "turn.started"})
        said: list[Json] = []
        for step in turn.steps:
            lines += items.step(step, said)
        if turn.end == "completed":
            lines.append({"type": "turn.completed", "usage": {"input_tokens": 9, "output_tokens": 2}})
        elif turn.end == "failed":
            lines.append({"type": "turn.failed", "error": {"message": "no model"}})
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
