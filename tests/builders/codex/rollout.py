"""A story as the lines of a rollout, with either of the two histories that Codex has written."""

import json
from collections.abc import Iterator

from tests.builders.codex.story import CWD, Command, Json, Mcp, Patch, Plan, Say, Search, Step, Story, Think

_MARKS = {"add": "*** Add File: ", "update": "*** Update File: ", "delete": "*** Delete File: "}


def patch(files: tuple[tuple[str, str], ...]) -> str:
    bodies = {"add": "\n+x", "update": "\n@@\n-a\n+b\n+c", "delete": ""}
    parts = [f"{_MARKS[kind]}{path}{bodies[kind]}" for path, kind in files]
    return "\n".join(["*** Begin Patch", *parts, "*** End Patch"])


class _Lines:
    """Makes the lines of a rollout, and counts its messages and calls."""

    def __init__(self, *, is_paginated: bool) -> None:
        self._is_paginated = is_paginated
        self._count = 0

    def item(self, kind: str, **fields: object) -> Json:
        return {"type": "response_item", "payload": {"type": kind} | fields}

    def event(self, kind: str, **fields: object) -> Json:
        return {"type": "event_msg", "payload": {"type": kind} | fields}

    def completed(self, kind: str, **fields: object) -> Json:
        """Return a completed item of a paginated history."""
        return self.event("item_completed", item={"type": kind} | fields)

    def prompt(self, text: str) -> Iterator[Json]:
        """Yield the two copies of a prompt, after a message that Codex wrote in the name of the user."""
        content = [{"type": "input_text", "text": text}]
        context = [{"type": "input_text", "text": "<environment_context>\n</environment_context>"}]
        yield self.item("message", role="user", content=context)
        yield self.item("message", role="user", content=content)
        if self._is_paginated:
            yield self.completed("UserMessage", id="u", content=[{"type": "text", "text": text}])
        else:
            yield self.event("user_message", message=text)

    def step(self, step: Step) -> Iterator[Json]:
        self._count += 1
        key, call_id = f"msg_{self._count}", f"call_{self._count}"
        match step:
            case Say():
                content = [{"type": "output_text", "text": step.text}]
                if self._is_paginated:
                    yield self.completed(
                        "AgentMessage", id=key, content=[{"type": "Text", "text": step.text}]
                    )
                else:
                    yield self.event("agent_message", message=step.text)
                own = {"id": key} if self._is_paginated else {}
                yield self.item("message", role="assistant", content=content, **own)
            case Think():
                summary = [{"type": "summary_text", "text": step.text}]
                if self._is_paginated:
                    yield self.completed("Reasoning", id=key, summary_text=[step.text])
                else:
                    yield self.event("agent_reasoning", text=step.text)
                yield self.item("reasoning", summary=summary, **({"id": key} if self._is_paginated else {}))
            case Command():
                yield from self._command(step, call_id)
            case Patch():
                yield from self._patch(step, call_id)
            case Mcp():
                yield self.item(
                    "function_call", name=f"mcp__{step.server}__{step.tool}", arguments="{}", call_id=call_id
                )
                result: Json = {"Err": step.error} if step.error is not None else {"Ok": {"content": []}}
                call = {"server": step.server, "tool": step.tool}
                yield self.event("mcp_tool_call_end", call_id=call_id, invocation=call, result=result)
                yield self.item("function_call_output", call_id=call_id, output=step.error or "ok")
            case Search():
                action = {"type": "search", "query": step.query}
                yield self.event("web_search_end", call_id=call_id, query=step.query, action=action)
                yield self.item("web_search_call", id=call_id, status="completed", action=action)
            case Plan():
                plan = [
                    {"step": text, "status": "completed" if done else "pending"}
                    for text, done in step.entries
                ]
                arguments = json.dumps({"plan": plan})
                yield self.item("function_call", name="update_plan", arguments=arguments, call_id=call_id)
                yield self.item("function_call_output", call_id=call_id, output="Plan updated")

    def _command(self, step: Command, call_id: str) -> Iterator[Json]:
        words = ["bash", "-lc", step.script]
        code = step.exit_code
        if self._is_paginated:
            arguments = json.dumps({"cmd": step.script})
            yield self.item("function_call", name="exec_command", arguments=arguments, call_id=call_id)
            status = "declined" if code is None else "failed" if code else "completed"
            fields = {"command": words, "status": status, "exit_code": -1 if code is None else code}
            yield self.completed("CommandExecution", id=call_id, **fields)
            output = f"Wall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n{step.output}"
        else:
            arguments = json.dumps({"command": words, "timeout_ms": 1000})
            yield self.item("function_call", name="shell", arguments=arguments, call_id=call_id)
            metadata = {"exit_code": code, "duration_seconds": 0.1}
            output = json.dumps({"output": step.output, "metadata": metadata})
        if code is None:
            output = "exec command rejected by user"
        yield self.item("function_call_output", call_id=call_id, output=output)

    def _patch(self, step: Patch, call_id: str) -> Iterator[Json]:
        yield self.item("custom_tool_call", name="apply_patch", input=patch(step.files), call_id=call_id)
        if not step.succeeds:
            output = "apply_patch verification failed: no such line"
            yield self.item("custom_tool_call_output", call_id=call_id, output=output)
            return
        bodies: Json = {
            "add": {"type": "add", "content": "x\n"},
            "update": {"type": "update", "unified_diff": "@@ -1 +1,2 @@\n-a\n+b\n+c\n", "move_path": None},
            "delete": {"type": "delete", "content": "gone\n"},
        }
        changes = {f"{CWD}/{path}": bodies[kind] for path, kind in step.files}
        if self._is_paginated:
            yield self.completed("FileChange", id=call_id, changes=changes, status="completed")
        else:
            yield self.event("patch_apply_end", call_id=call_id, success=True, changes=changes)
        yield self.item("custom_tool_call_output", call_id=call_id, output="Exit code: 0\nOutput:\nSuccess.")


def rollout(story: Story, *, is_paginated: bool) -> bytes:
    """Return a story as a rollout. It has no lost connections."""
    make = _Lines(is_paginated=is_paginated)
    meta = {"id": "t-1", "cwd": CWD, "cli_version": "0.169.0"}
    lines: list[Json] = [{"type": "session_meta", "payload": meta}]
    for turn in story.turns:
        lines.append(make.event("task_started", model_context_window=1000))
        lines.append(
            {"type": "turn_context", "payload": {"cwd": CWD, "model": "m", "approval_policy": "never"}}
        )
        lines += make.prompt(turn.prompt)
        for step in turn.steps:
            lines += make.step(step)
        if turn.end == "completed":
            lines.append(make.event("task_complete", last_agent_message=None, duration_ms=5))
        elif turn.end == "failed":
            lines.append(make.event("task_complete", error={"message": "no model"}))
    stamped = [{"timestamp": f"2026-01-01T00:00:{n % 60:02}.000Z"} | line for n, line in enumerate(lines)]
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in stamped)
