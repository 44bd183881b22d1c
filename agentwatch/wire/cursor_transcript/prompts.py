"""Reads the user's words in a message, and the texts of the agent, without what Cursor adds to them."""

from __future__ import annotations

_QUERY, _QUERY_END = "<user_query>", "</user_query>"
_TIME, _TIME_END = "<timestamp>", "</timestamp>"
_REDACTED = "[REDACTED]"
"""Stands below a text where the model's reasoning was left out."""


def user_words(text: str) -> str:
    """Return what the user has typed.

    Example:
        >>> user_words("<timestamp>Monday</timestamp>\\n<user_query>\\nList them.\\n</user_query>")
        'List them.'
    """
    before, query, after = text.partition(_QUERY)
    if query:
        words, end, rest = after.rpartition(_QUERY_END)
        return (words if end else rest).strip()
    if before.lstrip().startswith(_TIME):
        _time, end, rest = before.partition(_TIME_END)
        return (rest if end else before).strip()
    return before.strip()


def agent_words(text: str) -> str:
    """Return a text of the agent without the mark of left out reasoning.

    Example:
        >>> agent_words("Done.\\n\\n[REDACTED]")
        'Done.'
    """
    bare = text.rstrip()
    return bare.removesuffix(_REDACTED).rstrip() if bare.endswith(_REDACTED) else text
