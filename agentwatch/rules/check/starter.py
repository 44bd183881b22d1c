"""Writes a first file of rules from a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from agentwatch.feed.feed import Feed
from agentwatch.rules.calls.commands import read_command
from agentwatch.rules.check.judge import Judge, Judgement, State
from agentwatch.rules.check.kinds import Amount, Fact, Limit, Require, Rule, forbid
from agentwatch.session.events import ToolKind
from agentwatch.session.session import Session
from agentwatch.text.durations import UNITS_MS
from agentwatch.text.safe import SafeText, cut, safe_line

_FORBIDS = {
    "edits outside the project": "(tool:edit OR tool:delete OR tool:move) outside:cwd",
    "reads secrets": 'path:"**/.env*" -path:"**/.env.example" OR path:"**/id_*" OR command:"*printenv*"',
    "pushes or publishes": '(program:git command:"*push*") OR (program:npm command:"*publish*")'
    " OR program:twine",
    "weakens tests": 'tool:edit path:"**/test*" lines_removed>20 lines_added<5',
    "goes in circles": "repeat>=4",
    "downloads and runs": "program:curl (program:sh OR program:bash OR program:python*)",
}
_USUAL = {
    Amount.CALLS: "400",
    Amount.FAILED: "5",
    Amount.REJECTED: "0",
    Amount.CALL: '"10m"',
    Amount.IDLE: '"5m"',
    Amount.ELAPSED: '"2h"',
}
"""The limits if the file is not written from a session."""
_DURATIONS = {
    f"{number}{unit}": number * UNITS_MS[unit] for unit in ("s", "m", "h") for number in (1, 2, 5, 10, 20, 30)
}
"""Round durations in their order."""
_ROOM = 1.25
_LEAST_MS = 60_000
"""A limit under a minute would be broken by one slow answer of a model."""
_MOST_PROGRAMS = 30
_PLACES = 3
_NO_LIMIT = float("inf")


def starting_rules() -> list[Rule]:
    """Return the rules that are tried on the session from which a file is written."""
    rules: list[Rule] = [forbid(when, name) for name, when in _FORBIDS.items()]
    rules += [Require(fact) for fact in Fact if fact is not Fact.ACTED]
    return rules + [Limit(amount, _NO_LIMIT, "") for amount in Amount]


def starter() -> Iterator[SafeText]:
    """Yield the lines of a file of rules that suit many sessions."""
    yield from _head("")
    yield SafeText("forbid = [")
    yield from (_entry(name, when) for name, when in _FORBIDS.items())
    yield SafeText("]")
    yield SafeText("[require]")
    yield from (SafeText(f"{fact} = {_demanded(fact)}") for fact in Fact if fact is not Fact.ACTED)
    yield SafeText("[limit]")
    yield from (SafeText(f"{amount} = {words}") for amount, words in _USUAL.items())


def starter_of(feed: Feed, judge: Judge, name: str) -> Iterator[SafeText]:
    """Yield a file of rules that hold in a session, with its figures; `starting_rules` judged the session."""
    found = judge.judgements()
    yield from _head(f" of {cut(safe_line(name), 200)}")
    yield SafeText(f"# Programs that the session ran: {_programs(feed.session) or 'none'}.")
    yield SafeText("forbid = [")
    for (title, when), judgement in zip(_FORBIDS.items(), found, strict=False):
        if judgement.state is State.BROKEN:
            places = ", ".join(each.at for each in judgement.places[:_PLACES])
            yield SafeText(f"  # The session broke this rule: {judgement.words} ({places}).")
        yield _entry(title, when, is_comment=judgement.state is State.BROKEN)
    yield SafeText("]")
    yield SafeText("[require]")
    for judgement in found:
        if isinstance(judgement.rule, Require):
            is_held = judgement.state is State.HOLDS
            line = f"{judgement.rule.fact} = {_demanded(judgement.rule.fact)}"
            yield SafeText(line if is_held else f"# {line}  # the session: {judgement.words}")
    yield SafeText("[limit]")
    yield from _limits(found)


def _head(of: str) -> Iterator[SafeText]:
    yield SafeText("# Rules for: agentwatch check ADDRESS --rules FILE")
    if of:
        yield SafeText(f"# Written from the session{of}.")
    yield SafeText(
        '# `when` is in the language of the filter; severity = "warning" may be added to an entry,'
    )
    yield SafeText(
        '# also below: failed = {value = 5, severity = "warning"}. docs/rules.md describes the language.'
    )


def _entry(name: str, when: str, *, is_comment: bool = False) -> SafeText:
    return SafeText(f"  {'# ' if is_comment else ''}{{name = \"{name}\", when = '{when}'}},")


def _demanded(fact: Fact) -> str:
    return '"green"' if fact is Fact.TESTS else "true"


def _limits(found: Sequence[Judgement]) -> Iterator[SafeText]:
    for judgement in found:
        rule = judgement.rule
        if isinstance(rule, Limit) and judgement.value is not None:
            words = _with_room(rule.amount, judgement.value)
            yield SafeText(f"{rule.amount} = {words}  # the session: {judgement.words}")


def _with_room(amount: Amount, value: float) -> str:
    """Return a limit somewhat above a value: a round number, or a round duration."""
    if amount in (Amount.CALL, Amount.IDLE, Amount.ELAPSED):
        words = next((words for words, ms in _DURATIONS.items() if ms >= max(value * _ROOM, _LEAST_MS)), None)
        words = words or f"{int(value * _ROOM / UNITS_MS['h']) + 1}h"
        return f'"{words}"'
    if amount is Amount.CONTEXT:
        return f'"{min(int(value * _ROOM) + 1, 100)}%"'
    if amount is Amount.COST:
        return f"{value * _ROOM + 0.01:.2f}"
    if value == 0:
        return "0"
    step = 10 ** max(len(f"{int(value)}") - 2, 0)
    return f"{(int(value * _ROOM) // step + 1) * step}"


def _programs(session: Session) -> str:
    counts: Counter[str] = Counter()
    for index in range(len(session.calls)):
        call = session.calls[index]
        if call.kind is ToolKind.EXECUTE and call.target:
            counts.update(read_command(call.target).programs)
    shown = [cut(safe_line(program), 40) for program, _ in counts.most_common(_MOST_PROGRAMS)]
    more = f" and {len(counts) - _MOST_PROGRAMS} more" if len(counts) > _MOST_PROGRAMS else ""
    return ", ".join(shown) + more
