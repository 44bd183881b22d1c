"""An alarm in words, for the action log, for toasts and for printed messages."""

from __future__ import annotations

from agentwatch.recording.alarms import Alarm
from agentwatch.text.safe import SafeText, cut, safe_line

_COLUMNS = 240
_NAME_COLUMNS = 80
_DONE = {"pause": " paused the agent", "stop": " stopped the agent"}


def alarm_words(alarm: Alarm) -> SafeText:
    """Return an alarm in one line of safe text.

    Example:
        >>> alarm_words(Alarm(0, 0, 12, 11, 0, 1, "bell", "rm outside", "Ran terminal command rm -rf /tmp/x"))
        'rule "rm outside" hit by call 12: Ran terminal command rm -rf /tmp/x'
        >>> alarm_words(Alarm(0, 0, None, 11, 0, 1, "pause", "failed>3", ""))
        'rule "failed>3" paused the agent'
    """
    done = _DONE.get(alarm.action)
    words = f"{rule_words(alarm.rule)}{done or ' hit'}"
    if alarm.call is not None:
        words += f"{' at' if done else ' by'} call {alarm.call}"
    if alarm.words:
        words += f": {safe_line(alarm.words)}"
    if alarm.is_last:
        words += " (further hits of this rule are not noted)"
    return cut(SafeText(words), _COLUMNS)


def rule_words(name: str) -> SafeText:
    """Return the name of a rule: `rule "rm outside"`."""
    return SafeText(f'rule "{cut(safe_line(name), _NAME_COLUMNS)}"')
