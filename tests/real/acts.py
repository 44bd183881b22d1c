"""Continues a session that may not write: the run may not either, and is in its folder."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from tests.conftest import ROOT
from tests.real.agents import Place, RealAgent
from tests.real.judge import Check, Difference, Verdict
from tests.real.model import ScriptedModel
from tests.real.script import prompt


def acts(agent: RealAgent, place: Place, environment: Mapping[str, str], model: ScriptedModel) -> Check:
    """A session that may not write is continued from another folder, when the settings allow all.

    The session that says its mode is continued in it at once. Of another one, the run is refused (exit 2)
    until its permissions are confirmed; then it runs. The forbidden write fails, the run is in the folder of
    the session, and its receipt is `sent` when the model was asked, and unknown until then.
    """
    found = Check("acts")
    if agent.restricted is None:
        found.skipped = "it cannot be continued, or was not tried"
        return found
    limits = agent.restricted
    cwd, home = place.work("restricted"), place.root / "agentwatch"
    (config := place.root / "acts.toml").write_text("[act]\ncontinue = true\n")
    environ = {**environment, **limits.variables, "AGENTWATCH_CONFIG": str(config), "PYTHONPATH": str(ROOT)}
    run = {"env": environ, "stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": 180}

    def agentwatch(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "agentwatch", *arguments]
        return subprocess.run(command, cwd="/", check=False, **run)  # type: ignore[call-overload,no-any-return]

    def expect(what: str, expected: object, shown: object, more: str = "") -> None:
        if expected != shown:
            found.differences.append(
                Difference(Verdict.WRONG, what, str(expected), f"{shown} {more}".strip())
            )

    subprocess.run(["git", "init", "-q", str(cwd)], check=False)  # Codex runs in no other folder
    program = shutil.which(agent.program, path=environment["PATH"]) or agent.program
    first = subprocess.run([program, *limits.options, prompt("hello")], cwd=cwd, check=False, **run)  # type: ignore[call-overload]
    for name, change in limits.allows.items():
        path = place.home / name
        path.write_text(json.dumps(_merged(json.loads(path.read_text()), change)))
    rows = [json.loads(line) for line in agentwatch("sessions", "--json", "--all").stdout.splitlines()]
    asked, written = len(model.steps("write")), set(place.root.glob("work/**/asked.txt"))
    session = next((row["id"] for row in rows if row["cwd"] == str(cwd)), None)
    if session is None:
        expect("the session", "listed", "not listed", first.stderr[-300:])
        return found
    for confirmed in ((), ("--permissions", limits.confirm)) if limits.confirm else ((),):
        is_refused = bool(limits.confirm and not confirmed)
        ran = agentwatch("continue", session, prompt("write"), *confirmed, "--output-format", "final")
        what = " ".join(("continue", *confirmed))
        found.notes.append(f"{what}: exit code {ran.returncode}")  # opencode ends with 1 without a permission
        steps = model.steps("write")[asked:]
        if is_refused:
            expect(f"{what}: exit code", 2, ran.returncode, ran.stderr[-300:])
            expect(f"{what}: requests", 0, len(steps))
            continue
        expect(f"{what}: a write is tried", True, any(each["calls"] for each in steps), ran.stderr[-300:])
        folders = {each["folder"] for each in steps if each["folder"]}
        expect(f"{what}: folder", {str(cwd)}, folders or {str(cwd)})
        found.notes.append(f"{what}: the requests name {'the folder' if folders else 'no folder'}")
    expect("written", [], [*map(str, set(place.root.glob("work/**/asked.txt")) - written)])
    kept = [json.loads(line) for path in home.rglob("*.acts") for line in path.read_text().splitlines()]
    own = [each for each in kept if each["act"] == "continue" and each["to"] == session]
    own.sort(key=lambda each: each["at_ms"])
    receipts = list(dict.fromkeys(each["receipt"] for each in own))
    expect("the receipts", True, receipts in (["sent"], ["unknown", "sent"]), str(own))
    if receipts[-1:] == ["sent"] and (steps := model.steps("write")[asked:]):
        late = own[-1]["at_ms"] / 1000 - steps[0]["t"]
        expect("sent before the request", False, late < -1, f"{late:.1f} s")
        found.notes.append(f"sent {late:.1f} s after the first request")
    return found


def _merged(old: dict[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object of JSON with other values, also in its objects."""
    changed = {
        key: _merged(old.get(key) or {}, each) if isinstance(each, dict) else each
        for key, each in new.items()
    }
    return old | changed
