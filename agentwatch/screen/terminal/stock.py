"""The switch that runs the screen on stock Textual: AGENTWATCH_STOCK=1 in the environment.

All private names of Textual are used in this folder, and none of them with this switch. If a new version of
Textual breaks one of them, the screen still works with the switch, but without these improvements:

- Textual's compositor writes every row that a change touches, so a frame costs 3 to 4 times as much.
- An input byte that is not UTF-8 ends the app, and a terminal that is gone may block the exit.
- The terminal's title, the bell and desktop notifications are off.
"""

from __future__ import annotations

import os


def is_stock() -> bool:
    """Return whether the screen runs on stock Textual."""
    return os.environ.get("AGENTWATCH_STOCK") == "1"
