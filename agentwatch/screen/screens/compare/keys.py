"""The keys of the comparison of two runs.

The keys are in a module without screens, because the configuration checks the keys of the whole program and
would otherwise import the comparison when a session is shown.
"""

from __future__ import annotations

from textual.binding import Binding

STEP_KEYS = (
    Binding("n", "step(1)", "Next", id="next-difference", tooltip="Next difference"),
    Binding("N", "step(-1)", "Previous", show=False, id="previous-difference", tooltip="Previous difference"),
)
"""The keys for the next and the previous difference, in the list and in the detail of a pair."""
COPY_KEYS = (
    Binding(
        "y",
        "copy",
        "Copy",
        show=False,
        id="copy-addresses",
        tooltip="Copy the addresses of the selected calls, one per line",
    ),
)
COMPARISON_KEYS = (
    *STEP_KEYS,
    *COPY_KEYS,
    Binding("enter", "open", "Detail", id="open-pair", tooltip="Show both calls in full, or unfold a line"),
    Binding("tab", "view(1)", "View", id="next-view", tooltip="Calls, files and tests, final texts"),
    Binding("shift+tab", "view(-1)", "View", show=False, id="previous-view", tooltip="Previous view"),
    Binding(
        "equals_sign",
        "equal",
        "Equal calls",
        show=False,
        id="equal-calls",
        tooltip="Show or fold the calls that are equal (toggle)",
    ),
    Binding("a", "session(0)", "Open A", id="open-a", tooltip="Open the session of A at the selected call"),
    Binding("b", "session(1)", "Open B", id="open-b", tooltip="Open the session of B at the selected call"),
)
