"""The known fields of Cursor's format, used to report fields that are new. The lists come from real captures
of October 2025 to October 2026, from captures that others have published, and from the vendor's schema."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.cursor.tools import VARIANTS, read_tool
from agentwatch.agents.fields import Fields, in_words, mapping, unknown_keys

_EVERYWHERE = {"type", "subtype", "session_id", "timestamp_ms"}
_LINES = {
    "system/init": "apiKeySource cwd model permissionMode",
    "user": "message",
    "assistant": "message model_call_id",
    "thinking/delta": "text",
    "thinking/completed": "",
    "tool_call/started": "call_id tool_call model_call_id",
    "tool_call/completed": "call_id tool_call model_call_id",
    "interaction_query/request": "query_type query",
    "interaction_query/response": "query_type response",
    "connection/reconnecting": "attempt endpoint_url",
    "connection/reconnected": "",
    "retry/starting": "attempt is_resume",
    "retry/resuming": "attempt checkpoint_turn_count",
    "system/task_notification": "task_id status title",
    "system/background_shell_timeout": "",
    "result": "duration_ms duration_api_ms is_error result request_id usage",
}
_BESIDE_THE_TOOL = {"hookAdditionalContexts", "toolCallId", "startedAtMs", "completedAtMs", "description"}
_IN_A_TOOL = {"args", "arguments", "name", "result", "description"}
_ARGUMENTS = {
    "shell": "command workingDirectory timeout simpleCommands hasInputRedirect hasOutputRedirect"
    " parsingResult fileOutputThresholdBytes isBackground skipApproval timeoutBehavior hardTimeout"
    " description closeStdin conversationId adminCommandDenylist requestId",
    "read": "path offset limit",
    "edit": "path streamContent applyPatch strReplace multiStrReplace",
    "write": "path fileText",
    "delete": "path",
    "grep": "pattern path glob outputMode caseInsensitive multiline headLimit type offset",
    "glob": "globPattern targetDirectory",
    "ls": "path ignore",
    "semSearch": "query",
    "readLints": "paths",
    "updateTodos": "todos merge",
    "mcp": "name args providerIdentifier serverIdentifier toolName smartModeApproval smartModeApprovalOnly"
    " skipApproval",
    "task": "description prompt subagentType model agentId mode environment attachments"
    " respondingToMessageIds machine",
    "webSearch": "searchTerm",
    "webFetch": "url",
}
_SUCCESSES = {
    "shell": "command workingDirectory exitCode signal stdout stderr executionTime interleavedOutput"
    " localExecutionTimeMs aborted",
    "read": "content contentBlobId isEmpty exceededLimit totalLines totalChars fileSize path readRange"
    " relatedCursorRulePaths relatedCursorRules",
    "edit": "path linesAdded linesRemoved diffString beforeFullFileContent afterFullFileContent message"
    " resultForModel",
    "write": "path linesCreated fileSize",
    "grep": "pattern path outputMode workspaceResults",
    "glob": "pattern path files totalFiles clientTruncated ripgrepTruncated",
    "ls": "directoryTreeRoot",
    "readLints": "fileDiagnostics totalFiles totalDiagnostics",
    "updateTodos": "todos",
    "mcp": "content isError",
    "task": "conversationSteps agentId isBackground backgroundReason durationMs",
    "webSearch": "references",
    "webFetch": "url markdown",
}


def unknown_fields(fields: Fields) -> Iterator[tuple[str, object]]:
    """Yield the unknown parts of a line, each as a description and a sample.

    Example:
        >>> list(unknown_fields({"type": "user", "message": {}, "mood": "good"}))
        [('field mood of a user line', 'good')]
    """
    kind, subtype = in_words(fields.get("type")), fields.get("subtype")
    whole = kind if subtype is None else f"{kind}/{in_words(subtype)}"
    name = next((known for known in (kind, whole) if known in _LINES), None)
    if name is None:
        yield f"type {whole}", dict(fields)
        return
    yield from unknown_keys(fields, _EVERYWHERE | set(_LINES[name].split()), f"of a {name} line")
    if kind == "tool_call":
        yield from _unknown_in_tool(mapping(fields.get("tool_call")))


def _unknown_in_tool(call: Fields) -> Iterator[tuple[str, object]]:
    use = read_tool(call)
    name, body = use.name, use.body
    yield from unknown_keys(call, _BESIDE_THE_TOOL | {use.key}, "beside a tool")
    if not use.is_known:
        yield f"tool {in_words(name)}", body
        return
    yield from unknown_keys(body, _IN_A_TOOL, f"of tool {in_words(name)}")
    if use.is_function:
        return
    if name in _ARGUMENTS:
        known = {"toolCallId", *_ARGUMENTS[name].split()}
        yield from unknown_keys(mapping(body.get("args")), known, f"in the arguments of tool {name}")
    result = mapping(body.get("result"))
    for variant, value in result.items():
        if variant not in VARIANTS:
            yield f"result {in_words(variant)} of tool {in_words(name)}", value
    if name in _SUCCESSES:
        success = mapping(result.get("success"))
        yield from unknown_keys(success, set(_SUCCESSES[name].split()), f"in a success of tool {name}")
