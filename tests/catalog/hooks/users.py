"""A user whose agents have hooks, or get them."""

from __future__ import annotations

import json
from pathlib import Path

from agentwatch.agents.codex.program import HOOKS as CODEX
from agentwatch.agents.program import HookedAgent
from agentwatch.catalog.hooks.plan import Hooks

FOREIGN = {"hooks": [{"type": "command", "command": "mine.sh", "timeout": 9}], "matcher": "Bash"}
FILES = {
    "spread": json.dumps({"hooks": {"Stop": [FOREIGN], "SessionStart": [FOREIGN]}}, indent=2) + "\n",
    "tabs": json.dumps({"description": "ä", "hooks": {"PreToolUse": [FOREIGN, FOREIGN]}}, indent="\t"),
    "compact": json.dumps({"hooks": {"Stop": [FOREIGN]}}, separators=(",", ":")),
    "crlf": json.dumps({"hooks": {"Stop": [FOREIGN]}}, indent=4).replace("\n", "\r\n"),
    "odd": '{ "hooks" : {\n "Stop":[\n\n'
    + json.dumps(FOREIGN)
    + '\n  ,{"hooks":[]} ] , "Other": [ ] } }\n\n',
    "empty arrays": '{\n  "hooks": {\n    "Stop": [],\n    "PreToolUse": [ ]\n  }\n}\n',
    "empty hooks": '{"hooks": {}}',
    "no hooks": '{\n    "description": "x"\n}\n',
    "nothing": "{}",
    "strange": '{"hooks": {"Stop": [1, null, {}, {"hooks": 5}, {"hooks": [3, {"command": 4}]}]}}',
    "escaped": '{"hooks": {"Stop": [{"hooks": [{"command": "\\u00e4 \\/ 1", "n": 1.0e3}]}]}}',
}


def user_in(folder: Path) -> Path:
    """Make the home folder of a user who has started all agents, and return it."""
    for name in (".codex", ".gemini", ".cursor"):
        (folder / name).mkdir(parents=True)
    return folder


def hooks_of(user: Path, agent: HookedAgent = CODEX, own: str = "own", **environ: str) -> Hooks:
    return Hooks(agent, {"AGENTWATCH_HOME": str(user / own), **environ}, user)


def install(hooks: Hooks) -> list[Path]:
    return hooks.install(hooks.installing())


def remove(hooks: Hooks) -> list[Path]:
    return hooks.remove(hooks.removing())
