"""Decodes Codex's rollouts. The format is taken from rollouts of versions 0.104 to 0.169, and from
`codex-rs/protocol` and `codex-rs/rollout`. A line is `{"timestamp": …, "type": …, "payload": …}`. A
`response_item` is what the model wrote or got, an `event_msg` is what Codex reported to its screen."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import chain
from typing import NamedTuple

from agentwatch.agents.changes import patch_in_command, patched_files, summed
from agentwatch.agents.codex.agent import time_of
from agentwatch.agents.codex.stream import (
    MCP_REFUSALS,
    End,
    Item,
    Use,
    agent_use,
    change_end,
    change_item,
    change_use,
    command_end,
    command_use,
    ended,
    error_event,
    failed_end,
    mapped_changes,
    mcp_end,
    mcp_use,
    message_in,
    plan_of,
    script_in,
    search_item,
    search_query,
    search_use,
    started,
    status_end,
    tokens_of,
    tool_use,
)
from agentwatch.agents.fields import (
    SUBAGENT,
    Fields,
    digest_of,
    in_words,
    items,
    mapping,
    number,
    percent,
    seconds_ms,
    text,
    whole_text,
)
from agentwatch.agents.on_disk import iso_ms
from agentwatch.agents.subagents import of_subagent, own_fields
from agentwatch.agents.tool import (
    OpenCalls,
    Phrase,
    Tool,
    first_question,
    named,
    other_tool,
    path_in,
    remember,
    said,
)
from agentwatch.session.counts import added, less
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    Limits,
    LimitWindow,
    Notice,
    Outcome,
    Permission,
    Plan,
    Prompt,
    Rewound,
    RunInfo,
    RunStarted,
    Tokens,
    ToolEnded,
    ToolKind,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Unknown,
    Usage,
    UsageScope,
)
from agentwatch.text.amounts import one_line

# Events that belong to no turn.

_QUIET = frozenset(
    {
        *("thread_goal_updated", "sub_agent_activity", "session_configured"),
        *("agent_reasoning_raw_content", "agent_reasoning_section_break", "dynamic_tool_call_request"),
        *("collab_agent_interaction_end", "collab_waiting_end", "collab_close_end", "collab_resume_end"),
        *("collab_agent_spawn_begin", "collab_agent_interaction_begin", "collab_waiting_begin"),
        *("collab_close_begin", "collab_resume_begin", "exec_command_begin", "exec_command_output_delta"),
        *("terminal_interaction", "patch_apply_begin", "patch_apply_updated", "mcp_tool_call_begin"),
        *("web_search_begin", "image_generation_begin", "plan_update", "turn_diff", "item_started"),
        *("hook_started", "hook_completed", "shutdown_complete", "raw_response_item", "plan_delta"),
        *("mcp_startup_update", "mcp_startup_complete", "turn_moderation_metadata", "model_verification"),
        *("agent_message_delta", "agent_message_content_delta", "agent_reasoning_delta"),
        *("reasoning_content_delta", "reasoning_raw_content_delta", "safety_buffering"),
    }
)
"""Events that report nothing new, or that another line repeats."""


def notice_of(kind: str, event: Fields, at_ms: int | None) -> list[Event] | None:
    message = message_in(event)
    match kind:
        case "error" | "stream_error":
            return [error_event(message or kind.replace("_", " "), at_ms)]
        case "warning" | "guardian_warning" | "deprecation_notice" | "background_event" | "undo_completed":
            return [Notice(message or text(event, "summary") or kind.replace("_", " "), at_ms)]
        case "model_reroute":
            models = " → ".join(name for key in ("from_model", "to_model") if (name := text(event, key)))
            return [Notice(f"model changed: {models}", at_ms)]
        case "exited_review_mode":
            review = mapping(event.get("review_output"))
            words = text(review, "overall_explanation") or text(review, "overall_correctness")
            return [Notice(f"review ended: {words}" if words else "review ended", at_ms)]
        case "guardian_assessment":
            return _assessment(event, at_ms)
    return [] if kind in _QUIET else None


def _assessment(event: Fields, at_ms: int | None) -> list[Event]:
    action, status = mapping(event.get("action")), text(event, "status")
    call_id = text(event, "target_item_id")
    answer = None if status in {None, "in_progress"} else status
    subject = text(action, "tool_name") or text(action, "type") or "action"
    target = text(action, "command")
    key = text(event, "id") or call_id
    return [
        Permission(subject, answer, text(event, "rationale"), at_ms, key, call_id, target, is_automatic=True)
    ]


# The tools, and the arguments of each.

_MCP = "mcp__"
_PATCH_TOOL = "apply_patch"
WRITE_STDIN = "write_stdin"
_WAIT = "wait"
_MOST_ID = 100
PLAN_TOOL = "update_plan"
QUESTION_TOOL = "request_user_input"


def command_of(arguments: Fields) -> str:
    words = arguments.get("command")
    if isinstance(words, list):
        return script_in(words)
    return text(arguments, "cmd") or text(arguments, "command") or text(arguments, "script") or ""


def patch_of(name: str, arguments: Fields, whole: str) -> str | None:
    if name == _PATCH_TOOL:
        return text(arguments, "input") or text(arguments, "patch") or whole
    words = arguments.get("command")
    if isinstance(words, list) and len(words) == 2 and words[0] == _PATCH_TOOL and isinstance(words[1], str):
        return words[1]
    return patch_in_command(command_of(arguments))


def use_of(name: str, namespace: str | None, given: object) -> Use:
    """`given` is JSON as a text, or the text that a custom tool receives."""
    arguments = mapping(given)
    whole = given if isinstance(given, str) else ""
    patch = patch_of(name, arguments, whole) if name in _COMMANDS or name == _PATCH_TOOL else None
    if patch is not None and (changes := patched_files(patch)):
        return change_use(name, summed(changes))
    if name in _COMMANDS:
        limit_ms = number(arguments, "timeout_ms")
        limit_ms = number(arguments, "timeout") if limit_ms is None else limit_ms
        return command_use(name, command_of(arguments), limit_ms)
    if name.startswith(_MCP) or (namespace or "").startswith(_MCP):
        full = name if name.startswith(_MCP) else f"{namespace}__{name}"
        server, _, tool = full.removeprefix(_MCP).partition("__")
        return mcp_use(name, server, tool.lstrip("_"))
    if name in _USES:
        return _USES[name](name, arguments, whole)
    return tool_use(name, _TOOLS.get(name) or other_tool(name), arguments)


def asked_process(name: str, arguments: Fields) -> str | None:
    """Return the running process or script that a call asks for its output; None if it asks none."""
    if name == WRITE_STDIN:
        return f"{number(arguments, 'session_id')}"
    cell = _cell(arguments) if name == _WAIT else None
    return None if cell is None else cell_process(cell)


def cell_process(cell: str) -> str:
    return f"cell {cell[:_MOST_ID]}"


def _cell(arguments: Fields) -> str | None:
    found = number(arguments, "cell_id")
    return text(arguments, "cell_id") if found is None else str(found)


def _wait(name: str, arguments: Fields, whole: str) -> Use:
    cell = _cell(arguments)
    if cell is None:
        return _agent(name, arguments, whole)
    return Use(name, ToolKind.EXECUTE, Phrase.USED, f"{name} {cell}")


def _stdin(name: str, arguments: Fields, _whole: str) -> Use:
    process = number(arguments, "session_id")
    words = (name, None if process is None else str(process), (text(arguments, "chars") or "").strip())
    return Use(name, ToolKind.EXECUTE, Phrase.USED, " ".join(word for word in words if word))


def _script(name: str, arguments: Fields, whole: str) -> Use:
    script = text(arguments, "code") or text(arguments, "input") or whole
    return Use(name, ToolKind.EXECUTE, Phrase.USED, f"{name} {script.strip()}".rstrip())


def _agent(name: str, arguments: Fields, _whole: str) -> Use:
    prompt = next((found for key in ("message", "prompt", "task") if (found := text(arguments, key))), None)
    threads = [text(arguments, key) for key in ("id", "target", "agent_id")]
    more = [each for key in ("ids", "targets", "receiver_thread_ids") for each in items(arguments.get(key))]
    return agent_use(name, prompt, [each for each in (*threads, *more) if isinstance(each, str)])


_MOST_LIMIT_MS = 86_400_000


def time_limit_of(question: Fields) -> int | None:
    limit_ms = number(question, "autoResolutionMs")
    return limit_ms if limit_ms is not None and 0 < limit_ms <= _MOST_LIMIT_MS else None


_COMMANDS = frozenset(
    {
        "shell",
        "shell_command",
        "exec_command",
        "container.exec",
        "local_shell",
        "local_shell_call",
        "unified_exec",
    }
)
_USES: dict[str, Callable[[str, Fields, str], Use]] = {
    _PATCH_TOOL: lambda name, _arguments, _whole: change_use(name, summed([])),
    WRITE_STDIN: _stdin,
    _WAIT: _wait,
    "exec": _script,
    "js_repl": _script,
    **dict.fromkeys(
        (
            *("spawn_agent", "send_input", "send_message", "followup_task", "assign_task", "resume_agent"),
            *("wait_agent", "close_agent", "interrupt_agent"),
        ),
        _agent,
    ),
}
"""The tools whose calls are not described by their arguments alone, by their names."""
_TOOLS = {
    PLAN_TOOL: Tool(ToolKind.PLAN, Phrase.TODOS),
    QUESTION_TOOL: Tool(
        ToolKind.OTHER, Phrase.USED, lambda given: f"{QUESTION_TOOL} {first_question(given) or ''}".rstrip()
    ),
    "view_image": Tool(ToolKind.READ, Phrase.READ, paths=path_in("path")),
    "read_file": Tool(ToolKind.READ, Phrase.READ, paths=path_in("file_path", "path")),
    "list_dir": Tool(ToolKind.SEARCH, Phrase.LISTED, paths=path_in("dir_path", "path")),
    "grep_files": Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern")),
    "glob_file_search": Tool(ToolKind.SEARCH, Phrase.FOUND, named("pattern")),
    "web_search": Tool(
        ToolKind.SEARCH, Phrase.SEARCHED_WEB, lambda given: search_query(given, text(given, "query"))
    ),
    "tool_search": Tool(
        ToolKind.SEARCH, Phrase.USED, lambda given: f"tool_search {text(given, 'query') or ''}".rstrip()
    ),
}
"""A tool that is not listed shows its name and one argument; those that run commands are not here."""


# The output of a call, as the model gets it.
# The text begins with a head in some versions (`Exit code: 0`, `Process exited with code 0`), is a JSON
# object in older ones (`{"output": …, "metadata": {"exit_code": 0}}`), and is only the output in others. A
# script that calls tools has a head of its own (`Script completed`, from
# `codex-rs/core/src/tools/code_mode`).

_MOST_HEAD_LINES = 12
_MOST_HEAD = 2000
_OUTPUT = "Output:"
_EXIT = ("Process exited with code ", "Exit code: ")
_RUNNING = "Process running with session ID "
_WALL_TIME = "Wall time: "
_HEADS = ("Chunk ID: ", _WALL_TIME, *_EXIT, _RUNNING, "Original token count: ", "Total output lines: ")
_ABORTED = ("aborted by user", "aborted")
_REJECTED = (
    *("exec command rejected by user", "patch rejected by user", "rejected by user"),
    *(*MCP_REFUSALS, "This action was rejected"),
)
_REJECTED_IN_ERROR = ('Rejected("', 'Rejected(\\"')
"""How the error of a refused command is written, also within another error."""
_SANDBOX = "failed in sandbox"
_EXIT_IN_SANDBOX = ", exit code: "
"""How version 0.40 gave the exit code of a command that its sandbox stopped."""
_FAILED = (
    *("unsupported call: ", "unsupported custom tool call: ", "failed to parse function arguments"),
    *("apply_patch verification failed", "exec_command failed", "write_stdin failed", "execution error: "),
    *(_SANDBOX, "command timed out", "tool call error: ", "err: ", "approval policy is "),
    *("unable to locate image at ", "invalid patch"),
)
"""The beginnings of the messages that Codex returns instead of a result."""
_SUCCEEDED = ("Plan updated", "Success. Updated the following files:", "attached local image path")
_SCRIPT_RUNNING = "Script running with cell ID "
_SCRIPT_ENDS = ("Script completed", "Script failed", "Script terminated")
_SCRIPT_ERROR = "Script error:"
_SCRIPT_HEAD = ("Wall time", _OUTPUT, _SCRIPT_ERROR)
"""The beginnings of the lines that may follow the first one in the output of a script."""
_BROKEN_CALL = 500
"""The length to which an error is cut, in characters; it may contain the whole patch."""


class Output(NamedTuple):
    text: str
    exit_code: int | None = None
    process: str | None = None
    """The id of the process that is still running."""
    duration_ms: int | None = None
    succeeded: bool | None = None
    is_aborted: bool = False
    has_head: bool = False
    ends_script: bool = False
    pieces: tuple[Fields, ...] = ()
    """The pieces of an output that is a list: texts and images."""


def read_output(value: object) -> Output:
    if isinstance(value, str):
        return _text_output(value)
    if isinstance(value, list):
        pieces = tuple(map(mapping, value))
        return _text_output(_joined(pieces))._replace(pieces=pieces)
    fields = mapping(value)
    succeeded = fields.get("success")
    content = fields.get("content")
    pieces = tuple(map(mapping, items(content)))
    inner = content if isinstance(content, str) else text(fields, "text") or _joined(pieces)
    output = _text_output(inner)._replace(pieces=pieces)
    return output._replace(succeeded=succeeded) if isinstance(succeeded, bool) else output


def end_of(use: Use, output: Output) -> End:
    return _end(use, output)._replace(duration_ms=output.duration_ms)


def _end(use: Use, output: Output) -> End:
    start = output.text[:_MOST_HEAD]
    if output.is_aborted:
        return End(Outcome.CANCELLED)
    if output.ends_script:
        error = output.text.rpartition(_SCRIPT_ERROR)[2].strip()[:_BROKEN_CALL]
        return End(Outcome.SUCCEEDED) if output.succeeded else End(Outcome.FAILED, error or None)
    if start.startswith(_REJECTED) or (
        start.startswith(_FAILED) and any(each in start for each in _REJECTED_IN_ERROR)
    ):
        return End(Outcome.REJECTED, start.strip().partition("\n")[0])
    changes = use.changes
    if output.exit_code is not None and changes is None:
        outcome = Outcome.FAILED if output.exit_code else Outcome.SUCCEEDED
        return End(
            outcome, f"exit {output.exit_code}" if output.exit_code else None, exit_code=output.exit_code
        )
    if output.succeeded is False or output.exit_code or (not output.has_head and start.startswith(_FAILED)):
        return End(Outcome.FAILED, start.strip()[:_BROKEN_CALL] or None, exit_code=output.exit_code)
    if output.succeeded or output.exit_code == 0 or start.startswith(_SUCCEEDED):
        return change_end(changes, Outcome.SUCCEEDED)._replace(exit_code=output.exit_code)
    has_image = any("image_url" in piece for piece in output.pieces)
    return End(Outcome.SUCCEEDED if has_image and use.kind is ToolKind.READ else Outcome.RETURNED)


def _joined(pieces: tuple[Fields, ...]) -> str:
    return "\n".join(found for piece in pieces if (found := text(piece, "text")) is not None)


def _text_output(whole: str) -> Output:
    fields = mapping(whole) if whole.startswith("{") else {}
    inner = fields.get("output")
    if isinstance(inner, str) and "metadata" in fields:
        metadata = mapping(fields["metadata"])
        duration = _milliseconds(metadata.get("duration_seconds"))
        return Output(inner, number(metadata, "exit_code"), duration_ms=duration, has_head=True)
    return _head_output(whole)


def _head_output(whole: str) -> Output:
    if whole.startswith(_ABORTED):
        return Output(whole, is_aborted=True)
    if (script := _script_output(whole)) is not None:
        return script
    if whole.startswith(_SANDBOX):
        digits = whole[:_MOST_HEAD].partition(_EXIT_IN_SANDBOX)[2].partition(",")[0]
        return Output(whole, number({"code": digits}, "code"), succeeded=False)
    if not whole.startswith(_HEADS):
        return Output(whole)
    output, end = Output("", has_head=True), 0
    for _ in range(_MOST_HEAD_LINES):
        line, _, _ = whole[end : end + _MOST_HEAD].partition("\n")
        end += len(line) + 1
        exit_code = next((line.removeprefix(each) for each in _EXIT if line.startswith(each)), None)
        if exit_code is not None:
            output = output._replace(exit_code=number({"code": exit_code.strip()}, "code"))
        elif line.startswith(_RUNNING):
            output = output._replace(process=line.removeprefix(_RUNNING).strip())
        elif line.startswith(_WALL_TIME):
            seconds = line.removeprefix(_WALL_TIME).partition(" ")[0]
            output = output._replace(duration_ms=_milliseconds(seconds))
        elif line.startswith(_ABORTED):
            return output._replace(text=whole, is_aborted=True)
        elif line.startswith(_OUTPUT) or end > len(whole) or not line.startswith(_HEADS):
            begin = end if line.startswith(_OUTPUT) else end - len(line) - 1
            return output._replace(text=whole[begin:])
    return output._replace(text=whole[end:])


def _script_output(whole: str) -> Output | None:
    """The second line is part of the head, which a command that prints the same words does not have."""
    first, _, rest = whole[:_MOST_HEAD].partition("\n")
    process = first.removeprefix(_SCRIPT_RUNNING).strip() if first.startswith(_SCRIPT_RUNNING) else None
    if (process is None and first not in _SCRIPT_ENDS) or not rest.startswith(_SCRIPT_HEAD):
        return None
    text, duration_ms = whole[len(first) + 1 :], None
    if text.startswith("Wall time"):
        line, _, text = text.partition("\n")
        seconds = line.removeprefix("Wall time").removeprefix(":").removesuffix(" seconds")
        duration_ms = _milliseconds(seconds)
    if text.startswith(_OUTPUT):
        text = text.removeprefix(_OUTPUT).removeprefix("\n")
    output = Output(text, process=process and cell_process(process), duration_ms=duration_ms, has_head=True)
    if process is not None:
        return output
    if first == "Script terminated":
        return output._replace(is_aborted=True, ends_script=True)
    if first == "Script completed":
        return output._replace(succeeded=True, ends_script=True)
    return output._replace(succeeded=False, ends_script=True)


def _milliseconds(seconds: object) -> int | None:
    """Return None for no number or under 1 ms: Codex gives 0 for what ended before it began to measure."""
    try:
        found = float(seconds) if isinstance(seconds, str | int | float) else 0.0
    except (ValueError, OverflowError):
        return None
    return round(found * 1000) or None if 0 < found < 1e12 else None


# Calls: their starts, their outputs, and the processes that outlive an output.

_MOST_PROGRESS = 4096
_UNKNOWN = Use("", ToolKind.OTHER, Phrase.USED)
"""The use of a tool whose call is not in the recording."""
_IN_BACKGROUND = "in the background"


class Calls:
    """The calls that have no output yet. A call ends with the first line that says how: an item such as
    `CommandExecution`, or its output. A command or script whose output says that it is still running ends
    with its process, which a later item or the output of `write_stdin` or `wait` reports."""

    def __init__(self) -> None:
        self.cwd = ""
        self._open = OpenCalls[Use]()
        self._ended = OpenCalls[None]()
        """The calls that an item has ended, before their output came."""
        self._cut: dict[str, int | None] = {}
        """The open calls of a turn that the user interrupted, and the time of that."""
        self._processes = OpenCalls[tuple[str, Use]]()
        """The call that started a running process, by the id of the process."""
        self._inputs = OpenCalls[str]()
        """The open calls of `write_stdin` and `wait`, and the process of each."""

    def start(self, call_id: str, use: Use, arguments: Fields, at_ms: int | None) -> list[Event]:
        self._open.keep(call_id, use, use.tool)
        process = asked_process(use.tool, arguments)
        if process is not None:
            self._inputs.keep(call_id, process)
        return [started(call_id, use, self.cwd, at_ms)]

    def output(self, call_id: str, value: object, at_ms: int | None) -> list[Event]:
        if call_id in self._ended:
            del self._ended[call_id]
            return []
        use = self._open.pop(call_id, _UNKNOWN)
        output = read_output(value)
        asked = self._inputs.pop(call_id, None)
        if output.process is not None and asked is None:
            self._processes.keep(output.process, (call_id, use))
            return [ToolProgress(call_id, None, output.text[-_MOST_PROGRESS:])]
        end = end_of(use, output)._replace(at_ms=at_ms)
        events: list[Event] = [ended(call_id, use, end, self.cwd)]
        is_over = output.exit_code is not None or output.ends_script
        if asked is None or not is_over or asked not in self._processes:
            return events
        of_process = self._processes.pop(asked)
        return [ended(*of_process, end._replace(duration_ms=None), self.cwd), *events]

    def finish(self, call_id: str, use: Use, end: End | None) -> list[Event]:
        """`use` is only used if no earlier line started the call. `end` is None if it is still running."""
        known = self._open.get(call_id)
        self._forget_process_of(call_id)
        if end is None:
            return [] if known else [started(call_id, use, self.cwd)]
        if known is not None:
            self._ended.keep(call_id, None)
            del self._open[call_id]
            # An item gives a process that ended at once the same start and end; the call began before it.
            return [ended(call_id, known, end._replace(started_ms=None), self.cwd)]
        return [
            started(call_id, use, self.cwd, end.started_ms),
            ended(call_id, use, end, self.cwd),
        ]

    def abort(self, at_ms: int | None) -> None:
        """Note that the user interrupted the turn: calls whose output does not follow were cancelled."""
        self._cut.update(dict.fromkeys(self._open, at_ms))

    def begin_turn(self) -> list[Event]:
        cut, self._cut = self._cut, {}
        uses = [(call_id, self._open.pop(call_id, None), at_ms) for call_id, at_ms in cut.items()]
        return [
            ended(call_id, use, End(Outcome.CANCELLED, at_ms=at_ms), self.cwd)
            for call_id, use, at_ms in uses
            if use is not None
        ]

    def end(self) -> list[Event]:
        """Return the ends of the calls that were interrupted, or whose processes were still running."""
        end = End(Outcome.RETURNED, note=_IN_BACKGROUND)
        running = list(self._processes.values())
        self._processes.clear()
        return [*self.begin_turn(), *(ended(call_id, use, end, self.cwd) for call_id, use in running)]

    def _forget_process_of(self, call_id: str) -> None:
        for process in [key for key, each in self._processes.items() if each[0] == call_id]:
            del self._processes[process]


# The copies of a text: a rollout has each message as an item of the model and as an event.
# Which of the two comes first depends on the version. Paginated histories give both the same id. Older ones
# have no ids, and the event may lack parts of the item's text that Codex does not show, such as citations.

_MOST_WAITING = 64
_MOST_CHARACTERS = 1 << 20
"""The length of the prompts that are kept until the next line shows whether they are the user's."""
_SUBAGENT_END = "<subagent_notification"
_CONTEXT = (
    *("<environment_context", "<user_instructions", "<turn_aborted", "<skills_instructions", "<skill"),
    *("<user_shell_command", _SUBAGENT_END, "<permissions instructions", "<collaboration_mode"),
    *("<hook_prompt", "<model_switch", "<personality_spec", "<apps_instructions", "<plugins_instructions"),
    *("<recommended_plugins", "<INSTRUCTIONS", "<user_action", "<realtime_conversation", "<goal_context"),
    "# AGENTS.md instructions",
)
"""The beginnings of messages that Codex writes in the name of the user."""
_PLAN = "<proposed_plan>"


class _Waiting(NamedTuple):
    key: str | None
    """The id of its message; None if the format has no ids."""
    digest: int


class Copies:
    def __init__(self) -> None:
        self._events: deque[_Waiting] = deque(maxlen=_MOST_WAITING)
        self._items: deque[_Waiting] = deque(maxlen=_MOST_WAITING)

    def is_new_event(self, key: str | None, text: str) -> bool:
        """Return whether the text of an event has not come as an item."""
        waiting = _Waiting(key, digest_of(text))
        if _taken(self._items, waiting):
            return False
        self._events.append(waiting)
        return True

    def is_new_item(self, key: str | None, text: str) -> bool:
        """An event without an id that waits for its item is this item, even if its text differs."""
        waiting = _Waiting(key, digest_of(text))
        is_copy = _taken(self._events, waiting)
        if not is_copy and any(each.key is None for each in self._events):
            self._events.remove(next(each for each in self._events if each.key is None))
            is_copy = True
        if _PLAN in text:  # the plan in it comes as an event of its own
            self._events.clear()
        if not is_copy:
            self._items.append(waiting)
        return not is_copy

    def clear(self) -> None:
        self._events.clear()
        self._items.clear()


class Twins:
    """The newest text of one kind of line: some rollouts report a prompt, an answer or a web search by an
    item and by an event. Two texts of the same kind are never twins."""

    def __init__(self) -> None:
        self._last: tuple[int, bool] | None = None

    def is_second(self, text: str, *, is_item: bool) -> bool:
        digest = digest_of(text)
        is_twin = self._last == (digest, not is_item)
        self._last = None if is_twin else (digest, is_item)
        return is_twin


class Prompts:
    """The user's messages. Codex also writes items in the name of the user; most versions write an event
    for each real prompt. An item is therefore kept until an event, or the first answer to it, has come."""

    def __init__(self) -> None:
        self._events: deque[int] = deque(maxlen=_MOST_WAITING)
        self._digests: deque[int] = deque(maxlen=_MOST_WAITING)
        """The items that were taken for prompts, because no event had come."""
        self._items: list[str] = []
        self._has_events = False
        """Whether this version writes an event for each prompt."""
        self.is_notified = False
        """Whether Codex has told the model in this turn that a subagent has ended."""

    def is_new_event(self, text: str) -> bool:
        self._items.clear()
        self._has_events = True
        digest = digest_of(text)
        if digest in self._digests:
            self._digests.remove(digest)
            return False
        self._events.append(digest)
        return True

    def add_item(self, text: str) -> None:
        """Keep the text of an item, unless it is the copy of an event or was written by Codex."""
        digest = digest_of(text)
        if digest in self._events:
            self._events.remove(digest)
        elif self._is_context(begin := text.lstrip()):
            self.is_notified = self.is_notified or begin.startswith(_SUBAGENT_END)
        elif len(self._items) < _MOST_WAITING:
            self._items.append(text[:_MOST_CHARACTERS])

    def _is_context(self, text: str) -> bool:
        """Return whether Codex wrote a message itself. Where prompts have events, a message in a tag is not
        the user's if it has no event, whatever the tag."""
        return text.startswith(_CONTEXT) or (self._has_events and text.startswith("<"))

    def drop_items(self) -> None:
        self._items.clear()

    def take(self) -> list[str]:
        taken, self._items = self._items, []
        self._digests.extend(map(digest_of, taken))
        return taken


def _taken(waiting: deque[_Waiting], found: _Waiting) -> bool:
    for each in waiting:
        if each.digest == found.digest or (each.key is not None and each.key == found.key):
            waiting.remove(each)
            return True
    return False


# Prompts, answers and thoughts, and the turns that they begin.

_NO_TEXT = "[image]"


class Conversation:
    """Decodes the texts of a rollout. A turn begins with a prompt, or with the first answer without one."""

    def __init__(self) -> None:
        self._is_announced = False
        self._awaits_answer = False
        self._prompts = Prompts()
        self._prompt_twins, self._answer_twins = Twins(), Twins()
        self._answers = Copies()
        self._thoughts = Copies()

    def announce_turn(self) -> None:
        """Note that a turn starts. Codex also starts one to compact the context, without a prompt."""
        self._is_announced = not self._awaits_answer
        self._prompts.is_notified = False
        self.begin_step()

    def begin_step(self) -> None:
        """Note that all texts so far have their copies: the model called a tool, or its turn is over."""
        self._answers.clear()
        self._thoughts.clear()

    def after_prompts(self, events: list[Event]) -> list[Event]:
        """Return the events of an answer or a call after those that they imply. These are prompts that no
        event has confirmed, and the start of a turn that has no prompt."""
        before = self.late_prompts()
        if events and self._is_announced:
            self._is_announced = False
            before.append(TurnStarted(is_prompted=not self._prompts.is_notified))
        self._awaits_answer = self._awaits_answer and not events
        return [*before, *events]

    def late_prompts(self) -> list[Event]:
        """Return the prompts that no event has confirmed. What follows them shows that none will."""
        return [self._prompt(each) for each in self._prompts.take()]

    def turn_ended(self, ended: TurnEnded) -> list[Event]:
        """End the turn. One without a prompt and an answer is a compaction, not a turn of the user."""
        is_empty = self._is_announced and ended.outcome is Outcome.SUCCEEDED
        prompts = [] if is_empty else self.late_prompts()
        self._prompts.drop_items()
        self._is_announced = self._awaits_answer = False
        self.begin_step()
        return [] if is_empty else [*prompts, ended]

    def message_item(self, item: Fields, at_ms: int | None) -> list[Event]:
        pieces = map(mapping, items(item.get("content")))
        texts = [whole_text(found) for piece in pieces if (found := text(piece, "text")) is not None]
        role, answer = item.get("role"), "".join(texts)
        if role == "user" and _is_users(item):
            for found in texts:
                self._prompts.add_item(found)
        elif role == "assistant" and answer and self._answers.is_new_item(text(item, "id"), answer):
            return self.after_prompts(said(Channel.ANSWER, answer, at_ms))
        return []

    def reasoning_item(self, item: Fields, at_ms: int | None) -> list[Event]:
        key = text(item, "id")
        parts = _parts(items(item.get("summary")) or items(item.get("content")))
        return self._thought([each for each in parts if self._thoughts.is_new_item(key, each)], at_ms)

    def prompt(self, found: str, *, is_item: bool = False) -> list[Event]:
        """Return nothing of what came as an item or as another event. `is_item`: of a paginated history."""
        found = whole_text(found) or _NO_TEXT
        if self._prompt_twins.is_second(found, is_item=is_item):
            return []
        return [self._prompt(found)] if self._prompts.is_new_event(found) else []

    def answer(
        self, found: str | None, key: str | None, at_ms: int | None, *, is_item: bool = False
    ) -> list[Event]:
        """Return nothing of what came as an item or as another event. `is_item`: of a paginated history."""
        found = whole_text(found or "")
        if not found or self._answer_twins.is_second(found, is_item=is_item):
            return []
        if not self._answers.is_new_event(key, found):
            return []
        return self.after_prompts(said(Channel.ANSWER, found, at_ms))

    def thought(self, given: Iterable[object], key: str | None, at_ms: int | None) -> list[Event]:
        return self._thought(
            [each for each in _parts(given) if self._thoughts.is_new_event(key, each)], at_ms
        )

    def _prompt(self, found: str) -> Prompt:
        self._is_announced, self._awaits_answer = False, True
        return Prompt(found)

    def _thought(self, parts: list[str], at_ms: int | None) -> list[Event]:
        events = [event for part in parts for event in said(Channel.REASONING, part, at_ms)]
        return self.after_prompts(events) if events else []


def _parts(given: Iterable[object]) -> list[str]:
    found = [each if isinstance(each, str) else text(mapping(each), "text") for each in given]
    return [whole_text(each) for each in found if each]


def _is_users(item: Fields) -> bool:
    """Return whether a message may be the user's. Version 0.169 says for each piece who wrote it."""
    said = mapping(item.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
    kinds = [kind for kind in items(said) if isinstance(kind, str)]
    return not kinds or any(kind.startswith("user.") for kind in kinds)


# What a rollout reports about a call beside its output.
# Paginated histories (0.150 and later) have an `item_completed` for each call. Older ones have an event for
# some kinds of calls. Both say more than the output: the exit code, the status, the changes of each file.


def read_item(item: Fields) -> Item | None:
    return _read(_ITEMS.get(text(item, "type") or ""), item)


def read_event(kind: str, event: Fields) -> Item | None:
    return _read(_EVENTS.get(kind), event)


def _read(reader: _Reader | None, fields: Fields) -> Item | None:
    """Add the measured duration; the agent gives 0 for what ended before it began to measure."""
    if reader is None:
        return None
    found = reader(fields)
    duration = mapping(fields.get("duration"))
    seconds, nanoseconds = number(duration, "secs"), number(duration, "nanos")
    milliseconds = (seconds or 0) * 1000 + (nanoseconds or 0) // 1_000_000
    if found.end is None or milliseconds <= 0:
        return found
    return found._replace(end=found.end._replace(duration_ms=milliseconds))


def _command(fields: Fields) -> Item:
    words = fields.get("command")
    script = script_in(words) if isinstance(words, list) else text(fields, "command") or ""
    end = command_end(text(fields, "status"), number(fields, "exit_code"))
    return Item(command_use("command_execution", script), end)


def _file_change(fields: Fields) -> Item:
    status = text(fields, "status")
    if status is None and isinstance(fields.get("success"), bool):
        status = "completed" if fields["success"] else "failed"
    changes = summed(mapped_changes(fields.get("changes")))
    return change_item("file_change", changes, status, text(fields, "stderr"))


def _mcp_call(item: Fields) -> Item:
    tool = text(item, "tool")
    use = mcp_use(tool or "mcp_tool_call", text(item, "server"), tool)
    return Item(use, mcp_end(item, text(item, "status")))


def _mcp_end(event: Fields) -> Item:
    call, result = mapping(event.get("invocation")), mapping(event.get("result"))
    tool = text(call, "tool")
    use = mcp_use(tool or "mcp_tool_call", text(call, "server"), tool)
    returned = mapping(result.get("Ok"))
    if "Err" in result:
        return Item(use, failed_end(text(result, "Err")))
    return Item(use, mcp_end({"result": returned}, "completed") if "Ok" in result else End(Outcome.RETURNED))


def _web_search(fields: Fields) -> Item:
    return search_item(text(fields, "kind") or "web_search", fields)


def _extension(item: Fields) -> Item:
    """Return a call of an extension: a web search, or another tool of which only the kind is known."""
    if "query" in item or "action" in item:
        return _web_search(item)
    tool = text(item, "kind") or "extension"
    return Item(Use(tool, ToolKind.OTHER, Phrase.USED, tool), End(Outcome.RETURNED))


def _agent_call(item: Fields) -> Item:
    threads = items(item.get("receiver_thread_ids")) or items(item.get("receiverThreadIds"))
    tool = "".join(
        f"_{char.lower()}" if char.isupper() else char for char in (text(item, "tool") or "")[:100]
    )
    use = agent_use(
        tool or "collab_tool_call", text(item, "prompt"), [each for each in threads if isinstance(each, str)]
    )
    return Item(use, status_end(text(item, "status")))


def _agent_started(event: Fields) -> Item:
    """Return the start of a subagent. Without a new thread, the call failed."""
    thread = text(event, "new_thread_id")
    use = agent_use("spawn_agent", text(event, "prompt"), [] if thread is None else [thread])
    return Item(use, End(Outcome.FAILED if thread is None else Outcome.SUCCEEDED))


def _own_tool(fields: Fields) -> Item:
    name = text(fields, "tool") or "dynamic_tool_call"
    use = tool_use(name, other_tool(name), mapping(fields.get("arguments")))
    succeeded, status = fields.get("success"), text(fields, "status")
    if isinstance(succeeded, bool):
        status = "completed" if succeeded else "failed"
    return Item(use, status_end(status, text(fields, "error")))


def _image_view(fields: Fields) -> Item:
    path = text(fields, "path")
    paths = () if path is None else (path.removeprefix("file://"),)
    return Item(Use("view_image", ToolKind.READ, Phrase.READ, paths=paths), End(Outcome.SUCCEEDED))


def _image_made(fields: Fields) -> Item:
    name = "image_generation"
    prompt = one_line(text(fields, "revised_prompt") or "")
    use = Use(name, ToolKind.OTHER, Phrase.USED, f"{name} {prompt}" if prompt else name)
    status = text(fields, "status")
    return Item(use, End(Outcome.RETURNED) if status is None else status_end(status))


_Reader = Callable[[Fields], Item]
_ITEMS: dict[str, _Reader] = {
    "CommandExecution": _command,
    "FileChange": _file_change,
    "McpToolCall": _mcp_call,
    "WebSearch": _web_search,
    "Extension": _extension,
    "CollabAgentToolCall": _agent_call,
    "DynamicToolCall": _own_tool,
    "ImageView": _image_view,
    "ImageGeneration": _image_made,
    "Sleep": lambda _item: Item(Use("sleep", ToolKind.OTHER, Phrase.USED, "sleep"), End(Outcome.SUCCEEDED)),
}
_EVENTS: dict[str, _Reader] = {
    "exec_command_end": _command,
    "patch_apply_end": _file_change,
    "mcp_tool_call_end": _mcp_end,
    "web_search_end": _web_search,
    "dynamic_tool_call_response": _own_tool,
    "view_image_tool_call": _image_view,
    "image_generation_end": _image_made,
    "collab_agent_spawn_end": _agent_started,
}


# The turns: messages, calls and ends.

_MOST_PLANS = 64
_MOST_ERROR = 4096
"""The most characters of an error, which may contain the whole answer of a server."""


class Turns:
    def __init__(self) -> None:
        self.calls = Calls()
        self.texts = Conversation()
        self._plans: dict[str, Plan] = {}
        """The plans of open calls by call_id; at most 64."""
        self._searches = 0
        """The number of web searches without an id."""
        self._search_twins = Twins()
        self._error: str | None = None

    def item(self, kind: str, item: Fields, at_ms: int | None) -> list[Event] | None:
        match kind:
            case "message":
                return self.texts.message_item(item, at_ms)
            case "reasoning":
                return self.texts.reasoning_item(item, at_ms)
            case "agent_message":
                return _message_between_agents(item, at_ms)
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
        key = text(item, "id")
        match item.get("type"):
            case "UserMessage":
                return self.texts.prompt(_content_text(item), is_item=True)
            case "AgentMessage":
                return self.texts.answer(_content_text(item), key, at_ms, is_item=True)
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
                refusal = refusal_in(mapping(event.get("error")), at_ms)
                return [*refusal, *self.texts.turn_ended(_turn_complete(event, error))]
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
        if found is None:
            return None
        if kind == "web_search_end" and self._search_twins.is_second(found.use.target or "", is_item=False):
            return []  # it came as a model's item, to which older versions give no id
        return self._finished(_call_id(event), found, event, at_ms)

    def _started(self, item: Fields, use: Use, arguments: Fields, at_ms: int | None) -> list[Event]:
        self.texts.begin_step()
        call_id = _call_id(item)
        events = self.calls.start(call_id, use, arguments, at_ms)
        if use.tool == PLAN_TOOL:
            remember(self._plans, call_id, plan_of(arguments.get("plan")), _MOST_PLANS)
        if use.tool == QUESTION_TOOL:
            question = first_question(arguments)
            asked = Permission(QUESTION_TOOL, None, None, at_ms, call_id, call_id, question)
            events.append(asked._replace(limit_ms=time_limit_of(arguments)))
        if arguments.get("sandbox_permissions") == "require_escalated":
            what = one_line(command_of(arguments) or use.tool)
            events.append(Notice(f"needs permission to run outside the sandbox: {what}", at_ms))
        return self.texts.after_prompts(events)

    def _output(self, call_id: str, value: object, at_ms: int | None) -> list[Event]:
        events = self.texts.after_prompts(self.calls.output(call_id, value, at_ms))
        plan = self._plans.pop(call_id, None)
        has_plan = any(isinstance(each, ToolEnded) and each.outcome is Outcome.SUCCEEDED for each in events)
        return [*events, plan] if plan is not None and has_plan else events

    def _finished(self, call_id: str, found: Item, event: Fields, at_ms: int | None) -> list[Event]:
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


_MINUTES_OF_DAY, _MINUTES_OF_HOUR, _MOST_MINUTES = 1440, 60, 1_000_000
_REFUSALS = ("usage_limit_exceeded", "usageLimitExceeded")


def limits_in(limits: Fields, at_ms: int | None) -> list[Limits]:
    """Return how full the windows of the account are. A `limit_id` other than `codex` counts one model."""
    if limits.get("limit_id") not in (None, "codex"):
        return []
    found = (_window(mapping(limits.get(key))) for key in ("primary", "secondary"))
    windows = tuple(window for window in found if window is not None)
    return [Limits(windows, at_ms=at_ms)] if windows else []


def _window(fields: Fields) -> LimitWindow | None:
    minutes, used = number(fields, "window_minutes"), percent(fields.get("used_percent"))
    if minutes is None or used is None or not 0 < minutes < _MOST_MINUTES:
        return None
    units = ((_MINUTES_OF_DAY, "d"), (_MINUTES_OF_HOUR, "h"), (1, "m"))
    name = next(f"{minutes // size}{unit}" for size, unit in units if not minutes % size)
    return LimitWindow(name, used, seconds_ms(fields, "resets_at"))


def refusal_in(error: Fields, at_ms: int | None) -> list[Limits]:
    """Return that a limit has refused a request, if an error says so. It does not say until when."""
    is_refused = error.get("codex_error_info") in _REFUSALS
    return [Limits((), is_refused=True, at_ms=at_ms)] if is_refused else []


def _turn_complete(event: Fields, before: str | None) -> TurnEnded:
    """One that failed has an error. Older versions report that of a turn without an answer before its end."""
    error = event.get("error")
    duration_ms = number(event, "duration_ms")
    if error is None or error == {}:
        has_answer = event.get("last_agent_message") is not None
        if before is None or has_answer:
            return TurnEnded(Outcome.SUCCEEDED, duration_ms=duration_ms)
        return TurnEnded(Outcome.FAILED, before, duration_ms=duration_ms)
    message = message_in(mapping(error)) or (error if isinstance(error, str) else "the turn failed")
    return TurnEnded(Outcome.FAILED, message, duration_ms=duration_ms)


def _message_between_agents(item: Fields, at_ms: int | None) -> list[Event]:
    names = " → ".join(name for key in ("author", "recipient") if (name := text(item, key)))
    words = _content_text(item)
    return [Notice(f"{names}: {words}", at_ms)] if words else []


def _content_text(item: Fields) -> str:
    return "".join(text(mapping(piece), "text") or "" for piece in items(item.get("content")))


def _call_id(fields: Fields) -> str:
    return text(fields, "call_id") or text(fields, "id") or ""


FORMAT = "codex-rollout"
_UUID = 36
_COPY_GAP_MS = 1000
_ONE_LINER = "codex_exec"
"""The originator of a session that another program starts for one prompt, with `codex exec`."""
_CONTEXT_ITEMS = frozenset(
    {
        *("compaction", "compaction_summary", "context_compaction", "compaction_trigger", "ghost_snapshot"),
        *("additional_tools", "other"),
    }
)
"""Items that belong to the model's context, and report nothing."""


class Counts:
    """The tokens of the thread's own requests. The total in a rollout includes the history that its thread
    inherits. A fork before version 0.154 begins with a copy of that history, which has new times. Later forks
    only name it (`history_base`)."""

    def __init__(self) -> None:
        self.inherits = False
        """Whether no turn of the file's own has begun: what comes is inherited."""
        self.may_inherit = False
        """Whether the thread was spawned by another, and no line shows yet whether it repeats its lines."""
        self._before = Tokens()
        self._own = Tokens()
        self._inherited: Tokens | None = Tokens()
        """The total when the first own turn began; None until it is known."""
        self._began_ms: int | None = None
        self._last_ms: int | None = None
        self._has_turn_ids = False

    def begin(self, payload: Fields, at_ms: int | None, *, is_spawned: bool = False) -> None:
        self._before, self._own = added((self._before, self._own)), Tokens()
        self.inherits = _has_base(payload) or text(payload, "forked_from_id") is not None
        self.may_inherit = is_spawned and not self.inherits
        self._inherited = None if self.inherits or is_spawned else Tokens()
        self._began_ms, self._last_ms = iso_ms(payload.get("timestamp")), at_ms
        self._has_turn_ids = False

    def is_history(self, kind: object, payload: Fields, at_ms: int | None) -> bool:
        """Return whether a line shows that a thread repeats the lines of the one that has spawned it. It is
        older than its file, or of a turn that is older, or it is the first line of the other thread. If none
        of the lines before the first event is, the thread repeats nothing."""
        if self._began_ms is None:
            return False
        made_ms = [ms for ms in (at_ms, _made_ms(text(payload, "turn_id"))) if ms is not None]
        self.inherits = kind == "session_meta" or any(ms < self._began_ms for ms in made_ms)
        self.may_inherit = not self.inherits and kind != "event_msg"
        return self.inherits

    def has_own_turn(self, payload: Fields, at_ms: int | None) -> bool:
        """Return whether a line ends the inherited history. The ids of turns contain their time. In files
        without such ids, the copy was written at once: a line that came a second later is an own one."""
        last_ms, self._last_ms = self._last_ms, at_ms
        turn_ms, began_ms = _made_ms(text(payload, "turn_id")), self._began_ms
        if turn_ms is not None and began_ms is not None:
            self._has_turn_ids = True
            is_own = turn_ms >= began_ms
        elif self._has_turn_ids or last_ms is None or at_ms is None or began_ms is None:
            is_own = False
        else:
            is_own = at_ms >= began_ms and (last_ms < began_ms or at_ms - last_ms >= _COPY_GAP_MS)
        self.inherits = not is_own
        return is_own

    def usage(self, total: Tokens, last: Tokens) -> Tokens:
        inherited = self._inherited
        if self.inherits:
            self._inherited = inherited = total
        elif inherited is None or (total.input or 0) < (inherited.input or 0):
            self._inherited = inherited = _less(total, last)
        self._own = _less(total, inherited)
        return added((self._before, self._own))


def _has_base(payload: Fields) -> bool:
    """Return whether the first line of a file names the history before it, which the file does not repeat."""
    return bool(mapping(payload.get("history_base")))


def _less(total: Tokens, part: Tokens) -> Tokens:
    own = less(total, part)
    sent, cached, output, written = (
        None if each is None else max(each, 0) for each in (own.input, own.cached, own.output, own.written)
    )
    return Tokens(sent, cached, output, written=written)


def _made_ms(name: str | None) -> int | None:
    if name is None or len(name) != _UUID or name[14] != "7":
        return None
    try:
        return int(name[:8] + name[9:13], 16)
    except ValueError:
        return None


_SPAWN = "spawn_agent"
_MOST_SPAWNED = 1000


class _Spawned:
    def __init__(self, decoder: CodexRolloutDecoder, thread: str) -> None:
        self.decoder = decoder
        self.tokens = Tokens()
        self.call_id = ""
        """The call that has spawned it; empty if unknown."""
        self._thread = thread

    @property
    def parent_call(self) -> str:
        return self.call_id or self._thread


class CodexRolloutDecoder:
    def __init__(self) -> None:
        self._counts = Counts()
        self.repeats_history = False
        """Whether the present lines are a copy of another thread's history."""
        self.parent: str | None = None
        """The thread that has spawned this one."""
        self._turns = Turns()
        self._has_begun = False
        self._thread: str | None = None
        self._is_compacted = False
        """Whether the newest content of the conversation is a compaction, which up to three lines report."""
        self._tokens = Tokens()
        self.spawning: dict[str, str] = {}
        """What the calls that spawn threads ask them to do, by the ids of those whose thread is not known."""
        self._spawned: dict[str, _Spawned] = {}

    def decode(self, fields: Fields) -> list[Event]:
        if SUBAGENT in fields:
            return self._decode_spawned(text(fields, SUBAGENT) or "", fields)
        payload, at_ms = mapping(fields.get("payload")), time_of(fields)
        if self._counts.may_inherit and self._counts.is_history(fields.get("type"), payload, at_ms):
            self.repeats_history = True
            return [RunInfo(repeats_history=True), *self._events(fields, payload, at_ms)]
        if self._counts.inherits and self._counts.has_own_turn(payload, at_ms) and self.repeats_history:
            self.repeats_history = False
            return [RunInfo(repeats_history=False), *self._events(fields, payload, at_ms)]
        return self._events(fields, payload, at_ms)

    def _events(self, fields: Fields, payload: Fields, at_ms: int | None) -> list[Event]:
        match fields.get("type"):
            case "session_meta":
                return self._session(payload, at_ms)
            case "turn_context":
                return self._context(payload)
            case "response_item":
                return self._item(payload, at_ms)
            case "event_msg":
                return self._event(payload, at_ms)
            case "compacted":
                return self._compacted(at_ms)
            case "token_usage_record":
                return self._usage(mapping(payload.get("thread_token_usage")), mapping(payload.get("usage")))
            case "world_state" | "inter_agent_communication" | "inter_agent_communication_metadata":
                return []
        return [Unknown(f"type {in_words(fields.get('type'))}")]

    def end(self) -> list[Event]:
        of_spawned = (self._as_subagent(each, each.decoder.end()) for each in self._spawned.values())
        return [*self._turns.texts.late_prompts(), *self._turns.calls.end(), *chain.from_iterable(of_spawned)]

    def _session(self, payload: Fields, at_ms: int | None) -> list[Event]:
        """Begin the run. A second session_meta is that of the session from which this one was forked. Or it
        begins the next file of the thread."""
        name = text(payload, "id") or text(payload, "session_id")
        if self._has_begun:
            if name == self._thread and _has_base(payload):
                self._counts.begin(payload, at_ms)
            return []
        self._has_begun, self._thread = True, name
        spawned = mapping(mapping(mapping(payload.get("source")).get("subagent")).get("thread_spawn"))
        parent = self.parent = text(payload, "parent_thread_id") or text(spawned, "parent_thread_id")
        self._counts.begin(payload, at_ms, is_spawned=parent is not None)
        self.repeats_history = self._counts.inherits and not _has_base(payload)
        started = RunStarted(
            FORMAT,
            session_id=name,
            cwd=self._move_to(text(payload, "cwd")),
            agent_version=text(payload, "cli_version"),
        )
        branch = text(mapping(payload.get("git")), "branch")
        is_one_liner = payload.get("originator") == _ONE_LINER
        begun: list[Event] = [started]
        if self.repeats_history:
            begun.append(RunInfo(repeats_history=True))
        if branch is not None or is_one_liner:
            begun.append(RunInfo(branch=branch, is_one_liner=is_one_liner))
        if parent is not None:
            return [*begun, Notice(f"subagent of session {parent}")]
        if origin := text(payload, "forked_from_id"):
            return [*begun, Notice(f"forked from session {origin}")]
        return begun

    def _move_to(self, cwd: str | None) -> str | None:
        if cwd is not None:
            self._turns.calls.cwd = cwd.rstrip("/\\")
        return cwd

    def _context(self, payload: Fields) -> list[Event]:
        model, policy = text(payload, "model"), text(payload, "approval_policy")
        cwd = self._move_to(text(payload, "cwd"))
        if model is None and policy is None and cwd is None:
            return []
        return [RunInfo(model=model, cwd=cwd, permission_mode=policy)]

    def _compacted(self, at_ms: int | None) -> list[Event]:
        if self._is_compacted:
            return []
        self._is_compacted = True
        return [Compaction(is_over=True, at_ms=at_ms)]

    def _item(self, item: Fields, at_ms: int | None) -> list[Event]:
        kind = item.get("type")
        if isinstance(kind, str) and kind in _CONTEXT_ITEMS:
            return []
        events = self._turns.item(kind, item, at_ms) if isinstance(kind, str) else None
        if item.get("name") == _SPAWN and events:
            for event in events:
                if type(event) is ToolStarted:
                    remember(self.spawning, event.call_id, event.target or "", _MOST_SPAWNED)
        return [Unknown(f"item {in_words(kind)}")] if events is None else self._changed(events)

    def _event(self, event: Fields, at_ms: int | None) -> list[Event]:
        kind = event.get("type")
        if kind == "token_count":
            info = mapping(event.get("info"))
            total, last = mapping(info.get("total_token_usage")), mapping(info.get("last_token_usage"))
            limits = limits_in(mapping(event.get("rate_limits")), at_ms)
            return [*limits, *self._usage(total, last, number(info, "model_context_window"))]
        if kind == "thread_settings_applied":
            return self._context(mapping(event.get("thread_settings")))
        if kind == "thread_name_updated":
            title = text(event, "thread_name")
            return [] if title is None else [RunInfo(title=title, is_users_title=True)]
        if kind in ("task_started", "turn_started"):
            size = number(event, "model_context_window")
            self._turns.texts.announce_turn()
            cut = self._turns.calls.begin_turn()
            return cut if size is None else [*cut, Usage(Tokens(context_size=size), UsageScope.REQUEST)]
        if kind == "context_compacted":
            return self._compacted(at_ms)
        if kind == "item_completed":
            item = mapping(event.get("item"))
            if item.get("type") == "ContextCompaction":
                return self._compacted(at_ms)
            found = self._turns.completed(item, event, at_ms)
            return [Unknown(f"item {in_words(item.get('type'))}")] if found is None else self._changed(found)
        if not isinstance(kind, str):
            return [Unknown(f"event {in_words(kind)}")]
        events = self._turns.event(kind, event, at_ms)
        if events is not None:
            return self._changed(events)
        notice = notice_of(kind, event, at_ms)
        return (
            [Unknown(f"event {in_words(kind)}")] if notice is None else [*refusal_in(event, at_ms), *notice]
        )

    def _changed(self, events: list[Event]) -> list[Event]:
        if events:
            self._is_compacted = False
        return events

    def _usage(self, total: Fields, last: Fields, size: int | None = None) -> list[Event]:
        used, counted = number(last, "total_tokens"), tokens_of(total)
        own = counted if counted == Tokens() else self._counts.usage(counted, tokens_of(last))
        if counted != Tokens():
            self._tokens = own
        total_of_all = self._total(own) if self._spawned else own
        tokens = total_of_all._replace(context_used=used, context_size=size)
        return [] if tokens == Tokens() else [Usage(tokens, UsageScope.RUN)]

    def _total(self, own: Tokens) -> Tokens:
        return added((own, *(each.tokens for each in self._spawned.values())))

    def _decode_spawned(self, thread: str, fields: Fields) -> list[Event]:
        spawned = self._spawned.get(thread)
        if spawned is None:
            if len(self._spawned) >= _MOST_SPAWNED:
                return []
            spawned = self._spawned[thread] = _Spawned(CodexRolloutDecoder(), thread)
        return self._as_subagent(spawned, spawned.decoder.decode(own_fields(fields)))

    def _as_subagent(self, spawned: _Spawned, events: list[Event]) -> list[Event]:
        """Return what the events of a spawned thread mean for this one; nothing of a copy of a history."""
        found: list[Event] = []
        for event in events:
            if isinstance(event, Usage) and event.tokens[:3] != (None, None, None):
                spawned.tokens = event.tokens._replace(context_used=None, context_size=None)
                found.append(Usage(self._total(self._tokens), UsageScope.RUN))
            if spawned.decoder.repeats_history:
                continue
            if isinstance(event, Prompt):
                spawned.call_id = spawned.call_id or self._call_of(spawned, event.text)
            found += of_subagent(event, spawned.parent_call)
        return found

    def _call_of(self, spawned: _Spawned, prompt: str) -> str:
        """Return the call that has spawned a thread: the one with its prompt, or else the oldest; or ""."""
        above = self._spawned.get(spawned.decoder.parent or "")
        spawning = self.spawning if above is None else above.decoder.spawning
        same = (call_id for call_id, asked in spawning.items() if asked == one_line(prompt))
        call_id = next(same, next(iter(spawning), ""))
        spawning.pop(call_id, None)
        return call_id
