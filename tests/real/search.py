"""An agent looks up what was done before, by the server of `agentwatch mcp` in its settings."""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from agentwatch.agents.registry import mcp_clients
from tests.conftest import ROOT
from tests.real.agents import Place, RealAgent
from tests.real.judge import Check, Difference, Verdict
from tests.real.model import ScriptedModel
from tests.real.script import SOUGHT, prompt

VIEW = "search"


def search(agent: RealAgent, place: Place, environment: Mapping[str, str], model: ScriptedModel) -> Check:
    """Run the agent twice: it writes a file, and then finds the call that did, with its address."""
    found, cwd = Check(VIEW), place.work("headless")
    if agent.name == "codex":
        found.skipped = "the model gets the tools of servers only after it has searched for them"
        return found
    if agent.name not in mcp_clients():
        found.skipped = "`mcp --install` does not know it"
        return found

    def run(*command: str) -> str:
        program = shutil.which(command[0], path=environment["PATH"]) or command[0]
        ran = subprocess.run(
            [program, *command[1:]],
            cwd=cwd,
            # Without these, the model of Claude Code learns the tools of a server only by a search for them.
            # Since 2.1.332 it learns none if the server has not answered before the first request.
            env={
                **environment,
                "PYTHONPATH": str(ROOT),
                "ENABLE_TOOL_SEARCH": "false",
                "MCP_CONNECTION_NONBLOCKING": "false",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        with (place.root / "search.log").open("a") as log:
            log.write(f"{command} {ran.returncode}\n{ran.stdout}\n{ran.stderr}\n")
        return ran.stdout

    def agentwatch(*words: str) -> str:
        return run(sys.executable, "-m", "agentwatch", *words)

    run(agent.program, *agent.headless, prompt("write"))
    hits = [json.loads(line) for line in agentwatch("find", SOUGHT, "kind:edit", "--json").splitlines()]
    agentwatch("mcp", "--install", agent.name, "--yes")
    run(agent.program, *agent.headless, prompt("search"))
    addresses = [hit["address"] for hit in hits]
    calls = [json.loads(line) for line in agentwatch("find", "tool:*find*", "--json").splitlines()]
    shown = [agentwatch("show", call["address"]) for call in calls]
    for address in addresses or ["of the file that was written"]:
        if not any(address in each for each in shown):
            was = f"{len(calls)} calls of {len(model.steps('search'))} steps"
            found.differences.append(Difference(Verdict.WRONG, "the answer of `find`", address, was))
    return found


def log_of(folder: Path, name: str) -> str:
    """Return the end of what the commands of an agent printed."""
    path = folder / name / "search.log"
    return path.read_text()[-4000:] if path.exists() else "nothing was run"
