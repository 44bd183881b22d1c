"""Fixtures for all tests: a private home folder, and an environment without CI and colour variables."""

import fcntl
import gc
import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from random import SystemRandom
from typing import Any

import pytest
from hypothesis import settings

from agentwatch.agents.opening import saved_source
from agentwatch.base import clock
from agentwatch.feed.feed import Feed
from agentwatch.recording.lines import LineReader
from agentwatch.recording.saved import open_saved
from agentwatch.recording.times import Wakeup
from agentwatch.session.session import Session
from tests.builders.captures import FOREIGN, OURS, Captures

ROOT = Path(__file__).resolve().parent.parent
RECORDINGS = ROOT / "recordings"
Saver = Callable[..., Path]
"""The type of the fixture `recording`: a function that saves lines as a recording and returns its path."""


AGENT_FOLDERS = (
    *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "QWEN_RUNTIME_DIR", "COPILOT_HOME"),
    *("PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "CURSOR_DATA_DIR", "CURSOR_CONFIG_DIR"),
    *("OPENCODE_DB", "GOOSE_PATH_ROOT", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"),
)
"""The variables that move the folders of agents, and our own."""
MEASURED = frozenset({"agents", "session", "feed"})
"""The folders whose tests must cover every branch of agents and session."""
_MOST_SECONDS = 300
"""The limit of a test of `pytest -q`. The longest takes 13 s on a machine with a load of 15."""
_STAGE_SECONDS = 3600
STAGES = frozenset({"system", "costs", "long", "shared", "real"})
"""The marks of tests that `pytest -q` leaves out; `CONTRIBUTING.md` describes each stage."""


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads its options
def pytest_configure(config: pytest.Config) -> None:
    """Collect the tests without collecting garbage, and refuse a folder of captures that does not exist.

    Collecting the tests makes objects that stay: the garbage collector took 7 of its 19 s.
    """
    _choose_examples(config)
    gc.disable()
    if hasattr(config, "workerinput") or not config.option.numprocesses:
        for name in ("COVERAGE_PROCESS_START", "PYTEST_ADDOPTS"):  # not for the programs that tests start
            os.environ.pop(name, None)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs behind `&` without it
    if FOREIGN and not Path(FOREIGN).is_dir():
        raise pytest.UsageError(f"AGENTWATCH_CAPTURES: {FOREIGN} is not a folder")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file without a test of the one stage that was asked for, before it is imported.

    In a fresh clone importing all files takes each worker 11 s of CPU; `costs` has tests in 27 of 427 files.
    """
    stage = config.option.markexpr
    if stage not in STAGES | {"hypothesis"} or collection_path.suffix != ".py":
        return None
    text = collection_path.read_bytes()
    word = {"shared": b"captures", "hypothesis": b"@given"}.get(stage)
    is_in_stage = f"mark.{stage}".encode() in text or (word is not None and word in text)
    return None if is_in_stage else True


def _choose_examples(config: pytest.Config) -> None:
    """Let Hypothesis try the same examples each time, or the random ones of a seed.

    Its profile `ci` derives the examples of a test from the source of the test, and sets no time limit.
    """
    search = os.environ.get("AGENTWATCH_HYPOTHESIS")
    if search == "random":
        config.option.hypothesis_seed = config.option.hypothesis_seed or str(SystemRandom().getrandbits(32))
    elif search:
        raise pytest.UsageError(f"AGENTWATCH_HYPOTHESIS: {search}: only `random` is known")
    settings.register_profile("random", settings.get_profile("ci"), derandomize=False)
    settings.load_profile("ci" if config.option.hypothesis_seed is None else "random")
    # Hypothesis tries the constants of modules of ours that are imported: those depend on the tests that ran
    # before, and on the folder, because it takes all that is below a folder `tests` for a test.
    constants_of = "hypothesis.internal.conjecture.providers.is_local_module_file"
    pytest.MonkeyPatch().setattr(constants_of, lambda _path: False)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    """Mark tests of other stages as `slow`, and leave out what no stage was asked for.

    A test of the stage `system` may be `long` for some of its inputs: `-m system` leaves these out. The
    captures of others are left out if their folder is not named.
    """
    for item in items:
        if any(mark.name in STAGES for mark in item.iter_markers()):
            item.add_marker("slow")
    yield
    asked = config.option.markexpr
    left_out = {"long"} if asked and "long" not in asked else set()
    if not FOREIGN:
        left_out.add("shared")
    without = {item for item in items if any(mark.name in left_out for mark in item.iter_markers())}
    items[:] = [item for item in items if item not in without]
    config.hook.pytest_deselected(items=[*without])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Report in one line that the stage `shared` was skipped, and the seed of a random search."""
    if config.option.markexpr == "shared" and not FOREIGN:
        terminalreporter.write_line("shared: skipped, because AGENTWATCH_CAPTURES names no folder")
    if (seed := config.option.hypothesis_seed) is not None:
        terminalreporter.write_line(f"hypothesis: random examples; --hypothesis-seed={seed} repeats them")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure the coverage of a test in a measured folder, if this process measures coverage.

    The other tests run without tracing, which slows them.
    """
    coverage = _coverage()
    if coverage is None or not any(item.path.is_relative_to(ROOT / "tests" / each) for each in MEASURED):
        return (yield)
    coverage.start()
    try:
        return (yield)
    finally:
        coverage.stop()


def pytest_sessionfinish() -> None:
    """Save what was measured: a worker of xdist need not end in the way in which coverage expects it."""
    if (coverage := _coverage()) is not None:
        coverage.save()


@cache
def _coverage() -> Any:
    """Return the measurement with which this process began, or None."""
    module = sys.modules.get("coverage")
    return None if module is None else module.Coverage.current()


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what collecting has made, and run less often.

    An app that starts makes many objects; with the default thresholds collecting took 30 % of the CPU time
    of the tests that open one. What is never collected is found when pytest collects at the end.
    """
    if (coverage := _coverage()) is not None:
        coverage.stop()  # what the imports run is measured from the start of the process
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


_cases = 0
"""How many cases of loops were tried in this process."""


@contextmanager
def case(name: object) -> Iterator[None]:
    """Name the case of a loop in the failure that it causes."""
    global _cases  # noqa: PLW0603 - one process runs one test at a time
    _cases += 1
    try:
        yield
    except BaseException as error:  # a failure that pytest itself raises is not an Exception
        error.add_note(f"the case: {name}")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Fail a test whose loop over cases had none: it would have checked nothing."""
    before = _cases
    result = yield
    code = getattr(pyfuncitem.function, "__code__", None)
    if code is not None and "case" in code.co_names:
        assert _cases > before, "no case was tried"
    return result


@contextmanager
def ends_within(seconds: float) -> Iterator[None]:
    """Fail in the midst of what the block waits for when its time is over."""

    def fail(*_: object) -> None:
        pytest.fail(f"not over within {seconds} s: the last line of the traceback waits")

    before = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Let each wait of a test, of its fixtures and of their ends have a limit."""
    is_of_stage = any(mark.name in STAGES for mark in item.iter_markers())
    with ends_within(_STAGE_SECONDS if is_of_stage else _MOST_SECONDS):
        return (yield)


pytest_runtest_call = pytest_runtest_teardown = pytest_runtest_setup


@contextmanager
def present(at_ms: int) -> Iterator[None]:
    """Let the present of agentwatch begin at a time, from which it goes on. Files keep the system's time."""
    before = clock.ahead_ns
    clock.ahead_ns += at_ms * 10**6 - clock.wall_ns()
    try:
        yield
    finally:
        clock.ahead_ns = before


@contextmanager
def in_zone(name: str) -> Iterator[None]:
    """Set the local time zone, and set it back."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TZ", name)
        time.tzset()
        try:
            yield
        finally:
            patched.undo()
            time.tzset()


@pytest.fixture(params=["ours", pytest.param("shared", marks=pytest.mark.shared)])
def captures(request: pytest.FixtureRequest) -> Captures:
    """Return the captures in the repository and, in the stage `shared`, those of others."""
    return OURS if request.param == "ours" else Captures(Path(FOREIGN))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep saved sessions out of the user's own folder, and return the folder used instead.

    The sessions of the user's agents are kept out of the tests as well: the home folder is an empty one.
    """
    folder = tmp_path / "home"
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    for name in AGENT_FOLDERS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AGENTWATCH_HOME", str(folder))
    monkeypatch.setenv("AGENTWATCH_CONFIG", os.devnull)
    for name in ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD", "TEAMCITY_VERSION", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture(autouse=True)
def _recordings_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the recordings that a test has opened for reading and left open, and the pipes of their readers.

    A program that opens one ends soon. Thousands of tests in one process would leave more than a thousand
    open, which many systems do not allow. A pipe that a thread may still use stays open.
    """
    opened: dict[int, os.stat_result] = {}
    threads = {*threading.enumerate()}
    read, wake = LineReader.__init__, Wakeup.__init__

    def note_recording(reader: LineReader, fd: int, *given: Any, **named: Any) -> None:
        read(reader, fd, *given, **named)
        with suppress(OSError):
            if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
                opened[fd] = os.fstat(fd)

    def note_pipe(wakeup: Wakeup) -> None:
        wake(wakeup)
        for fd in (wakeup.fd, wakeup._bell_fd):
            opened[fd] = os.fstat(fd)

    monkeypatch.setattr(LineReader, "__init__", note_recording)
    monkeypatch.setattr(Wakeup, "__init__", note_pipe)
    yield
    is_quiet = threads >= {*threading.enumerate()}
    for fd, status in opened.items():
        with suppress(OSError):
            if os.path.samestat(os.fstat(fd), status) and (is_quiet or not stat.S_ISFIFO(status.st_mode)):
                os.close(fd)


@contextmanager
def descriptors_closed() -> Iterator[None]:
    """Close the descriptors that the block leaves, as the end of a program does. No object may own one."""
    before = _descriptors()
    yield
    for fd in _descriptors() - before:
        os.close(fd)


def _descriptors() -> set[int]:
    found = set()
    for fd in map(int, os.listdir("/dev/fd")):
        with suppress(OSError):  # the folder itself is closed by now
            os.fstat(fd)
            found.add(fd)
    return found


@pytest.fixture
def opened_session() -> Iterator[Callable[[Path], Session]]:
    """Return a function that opens a saved session, of any kind, and reads all of it."""
    sources = []

    def read(path: Path) -> Session:
        source = saved_source(path)
        sources.append(source)
        feed = Feed(source.reader)
        feed.advance()
        return feed.session

    yield read
    for source in sources:
        os.close(source.reader.fd)


@pytest.fixture
def session_of(tmp_path: Path) -> Callable[[bytes], Session]:
    """Return a function that reads a recording with these bytes into a session."""

    def read(data: bytes) -> Session:
        path = tmp_path / "case.ndjson"
        path.write_bytes(data)
        reader = open_saved(path)
        feed = Feed(reader)
        feed.advance()
        os.close(reader.fd)  # a test may read thousands of sessions
        return feed.session

    return read


@pytest.fixture
def recording(tmp_path: Path) -> Saver:
    """Return a function that saves these lines as a recording and returns its path."""

    def save(*lines: bytes) -> Path:
        path = tmp_path / "session.ndjson"
        path.write_bytes(b"".join(lines))
        return path

    return save
