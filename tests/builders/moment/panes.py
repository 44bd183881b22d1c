"""What the panes of a session show, and how two apps are brought to the same moment."""

from agentwatch.analysis.status import status
from agentwatch.screen.panes import header
from agentwatch.screen.screens.session.screen import WatchScreen
from agentwatch.session.agent_process import NO_FACTS
from tests.builders.screen.app import PANES, Stage, lines_of, viewport

Shown = dict[str, object]


def watch_screen(stage: Stage) -> WatchScreen:
    screen = stage.app.screen_stack[0]
    assert isinstance(screen, WatchScreen)
    return screen


async def at_rest(stage: Stage) -> None:
    """Wait until everything that is due is read, laid out and drawn; then select the last call.

    The selection is the user's, and depends on where the user came from.
    """
    await _at_rest(stage)
    workspace = watch_screen(stage).workspace
    workspace.selection.release()
    workspace.panes.follow(None)
    await _at_rest(stage)


async def _at_rest(stage: Stage) -> None:
    viewport = watch_screen(stage).workspace.panes.transcript.viewport
    await stage.until(lambda: not (stage.feed.backlog() or viewport.is_unsettled), "the end of reading")
    watch_screen(stage).frame_scheduler.at_once()
    await stage.settled()
    await stage.until(lambda: not viewport.is_unsettled, "the end of cutting")


def shown(stage: Stage) -> Shown:
    """Return every line of each pane, the lines in view, the to-do list, the status and the counts."""
    screen = watch_screen(stage)
    workspace = screen.workspace
    found: Shown = {}
    for name in PANES:
        pane = stage.pane(name)
        found[name] = lines_of(pane)
        found[f"{name} in view"] = viewport(pane)
    rows, plan = stage.rows(), workspace.plan.region
    found["to-do list"] = rows[plan.y : plan.bottom]
    session, now_ms = screen._moment.shown.session, screen._moment.now_ms()
    found["status"] = status(session, now_ms, NO_FACTS, 200)
    found["header"] = header._fitting_counts(session, 200)
    found["clock"] = (session.outcome, header._run_clock(session, now_ms))
    found["integrity"] = screen._integrity
    return found


def differing(one: Shown, other: Shown) -> list[str]:
    """Return where two screens differ, and both values."""
    found = []
    for name, value in one.items():
        first, second = value, other[name]
        if first == second:
            continue
        if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
            index = next(at for at, each in enumerate(first) if each != second[at])
            first, second = first[index], second[index]
        found.append(f"{name}: {first!r:.300} instead of {second!r:.300}")
    return found
