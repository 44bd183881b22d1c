"""The spans of a session: its runs, calls and subagents, and the steps of the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from agentwatch.events import ToolKind
from agentwatch.exports.exported import Exported
from agentwatch.exports.exporter import Choices
from agentwatch.exports.otlp.clock import Clock, Period, began_ms
from agentwatch.exports.otlp.content import relative, shortened
from agentwatch.exports.otlp.facts import Facts, program_of
from agentwatch.exports.otlp.ids import Ids
from agentwatch.exports.otlp.span import Span, Value, attributes, name_of
from agentwatch.exports.otlp.texts import RunTexts, output
from agentwatch.session import Call, Entry, Kind

_TEXTS = (Kind.REASONING, Kind.ANSWER)


class _Step(NamedTuple):
    """Texts of the model that follow each other."""

    run: int
    parent: int | None
    entries: list[Entry]


class Spans:
    """Makes the spans of a session, in the order of its transcript."""

    def __init__(self, exported: Exported, choices: Choices) -> None:
        """Prepare the spans of what is exported."""
        self._exported = exported
        self._runs = exported.session.runs
        self._with_content, self._progress = choices.content, choices.progress
        self._clock, self._facts = Clock(exported), Facts(exported)
        began = began_ms(exported)
        self._ids = [
            Ids(run.session_id or "", number, began[number - 1]) for number, run in enumerate(self._runs, 1)
        ]
        self._periods: dict[int, Period] = {}
        """When the exported runs started and ended, by their numbers, as far as is known."""
        self._texts: dict[int, RunTexts] = {}
        self._run = 1
        """The number of the run of the present entry."""
        self._step: _Step | None = None
        """The last texts, while no other entry has followed."""
        self._calls: set[int] = set()
        """The numbers of the exported calls so far."""
        self._subagents: dict[int, int] = {}
        """The ids of the spans of subagents, by the numbers of the calls that started them."""

    def __iter__(self) -> Iterator[Span]:
        """Yield the spans. Those of the runs are last, because their times include those of the others."""
        exported = self._exported
        if exported.is_whole:
            numbers = range(1, len(self._runs) + 1)
            self._periods.update((number, self._clock.run(number)) for number in numbers)
        offsets, size = exported.session.transcript.offsets, max(exported.timeline.size, 1)
        for entry in exported.entries():
            self._enter_run(entry)
            yield from self._of_entry(entry)
            if self._progress is not None:
                self._progress(offsets[entry.number], size)
        yield from self._of_step()
        for number in sorted(self._periods):
            yield self._of_run(number)

    def _enter_run(self, entry: Entry) -> None:
        """Find the run of an entry. Calls and prompts show it; other entries belong to the last one."""
        if entry.call is not None:
            self._run = max(self._run, entry.call.run)
        while self._run < len(self._runs):
            starts = self._runs[self._run].turn_starts
            if not starts or starts[0] > entry.number:
                break
            self._run += 1

    def _of_entry(self, entry: Entry) -> Iterator[Span]:
        """Yield the spans that an entry completes."""
        step = self._step
        if entry.kind in _TEXTS and step is not None and (step.run, step.parent) == (self._run, entry.parent):
            step.entries.append(entry)
        else:
            yield from self._of_step()
            if entry.kind in _TEXTS:
                self._step = _Step(self._run, entry.parent, [entry])
            elif entry.call is not None:
                yield from self._of_call(entry.call)
        if self._with_content and entry.parent is None and self._run <= len(self._runs):
            self._texts.setdefault(self._run, RunTexts(self._cwd(self._run))).add(entry)

    def _of_step(self) -> Iterator[Span]:
        """Yield the span of the last texts, if the agent gave two different times for one of them."""
        step, self._step = self._step, None
        if step is None:
            return
        written = (self._clock.text(entry.started_ms, entry.ended_ms) for entry in step.entries)
        periods = [period for period in written if period is not None]
        if not periods or step.run > len(self._runs):
            return
        period = self._extend(step.run, Period(periods[0].start, periods[-1].end))
        facts = self._facts.step(step.run)
        if self._with_content:
            facts["gen_ai.output.messages"] = output(step.entries, self._cwd(step.run))
        ids, model = self._ids[step.run - 1], self._runs[step.run - 1].model
        yield Span(
            trace_id=ids.trace,
            span_id=ids.step(step.entries[0].number),
            parent_id=self._parent(step.run, step.parent),
            name=name_of("chat", model or ""),
            start_ns=period.start,
            end_ns=period.end,
            attributes=attributes(facts),
            is_client=True,
        )

    def _of_call(self, call: Call) -> Iterator[Span]:
        """Yield the span of a call, and those of the subagent that made it and of its own subagent."""
        if call.parent in self._calls and call.parent not in self._subagents:
            yield self._of_subagent(self._exported.session.calls[call.parent - 1])
        self._calls.add(call.number)
        ids, facts = self._ids[call.run - 1], self._facts.call(call)
        if self._with_content:
            facts |= self._facts.call_content(call)
        yield self._operation(
            call,
            ids.call(call.call_id, call.number),
            self._parent(call.run, call.parent),
            name_of("execute_tool", call.tool, program_of(call) or ""),
            facts,
        )
        if call.kind is ToolKind.DELEGATE:
            yield self._of_subagent(call)

    def _of_subagent(self, call: Call) -> Span:
        """Return the span of the subagent that a call has started. It is part of that of the call."""
        ids, facts = self._ids[call.run - 1], self._facts.subagent(call)
        self._subagents[call.number] = span_id = ids.subagent(call.call_id, call.number)
        name = name_of("invoke_agent", str(facts["gen_ai.agent.name"]))
        return self._operation(call, span_id, ids.call(call.call_id, call.number), name, facts)

    def _operation(
        self, call: Call, span_id: int, parent_id: int, name: str, facts: Mapping[str, Value | None]
    ) -> Span:
        """Return a span with the times and the outcome of a call."""
        period = self._extend(call.run, self._clock.call(call))
        has_failed = facts["error.type"] is not None
        error = (call.error or "") if has_failed and self._with_content else ""
        return Span(
            trace_id=self._ids[call.run - 1].trace,
            span_id=span_id,
            parent_id=parent_id,
            name=name,
            start_ns=period.start,
            end_ns=period.end,
            attributes=attributes(facts),
            has_failed=has_failed,
            failure=shortened(relative(error, self._cwd(call.run))),
        )

    def _of_run(self, number: int) -> Span:
        """Return the span of a run, which is the first of its trace."""
        ids, period, facts = self._ids[number - 1], self._periods[number], self._facts.run(number)
        if number in self._texts:
            facts |= self._texts[number].attributes()
        return Span(
            trace_id=ids.trace,
            span_id=ids.run,
            parent_id=None,
            name=name_of("invoke_agent", self._facts.agent(self._runs[number - 1])),
            start_ns=period.start,
            end_ns=period.end,
            attributes=attributes(facts),
            has_failed=facts["error.type"] is not None,
        )

    def _parent(self, run: int, caller: int | None) -> int:
        """Return the id of the span of the subagent that a call has started; without one, that of the run."""
        return (
            self._ids[run - 1].run if caller is None else self._subagents.get(caller, self._ids[run - 1].run)
        )

    def _extend(self, run: int, period: Period) -> Period:
        """Note a period within a run, and return it."""
        known = self._periods.get(run)
        self._periods[run] = period if known is None else known.around(period)
        return period

    def _cwd(self, run: int) -> str | None:
        return self._runs[run - 1].cwd
