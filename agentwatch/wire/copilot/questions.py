"""Reads the questions that Copilot asks the user, and their answers."""

from __future__ import annotations

from agentwatch.events import Permission
from agentwatch.wire.fields import Fields, mapping, text
from agentwatch.wire.tool import first_line

_MOST_OPEN = 64
_MOST_ID = 1000
"""In characters. The ids in captures have 36."""
_TARGETS = ("fullCommandText", "path", "fileName", "url", "fact", "extensionName", "hookMessage", "intention")
"""The fields that say what a call would act on, the most specific first."""
_PEOPLE = ("user", "human", "person", "interactive", "prompt", "client", "host", "sdk", "remote")
"""Words in `decisionSource` that mean that somebody was asked."""
_BY_ITSELF = (
    *("denied-by-rules", "denied-no-approval-rule", "denied-by-content-exclusion-policy"),
    "denied-by-permission-request-hook",
)
"""Answers that nobody was asked for."""
ASKING = frozenset(
    {
        *("user_input.requested", "elicitation.requested", "exit_plan_mode.requested"),
        *("auto_mode_switch.requested", "session_limits_exhausted.requested"),
    }
)
"""The types of other questions."""
ANSWERING = frozenset(f"{kind.partition('.')[0]}.completed" for kind in ASKING)


class Questions:
    """The questions that have no answer yet, and the answers of calls that have not ended."""

    def __init__(self) -> None:
        self._asked: dict[str, Permission] = {}
        """By the id of the question; at most 64."""

    def requested(self, data: Fields, tool: str | None, at_ms: int | None) -> Permission:
        """Read a question whether a call may run.

        Args:
            data: The field `data` of the line.
            tool: The tool of the call, if it is known.
            at_ms: The time of the line.
        """
        request = mapping(data.get("permissionRequest"))
        target = next((found for key in _TARGETS if (found := text(request, key))), None)
        if server := text(request, "serverName"):
            target = f"{server} {text(request, 'toolName') or ''}".strip()
        subject = tool or text(request, "toolName") or text(request, "kind") or "permission"
        is_automatic = data.get("resolvedByHook") is True
        return self._keep(
            Permission(
                subject,
                answer=None,
                at_ms=at_ms,
                key=text(data, "requestId"),
                call_id=call_of(data),
                target=first_line(target),
                is_automatic=is_automatic,
            )
        )

    def completed(self, data: Fields, at_ms: int | None) -> Permission:
        """Read the answer to such a question."""
        result = mapping(data.get("result"))
        kind = text(result, "kind") or text(data, "kind") or "answered"
        reason = text(result, "feedback") or text(result, "message") or text(result, "reason")
        source = text(data, "decisionSource") or text(result, "decisionSource")
        is_automatic = kind.startswith(_BY_ITSELF) or (source is not None and not _is_person(source))
        return self._answered(data, kind.replace("-", " "), reason, at_ms, is_automatic=is_automatic)

    def asked(self, kind: str, data: Fields, at_ms: int | None) -> Permission:
        """Read another question: for an input, a form, or the end of the plan mode."""
        target = text(data, "question") or text(data, "message") or text(data, "summary")
        return self._keep(
            Permission(
                kind.partition(".")[0],
                answer=None,
                at_ms=at_ms,
                key=text(data, "requestId"),
                call_id=text(data, "toolCallId"),
                target=first_line(target),
            )
        )

    def answered(self, data: Fields, at_ms: int | None) -> Permission:
        """Read the answer to another question."""
        answer = text(data, "action") or text(data, "response") or text(data, "selectedAction")
        return self._answered(data, answer or "answered", None, at_ms)

    def _keep(self, question: Permission) -> Permission:
        if question.key is not None and len(question.key) <= _MOST_ID:
            self._asked[question.key] = question._replace(target=None)
            if len(self._asked) > _MOST_OPEN:
                del self._asked[next(iter(self._asked))]
        return question

    def _answered(
        self, data: Fields, answer: str, reason: str | None, at_ms: int | None, *, is_automatic: bool = False
    ) -> Permission:
        key = text(data, "requestId")
        question = self._asked.pop(key or "", Permission("permission", None))
        return Permission(
            question.subject,
            answer,
            reason,
            at_ms,
            key=key,
            call_id=text(data, "toolCallId") or question.call_id,
            is_automatic=is_automatic or question.is_automatic,
        )


def call_of(data: Fields) -> str | None:
    """Return the call that a question is about."""
    request, prompt = mapping(data.get("permissionRequest")), mapping(data.get("promptRequest"))
    return text(request, "toolCallId") or text(prompt, "toolCallId") or text(data, "toolCallId")


def _is_person(source: str) -> bool:
    words = source.casefold()
    return any(person in words for person in _PEOPLE)
