"""What do publishing and watching other machines cost, and do the bytes survive every fault?

Each figure has its limit. The exit code is 1 if one is missed. The servers are real ones (`nats-server`) on
loopback ports of their own; publisher and local copy are those of the program. With `--quick` the limits of
times and costs do not count.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

from engines import away, delays, faults, growth, many, rates, replicas, start
from engines.figure import Figure
from engines.server import is_installed
from measure import command_line, head, row

Measurement = Callable[..., list[Figure]]
MEASUREMENTS: dict[str, Measurement] = {
    "imports": start.import_cost,
    "one-by-one": rates.one_by_one,
    "publish-to-reader": delays.publish_to_reader,
    "file-to-copy": delays.file_to_copy,
    "single-lines": delays.single_lines,
    "agent-write": delays.agent_write,
    "history": rates.history,
    "publisher-killed": faults.publisher_killed,
    "server-killed": faults.server_killed,
    "connection-cut": faults.connection_cut,
    "away": away.away,
    "publishers": many.publishers,
    "replicas": replicas.leader_killed,
    "cards": growth.cards,
    "message-rate": growth.message_rate,
    "live-share": growth.live_share,
    "subjects": growth.subjects,
}
_AT_ONCE = 6
"""In a short run."""
LONG: dict[str, Measurement] = {"away-10-min": away.away_for_ten_minutes}
"""What is measured only if it is named."""


def main() -> None:
    """Run the measurements that are named, or all of them."""
    parser = command_line(__doc__)
    parser.add_argument("--quick", dest="smoke", action="store_true", help="the same as --smoke")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"{', '.join(MEASUREMENTS)}; only if named: {', '.join(LONG)}",
    )
    given = parser.parse_args()
    every = MEASUREMENTS | LONG
    if unknown := set(given.names) - set(every):
        parser.error(f"no such figure: {', '.join(sorted(unknown))}")
    if not is_installed():
        print("skipped: nats-server is not installed: apt-get install nats-server")
        return
    has_missed = False
    head("figure", "limit", "found", "kept")
    names = given.names or MEASUREMENTS
    with ThreadPoolExecutor(_AT_ONCE if given.smoke else 1) as pool:
        for figure in chain.from_iterable(pool.map(lambda name: every[name](is_quick=given.smoke), names)):
            is_missed = not figure.is_kept and not (given.smoke and figure.is_cost)
            has_missed |= is_missed
            row(
                figure.name,
                figure.limit or "–",
                figure.found,
                "NO" if is_missed else "yes" if figure.limit else "–",
            )
    if has_missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
