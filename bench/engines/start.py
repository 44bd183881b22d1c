"""What the shipper costs over a Python that does nothing, and that nobody pays who does not publish."""

from __future__ import annotations

import sys

from measure import HERE, MILLISECONDS, interleaved, run

from engines.figure import Figure, at_most

_CPU_MS = 160
_MEBIBYTES = 24
_SHIPPER = "import agentwatch.remote.publish.process, agentwatch.remote.nats.link"
_PEAK = "; print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
"""`wait4` reports at least the memory of this process for a child; the child itself knows its own."""
_DOES_NOT_LOAD = """
import sys
from agentwatch.cli.app import main
try:
    main()
except SystemExit:
    names = ("nats", "agentwatch.remote.engine", "agentwatch.remote.publish", "agentwatch.remote")
    print([name for name in names if name in sys.modules])
"""


def import_cost(*, is_quick: bool) -> list[Figure]:
    """Compare the imports of the shipper with bare Python, and look at what a printed file loads."""
    commands = {"bare": (sys.executable, "-c", "pass"), "shipper": (sys.executable, "-c", _SHIPPER)}
    costs = interleaved(commands, 2 if is_quick else 10)
    bare, cpu = (min(cost.cpu for cost in costs[name]) for name in commands)
    bare_peak, peak = (
        int(run((*argv[:2], argv[2] + _PEAK), keep_output=True).stdout) for argv in commands.values()
    )
    return [
        at_most("imports of the shipper: CPU", (cpu - bare) * MILLISECONDS, _CPU_MS, "ms"),
        at_most("imports of the shipper: memory", (peak - bare_peak) / 1024, _MEBIBYTES, "MiB"),
        _not_loaded(),
    ]


def _not_loaded() -> Figure:
    recording = str(HERE.parent / "recordings" / "plain.ndjson")
    printed = run((sys.executable, "-c", _DOES_NOT_LOAD, "--print", recording), keep_output=True).stdout
    found = printed.decode().splitlines()[-1]
    return Figure("loaded without --publish", "[]", found, found == "[]")
