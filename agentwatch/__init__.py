"""agentwatch: a live monitor, in the terminal, for coding-agent sessions; and a library that reads them.

`read` yields the events of a session, `follow` waits for more of them, `load` returns the whole session, and
`summary` what the summary format prints. The names in `__all__` are stable under semantic versioning. Each is
imported when it is used: importing the package takes 1 ms, and never loads Textual, rich or click.

Example:
    >>> import agentwatch
    >>> session = agentwatch.load("recordings/failures.ndjson")
    >>> [(call.number, call.target, call.error) for call in session.calls if call.exit_code]
    [(1, 'make lint', 'exit 2'), (2, 'grep -q FIXME src/blades.py', 'exit 1')]

    The version is a string:

    >>> agentwatch.__version__.count(".")
    2

    An `Event` is any of the event types, so a function that takes one is typed by it:

    >>> def tokens_of(event: agentwatch.Event) -> int | None:
    ...     return event.tokens.output if isinstance(event, agentwatch.Usage) else None
"""

import sys

TYPE_CHECKING = False
"""Type checkers take it for true. `typing` has it too, and would double what the relay of an agent loads."""

if TYPE_CHECKING:
    from agentwatch import testing
    from agentwatch.agents.agent import Agent, LineRole
    from agentwatch.api.reading import Events, Placed, follow, load, read, summary
    from agentwatch.api.summary_types import CallSummary, Summary
    from agentwatch.base.faults import Fault
    from agentwatch.session.call import Call, Place
    from agentwatch.session.counts import LineCounts, OddLine
    from agentwatch.session.events import (
        Channel,
        Compaction,
        Event,
        FormatDetected,
        Limits,
        LimitWindow,
        LineTime,
        Malformed,
        Notice,
        Outcome,
        Oversize,
        Permission,
        Plan,
        PlanEntry,
        PlanStatus,
        Prompt,
        Repair,
        Retry,
        Rewound,
        RunInfo,
        RunStarted,
        Text,
        TextEnded,
        TextRetracted,
        Tokens,
        ToolEnded,
        ToolKind,
        ToolProgress,
        ToolStarted,
        Traits,
        TurnEnded,
        TurnStarted,
        Unknown,
        Usage,
        UsageScope,
    )
    from agentwatch.session.runs import Run
    from agentwatch.session.session import Session
    from agentwatch.session.transcript import Entry, Kind, TurnResult

__version__ = "0.2.0"

NEEDS = "agentwatch needs Linux or macOS; on Windows it works in WSL"
"""The message on Windows, whose Python lacks the modules for locks, terminals and processes."""

_MODULES = {
    "api.reading": ("Events", "Placed", "follow", "load", "read", "summary"),
    "api.summary_types": ("CallSummary", "Summary"),
    "session.call": ("Call", "Place"),
    "session.counts": ("LineCounts", "OddLine"),
    "session.runs": ("Run",),
    "session.session": ("Session",),
    "session.transcript": ("Entry", "Kind", "TurnResult"),
    "session.events": (
        *(
            "Channel",
            "Compaction",
            "Event",
            "FormatDetected",
            "Limits",
            "LimitWindow",
            "LineTime",
            "Malformed",
        ),
        *(
            "Notice",
            "Outcome",
            "Oversize",
            "Permission",
            "Plan",
            "PlanEntry",
            "PlanStatus",
            "Prompt",
            "Repair",
            "Retry",
        ),
        *("Rewound", "RunInfo", "RunStarted", "Text", "TextEnded", "TextRetracted", "Tokens", "ToolEnded"),
        *("ToolKind", "ToolProgress", "ToolStarted", "Traits", "TurnEnded", "TurnStarted", "Unknown"),
        *("Usage", "UsageScope"),
    ),
    "base.faults": ("Fault",),
    "agents.agent": ("Agent", "LineRole"),
}
"""The public names of each module that is imported when one of them is used."""
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Agent",
    "Call",
    "CallSummary",
    "Channel",
    "Compaction",
    "Entry",
    "Event",
    "Events",
    "Fault",
    "FormatDetected",
    "Kind",
    "LimitWindow",
    "Limits",
    "LineCounts",
    "LineRole",
    "LineTime",
    "Malformed",
    "Notice",
    "OddLine",
    "Outcome",
    "Oversize",
    "Permission",
    "Place",
    "Placed",
    "Plan",
    "PlanEntry",
    "PlanStatus",
    "Prompt",
    "Repair",
    "Retry",
    "Rewound",
    "Run",
    "RunInfo",
    "RunStarted",
    "Session",
    "Summary",
    "Text",
    "TextEnded",
    "TextRetracted",
    "Tokens",
    "ToolEnded",
    "ToolKind",
    "ToolProgress",
    "ToolStarted",
    "Traits",
    "TurnEnded",
    "TurnResult",
    "TurnStarted",
    "Unknown",
    "Usage",
    "UsageScope",
    "__version__",
    "follow",
    "load",
    "read",
    "summary",
    "testing",
]


def __getattr__(name: str) -> object:
    """Import what is used for the first time."""
    if sys.platform == "win32":
        raise ImportError(NEEDS)
    from importlib import import_module

    if name == "testing":
        return import_module(f"{__name__}.testing")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    return value


def __dir__() -> list[str]:
    """Return the public names too, whether they were used or not."""
    return sorted({*globals(), *__all__})
