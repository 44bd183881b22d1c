"""Events: what can happen in a session, independent of any agent's format.

The decoders in `agentwatch.wire` turn lines into events; the session applies them. All times are milliseconds
since the epoch by the agent's own clock, or None if the line has no time.

Events are named tuples because a recording can have millions: a tuple is created in half the time of a frozen
dataclass. These modules do not import `annotations` from `__future__`, because named tuples compile
postponed annotations at start-up, which takes 1 ms in total.
"""

from agentwatch.events.calls import (
    Permission,
    Plan,
    PlanEntry,
    ToolEnded,
    ToolProgress,
    ToolStarted,
)
from agentwatch.events.incidents import (
    Compaction,
    Malformed,
    Notice,
    Oversize,
    Repair,
    Retry,
    Unknown,
)
from agentwatch.events.runs import (
    FormatDetected,
    LineTime,
    Prompt,
    Rewound,
    RunInfo,
    RunStarted,
    Tokens,
    TurnEnded,
    TurnStarted,
    Usage,
    UsageScope,
)
from agentwatch.events.texts import (
    Text,
    TextEnded,
    TextRetracted,
)
from agentwatch.events.vocabulary import (
    Channel,
    Outcome,
    PlanStatus,
    ToolKind,
    Traits,
)

Event = (
    FormatDetected
    | LineTime
    | RunStarted
    | RunInfo
    | TurnStarted
    | Prompt
    | Text
    | TextEnded
    | TextRetracted
    | Rewound
    | Plan
    | ToolStarted
    | ToolProgress
    | ToolEnded
    | Permission
    | Notice
    | Retry
    | Compaction
    | Usage
    | TurnEnded
    | Unknown
    | Repair
    | Oversize
    | Malformed
)

__all__ = [
    "Channel",
    "Compaction",
    "Event",
    "FormatDetected",
    "LineTime",
    "Malformed",
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
    "Rewound",
    "RunInfo",
    "RunStarted",
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
    "TurnStarted",
    "Unknown",
    "Usage",
    "UsageScope",
]
