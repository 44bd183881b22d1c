"""How much more than its summary does it cost to check a recording by fifteen rules?

The CPU time of `agentwatch check FILE --rules fifteen_rules.toml` is compared with that of `agentwatch -p
--output-format summary FILE`. Both are whole processes, rounds are interleaved, and the minimum is compared
with the minimum. Some of the rules are broken in a generated session, so that `check` may exit with 1.
"""

from __future__ import annotations

from measure import AGENTWATCH, HERE, command_line, head, interleaved, megabytes, row, session

_MIXES = ("typical", "calls")
_CODES = (0, 1)


def main() -> None:
    """Measure typical work, and a session of many calls."""
    parser = command_line(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    size = 2 if given.smoke else 100
    rounds = 1 if given.smoke else given.rounds
    head("session", "calls", "summary, CPU", "check, CPU", "x of the summary", "peak")
    for mix in _MIXES:
        path, facts = session(given.folder, mix, megabytes=size)
        rules = str(HERE / "fifteen_rules.toml")
        commands = {
            "summary": (*AGENTWATCH, "--print", "--output-format", "summary", str(path)),
            "check": (*AGENTWATCH, "check", str(path), "--rules", rules),
        }
        costs = interleaved(commands, rounds, _CODES)
        summary, check = (min(cost.cpu for cost in costs[name]) for name in commands)
        name = f"{mix}, {megabytes(facts['bytes'])}"
        peak = megabytes(max(cost.peak_bytes for cost in costs["check"]))
        row(name, f"{facts['calls']:,}", f"{summary:.2f} s", f"{check:.2f} s", f"{check / summary:.2f}", peak)


if __name__ == "__main__":
    main()
