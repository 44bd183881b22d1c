"""The switch that runs the screen on stock Textual: AGENTWATCH_STOCK=1 in the environment.

Every use of a private name of Textual is in this folder, and none is used under the switch. A new version
of Textual that breaks one of them still shows the screen then, slower, and without our repairs:

- the compositor writes every row that a change touches (3 to 4 times the cost of a frame);
- a byte that is no UTF-8, typed as a key, ends the app, and a terminal that is gone may block its end;
- the terminal's title, bell and notes stay off.
"""

from __future__ import annotations

import os


def is_stock() -> bool:
    """Return whether the screen runs on stock Textual."""
    return os.environ.get("AGENTWATCH_STOCK") == "1"
