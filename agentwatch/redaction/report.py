"""What a redaction has masked: counts by kind, never a value."""

from __future__ import annotations

from collections import Counter

from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText

_MOST_KINDS = 8


class Report:
    """The number of masked values by kind.

    Example:
        >>> report = Report()
        >>> report.secrets["github"] += 2
        >>> report.personal["home folder"] += 1
        >>> report.words()
        'masked 2 secrets (2 github) and 1 personal value (1 home folder)'
    """

    def __init__(self) -> None:
        self.secrets: Counter[str] = Counter()
        """Masked secrets by kind, such as `github`. Each place counts."""
        self.personal: Counter[str] = Counter()
        """Masked personal data by kind, such as `e-mail`."""

    def words(self) -> SafeText:
        """Return the report in one line."""
        parts = []
        if self.secrets:
            parts.append(f"{plural(self.secrets.total(), 'secret')} ({_kinds(self.secrets)})")
        if self.personal:
            parts.append(f"{plural(self.personal.total(), 'personal value')} ({_kinds(self.personal)})")
        return SafeText(f"masked {' and '.join(parts)}" if parts else "nothing to mask")


def _kinds(counts: Counter[str]) -> str:
    """Return the counts by kind, the most frequent kinds first."""
    shown = [f"{number} {kind}" for kind, number in counts.most_common(_MOST_KINDS)]
    more = len(counts) - len(shown)
    return ", ".join([*shown, f"{more} more kinds"] if more else shown)
