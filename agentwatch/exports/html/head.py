"""The head of a page: its policy, its title and its stylesheet."""

from __future__ import annotations

from agentwatch.exports.html.content.nodes import escaped
from agentwatch.exports.html.sources import policy
from agentwatch.text.safe import SafeText


def head(title: SafeText, script: str, style: str) -> str:
    """Return the head of a page up to the begin of its body.

    The policy is first in it, because it applies only to what follows.

    Args:
        title: The title of the page.
        script: The script that the page will run; empty for a page without one.
        style: The stylesheet.
    """
    return (
        "<!doctype html>\n"
        '<html lang="en">\n<head>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(script, style)}">\n'
        '<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="generator" content="agentwatch">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escaped(title)}</title>\n"
        f"<style>{style}</style>\n"
        "</head>\n<body>\n"
    )
