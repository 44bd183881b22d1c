"""Compares the sessions of two runs, or of several runs a side.

The calls of two runs are aligned by tool and target. The package shows nothing itself: `reports` writes a
comparison as text, JSON, Markdown and HTML.
"""

from agentwatch.comparing.alignment import Match
from agentwatch.comparing.comparison import Aspect, CommandRow, Comparison, FileRow, Row, compare, took_ms
from agentwatch.comparing.several import Habit, Several, Share, Spread, compare_several
from agentwatch.comparing.side import Lines, Side, Totals, side_of
from agentwatch.comparing.texts import Part, Piece, TextDifference, text_difference

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
