"""The report of the stage: a table of the agents, and every difference."""

from collections.abc import Sequence
from datetime import date

from tests.real.agents import SCENES
from tests.real.judge import Verdict
from tests.real.lane import HEADLESS, Result
from tests.real.terminal import TERMINAL

VIEWS = (*HEADLESS, *TERMINAL, *(f"hooked: {view}" for view in TERMINAL))


def report(results: Sequence[Result], day: date) -> str:
    """Return the report as Markdown."""
    lines = [f"# The real agents, {day.isoformat()}"]
    for views in (VIEWS, (*SCENES, "acts")):
        lines += ["", _row(["agent", "version", *views]), _row(["---"] * (len(views) + 2))]
        lines += [
            _row([each.agent, each.version, *(_cell(each, view) for view in views)]) for each in results
        ]
    for result in results:
        lines += ["", f"## {result.agent} {result.version}", ""]
        if result.failure:
            lines.append(f"- {result.failure}")
        for check in result.checks:
            if check.skipped:
                lines.append(f"- {check.view}: not checked: {check.skipped}")
            for each in check.differences:
                mark = "**wrong**" if each.verdict is Verdict.WRONG else each.verdict
                lines.append(
                    f"- {check.view}: {mark}: {each.what}: expected {each.expected}; shown {each.shown}"
                )
            lines += [f"- {check.view}: {note}" for note in check.notes]
    return "\n".join(lines) + "\n"


def checked(results: Sequence[Result], day: date) -> dict[str, dict[str, object]]:
    """Return the check of each format, as `agentwatch/agents/checked.json` has it."""
    found: dict[str, dict[str, object]] = {}
    for result in results:
        wrong = {check.view: check.count(Verdict.WRONG) for check in result.checks}
        for view, name in result.formats.items():
            more = found.get(name, {}).get("wrong", 0)
            assert isinstance(more, int)
            found[name] = {"version": result.version, "day": day.isoformat(), "wrong": wrong[view] + more}
    return found


def _cell(result: Result, name: str) -> str:
    """Return the results of a view, or of both views of a scenario."""
    found = [str(check) for check in result.checks if name in (check.view, check.view.partition(":")[0])]
    return " / ".join(dict.fromkeys(found)) or "–"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
