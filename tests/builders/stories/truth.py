"""The true summary of a story."""

from collections import Counter
from collections.abc import Iterable

from agentwatch.session.counts import known_sum
from tests.builders.lines import CWD
from tests.builders.stories.story import Aside, Ending, Json, RunStory, Say, Story, Think, ToolCall


def call_truth(call: ToolCall, number: int) -> Json:
    """Return the expected summary of a call."""
    facts: Json = {"number": number, "call_id": call.call_id, "agent": None, "tool": call.use.tool}
    facts |= {"kind": call.use.kind, "target": call.use.target}
    facts["command"] = call.use.args["command"].strip() if call.use.tool == "shell" else None
    ending = call.ending if call.has_end else Ending(None, "unfinished")
    is_plain = call.shape.startswith("function") and ending.is_unknown
    note = ending.note or (
        ending.outcome if ending.outcome in ("rejected", "returned", "unfinished") else None
    )
    if ending.outcome == "failed":
        note = f"failed: {str(ending.error).partition(chr(10))[0]}"
    words = [ending.phrase or call.use.phrase, call.use.target, note and f"({note})"]
    began = call.started_ms if call.has_start else None
    ended = call.ended_ms if call.has_end else None
    is_timed = began is not None and ended is not None and ended >= began
    return facts | {
        "action": " ".join(word for word in words if word),
        "outcome": ending.outcome,
        "error": None if is_plain else ending.error,
        "exit_code": ending.exit_code,
        "lines_added": ending.added,
        "lines_removed": ending.removed,
        "started_ms": began,
        "ended_ms": ended,
        "duration_ms": ended - began if is_timed and ended is not None and began is not None else None,
    }


def calls_of(run: RunStory) -> list[ToolCall]:
    """Return a run's calls in the order of their first steps."""
    return list({step.call_id: step for step in run.steps if isinstance(step, ToolCall)}.values())


def text_of(run: RunStory) -> str:
    """Return the assistant's text of a run."""
    return "".join(step.text for step in run.steps if isinstance(step, Say))


def thoughts_of(story: Story) -> str:
    """Return the model's reasoning in all runs."""
    return "".join(step.text for run in story.runs for step in run.steps if isinstance(step, Think))


def result_of(run: RunStory) -> str | None:
    if run.finish is None or run.finish.says_nothing:
        return None
    return text_of(run) if run.finish.result is None else run.finish.result


def _tokens_of(runs: Iterable[RunStory]) -> Json:
    usages = [(run.finish and run.finish.usage) or {} for run in runs]
    known = {
        name: known_sum(usage.get(key) for usage in usages)
        for name, key in (("input", "inputTokens"), ("cached", "cacheReadTokens"), ("output", "outputTokens"))
    }
    return known | dict.fromkeys(("cost_usd", "context_used", "context_size"))


def truth(story: Story) -> Json:
    """Return the expected summary of a story, without the counts of total lines and events."""
    last = story.runs[-1]
    finish, result, text = last.finish, result_of(last), text_of(last)
    calls = [call for run in story.runs for call in calls_of(run)]
    steps = [step for run in story.runs for step in run.steps]
    malformed = sum(step.malformed for step in steps if isinstance(step, Aside))
    unknown = sum(step.unknown for step in steps if isinstance(step, Aside))
    for call in calls:
        is_free = call.shape.startswith("function")
        is_odd = call.use.is_unknown and not is_free
        odd_end = call.has_end and (is_odd or (call.ending.is_unknown and not is_free))
        unknown += (call.has_start and is_odd) + odd_end
    paired = sum(call.has_start and call.has_end for call in calls)
    is_error = finish is not None and finish.is_error
    matches = None if result is None or is_error else text == result
    absent = "the result is an error" if result and is_error else "no result to compare"
    compared = {True: "text = result", False: "text ≠ result", None: absent}[matches]
    same = [ours == theirs for ours, theirs in zip(text, result or "", strict=False)]
    common = [*same, False].index(False)
    outcome = "unfinished" if finish is None else "failed" if finish.is_error else "succeeded"
    return {
        "version": 1,
        "format": "cursor",
        "session_id": last.session_id,
        "model": "Auto",
        "cwd": CWD,
        "permission_mode": "default",
        "api_key_source": "login",
        "outcome": outcome,
        "exit_code": None,
        "result_outcome": outcome,
        "prompt": last.prompt,
        "text": "".join(map(text_of, story.runs)),
        "result": result,
        "text_matches_result": matches,
        "duration_ms": 5234 if finish is not None and len(story.runs) == 1 else None,
        "duration_api_ms": None if finish is None else 5200,
        "request_id": finish and finish.request_id,
        "usage": finish and finish.usage,
        "runs": len(story.runs),
        "turns": len(story.runs),
        "tokens": _tokens_of(story.runs),
        "cost_estimated_usd": None,
        "calls": [call_truth(call, number) for number, call in enumerate(calls, 1)],
        "calls_by_outcome": Counter(call_truth(call, 0)["outcome"] for call in calls),
        "lines": {"malformed": malformed, "unknown": unknown},
        "orphans": {
            "completed_without_started": sum(not call.has_start for call in calls),
            "never_completed": sum(not call.has_end for call in calls),
        },
        "integrity": {
            "holds": paired == len(calls) and not malformed and matches is not False,
            "line": f"{compared} · {paired} of {len(calls)} call{'' if len(calls) == 1 else 's'} paired"
            f" · {malformed} malformed · {unknown} unknown",
            "difference_at": common if matches is False else None,
        },
    }
