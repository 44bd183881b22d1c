"""Finds the tool of a call among the fields of its line, and the arguments of the call."""

from typing import NamedTuple

from agentwatch.wire.cursor.tools import NAMED_IN_THE_WILD, TOOLS
from agentwatch.wire.fields import NO_FIELDS, Fields, mapping, text
from agentwatch.wire.tool import Tool, other_tool

FUNCTION = "function"
"""The documented key of a tool without a key of its own. The object under it has the tool's name."""
_TOOL_KEY = "ToolCall"
_BY_KEY = {f"{name}{_TOOL_KEY}": (name, tool) for name, tool in TOOLS.items()}
_NO_NAME = "unknown"
_new = tuple.__new__
"""Makes a named tuple from all of its fields, in a third of the time that calling its class takes."""


class ToolUse(NamedTuple):
    """The tool of a call, and the object under the tool's key: `args`, `result` and other fields."""

    name: str
    tool: Tool
    body: Fields
    key: str = ""
    """The key of the tool beside its siblings; empty if the line has none."""

    @property
    def is_function(self) -> bool:
        """Whether the call has the documented form for a tool without a key of its own."""
        return self.key == FUNCTION

    @property
    def is_known(self) -> bool:
        """Whether this version knows the tool. A function is known by its name: the form is documented."""
        if self.name in TOOLS or self.name in NAMED_IN_THE_WILD:
            return True
        return self.is_function and self.name != _NO_NAME


def read_tool(value: object) -> ToolUse:
    """Return the tool of a call.

    In `{"readToolCall": {...}, "toolCallId": "1"}` the name is `read`. Siblings of the key are ignored. Lines
    written by hand have also been seen with the name as the key, `{"grep": {...}}`, and with the key as a
    value, `{"tool": {"case": "grepToolCall", "value": {...}}}`.

    Args:
        value: The object under `tool_call`.
    """
    call: Fields = value if type(value) is dict else mapping(value)
    for key, body in call.items():
        if key in _BY_KEY:
            name, tool = _BY_KEY[key]
            return _new(ToolUse, (name, tool, body if type(body) is dict else mapping(body), key))
        if key.endswith(_TOOL_KEY) and len(key) > len(_TOOL_KEY):
            name = key.removesuffix(_TOOL_KEY)
            return ToolUse(name, other_tool(name), mapping(body), key)
    if FUNCTION in call:
        body = mapping(call[FUNCTION])
        return _named(text(body, "name") or _NO_NAME, body, FUNCTION)
    return _without_suffix(call)


def read_arguments(body: Fields) -> Fields:
    """Return the arguments of a call: the object under `args`, or else under `arguments`.

    Args:
        body: The object under the tool's key.
    """
    given = body.get("args")
    if type(given) is dict and given:
        return given
    return mapping(given) or mapping(body.get("arguments"))


def _without_suffix(call: Fields) -> ToolUse:
    """Return the tool of a call whose key has no suffix: of several objects, the one with a known name."""
    keys = [key for key, value in call.items() if isinstance(value, dict)]
    key = next((key for key in keys if key in TOOLS or key in NAMED_IN_THE_WILD), keys[0] if keys else "")
    body = mapping(call.get(key))
    case = text(body, "case") if key == "tool" else None
    if case is not None:
        return _named(case.removesuffix(_TOOL_KEY) or _NO_NAME, mapping(body.get("value")), key)
    return _named(key, body, key) if key else _named(_NO_NAME, NO_FIELDS, "")


def _named(name: str, body: Fields, key: str) -> ToolUse:
    return ToolUse(name, TOOLS.get(name) or other_tool(name), body, key)
