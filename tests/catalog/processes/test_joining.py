"""A session is joined to a process by evidence; without any it is unknown, or has ended."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agentwatch.agents.session_entry import NO_METADATA, OWN, Key, Reach, SessionEntry
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.catalog.joining import Earlier, processes_without_session, session_joins
from agentwatch.catalog.local_session import LocalSession, without_file
from agentwatch.catalog.session_status import Process
from tests.conftest import case

BEGAN = 1_770_000_000_000
LIVE, DEAD, UNKNOWN = Life.LIVE, Life.DEAD, Life.UNKNOWN
Result = tuple[Life, int | None]


def process(
    pid: int, agent: str, cwd: str | None = "/repo", *, began_ms: int = BEGAN, **more: Any
) -> Process:
    """Return a process that began at `BEGAN`."""
    return Process(pid, 77, agent, began_ms, cwd)._replace(**more)


def session(agent: str, session_id: str, cwd: str | None = "/repo", after_ms: int = 1000) -> SessionEntry:
    """Return a session that has changed that long after `BEGAN`."""
    path = Path(f"/home/dev/sessions/rollout-{session_id}.jsonl")
    changed_ns = (BEGAN + after_ms) * 10**6
    return SessionEntry(agent, session_id, path, 100, changed_ns, metadata=NO_METADATA._replace(cwd=cwd))


def results(
    founds: Iterable[SessionEntry],
    processes: Iterable[Process] = (),
    reported: Iterable[StateReport] = (),
    cwds: Mapping[Key, str] | None = None,
    exact: Iterable[str] = (),
    **known: Any,
) -> dict[str, Result]:
    """Return the life and the process id of each session."""
    found = session_joins(
        founds,
        {each.pid: each for each in processes},
        {(each.agent, each.session_id): each for each in reported},
        cwds or {},
        frozenset(exact),
        **known,
    )
    return {key[1]: (life, found and found.pid) for key, (life, found) in found.items()}


def test_what_the_agent_says_comes_first() -> None:
    """A record names the process of a session, and is believed while that process can be checked."""
    # Two sessions in one folder belong to the processes that their records name.
    founds = [session("claude", "a"), session("claude", "b"), session("claude", "old")]
    processes = [process(1, "claude"), process(2, "claude")]
    reported = [StateReport("claude", "a", LIVE, 2), StateReport("claude", "b", LIVE, 1)]
    assert results(founds, processes, reported) == {"a": (LIVE, 2), "b": (LIVE, 1), "old": (DEAD, None)}
    # A session whose recorded process has ended may have been resumed in another.
    founds, reported = [session("claude", "a")], [StateReport("claude", "a", DEAD, 1)]
    assert results(founds, [], reported) == {"a": (DEAD, None)}
    assert results(founds, [process(2, "claude")], reported) == {"a": (LIVE, 2)}
    # A session whose process cannot be checked is not dead.
    assert results([session("claude", "a")], [], [StateReport("claude", "a", UNKNOWN, 5)]) == {
        "a": (UNKNOWN, None)
    }
    # The log of a hook remains when the agent has ended.
    reported = [StateReport("codex", "a", UNKNOWN)]
    assert results([session("codex", "a")], [], reported) == {"a": (DEAD, None)}
    assert results([session("codex", "a")], [process(1, "codex")], reported) == {"a": (LIVE, 1)}
    # Claude Code registers a session before its first prompt, when it has no file yet.
    reported = [
        StateReport("claude", "new", LIVE, 1),
        StateReport("claude", "gone", DEAD, 2),
        StateReport("codex", "hook", UNKNOWN),
    ]
    assert results([], [process(1, "claude")], reported) == {"new": (LIVE, 1)}
    assert [each.claim for each in reported] == [LIVE, None, None]
    # Without /proc, a record of another start than that of the process is not believed.
    began = 1_789_225_633_000
    shown = process(1, "claude", began_ms=began)._replace(began=0)
    same = StateReport("claude", "a", LIVE, 1, "Sat Sep 12 15:07:13 2026")
    other = same._replace(began="Sat Sep 12 15:07:14 2026")
    founds = [session("claude", "a", "/else", after_ms=-9000)]
    assert results(founds, [shown], [same]) == {"a": (LIVE, 1)}
    assert results(founds, [shown], [other]) == {"a": (DEAD, None)}


def test_a_session_is_joined_by_its_folder() -> None:
    """If it is not known which process a session has, it has none."""
    # Without a record, two sessions of a folder may each belong to either of two processes.
    founds = [session("claude", "a"), session("claude", "b"), session("claude", "c", "/else")]
    processes = [process(1, "claude"), process(2, "claude")]
    assert results(founds, processes) == {"a": (LIVE, 0), "b": (LIVE, 0), "c": (DEAD, None)}
    # A session is joined by its folder if no other one has changed there since the process began.
    founds = [
        session("gemini", "mine"),
        session("gemini", "before", after_ms=-5000),
        session("gemini", "elsewhere", "/else"),
        session("qwen", "other"),
    ]
    assert results(founds, [process(1, "gemini", "/repo")]) == {
        "mine": (LIVE, 1),
        "before": (DEAD, None),
        "elsewhere": (DEAD, None),
        "other": (DEAD, None),
    }
    # A session in which a hook has reported since is newer than its file.
    founds = [session("gemini", "a", after_ms=10), session("gemini", "b", after_ms=5000)]
    reported = [StateReport("gemini", "a", UNKNOWN, state=State.WORKING, since_ms=BEGAN + 6000)]
    assert results(founds, [process(1, "gemini")], reported) == {"a": (LIVE, 1), "b": (DEAD, 1)}
    # A session that is the only one of two processes runs, but its process is not known.
    processes = [process(1, "pi"), process(2, "pi")]
    assert results([session("pi", "a")], processes) == {"a": (LIVE, None)}
    # Two processes of one folder are judged by their own start.
    founds = [session("pi", "a", after_ms=1000), session("pi", "b", after_ms=60_000)]
    processes = [process(1, "pi"), process(2, "pi", began_ms=BEGAN + 30_000)]
    assert results(founds, processes) == {"a": (LIVE, 1), "b": (LIVE, 2)}
    # While the folder of a session is not known, no session of the agent is joined by its folder.
    founds = [session("qwen", "a", None), session("qwen", "b")]
    processes = [process(1, "qwen")]
    assert results(founds, processes) == {"a": (UNKNOWN, None), "b": (UNKNOWN, None)}
    known = {("qwen", "a"): "/else/"}
    assert results(founds, processes, cwds=known) == {"a": (DEAD, None), "b": (LIVE, 1)}
    known = {("qwen", "a"): "/repo/"}
    assert results(founds[:1], processes, cwds=known) == {"a": (LIVE, 1)}
    # A process whose folder is not shown leaves the sessions that have changed since unknown.
    founds = [session("qwen", "a", "/a"), session("qwen", "b", after_ms=-5000)]
    assert results(founds, [process(1, "qwen", None)]) == {"a": (UNKNOWN, None), "b": (DEAD, None)}
    # All sessions of a database have the time of the database; their own time decides.
    new, old = (
        found._replace(metadata=found.metadata._replace(changed_ms=BEGAN + after))
        for found, after in ((session("opencode", "new"), 5), (session("opencode", "old"), -5000))
    )
    assert results([new, old], [process(1, "opencode")]) == {"new": (LIVE, 1), "old": (DEAD, None)}
    # A subagent has no process of its own, and does not make its parent ambiguous.
    founds = [
        session("claude", "child")._replace(parent="a"),
        session("claude", "a"),
        session("claude", "orphan")._replace(parent="gone"),
    ]
    found = results(founds, [process(1, "claude")])
    assert found == {"a": (LIVE, 1), "child": (LIVE, 1), "orphan": (DEAD, None)}
    # The agent that `run` has started has a session of its own beside the recording.
    founds = [session("agentwatch", "stem"), session("pi", "a")]
    reported = [StateReport("agentwatch", "stem", LIVE, 1)]
    assert results(founds, [process(1, "pi")], reported) == {"stem": (LIVE, 1), "a": (LIVE, 1)}
    # While the processes are not known, nothing is dead; what an agent says holds.
    founds, reported = [session("claude", "a"), session("claude", "b")], [StateReport("claude", "a", LIVE, 1)]
    unknown = session_joins(founds, None, {("claude", "a"): reported[0]}, {})
    assert unknown == {("claude", "a"): (LIVE, None), ("claude", "b"): (UNKNOWN, None)}


def test_the_only_process_of_a_folder_has_its_newest_session() -> None:
    """`/clear` and `/new` begin another session: the newest is that of the process, and the others were."""
    founds = [session("pi", "b", after_ms=99_000), session("pi", "a", after_ms=10)]
    alone = process(1, "pi")
    assert results(founds, [alone]) == {"a": (DEAD, 1), "b": (LIVE, 1)}
    found = session_joins(founds, {1: alone, 2: process(2, "pi", "/else"), 3: process(3, "qwen")}, {}, {})
    assert [each and each.is_guess for _, each in found.values()] == [True, True]
    others = {
        "one whose folder is not shown": process(2, "pi", None),
        "one that serves several sessions": process(2, "pi", "/else", is_shared=True),
    }
    for name, other in others.items():
        with case(name):
            assert results(founds, [alone, other]) == {"a": (UNKNOWN, None), "b": (UNKNOWN, None)}


def test_several_processes_of_a_folder_have_as_many_of_its_newest_sessions() -> None:
    """A process has one session at a time: the newest that can be theirs run, and the older ones were left.
    Which has which is known from when each began."""
    first, second = process(1, "pi"), process(2, "pi", began_ms=BEGAN + 30_000)
    times = {"old": (0, 900), "a": (500, 70_000), "b": (31_000, 60_000), "late": (80_000, 90_000)}
    spans = {("pi", name): (BEGAN + begun, BEGAN + seen) for name, (begun, seen) in times.items()}
    of = {name: session("pi", name, after_ms=seen) for name, (_, seen) in times.items()}
    cases: dict[str, tuple[str, tuple[Process, ...], dict[str, Result]]] = {
        "each ran alone when its session began": ("a b", (first, second), {"a": (LIVE, 1), "b": (LIVE, 2)}),
        "the second has no session": ("a", (first, second), {"a": (LIVE, 1)}),
        "the first has no session": ("b", (first, second), {"b": (LIVE, None)}),
        "one ran before": (
            *("old b", (first, second)),
            {"old": (LIVE, 1), "b": (LIVE, 2)},
        ),
        "one was left": (
            *("old a b", (first, second)),
            {"old": (DEAD, 1), "a": (LIVE, 1), "b": (LIVE, 2)},
        ),
        "both began after both": (
            *("b late", (first, second)),
            {"b": (LIVE, 0), "late": (LIVE, 0)},
        ),
        "the one that ran when it began has a newer one": (
            *("a b late", (first, second)),
            {"a": (LIVE, 1), "b": (DEAD, 1), "late": (LIVE, 2)},
        ),
    }
    for name, (names, processes, expected) in cases.items():
        with case(name):
            founds = [of[each] for each in names.split()]
            assert results(founds, processes, spans=spans) == expected
            assert results(founds, processes[::-1], spans=spans) == expected
    # What was known of a process that still runs is known when both have a new session, unless it was
    # joined before the other process was known.
    founds = [of["b"], of["late"]]
    joins = session_joins([of["a"], of["b"]], {1: first, 2: second}, {}, {}, spans=spans)
    after: dict[str, Result] = {"b": (LIVE, 2), "late": (LIVE, 1)}
    unknown: dict[str, Result] = {"b": (LIVE, 0), "late": (LIVE, 0)}
    for name, other, pids, at_ms, expected in (
        ("both known", second, {1, 2}, BEGAN + 60_000, after),
        ("the first known", second, {2}, BEGAN + 60_000, unknown),
        ("began later", second, {2}, BEGAN - 1, after),
        ("another with its id", second._replace(began=78), {1, 2}, BEGAN + 60_000, unknown),
    ):
        with case(name):
            before = Earlier(joins, pids, at_ms)
            assert results(founds, [first, other], spans=spans, before=before) == expected
    # Of more than 16 it is not searched.
    many = [process(pid, "pi") for pid in range(1, 18)]
    founds = [session("pi", f"{pid}") for pid in range(1, 18)]
    assert set(results(founds, many).values()) == {(LIVE, 0)}


def test_a_file_without_a_line_leaves_the_other_sessions_as_they_are() -> None:
    """Qwen Code creates the file of a session seconds before its first line. Until then nobody knows whose it
    is, and the session that waits in another process is still that one's."""
    waits, second = session("qwen", "waits"), process(2, "qwen", began_ms=BEGAN + 20_000, has_terminal=True)
    new = session("qwen", "new", None, after_ms=40_000)._replace(size=0)
    processes = [process(1, "qwen"), second]
    assert results([waits, new], processes) == {"waits": (LIVE, 1), "new": (UNKNOWN, None)}
    assert results([waits, new], processes[:1]) == {"waits": (LIVE, 1), "new": (UNKNOWN, None)}
    assert results([new]) == {"new": (DEAD, None)}
    # The row of the process without a session stays until then.
    joins = session_joins([waits, new], {each.pid: each for each in processes}, {}, {})
    rows = processes_without_session({2: second}, {}, joins, {waits.key: "/repo", new.key: ""})
    assert [each.pid for each in rows.values()] == [2]


def test_a_session_whose_process_has_ended_is_that_of_no_other() -> None:
    """Another process of the folder, which ran meanwhile, has not written it, unless it does so later."""
    founds = [session("pi", "a", after_ms=5000)]
    for over_ms, expected in ((6000, DEAD), (4000, LIVE)):
        with case(over_ms):
            over = {("pi", "a"): BEGAN + over_ms}
            assert results(founds, [process(2, "pi")], over=over)["a"][0] is expected
    # One that continues the newest session of its folder may continue that one.
    continued = process(2, "pi", arguments=("pi", "--continue"))
    assert results(founds, [continued], over={("pi", "a"): BEGAN + 6000}) == {"a": (LIVE, 2)}


def test_one_of_two_processes_ends_whose_sessions_are_not_known() -> None:
    """Both sessions are unknown until one is written, which then is that of the process that still runs."""
    founds = [session("opencode", "a", after_ms=5000), session("opencode", "b", after_ms=6000)]
    own = process(1, "opencode", opened_ms=BEGAN, open_paths=("/x/opencode.db",))
    doubts = {each.key: BEGAN + 7000 for each in founds}
    before = Earlier(doubts=doubts)
    assert results(founds, [own], before=before) == {"a": (UNKNOWN, None), "b": (UNKNOWN, None)}
    two = [own, own._replace(pid=2)]
    assert results(founds, two, before=before) == {"a": (LIVE, 0), "b": (LIVE, 0)}
    later = [session("opencode", "a", after_ms=8000), founds[1]]
    assert results(later, [own], before=before) == {"a": (LIVE, 1), "b": (DEAD, 1)}


def test_a_title_is_not_a_sign_of_life() -> None:
    """Gemini adds a title to the file of the session before: the time of the last line counts. A copy of a
    session has only its first line of its own."""
    founds = [session("gemini", "a", after_ms=5000)]
    for span, expected in (
        ((BEGAN - 9000, BEGAN - 5000), DEAD),
        ((BEGAN - 9000, BEGAN + 5000), LIVE),
        ((BEGAN + 1000, BEGAN - 5000), LIVE),
        ((None, None), LIVE),
    ):
        with case(span):
            spans = {("gemini", "a"): span}
            assert results(founds, [process(1, "gemini")], spans=spans)["a"][0] is expected


def test_a_daemon_of_codex_has_the_sessions_that_it_has_open() -> None:
    """The three open sessions of a daemon run in it, and a closed one has ended."""
    founds = [session("codex", name) for name in ("a", "b", "c", "closed")]
    open_paths = ("/x/rollout-a.jsonl", "/x/rollout-b.jsonl", "/x/thread-writer-locks/c.lock")
    daemon = DAEMON._replace(open_paths=open_paths, opened_ms=BEGAN + 5000)
    window = process(3, "codex", "/repo", opened_ms=BEGAN + 5000)
    live = (LIVE, 9)
    expected = {"a": live, "b": live, "c": live, "closed": (DEAD, None)}
    assert results(founds, [daemon, window]) == expected


def test_who_may_show_a_session_of_a_daemon() -> None:
    """Each window in the folder of a session may show one, if the daemon runs on without them."""
    founds = [session("codex", "a", "/a"), session("codex", "b", "/b"), session("codex", "c", "/c")]
    windows = [process(1, "codex", "/b"), process(2, "codex", None), process(3, "gemini", "/c")]
    open_paths = tuple(f"/x/{each.path.name}" for each in founds)
    for arguments, viewers in ((DAEMON.arguments, [0, 1, 2]), (("codex", "app-server"), [None] * 3)):
        with case(arguments):
            daemon = DAEMON._replace(arguments=arguments, open_paths=open_paths)
            found = session_joins(founds, {each.pid: each for each in (daemon, *windows)}, {}, {})
            assert [each.viewer for _, each in found.values() if each] == viewers


DAEMON = process(9, "codex", "/", is_shared=True, arguments=("codex", "app-server", "--listen", "unix://"))


def viewed(
    founds: Iterable[SessionEntry], loaded_ms: Mapping[str, int], *windows: Process
) -> dict[str, object]:
    """Return for each session of the daemon whether a window may show it; None if that is a guess."""
    reported = [
        StateReport("codex", name, LIVE, 9, began_ms=BEGAN + at_ms) for name, at_ms in loaded_ms.items()
    ]
    processes = {each.pid: each for each in (DAEMON, *windows)}
    found = session_joins(founds, processes, {(each.agent, each.session_id): each for each in reported}, {})
    return {key[1]: None if each.is_guess else bool(each.viewer) for key, (_, each) in found.items() if each}


def test_a_window_does_not_show_a_session_that_was_left_before_it_began() -> None:
    """The daemon keeps a session loaded for a minute after its window was closed."""
    old = session("codex", "old", after_ms=10_000)
    window = process(2, "codex", began_ms=BEGAN + 20_000)
    resumed = window._replace(arguments=("codex", "resume", "old"))
    cases: dict[str, tuple[dict[str, int], tuple[Process, ...], dict[str, object]]] = {
        "no window": ({"old": 0}, (), {"old": False}),
        "its own window": ({"old": 0}, (process(1, "codex"),), {"old": True}),
        "another window that has loaded nothing yet": ({"old": 0}, (window,), {"old": False}),
        "another window": ({"old": 0, "new": 21_000}, (window,), {"old": False, "new": True}),
        "both windows": (
            {"old": 0, "new": 21_000},
            (process(1, "codex"), window),
            {"old": True, "new": True},
        ),
        "one window and /new in it": (
            {"old": 0, "new": 21_000},
            (process(1, "codex"),),
            {"old": False, "new": None},
        ),
        "a window that resumes it": ({"old": 0}, (resumed,), {"old": True}),
        "a window that resumes some session": (
            {"old": 0},
            (window._replace(arguments=("codex", "resume")),),
            {"old": True},
        ),
        "a window that resumes it, after an empty /new": (
            {"old": 0, "empty": 15_000},
            (window._replace(arguments=("codex", "resume", "--last")),),
            {"old": True, "empty": False},
        ),
        "a window in another folder": ({"old": 0}, (process(1, "codex", "/else"),), {"old": False}),
        "a window of another agent": ({"old": 0}, (process(1, "gemini"),), {"old": False}),
    }
    for name, (loaded_ms, windows, shown) in cases.items():
        with case(name):
            assert viewed([old], loaded_ms, *windows) == shown


def test_what_codex_has_open_is_its_session() -> None:
    """An open file or a lock names the session of a process, which has no other then."""
    # An open file of Codex says nothing about a session of another agent with the same name.
    codex = process(9, "codex", "/", open_paths=("/x/rollout-a.jsonl",), opened_ms=BEGAN + 5000)
    assert results([session("pi", "a")], [codex]) == {"a": (DEAD, None)}
    # A session that has changed after the open files were read may be open; one before that is not.
    founds = [session("codex", "new", after_ms=9000), session("codex", "old", after_ms=4000)]
    codex = process(1, "codex", opened_ms=BEGAN + 5000)
    assert results(founds, [codex]) == {"new": (LIVE, 1), "old": (DEAD, None)}
    # A session that changes later in the folder of a process with an open session is not its own.
    founds = [session("codex", "open"), session("codex", "new", after_ms=9000)]
    codex = process(1, "codex", opened_ms=BEGAN + 5000, open_paths=("/x/rollout-open.jsonl",))
    assert results(founds, [codex]) == {"open": (LIVE, 1), "new": (DEAD, None)}
    # If Codex says which sessions are open, a process whose folder is hidden leaves none unknown.
    founds = [session("codex", "a"), session("codex", "b")]
    processes = [process(1, "codex", None), process(9, "codex", None, is_shared=True)]
    reported = [StateReport("codex", "a", LIVE, 9)]
    assert results(founds, processes, reported, exact=["codex"]) == {"a": (LIVE, 9), "b": (DEAD, None)}
    assert results(founds, processes, reported) == {"a": (LIVE, 9), "b": (UNKNOWN, None)}
    assert results(founds, processes[:1], exact=["codex"]) == {"a": (DEAD, None), "b": (DEAD, None)}


def test_arguments_name_a_session() -> None:
    """The session that the arguments resume belongs to the process, whenever it has changed."""
    named = "01234567-89ab"
    founds = [session("qwen", named, "/else", after_ms=-9000), session("qwen", "b")]
    resumed = process(1, "qwen", arguments=("qwen", "--resume", named))
    assert results(founds, [resumed, process(2, "qwen")]) == {named: (LIVE, 1), "b": (LIVE, 2)}
    found = results(founds, [resumed, process(2, "qwen", None)])
    assert found == {named: (LIVE, 1), "b": (UNKNOWN, None)}
    path = str(founds[0].path)
    assert results(founds[:1], [process(1, "qwen", arguments=("qwen", f"--session={path}"))])[named] == (
        LIVE,
        1,
    )
    assert results(founds, [process(1, "pi", arguments=("pi", "--resume", named))])[named] == (DEAD, None)
    # After `/clear` in a resumed session, the newer one is that of the process.
    for after_ms, expected in (
        (5000, {named: (LIVE, 1), "b": (DEAD, None)}),
        (500, {named: (DEAD, 1), "b": (LIVE, 1)}),
    ):
        with case(after_ms):
            founds = [session("qwen", named, after_ms=after_ms), session("qwen", "b")]
            assert results(founds, [resumed]) == expected
    # Copilot writes and locks nothing before the first prompt after `--continue`.
    founds = [
        session("copilot", "older", after_ms=-9000),
        session("copilot", "old", after_ms=-5000),
        session("copilot", "elsewhere", "/else", after_ms=-1000),
    ]
    dead = dict.fromkeys(("older", "old", "elsewhere"), (DEAD, None))
    continued = process(1, "copilot", arguments=("copilot", "--continue"))
    assert results(founds, [continued]) == {**dead, "old": (LIVE, 1)}
    _, known = session_joins(founds, {1: continued}, {}, {})["copilot", "old"]
    assert known is not None
    assert known.is_guess
    without_prompt = session("copilot", "empty", after_ms=-2000)._replace(reach=Reach.LISTED)
    assert results([*founds, without_prompt], [continued])["old"] == (LIVE, 1)
    assert results(founds, [process(1, "copilot")]) == dead
    assert results(founds, [continued, process(2, "copilot")])["old"] == (DEAD, None)
    assert results(founds, [process(1, "copilot", "/new", arguments=continued.arguments)]) == dead


def test_a_process_of_opencode_has_its_database_open() -> None:
    """A client without it shows the sessions of a server, which may have any."""
    # A process of opencode that has no database open has no session of its own.
    founds = [session("opencode", "ses_1")]
    client = process(1, "opencode", opened_ms=BEGAN)
    own = client._replace(open_paths=("/x/opencode.db",))
    assert results(founds, [client]) == {"ses_1": (DEAD, None)}
    assert results(founds, [own]) == {"ses_1": (LIVE, 1)}
    # A server that shows no sessions leaves those that have changed since it began unknown.
    founds = [session("opencode", "ses_1", "/a"), session("opencode", "ses_2", after_ms=-9000)]
    server = process(1, "opencode", "/repo", is_shared=True, open_paths=("/x/opencode.db",))
    assert results(founds, [server]) == {"ses_1": (UNKNOWN, None), "ses_2": (DEAD, None)}


def starting(
    *processes: Process, reported: Iterable[StateReport] = (), founds: Iterable[SessionEntry] = ()
) -> list[str]:
    """Return the ids of the rows of processes without a session."""
    running = {each.pid: each for each in processes}
    says = {(each.agent, each.session_id): each for each in reported}
    sessions = list(founds)
    lives = session_joins(sessions, running, says, {})
    cwds = {each.key: each.metadata.cwd or "" for each in sessions}
    return [key[1] for key in processes_without_session(running, says, lives, cwds)]


def test_a_process_in_a_terminal_that_has_written_nothing_is_a_row() -> None:
    """Pi writes its first line when its first prompt was answered. A guess makes no row."""
    pi = process(1, "pi", has_terminal=True)
    assert starting(pi) == ["pid-1"]
    assert starting(pi, founds=[session("pi", "old", after_ms=-9000)]) == ["pid-1"]
    none: dict[str, list[str]] = {
        "it has a session": starting(pi, founds=[session("pi", "a")]),
        "a report names it": starting(pi, reported=[StateReport("agentwatch", "stem", LIVE, 1)]),
        "it has no terminal": starting(process(1, "pi")),
        "it answers one prompt": starting(pi._replace(has_one_prompt=True)),
        "its folder is not shown": starting(pi._replace(cwd=None)),
        "it serves several sessions": starting(pi._replace(is_shared=True)),
    }
    assert not any(none.values()), none
    other = process(2, "pi", has_terminal=True)
    assert starting(pi, other, founds=[session("pi", "a"), session("pi", "b")]) == []
    assert starting(pi, other._replace(cwd="/else"), founds=[session("pi", "a")]) == ["pid-2"]


def test_a_window_of_codex_has_a_row_until_its_daemon_has_its_session() -> None:
    """The daemon loads a session with the first prompt. The server of an editor serves no terminal."""
    window = process(1, "codex", has_terminal=True)
    editor = process(8, "codex", is_shared=True, arguments=("codex", "app-server"), opened_ms=BEGAN)
    editor = editor._replace(open_paths=("/x/rollout-edited.jsonl",))
    shown, old = session("codex", "shown"), session("codex", "old", after_ms=-60_000)
    edited, loaded = (
        session("codex", "edited"),
        [StateReport("codex", "shown", LIVE, 9, began_ms=BEGAN + 500)],
    )
    left = [StateReport("codex", "old", LIVE, 9, began_ms=BEGAN - 90_000)]
    cases: dict[str, tuple[list[str], list[str]]] = {
        "nothing is loaded": (starting(window, DAEMON), ["pid-1"]),
        "no daemon runs yet": (starting(window), ["pid-1"]),
        "an editor has a session": (starting(window, DAEMON, editor, founds=[edited]), ["pid-1"]),
        "a session of an earlier window": (starting(window, DAEMON, founds=[old], reported=left), ["pid-1"]),
        "its session": (starting(window, DAEMON, founds=[shown], reported=loaded), []),
        "its session, not found yet": (starting(window, DAEMON, editor, reported=loaded), []),
        "its session, and another window": (
            starting(window, DAEMON, window._replace(pid=2, cwd="/else"), founds=[shown], reported=loaded),
            ["pid-2"],
        ),
    }
    for name, (found, expected) in cases.items():
        with case(name):
            assert found == expected


def test_a_session_of_a_daemon_without_a_file_has_the_folder_of_its_window() -> None:
    """Codex loads a session when its window is ready, and writes it with the first prompt."""
    key, loaded = ("codex", "new"), StateReport("codex", "new", LIVE, 9, began_ms=BEGAN + 500)
    window = process(1, "codex", "/a")
    for others, cwd in (([], "/a"), ([process(2, "codex", "/a")], "/a"), ([process(2, "codex", "/b")], "")):
        with case(others):
            running = {each.pid: each for each in (DAEMON, window, *others)}
            session = LocalSession(without_file(key, loaded))
            session.reported = loaded
            session.join(*session_joins([session.found], running, {key: loaded}, {})[key])
            assert session.cwd == cwd


def test_a_recording_whose_file_is_not_listed_yet_has_a_state() -> None:
    """Its process file may be read before its first line is: it has no arrival times then."""
    key, begun = (OWN, "new"), StateReport(OWN, "new", LIVE, 9, began_ms=BEGAN)
    session = LocalSession(without_file(key, begun))
    session.reported = begun
    session.join(LIVE, process(9, OWN))
    assert session.judged(BEGAN + 1000).state is State.STARTING
