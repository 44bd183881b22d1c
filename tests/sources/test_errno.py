"""Every file system call of a recording fails once, or from then on; the program always ends cleanly.

The method of SQLite: the n-th call fails, for n = 1, 2, 3 … until no n-th call is made. Whatever fails,
recording and printing end. Only a Fault may be raised, and only before anything has begun. The recording
contains whole lines from the beginning of the stream; stderr and the exit code report what is missing. EINTR
is not among the errors, because Python retries by itself.
"""

import errno
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from agentwatch.base.faults import Fault
from agentwatch.cli.front import watch
from agentwatch.cli.options import Options
from agentwatch.feed.feed import Feed
from agentwatch.output.log import follow_log
from agentwatch.recording.saved import open_saved
from agentwatch.sources import agent_output
from agentwatch.sources.open import KeepOptions, agent_source, pipe_source
from agentwatch.sources.source import Source
from tests.builders.gaps import fits
from tests.conftest import RECORDINGS, case, descriptors_closed
from tests.sources.failing_os import Case, FailingOs, RelayThread, each_call, watched

PLAIN = RECORDINGS / "plain.ndjson"
WHOLE = PLAIN.read_bytes()
OTHERS = (errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EMFILE)
ERRORS = (errno.ENOSPC, errno.EIO)
CASES = [
    Case(("write",)),
    Case(("write",), lasting=True),
    Case(("write",), halves=True),
    Case(("write",), lasting=True, halves=True),
    Case(("write", "ftruncate"), lasting=True, halves=True),
    Case(("write", "pread"), lasting=True, halves=True, intake_only=True),
    Case(("write", "ftruncate", "pread", "fstat", "fsync", "fdatasync"), lasting=True),
    Case(("pread",)),
    Case(("pread",), lasting=True),
    Case(("fstat",)),
    Case(("fstat",), lasting=True),
    Case(("read",)),
    Case(("fstatvfs",)),
    Case(("fstatvfs",), lasting=True),
    Case(("fdatasync", "fsync")),
    Case(("fdatasync", "fsync"), lasting=True),
]
WRITES = [each for each in CASES if each.names == ("write",)]

pytestmark = pytest.mark.slow


def stages(cases: list[Case]) -> pytest.MarkDecorator:
    """Pass one case with one error to a test, and all cases with more errors in later stages."""
    return pytest.mark.parametrize(
        "cases",
        [
            pytest.param([(WRITES[-1], ERRORS[0])], id="one"),
            pytest.param([*product(cases, ERRORS)], id="all", marks=pytest.mark.system),
            pytest.param([*product(cases, OTHERS)], id="other errors", marks=pytest.mark.long),
        ],
    )


@pytest.fixture(autouse=True)
def raised(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect exceptions raised in threads, and sync often so that threads end soon."""
    found: list[str] = []
    monkeypatch.setattr("agentwatch.sources.source._SYNC_SECONDS", 0.01)
    monkeypatch.setattr(threading, "excepthook", lambda args: found.append(repr(args.exc_value)))
    return found


@contextmanager
def trial(tmp_path: Path, *words: object) -> Iterator[Path]:
    """Yield a new folder, name the trial in its failure, and close the descriptors that its sources leave."""
    with descriptors_closed(), case(" ".join(map(str, words))), TemporaryDirectory(dir=tmp_path) as folder:
        yield Path(folder)


def plain_pipe(keep: KeepOptions) -> Source:
    """Return a pipe source from which, on Linux, each read returns 400 bytes.

    A socket keeps its packets apart. A pipe could too, but has room for one or two if its user has many.
    """
    if sys.platform == "linux":
        source_fd, agent_fd = (end.detach() for end in socket.socketpair(type=socket.SOCK_SEQPACKET))
    else:
        source_fd, agent_fd = os.pipe()
    for at in range(0, len(WHOLE), 400):
        os.write(agent_fd, WHOLE[at : at + 400])
    os.close(agent_fd)
    try:
        return pipe_source(source_fd, keep)
    except Fault:
        assert os.read(source_fd, 1), "it was read before the fault was raised"
        raise


def direct_agent(keep: KeepOptions) -> Source:
    """Start an agent that writes the whole recording at once, into the file itself."""
    return agent_source(["cat", str(PLAIN)], keep, direct=True)


def relayed_agent(keep: KeepOptions) -> Source:
    """Start an agent whose relay is a thread of this process, so that its calls can fail."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agent_output, "_start", RelayThread)
        return agent_source(["cat", str(PLAIN)], keep)


BEGINS = (plain_pipe, direct_agent, relayed_agent)


@pytest.mark.system
@stages(CASES)
@pytest.mark.parametrize("begin", BEGINS)
def test_every_failed_call_is_reported(
    begin: Callable[[KeepOptions], Source],
    cases: list[tuple[Case, int]],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    raised: list[str],
) -> None:
    """Whichever call fails, the program ends, keeps whole lines, and reports what is incomplete."""
    for failed, number in cases:
        with trial(tmp_path, failed, errno.errorcode[number]) as folder:
            check_each_call(begin, failed, number, folder, capfd, raised)


def check_each_call(
    begin: Callable[[KeepOptions], Source],
    failed: Case,
    number: int,
    folder: Path,
    capfd: pytest.CaptureFixture[str],
    raised: list[str],
) -> None:
    """Let each call of a case fail in turn, and check what is kept and what is reported."""
    for failing in each_call(failed, number):
        path = folder / f"{failing.first}.ndjson"
        code, stderr = watched(begin, KeepOptions(recording=path), failing), capfd.readouterr().err
        where = f"call {failing.first}: code {code}, stderr {stderr!r}, raised {raised}"
        assert not raised, where
        assert path.exists(), where
        kept = path.read_bytes()
        assert WHOLE.startswith(kept), where
        assert kept.endswith(b"\n") or kept == b"" or not failed.leaves_lines, where
        expected = 74 if "the recording is incomplete" in stderr else 0
        assert code == (70 if f"Error({number}," in stderr else expected), where
        if kept != WHOLE or (failed.names[0] == "fdatasync" and failing.calls >= failing.first):
            assert f"the recording is incomplete: {os.strerror(number)}" in stderr, where
        is_reported = "the arrival times are incomplete" in stderr or code == 70
        assert fits(WHOLE, path) or is_reported or failed.names == ("read",), where
        log = list(follow_log(Feed(open_saved(path))))
        if path.with_suffix(".log").read_bytes().count(b"\n") != len(log):
            assert "the action log is incomplete" in stderr or code == 70, where
        path.unlink()  # the space reserved ahead of the recording may not have been given back
    is_asked = failed.names[0] not in (("read",) if begin is not plain_pipe else ("fstat", "fstatvfs"))
    assert failing.first > 1 or not is_asked, "no such call was made"


def test_a_pipe_that_does_not_block_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A non-blocking pipe with nothing to read has not ended, also if another process was faster."""
    failing = FailingOs(Case(("read",)), errno.EAGAIN, 1)
    monkeypatch.setattr("agentwatch.sources.pipe.os", failing)
    source_fd, agent_fd = os.pipe()
    os.set_blocking(source_fd, False)
    source = pipe_source(source_fd, KeepOptions(recording=tmp_path / "r.ndjson", write_log=False))
    os.write(agent_fd, WHOLE)
    os.close(agent_fd)
    assert watch(source, Options(printing=True)) == 0
    assert (tmp_path / "r.ndjson").read_bytes() == WHOLE
    assert failing.calls > 1


@pytest.mark.system
@stages(WRITES)
def test_after_a_failure_recording_resumes_at_the_next_line(
    cases: list[tuple[Case, int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """When writing works again, the recording resumes at a whole line, and the gap is noted."""
    monkeypatch.setattr("agentwatch.recording.appender.RETRY_SECONDS", 0.0)
    for failed, number in cases:
        with trial(tmp_path, failed, errno.errorcode[number]) as folder:
            resumed = check_each_write(failed, number, folder, capfd)
            assert failed.lasting or resumed


def check_each_write(failed: Case, number: int, folder: Path, capfd: pytest.CaptureFixture[str]) -> int:
    """Let each write fail in turn, and return how often the recording has resumed after a gap."""
    lines, resumed = set(WHOLE.splitlines()), 0
    for failing in each_call(failed, number):
        path = folder / f"{failing.first}.ndjson"
        code, stderr = watched(plain_pipe, KeepOptions(recording=path), failing), capfd.readouterr().err
        kept, where = path.read_bytes(), f"call {failing.first}: code {code}, stderr {stderr!r}"
        assert set(kept.splitlines()) <= lines, where
        assert code == (0 if kept == WHOLE else 74), where
        assert fits(WHOLE, path) or "the arrival times are incomplete" in stderr, where
        resumed += not WHOLE.startswith(kept)
    return resumed


@pytest.mark.parametrize(
    "numbers",
    [ERRORS[:1], pytest.param((*ERRORS[1:], *OTHERS), marks=pytest.mark.system)],
    ids=["one", "all"],
)
def test_a_file_that_cannot_be_created_stops_the_start(numbers: tuple[int, ...], tmp_path: Path) -> None:
    """A file that cannot be created exits with 73 before anything starts, and no other file remains."""
    for begin, number in product(BEGINS, numbers):
        needed = {"ndjson", "times", "log"} | ({"stderr", "json"} if begin is not plain_pipe else set())
        with trial(tmp_path, begin.__name__, errno.errorcode[number]) as folder:
            for failing in each_call(Case(("open",)), number):
                code = watched(begin, KeepOptions(recording=folder / f"{failing.first}.ndjson"), failing)
                found = {made.suffix[1:] for made in folder.glob(f"{failing.first}.*")}
                if failing.first <= len(needed):
                    assert (code, found) == (73, set())
                else:
                    assert code == 0
                    assert found >= needed
            assert failing.first > len(needed)


@pytest.mark.system
def test_a_temporary_recording_that_cannot_be_created_is_73(tmp_path: Path) -> None:
    """If nothing is to be kept, an unwritable temporary folder still ends with code 73."""
    for begin in BEGINS:
        with trial(tmp_path, begin.__name__):
            nothing = KeepOptions(record=False, write_log=False)
            codes = {watched(begin, nothing, failing) for failing in each_call(Case(("open",)), errno.EROFS)}
            assert codes == {0, 73}
