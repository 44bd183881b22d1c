"""The relay loads little, so that it starts fast and stays small."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT

LOADED = "import sys; sys.path.append(sys.argv[1]); import agentwatch.capture.relay; print(*sys.modules)"
EXPENSIVE = {
    "typing",
    "enum",
    "re",
    "signal",
    "threading",
    "collections",
    "contextlib",
    "pathlib",
    "subprocess",
}


def test_a_relay_loads_nothing_expensive() -> None:
    """The relay imports only its own folder of the package, and no large module of the standard library."""
    argv = [sys.executable, "-I", "-S", "-c", LOADED, str(ROOT)]
    loaded = set(subprocess.run(argv, capture_output=True, check=True, text=True).stdout.split())
    assert loaded.isdisjoint(EXPENSIVE)
    ours = {name for name in loaded if name.startswith("agentwatch.")}
    assert ours == {name for name in ours if name.startswith("agentwatch.capture")}
