"""Runs the agents by hand: `python -m tests.real [--newest] [--folder FOLDER] [AGENT…]`."""

import argparse
import json
import os
import shlex
import sys
import time
from datetime import date
from pathlib import Path

from agentwatch.agents.registry import CHECKED_FILE
from tests.conftest import ROOT
from tests.real.agents import AGENTS, Place, prepare
from tests.real.lane import VIEWS, check, check_inside
from tests.real.model import scripted_model
from tests.real.report import checked, report


def main() -> int:
    """Run the agents, print the report, and return 1 if anything is wrong."""
    if sys.argv[1:2] == ["--inside"]:
        _, _, name, version, folder, *views = sys.argv
        check_inside(name, version, Path(folder), tuple(views))
        return 0
    parser = argparse.ArgumentParser(prog="python -m tests.real", description=__doc__)
    parser.add_argument("agents", nargs="*", metavar="AGENT", choices=[[], *AGENTS], help=", ".join(AGENTS))
    parser.add_argument("--newest", action="store_true", help="install the newest versions")
    parser.add_argument("--folder", type=Path, default=ROOT / ".real", help="keeps programs and sessions")
    parser.add_argument("--views", nargs="+", default=[], choices=VIEWS)
    parser.add_argument(
        "--write", action="store_true", help="write the versions that drift and the docs name"
    )
    parser.add_argument(
        "--serve", metavar="AGENT", choices=list(AGENTS), help="only prepare it, and run its model"
    )
    given = parser.parse_args()
    folder = given.folder.absolute()
    if given.serve:
        return _serve(given.serve, folder)
    results = []
    for name in given.agents or AGENTS:
        results.append(check(name, folder, newest=given.newest, views=tuple(given.views)))
        print(report(results[-1:], date.today()), file=sys.stderr, flush=True)
    print(report(results, date.today()))
    if given.write:
        found = json.loads(CHECKED_FILE.read_text()) | checked(results, date.today())
        CHECKED_FILE.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n")
    return int(any(each.failure or any(c.differences for c in each.checks) for each in results))


def _serve(name: str, folder: Path) -> int:
    """Prepare an agent, and run its model until it is ended; print how to start the agent."""
    root = folder / name
    root.mkdir(parents=True, exist_ok=True)
    with scripted_model(root / "work", log=root / "truth.jsonl") as model:
        environment = prepare(AGENTS[name], Place(root, folder / "programs", model.url))
        words = " ".join(f"{key}={shlex.quote(value)}" for key, value in environment.items())
        print(f"cd {root / 'work/by-hand'} && env -i {words} {AGENTS[name].program}", flush=True)
        while os.getppid() != 1:
            time.sleep(1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
