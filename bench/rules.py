"""How long do rules take for all calls of a session?

The session has 100,000 calls, each about another file or with another command: nothing can be remembered from
one call for the next. Nearly all of its calls are packed, as in every long session. Reading them without a
rule is the baseline.
"""

from __future__ import annotations

import random
import time
from types import SimpleNamespace
from typing import Any

from measure import command_line, head, row

from agentwatch.rules.calls.facts import CallFacts
from agentwatch.rules.calls.fields import LIVE
from agentwatch.rules.calls.readers import call_readers
from agentwatch.rules.language.parser import parse
from agentwatch.session.call import Place
from agentwatch.session.events import Event, Outcome, RunStarted, ToolEnded, ToolKind, ToolStarted
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session

_CWD = "/home/me/project"
_ROUNDS = 3
_RULES = (
    "push",
    "failed OR rejected",
    "tool:shell outcome:failed duration>5s -command:pytest",
    "(tool:edit OR tool:write OR tool:delete) outside:cwd",
    'path:"**/.env*" -path:"**/.env.example" OR path:"**/id_*" OR command:"*printenv*"',
    '(program:git command:"*push*") OR (program:npm command:"*publish*") OR program:twine',
    'tool:edit path:"**/test*" lines_removed>20 lines_added<5',
    "program:curl (program:sh OR program:bash OR program:python*)",
    r"command:re:/rm\s+(-[a-z]*\s+)*(\/|~)/",
    "idle>5m",
    "path:src/**/module_1*.py",
    "program:p*",
)
"""The rules of one term to six terms of `docs/rules.md`, and two that must read every path or command."""
_COMMANDS = (
    "cd web{n} && npm run build -- --out dist{n} | tee build{n}.log",
    "python -m pytest -q tests/unit/test_{n}.py -k 'not slow' > out{n}.txt 2>&1",
    'git commit -m "Change {n}" && git status',
    "rg -n 'needle{n}' src/ | head -50",
)
_FILES = (
    "/home/me/project/src/package{m}/module_{n}.py",
    "/home/me/project/src/../tests/test_{n}.py",
    "docs/page{n}.md",
    "/home/me/other/file{n}.txt",
)


def _events(calls: int) -> list[list[Event]]:
    """Return the events of each call."""
    drawn = random.Random(5)
    found: list[list[Event]] = [[RunStarted("made", "s", "model", _CWD)]]
    now = 0
    for number in range(calls):
        now += drawn.randint(10, 20_000)
        name = f"{number}"
        outcome = Outcome.FAILED if drawn.random() < 0.05 else Outcome.SUCCEEDED
        if number % 2:
            target = drawn.choice(_COMMANDS).format(n=number)
            start = ToolStarted(name, None, "Bash", ToolKind.EXECUTE, "Ran", target, at_ms=now)
        else:
            path = drawn.choice(_FILES).format(n=number, m=number % 50)
            kind = drawn.choice((ToolKind.READ, ToolKind.EDIT))
            start = ToolStarted(name, None, kind.value.title(), kind, "Used", path, path=path, at_ms=now)
        now += drawn.randint(10, 20_000)
        end = ToolEnded(name, None, start.tool, start.kind, outcome, "Ran", at_ms=now, lines_added=3)
        found.append([start, end])
    return found


def main() -> None:
    """Measure each rule, the first time and again."""
    options = command_line(__doc__).parse_args()
    calls = 2_000 if options.smoke else 100_000
    session = Session()
    for at, events in enumerate(_events(calls)):
        for event in events:
            apply_line(session, [event], Place(at, 1, None))
    feed: Any = SimpleNamespace(session=session)
    head("rule", "calls selected", "CPU", "without reading the calls")
    before = time.process_time()
    for _ in session.calls:
        pass
    reading = time.process_time() - before
    row("(no rule)", f"{calls:,}", f"{reading:.2f} s", "")
    for words in _RULES:
        took = []
        for _ in range(1 if options.smoke else _ROUNDS):
            test = parse(words, LIVE, allows_patterns=True).bind(call_readers(CallFacts(feed)))
            before = time.process_time()
            selected = sum(test(call) is True for call in session.calls)
            took.append(time.process_time() - before)
        shown = f"`{words.replace('|', chr(92) + '|')}`"
        row(shown, f"{selected:,}", f"{min(took):.2f} s", f"{min(took) - reading:.2f} s")


if __name__ == "__main__":
    main()
