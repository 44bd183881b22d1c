"""Counts the calls that match a rule of `forbid`, and those for which the result is unknown."""

from __future__ import annotations

from collections import Counter

from agentwatch.actions import action
from agentwatch.checking.judgement import MOST_HITS, Hit, Judgement, State
from agentwatch.checking.rules import Forbid
from agentwatch.rules import Readers
from agentwatch.session import Call
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText


class Forbidden:
    """A rule about calls, bound to one session."""

    def __init__(self, rule: Forbid, readers: Readers[Call]) -> None:
        self.test = rule.condition.bind(readers)
        """Returns whether a call matches; None if that is unknown."""
        self._rule = rule
        self._readers = {
            name: readers.values[name] for name in sorted(rule.condition.fields) if name in readers.values
        }
        self._hits = self._not_judged = 0
        self._places: list[Hit] = []
        self._unknown: Counter[str] = Counter()

    def add(self, call: Call, *, is_known: bool) -> None:
        """Count a call that matches, or one for which the result is unknown.

        Args:
            call: The call, which has ended or can no longer end.
            is_known: Whether it matches.
        """
        if is_known:
            self._hits += 1
            if len(self._places) < MOST_HITS:
                self._places.append(hit(call))
        else:
            self._not_judged += 1
            self._unknown.update(name for name, read in self._readers.items() if read(call) is None)

    def judgement(self, calls: int) -> Judgement:
        """Return the judgement, after `calls` calls have ended."""
        looked_at = calls - self._not_judged
        state, words = State.HOLDS, SafeText("no call")
        if self._hits:
            state, words = State.BROKEN, SafeText(plural(self._hits, "call"))
        elif not looked_at:
            state, words = State.UNKNOWN, unknown_words(self._unknown, self._not_judged)
        return Judgement(
            self._rule,
            state,
            words,
            looked_at=looked_at,
            hits=self._hits,
            places=self._places,
            not_judged=self._not_judged,
            unknown=self._unknown,
        )


def hit(call: Call) -> Hit:
    """Return the place of a call that breaks a rule."""
    return Hit(f"#{call.number}", action(call))


def unknown_words(unknown: Counter[str], calls: int) -> SafeText:
    """Return why no call could be judged: `no calls`, `exit is unknown in all 12 calls`."""
    if not calls:
        return SafeText("no calls")
    names = " and ".join(name for name, _ in unknown.most_common()) or "a field"
    verb = "are" if len(unknown) > 1 else "is"
    return SafeText(f"{names} {verb} unknown in {'the only call' if calls == 1 else f'all {calls} calls'}")
