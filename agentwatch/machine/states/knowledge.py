"""What the sessions of each agent show, and which calls of an agent wait for permission."""

from typing import NamedTuple

from agentwatch.events import ToolKind

_COMMANDS = frozenset({ToolKind.EXECUTE})
CHANGES = frozenset({ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE})
"""Calls that change a file: they take milliseconds, and need no process of their own."""


class Knowledge(NamedTuple):
    """What can be known about the sessions of an agent without hooks."""

    asking: frozenset[ToolKind] = _COMMANDS
    """The kinds of calls that may wait for permission without a line that says so."""
    is_exact: bool = False
    """Whether the agent keeps its present state in a file of its own, which is newer than its lines."""
    has_calls: bool = True
    """Whether a call is written before it has ended."""
    has_ends: bool = True
    """Whether the lines always show that a turn has ended. If not, the state is unknown until one does."""
    has_results: bool = True
    """Whether the lines have the results of calls. If not, nobody knows which have failed."""
    ends_in_silence: bool = False
    """Whether a turn is taken to have ended when nothing follows its answer."""


_NOTHING = frozenset[ToolKind]()
_BY_AGENT = {
    "claude": Knowledge(_COMMANDS | CHANGES | {ToolKind.FETCH}, is_exact=True),
    "copilot": Knowledge(_NOTHING, is_exact=True),
    "agentwatch": Knowledge(_NOTHING, is_exact=True),
    "codex": Knowledge(_COMMANDS | CHANGES),
    "qwen": Knowledge(_COMMANDS | CHANGES | {ToolKind.FETCH}),
    "opencode": Knowledge(_COMMANDS | CHANGES),
    "gemini": Knowledge(_NOTHING, has_calls=False, ends_in_silence=True),
    "pi": Knowledge(_NOTHING),
    "cursor": Knowledge(_NOTHING, has_calls=False, has_ends=False, has_results=False),
    "goose": Knowledge(_NOTHING, has_calls=False, has_ends=False),
    "amp": Knowledge(_NOTHING, has_calls=False, has_ends=False),
}
"""By the agent's short name. Copilot logs each question and its answer; Pi asks for no permission; Gemini
writes a call only when all calls of its step have ended; the lines of Cursor have no results and no times,
and only newer versions write that a turn has ended."""
_OTHER = Knowledge()
_NEVER_ASKING = frozenset({"auto", "bypasspermissions", "dontask", "never", "yolo"})
"""Modes in which no call waits for permission: of Claude, Codex (`never`), Gemini and Qwen (`yolo`)."""
_CHANGING_FREELY = frozenset({"acceptedits", "autoedit"})
"""Modes in which changes of files need no permission: of Claude, Gemini and Qwen."""


def knowledge_of(agent: str) -> Knowledge:
    """Return what can be known about the sessions of an agent, by its short name."""
    return _BY_AGENT.get(agent, _OTHER)


def may_ask(known: Knowledge, mode: str, kind: ToolKind) -> bool:
    """Return whether a call may wait for permission without a line that says so.

    Args:
        known: What is known about the agent.
        mode: The permission mode of the session, in the agent's words; empty if unknown.
        kind: The kind of the call.
    """
    mode = mode.lower().replace("-", "").replace("_", "")
    if mode in _NEVER_ASKING or (mode in _CHANGING_FREELY and kind in CHANGES):
        return False
    return kind in known.asking
