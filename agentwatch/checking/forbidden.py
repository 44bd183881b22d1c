"""Counts the calls that match a rule of `forbid`, and those about which it says nothing."""

from __future__ import annotations

from collections import Counter

from agentwatch.actions import action
from agentwatch.checking.judgement import MOST_HITS, Hit, Judgement, State
from agentwatch.checking.rules import Forbid
from agentwatch.plurals import plural
from agentwatch.rules import Readers
from agentwatch.safe_text import SafeText
from agentwatch.session import Call


class Forbidden:
    """A rule about calls, bound to one session."""

    needs_calls = True

    def __init__(self, rule: Forbid, readers: Readers[Call]) -> None:
        self._rule = rule
        self._test = rule.condition.bind(readers)
        self._readers = {
            name: readers.values[name] for name in sorted(rule.condition.fields) if name in readers.values
        }
        self._looked_at = self._hits = self._not_judged = 0
        self._places: list[Hit] = []
        self._unknown: Counter[str] = Counter()

    def judge(self, call: Call) -> None:
        """Judge a call that has ended, or that can no longer end."""
        found = self._test(call)
        if found is None:
            self._not_judged += 1
            self._unknown.update(name for name, read in self._readers.items() if read(call) is None)
            return
        self._looked_at += 1
        if found:
            self._hits += 1
            if len(self._places) < MOST_HITS:
                self._places.append(hit(call))

    def judgement(self) -> Judgement:
        """Return the judgement on the calls so far."""
        state, words = State.HOLDS, SafeText("no call")
        if self._hits:
            state, words = State.BROKEN, SafeText(plural(self._hits, "call"))
        elif not self._looked_at:
            state, words = State.UNKNOWN, unknown_words(self._unknown, self._not_judged)
        return Judgement(
            *(self._rule, state, words, self._looked_at, self._hits, self._places, self._not_judged),
            self._unknown,
        )


def hit(call: Call) -> Hit:
    """Return a call as a place at which a rule is broken."""
    return Hit(f"#{call.number}", action(call))


def unknown_words(unknown: Counter[str], calls: int) -> SafeText:
    """Return why no call could be judged: `no calls`, `exit is unknown in all 12 calls`."""
    if not calls:
        return SafeText("no calls")
    names = " and ".join(name for name, _ in unknown.most_common()) or "a field"
    verb = "are" if len(unknown) > 1 else "is"
    return SafeText(f"{names} {verb} unknown in {'the only call' if calls == 1 else f'all {calls} calls'}")
