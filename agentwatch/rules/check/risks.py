"""The words of a command that a person should see before the command is allowed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache

from agentwatch.rules.calls.commands import RISKY, places_in
from agentwatch.rules.calls.readers import command_readers
from agentwatch.rules.check.kinds import Forbid, read_rules, starter_path
from agentwatch.session.call import Call
from agentwatch.session.events import ToolKind

_MOST_JUDGED = 500
"""Programs of one command that the rules judge, each alone: 0.1 ms."""

_WORDS = (*RISKY, "publish", "push", "reset", "clean", "rebase", "filter-branch")
_RISKS = re.compile(
    rf"(?<![\w.-])(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})(?![\w-])"
    r"|(?<!\S)(?:--force\S*|--hard|--no-verify|--yes|--recursive|-[a-zA-Z]*[rRf][a-zA-Z]*)(?!\S)"
    r"|\.env\b|\.ssh\b|\.aws\b|\.netrc\b|\bid_(?:rsa|ed25519)|credentials?|core\.hooksPath|\.git/hooks"
    r"|(?<!\S)(?:~|\$HOME)/\.[a-z_]{0,20}(?:rc|profile|login)\b|authorized_keys|LaunchAgents"
    r"|(?<![\w/])/(?:etc|dev|proc|sys|boot|root)/"
    r"|\b(?:LD|DYLD|GIT)_[A-Z_]{1,40}=|\b(?:PATH|BASH_ENV|PROMPT_COMMAND|PYTHONPATH|NODE_OPTIONS|HUSKY)="
    r"|[|`;]|\$\(|&&|>{1,2}|<\("
)
"""A pattern of these words, and of the signs that join commands."""


def risks_in(text: str, cwd: str | None = None, *, is_command: bool = True) -> list[tuple[int, int]]:
    """Return the beginning and the end of each part of a text that a person should see, in linear time.

    Words are found in any text. In a command, what a shell makes of it is found too, as rules find it. So
    `r''m` is `rm`, a line end joins two commands, and a program that a rule of `safe` hits is a part with its
    arguments.

    Example:
        >>> command = "python3 -c 1 && sudo rm -rf build"
        >>> [command[begin:end] for begin, end in risks_in(command)]
        ['-c', '&&', 'sudo', 'rm', '-rf']
    """
    words = [match.span() for match in _RISKS.finditer(text)]
    if not is_command:
        return words
    starts, found, places = [start for start, _ in words], {*words}, places_in(text)
    for begin, end in places.risks:
        at = bisect_left(starts, begin)
        if not ((at < len(words) and starts[at] < end) or (at > 0 and words[at - 1][1] > begin)):
            found.add((begin, end))
    hits = _hits(cwd)
    if hits(text):
        found.update(each for each in places.stages[:_MOST_JUDGED] if hits(text[slice(*each)]))
    shown: list[tuple[int, int]] = []
    for begin, end in sorted(found, key=lambda each: (each[0], -each[1])):
        if not shown or end > shown[-1][1]:  # not inside another one
            shown.append((begin, end))
    return shown


@lru_cache(1)
def _hits(cwd: str | None) -> Callable[[str], bool]:
    readers = command_readers(cwd)
    rules = [rule.condition for rule in read_rules(starter_path("safe")) if isinstance(rule, Forbid)]
    tests = [condition.bind(readers) for condition in rules]

    def hits(command: str) -> bool:
        call = Call(0, 1, "", "", "", command, kind=ToolKind.EXECUTE)
        return any(test(call) for test in tests)

    return hits
