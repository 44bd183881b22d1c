"""Compares the sessions of two runs, or of several runs a side.

The calls of two runs are aligned by tool and target. The package shows nothing itself: `reports` writes a
comparison as text, JSON, Markdown and HTML.
"""

from agentwatch.output.compare.alignment import Match
from agentwatch.output.compare.comparison import (
    Aspect,
    CommandRow,
    Comparison,
    FileRow,
    Habit,
    Lines,
    Part,
    Piece,
    Row,
    Several,
    Share,
    Side,
    Spread,
    TextDifference,
    Totals,
    compare,
    compare_several,
    side_of,
    text_difference,
    took_ms,
)

__all__ = [
    "Aspect",
    "CommandRow",
    "Comparison",
    "FileRow",
    "Habit",
    "Lines",
    "Match",
    "Part",
    "Piece",
    "Row",
    "Several",
    "Share",
    "Side",
    "Spread",
    "TextDifference",
    "Totals",
    "compare",
    "compare_several",
    "side_of",
    "text_difference",
    "took_ms",
]
