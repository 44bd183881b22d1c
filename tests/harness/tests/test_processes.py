"""A server of a test ends with the process that has started it; a test ends in time."""

import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from tests.conftest import ROOT, ends_within
from tests.harness.processes import is_alive, until

STARTER = """
import sys, time
from tests.harness.processes import start_with_us
with open("/dev/null", "wb") as log:
    print(start_with_us(["sleep", "60"], log).pid, flush=True)
time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")
def test_a_server_ends_with_a_killed_process() -> None:
    """When the process that has started it is killed, the server is killed too."""
    with subprocess.Popen([sys.executable, "-c", STARTER], cwd=ROOT, stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
        assert is_alive(pid)
        starter.kill()
    until(lambda: not is_alive(pid), what="the end of the server")


def test_a_wait_that_does_not_end_fails() -> None:
    """Its test fails where it waits, whatever it waits for, and nothing between them hides the failure."""
    never = threading.Event()
    thread = threading.Thread(target=never.wait)
    thread.start()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        for wait in (never.wait, thread.join, process.wait, lambda: until(never.is_set, what="nothing")):
            failed = pytest.raises(pytest.fail.Exception, match=r"^not over within 0\.1 s")
            with failed, ends_within(0.1), suppress(Exception):
                wait()
    never.set()
    thread.join()
