"""Compares what agentwatch shows with the script."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import Any, NamedTuple

from tests.real.script import Call, Step, usage

LATE = 5.0
"""Seconds after which a state has to be shown: the longest wait that the documentation states is 3 s, apart
from the end of a turn of the Gemini CLI."""
NO_ROW = "no row"
_MARGIN = 0.7
"""Seconds before the end of a phase whose samples do not count: a sample takes that long under load."""
_EARLY = 2.0
"""Seconds before the end of a phase in which the next state may be shown: an agent draws after it writes."""
_KINDS = {"shell": "execute", "write": "edit", "edit": "edit", "read": "read"}
"""The kind of each scripted call. An agent without such a tool runs a command instead."""


class Verdict(StrEnum):
    """Whether something is shown as it is."""

    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "unknown"


class Difference(NamedTuple):
    """A difference between the script and what is shown."""

    verdict: Verdict
    """`UNKNOWN` if agentwatch shows that it does not know."""
    what: str
    expected: str
    shown: str


@dataclass
class Check:
    """The result of one view of one agent."""

    view: str
    differences: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Facts that are not differences, such as latencies."""
    skipped: str = ""
    """Why it was not checked."""

    @property
    def verdict(self) -> Verdict:
        """Wrong if anything is wrong; unknown if it was not checked."""
        if self.skipped:
            return Verdict.UNKNOWN
        return Verdict.WRONG if self.count(Verdict.WRONG) else Verdict.RIGHT

    def count(self, verdict: Verdict) -> int:
        """Return the number of differences with a verdict."""
        return sum(each.verdict is verdict for each in self.differences)

    def __str__(self) -> str:
        if self.skipped:
            return "–"
        counts = [(self.count(each), each) for each in (Verdict.WRONG, Verdict.UNKNOWN)]
        return ", ".join(f"{count} {each}" for count, each in counts if count) or "right"


def contents(summary: dict[str, Any], steps: Sequence[Step], others: int) -> list[Difference]:
    """Return where a summary differs from a scenario; `others` are requests that the agent made itself."""
    found = _calls(summary, [call for step in steps for call in step.calls])
    found += _tokens(summary.get("tokens") or {}, steps, others)
    answer = steps[-1].text
    result = summary.get("result")
    if not str(summary.get("text") or "").endswith(answer) or (result is not None and result != answer):
        found.append(_difference("the result", answer, result if result is not None else summary.get("text")))
    if (outcome := summary.get("outcome")) != "succeeded":
        is_unknown = outcome in (None, "unfinished")
        found.append(_difference("the outcome of the run", "succeeded", None if is_unknown else outcome))
    lines = summary.get("lines") or {}
    for name in ("malformed", "unknown"):
        if count := lines.get(name):
            verdict = Verdict.UNKNOWN if name == "unknown" else Verdict.WRONG
            found.append(Difference(verdict, f"{name} lines", "0", str(count)))
    return found


def _difference(what: str, expected: object, shown: object) -> Difference:
    verdict = Verdict.UNKNOWN if shown is None else Verdict.WRONG
    return Difference(verdict, what, str(expected), "–" if shown is None else str(shown)[:300])


def _calls(summary: dict[str, Any], script: list[Call]) -> list[Difference]:
    left = [each for each in summary.get("calls") or () if each.get("agent") is None]
    found = []
    for call in script:
        shown = next((each for each in left if _is_shown(call, each)), None)
        name = f"call {call.command or f'{call.kind} {call.path}'}"
        if shown is None:
            found.append(Difference(Verdict.WRONG, name, "a call", "no call"))
            continue
        left.remove(shown)
        if (outcome := shown.get("outcome")) != call.outcome:
            is_unknown = outcome in ("returned", "unfinished")
            found.append(_difference(f"{name}: outcome", call.outcome, None if is_unknown else outcome))
        code = shown.get("exit_code")
        if code is None and call.exit_code:
            found.append(_difference(f"{name}: exit code", call.exit_code, None))
        elif code is not None and call.exit_code is not None and code != call.exit_code:
            found.append(_difference(f"{name}: exit code", call.exit_code, code))
    return found + [
        Difference(Verdict.WRONG, f"call {shown.get('action')}", "no call", str(shown.get("outcome")))
        for shown in left
    ]


def _is_shown(call: Call, shown: dict[str, Any]) -> bool:
    if shown.get("kind") not in (_KINDS[call.kind], "execute"):
        return False
    return (call.command or call.path) in f"{shown.get('target')} {shown.get('action')}"


def _tokens(shown: dict[str, Any], steps: Sequence[Step], others: int) -> list[Difference]:
    used = [usage(number) for number in range(len(steps))]
    expected = {
        "input": (sum(each.uncached + each.cached for each in used), usage(0).uncached),
        "cached": (sum(each.cached for each in used), usage(0).cached),
        "output": (sum(each.output for each in used), usage(0).output),
    }
    found = []
    for name, (tokens, own) in expected.items():
        allowed = [tokens + own * number for number in range(others + 1)]
        if shown.get(name) not in allowed:
            found.append(_difference(f"{name} tokens", " or ".join(map(str, allowed)), shown.get(name)))
    return found


class Phase(NamedTuple):
    """A part of a session in which one state is true."""

    name: str
    begins: float
    """Seconds since the epoch."""
    ends: float
    right: frozenset[str]
    """The states that are right; one with `?` only if it is shown as an inferred one."""
    unknown: frozenset[str] = frozenset()
    """The states by which agentwatch says that it does not know; one with `?` only if it is inferred."""

    def without_names(self) -> "Phase":
        """Return it for a view that names no sessions."""

        def unnamed(state: str) -> str:
            return ", ".join(sorted(re.sub(r"^([A-Z]|new) ", "", each) for each in state.split(", ")))

        right, unknown = (frozenset(map(unnamed, each)) for each in (self.right, self.unknown))
        return self._replace(right=right, unknown=unknown)

    def has(self, sample: "Sample") -> bool:
        """Return whether a state is right."""
        return bool({sample.state, _name(sample)} & self.right)

    def leaves_open(self, sample: "Sample") -> bool:
        """Return whether a state is right but for what is said to be unknown."""
        name = _name(sample)
        states = [each for each in name.split(", ") if not each.endswith("unknown")]
        known = (
            right.split(", ")
            for right in self.right
            if right.count(",") == name.count(",") and (right == NO_ROW) == (name == NO_ROW)
        )
        is_open = len(states) <= name.count(",") and any(set(states) <= set(each) for each in known)
        return is_open or bool({sample.state, name} & self.unknown)

    def hides_work(self, sample: "Sample") -> bool:
        """Return whether a session is said to be unknown while it works, and so may write."""
        name = _name(sample)
        return "unknown" in name and all(name.count("working") < each.count("working") for each in self.right)


class Sample(NamedTuple):
    """A state as shown at one time."""

    at: float
    """Seconds since the epoch."""
    state: str
    """`?` at its end marks an inferred one. `NO_ROW`: the session is not shown."""


def states(view: str, phases: Sequence[Phase], samples: Sequence[Sample], late: float = LATE) -> Check:
    """Return where the states of a view differ from those of the script, with the latency of each.

    In the first seconds of a phase, `late` of them, what was right or shown before it is not a difference.
    """
    check = Check(view)
    before = frozenset({NO_ROW})
    for phase, after in zip(phases, [*phases[1:], None], strict=False):
        inside = [each for each in samples if phase.begins <= each.at < phase.ends - _MARGIN]
        shortly = (each for each in samples if phase.begins - _EARLY < each.at < phase.begins)
        before |= set(map(_name, shortly))
        first = next((each.at for each in inside if phase.has(each)), None)
        grace = min(phase.begins + late, phase.ends if first is None else first)
        bad = [
            each
            for each in inside
            if not phase.has(each)
            and (each.at > grace or not (_name(each) in before or phase.leaves_open(each)))
            and not (after and each.at > phase.ends - _EARLY and after.has(each))
        ]
        shown = _runs(inside, phase.begins)
        expected = " or ".join(sorted(phase.right))
        if bad or (first is None and phase.ends - phase.begins > late):
            is_unknown = bool(bad) and all(
                phase.leaves_open(each) and not phase.hides_work(each) for each in bad
            )
            verdict = Verdict.UNKNOWN if is_unknown else Verdict.WRONG
            check.differences.append(Difference(verdict, phase.name, expected, shown))
        else:
            after_s = "over before it was shown" if first is None else f"after {first - phase.begins:.1f} s"
            check.notes.append(f"{phase.name}: {shown}, {after_s}")
        before = phase.right | {_name(each) for each in inside[-1:]}
    return check


def _name(sample: Sample) -> str:
    return sample.state.replace("?", "")


def _runs(samples: Sequence[Sample], begins: float) -> str:
    """Return the states in words, each with the seconds of its first and its last sample."""
    runs = [
        (state, [each.at - begins for each in run])
        for state, run in groupby(samples, lambda each: each.state)
    ]
    return ", ".join(f"{state} {times[0]:.1f}–{times[-1]:.1f} s" for state, times in runs) or "no sample"
