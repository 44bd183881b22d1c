"""The classes and functions that may be read from an index: those that hold data, and no others."""

from __future__ import annotations

import sys
from importlib import import_module
from pickle import UnpicklingError
from types import FunctionType

_ROOMS = (
    "agentwatch.events.",
    "agentwatch.session.",
    "agentwatch.wire.",
    "agentwatch.screen.calls.",
    "agentwatch.screen.transcript.",
)
_MODULES = frozenset(
    {
        "agentwatch.feed.call_changes",
        "agentwatch.feed.checkpoints",
        "agentwatch.feed.timeline",
        "agentwatch.outputs.shown.tool_names",
        "agentwatch.recording.time_columns",
        "agentwatch.safe_text",
    }
)
_CLOSED = ("agentwatch.session.storage.spill", "agentwatch.wire.plugins")
"""In these rooms, but their objects own files or load the code of others."""
_FUNCTIONS = frozenset({"tool_named", "details_in", "no_details", "time_of", "_time_of"})
"""The functions of `agentwatch.wire` that decoders keep."""
_OTHERS = frozenset(
    {
        ("array", "array"),
        ("array", "_array_reconstructor"),
        ("builtins", "slice"),
        ("builtins", "set"),
        ("builtins", "frozenset"),
        ("builtins", "bytearray"),
        ("collections", "Counter"),
        ("collections", "OrderedDict"),
        ("collections", "deque"),
    }
)


def allowed(module: str, name: str) -> object:
    """Return the class or function with a name, if it may be read from an index.

    Raises:
        UnpicklingError: It may not.
    """
    is_open = module in _MODULES or (module.startswith(_ROOMS) and not module.startswith(_CLOSED))
    if (module, name) not in _OTHERS and not is_open:
        raise UnpicklingError(f"{module}.{name} may not be read")
    try:
        found = getattr(sys.modules.get(module) or import_module(module), name, None)
    except ImportError:
        found = None
    if (module, name) in _OTHERS:
        return found
    is_own = getattr(found, "__module__", None) == module
    is_function = isinstance(found, FunctionType) and name in _FUNCTIONS
    if not is_own or not (isinstance(found, type) or is_function):
        raise UnpicklingError(f"{module}.{name} may not be read")
    return found
