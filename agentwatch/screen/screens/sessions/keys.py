"""The keys of the list.

They stand apart from the list because the configuration checks the keys of the whole program, and would
otherwise import the list to show a session.
"""

from __future__ import annotations

from textual.binding import Binding

LIST_KEYS = (
    Binding("enter", "open", "Open", id="open-session", tooltip="Open the session, or a folded line"),
    Binding("space", "want('preview')", "Preview", id="preview", tooltip="Show or hide the preview"),
    Binding(
        "r",
        "want('ring')",
        "Ring",
        id="ring",
        tooltip="Ring or do not ring when the session needs you (toggle)",
    ),
    Binding(
        "t",
        "want('terminal')",
        "Terminal",
        id="go-to-terminal",
        tooltip="Switch to the session's terminal (tmux), if known",
    ),
    Binding(
        "d",
        "want('removal')",
        "Delete",
        show=False,
        id="delete-session",
        tooltip="Delete one of agentwatch's own recordings, after confirmation",
    ),
    Binding(
        "ctrl+r",
        "want('rename')",
        "Rename",
        show=False,
        id="rename-session",
        tooltip="Rename one of agentwatch's own recordings",
    ),
    Binding(
        "e",
        "urgent(1)",
        "Next",
        show=False,
        id="next-urgent",
        tooltip="Next session that needs you or failed",
    ),
    Binding(
        "E",
        "urgent(-1)",
        "Previous",
        show=False,
        id="previous-urgent",
        tooltip="Previous session that needs you or failed",
    ),
    Binding(
        "y",
        "copy",
        "Copy",
        show=False,
        id="copy-session",
        tooltip="Copy the session's id, which is an address",
    ),
    Binding(
        "right,l",
        "fold(True)",
        "Unfold",
        show=False,
        id="unfold-session",
        tooltip="Show the subagents, or what is folded",
    ),
    Binding("left,h", "fold(False)", "Fold", show=False, id="fold-session", tooltip="Fold them again"),
)
HOME_KEYS = (
    Binding("slash", "bar('find')", "Find", id="find-session", tooltip="Search titles and prompts"),
    Binding(
        "f", "bar('filter')", "Filter", id="filter-sessions", tooltip="Filter: agent:codex, failed, repo:api"
    ),
    Binding("s", "sort", "Sort", id="sort-sessions", tooltip="Sort by state, age or repository"),
    Binding("a", "hidden", "All", id="show-hidden", tooltip="Show hidden sessions (toggle)"),
    Binding(
        "escape", "clear", "Clear", show=False, id="clear-search", tooltip="Clear the search and the filter"
    ),
)
BAR_KEYS = (Binding("escape", "drop", "Clear", show=False, id="drop-words", tooltip="Clear the words"),)
ALL_KEYS = (*LIST_KEYS, *HOME_KEYS, *BAR_KEYS)
