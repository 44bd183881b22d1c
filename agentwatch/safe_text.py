"""Foreign text made safe for a terminal, for the packages that add formats of exports."""

from agentwatch.text.safe import SafeText, columns, cut, safe_line, safe_text, wrapped

__all__ = ["SafeText", "columns", "cut", "safe_line", "safe_text", "wrapped"]
