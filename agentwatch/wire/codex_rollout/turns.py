"""Decodes what happens in the turns of a rollout: messages, calls and ends."""

from __future__ import annotations

from agentwatch.events import (
    Event,
    Notice,
    Outcome,
    Permission,
    Plan,
    Rewound,
    ToolEnded,
    TurnEnded,
)
from agentwatch.wire.codex.calls import End, Use, search_query, search_use
from agentwatch.wire.codex.messages import message_in
from agentwatch.wire.codex.plans import plan_of
from agentwatch.wire.codex_rollout.calls import Calls
from agentwatch.wire.codex_rollout.conversation import Conversation
from agentwatch.wire.codex_rollout.items import Found, read_event, read_item
from agentwatch.wire.codex_rollout.texts import Twins
from agentwatch.wire.codex_rollout.tools import (
    PLAN_TOOL,
    QUESTION_TOOL,
    command_of,
    first_question,
    use_of,
)
from agentwatch.wire.fields import Fields, items, mapping, number, text
from agentwatch.wire.tool import first_line

_MOST_PLANS = 64
_MOST_ERROR = 4096
"""In characters. An error may contain the whole answer of a server."""


class Turns:
    """Decodes the turns of a rollout."""

    def __init__(self) -> None:
        self.calls = Calls()
        self.texts = Conversation()
        self._plans: dict[str, Plan] = {}
        """By call_id: the plans of open calls; at most 64."""
        self._searches = 0
        """The number of web searches without an id."""
        self._search_twins = Twins()
        self._error: str | None = None
        """The newest error of the present turn."""

    def item(self, kind: str, item: Fields, at_ms: int | None) -> list[Event] | None:
        """Return the events of a model's item; None if its type is not known."""
        match kind:
            case "message":
                return self.texts.message_item(item, at_ms)
            case "reasoning":
                return self.texts.reasoning_item(item, at_ms)
            case "agent_message":
                return _agents_message(item, at_ms)
            case "function_call" | "custom_tool_call" | "tool_search_call":
                name = text(item, "name") or ("tool_search" if kind == "tool_search_call" else kind)
                given = item.get("input") if kind == "custom_tool_call" else item.get("arguments")
                use = use_of(name, text(item, "namespace"), given)
                return self._started(item, use, mapping(given), at_ms)
            case "local_shell_call":
                action = mapping(item.get("action"))
                return self._started(item, use_of("local_shell", None, action), action, at_ms)
            case "function_call_output" | "custom_tool_call_output":
                return self._output(_call_id(item), item.get("output"), at_ms)
            case "tool_search_output":
                return self._output(_call_id(item), {"content": "", "success": True}, at_ms)
            case "web_search_call":
                return self._web_search(item, at_ms)
            case "image_generation_call":
                found = read_event("image_generation_end", item)
                return None if found is None else self._finished(_call_id(item), found, {}, at_ms)
        return None

    def completed(self, item: Fields, event: Fields, at_ms: int | None) -> list[Event] | None:
        """Return the events of a completed item of a paginated history; None if its type is not known."""
        key = text(item, "id")
        match item.get("type"):
            case "UserMessage":
                return self.texts.prompt(_joined(item), is_item=True)
            case "AgentMessage":
                return self.texts.answer(_joined(item), key, at_ms, is_item=True)
            case "Plan":
                return self.texts.answer(text(item, "text"), None, at_ms)
            case "Reasoning":
                parts = items(item.get("summary_text")) or items(item.get("raw_content"))
                return self.texts.thought(parts, key, at_ms)
            case "SubAgentActivity" | "HookPrompt":
                return []
        found = read_item(item)
        return None if found is None else self._finished(key or "", found, event, at_ms)

    def event(self, kind: str, event: Fields, at_ms: int | None) -> list[Event] | None:
        """Return the events of an event of Codex; None if it is no part of a turn."""
        match kind:
            case "user_message":
                return self.texts.prompt(text(event, "message") or "")
            case "agent_message":
                return self.texts.answer(text(event, "message"), None, at_ms)
            case "agent_reasoning":
                return self.texts.thought([event.get("text")], None, at_ms)
            case "error":
                self._error = (message_in(event) or "")[:_MOST_ERROR] or None
                return None
            case "task_complete" | "turn_complete":
                error, self._error = self._error, None
                return self.texts.turn_ended(_turn_complete(event, error))
            case "turn_aborted":
                self._error = None
                duration_ms = number(event, "duration_ms")
                self.calls.abort(at_ms)
                return self.texts.turn_ended(TurnEnded(Outcome.CANCELLED, duration_ms=duration_ms))
            case "thread_rolled_back":
                return [Rewound(number(event, "num_turns") or 0)]
            case "entered_review_mode":
                hint = text(event, "user_facing_hint") or text(event, "prompt") or "review"
                return self.texts.after_prompts([Notice(f"review: {hint}", at_ms)])
        found = read_event(kind, event)
        if found is None or (kind == "web_search_end" and self._is_shown(found)):
            return None if found is None else []
        return self._finished(_call_id(event), found, event, at_ms)

    def _is_shown(self, search: Found) -> bool:
        """Return whether a web search came as a model's item. Older versions give those items no id."""
        return self._search_twins.is_second(search.use.target or "", is_item=False)

    def _started(self, item: Fields, use: Use, arguments: Fields, at_ms: int | None) -> list[Event]:
        self.texts.begin_step()
        call_id = _call_id(item)
        events = self.calls.start(call_id, use, arguments, at_ms)
        if use.tool == PLAN_TOOL:
            self._plans[call_id] = plan_of(arguments.get("plan"))
            if len(self._plans) > _MOST_PLANS:
                del self._plans[next(iter(self._plans))]
        if use.tool == QUESTION_TOOL:
            question = first_question(arguments)
            events.append(Permission(QUESTION_TOOL, None, None, at_ms, call_id, call_id, question))
        if arguments.get("sandbox_permissions") == "require_escalated":
            what = first_line(command_of(arguments)) or use.tool
            events.append(Notice(f"needs permission to run outside the sandbox: {what}", at_ms))
        return self.texts.after_prompts(events)

    def _output(self, call_id: str, value: object, at_ms: int | None) -> list[Event]:
        events = self.texts.after_prompts(self.calls.output(call_id, value, at_ms))
        plan = self._plans.pop(call_id, None)
        has_plan = any(isinstance(each, ToolEnded) and each.outcome is Outcome.SUCCEEDED for each in events)
        return [*events, plan] if plan is not None and has_plan else events

    def _finished(self, call_id: str, found: Found, event: Fields, at_ms: int | None) -> list[Event]:
        end = found.end
        if end is not None:
            ended_ms, started_ms = number(event, "completed_at_ms"), number(event, "started_at_ms")
            end = end._replace(at_ms=at_ms if ended_ms is None else ended_ms, started_ms=started_ms)
        return self.texts.after_prompts(self.calls.finish(call_id, found.use, end))

    def _web_search(self, item: Fields, at_ms: int | None) -> list[Event]:
        """Return a search, which the model's own service runs: it has a single item, when it has ended."""
        call_id, query = text(item, "id"), search_query(item.get("action"), text(item, "query"))
        if call_id is None:
            if self._search_twins.is_second(query or "", is_item=True):
                return []
            self._searches += 1
            call_id = f"web_search_{self._searches}"
        use = search_use("web_search", query)
        end = End(Outcome.FAILED if item.get("status") == "failed" else Outcome.SUCCEEDED, at_ms=at_ms)
        return self.texts.after_prompts(self.calls.finish(call_id, use, end))


def _turn_complete(event: Fields, before: str | None) -> TurnEnded:
    """Return the end of a turn. One that failed has the same type, with an error.

    Older versions report the error of a turn without an answer only in an event before its end.

    Args:
        event: The end.
        before: The newest error of the turn; None without one.
    """
    error = event.get("error")
    duration_ms = number(event, "duration_ms")
    if error is None or error == {}:
        has_answer = event.get("last_agent_message") is not None
        if before is None or has_answer:
            return TurnEnded(Outcome.SUCCEEDED, duration_ms=duration_ms)
        return TurnEnded(Outcome.FAILED, before, duration_ms=duration_ms)
    message = message_in(mapping(error)) or (error if isinstance(error, str) else "the turn failed")
    return TurnEnded(Outcome.FAILED, message, duration_ms=duration_ms)


def _agents_message(item: Fields, at_ms: int | None) -> list[Event]:
    """Return the message of one agent to another as a notice."""
    names = " → ".join(name for key in ("author", "recipient") if (name := text(item, key)))
    words = _joined(item)
    return [Notice(f"{names}: {words}", at_ms)] if words else []


def _joined(item: Fields) -> str:
    return "".join(text(mapping(piece), "text") or "" for piece in items(item.get("content")))


def _call_id(fields: Fields) -> str:
    return text(fields, "call_id") or text(fields, "id") or ""
