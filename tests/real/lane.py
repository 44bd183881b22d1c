"""Installs an agent, runs it against the scripted model, and has agentwatch read it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from agentwatch.agents.registry import AGENTS as KNOWN
from tests.conftest import ROOT
from tests.real.acts import acts
from tests.real.agents import AGENTS, SCENES, Place, RealAgent, prepare
from tests.real.judge import Check, Difference, Phase, Verdict, contents, states
from tests.real.model import ScriptedModel, scripted_model
from tests.real.scenarios import PLAYED, Play, missing
from tests.real.script import SCENARIOS, prompt
from tests.real.search import VIEW, search
from tests.real.terminal import TERMINAL, Driver, Tmux, Watch

PINS = Path(__file__).with_name("pins.toml")
_ALONE = (
    "unshare",
    "-rnpf",
    "--kill-child",
    "--mount-proc",
    "sh",
    "-c",
    'ip link set lo up; exec "$@"',
    "sh",
)
"""Runs a command in namespaces of its own, without a network and without the processes of others."""
_HOOKED = ("codex", "gemini")
"""The agents whose hooks agentwatch installs, and which are in the table of agents."""
_TURN = frozenset({"your turn"})
_WORK = frozenset({"working"})
_UNKNOWN_AGENT = "agentwatch does not know this agent"
HEADLESS = ("stream", "file")
VIEWS = ("headless", "terminal", "hooked", "acts", VIEW, *SCENES)
"""What can be run of an agent."""


@dataclass
class Result:
    """What was found of one agent."""

    agent: str
    version: str
    failure: str = ""
    """Why the agent could not be installed or run."""
    checks: list[Check] = field(default_factory=list)
    formats: dict[str, str] = field(default_factory=dict)
    """The format of the stream and of the file, as agentwatch names them."""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Result:
        fields = json.loads(text)
        checks = [
            Check(
                each["view"],
                [Difference(Verdict(verdict), *more) for verdict, *more in each["differences"]],
                each["notes"],
                each["skipped"],
            )
            for each in fields.pop("checks")
        ]
        return Result(**fields, checks=checks)


def pins() -> dict[str, dict[str, str]]:
    """Return the package of each agent, and of Node, which runs most of them."""
    return tomllib.loads(PINS.read_text())


def install(name: str, programs: Path, *, newest: bool = False) -> str:
    """Install an agent, unless this version is there, and return the version; RuntimeError has the reason."""
    pin = pins()[name]
    version, package = pin["version"], pin.get("npm")
    newest = newest and name != "node"
    if newest and package:
        version = _run("npm", "view", package, "version", cwd=programs.parent).strip()
    folder, done = programs / name, programs / name / "installed"
    if done.exists() and done.read_text() == version and (package or not newest):
        return version
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if package:
        (folder / "package.json").write_text('{"private": true}')
        _run(
            "npm",
            "install",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
            f"{package}@{version}",
            cwd=folder,
        )
    else:
        package = pin["pypi"]
        wanted = package if newest else f"{package}=={version}"
        _run(_python(), "-m", "venv", str(folder), cwd=folder)
        _run("bin/pip", "install", "--quiet", wanted, cwd=folder)
        listed = json.loads(_run("bin/pip", "list", "--format=json", cwd=folder))
        version = next(each["version"] for each in listed if each["name"] == package)
    done.write_text(str(version))
    return str(version)


def _python() -> str:
    """Return the newest Python there is: the agents of PyPI need a newer one than agentwatch."""
    names = ("python3.14", "python3.13", "python3.12")
    folders = sorted(Path.home().glob(".pyenv/versions/3.1[2-9]*/bin/python3"), reverse=True)
    found = [path for name in names if (path := shutil.which(name)) and _works(path)]
    return next(iter([*found, *map(str, folders)]), sys.executable)


def _works(program: str) -> bool:
    return subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0


def _run(*command: str, cwd: Path) -> str:
    try:
        ran = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RuntimeError(f"{command[0]}: {type(error).__name__}") from error
    if ran.returncode:
        words = reason(ran.stderr or ran.stdout)
        raise RuntimeError(f"{' '.join(command[:2])}: exit {ran.returncode}: {words}")
    return ran.stdout


def reason(printed: str) -> str:
    """Return the line that tells why a command has failed: of npm the one after its code, else the last."""
    lines = [each for each in printed.strip().splitlines() if " A complete log of this run " not in each]
    coded = (after for line, after in pairwise(lines) if line.startswith("npm error code "))
    return next(coded, lines[-1] if lines else "no message")


def check(name: str, folder: Path, *, newest: bool = False, views: tuple[str, ...] = ()) -> Result:
    """Install and run an agent, and return what was found; what agents wrote here before is deleted."""
    programs = folder / "programs"
    programs.mkdir(parents=True, exist_ok=True)
    try:
        install("node", programs)
        version = install(name, programs, newest=newest)
    except RuntimeError as error:
        wanted = "newest" if newest else pins()[name]["version"]
        return Result(name, wanted, failure=f"cannot be installed: {error}")
    root = folder / name
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    is_alone = _works_alone()
    command = [*(_ALONE if is_alone else ()), sys.executable, "-m", "tests.real", "--inside", name, version]
    ran = subprocess.run(
        [*command, str(folder), *views], cwd=ROOT, capture_output=True, text=True, timeout=1800, check=False
    )
    result = root / "result.json"
    if not result.exists():
        return Result(name, version, failure=f"cannot be run: {ran.stderr.strip()[-500:]}")
    return Result.from_json(result.read_text())


def _works_alone() -> bool:
    with suppress(OSError):
        return subprocess.run([*_ALONE, "true"], capture_output=True, check=False).returncode == 0
    return False


def check_inside(name: str, version: str, folder: Path, views: tuple[str, ...]) -> None:
    """Run an installed agent, and write what was found to `result.json` in its folder."""
    agent, root = AGENTS[name], folder / name
    result = Result(name, version)
    with scripted_model(root / "work", log=root / "truth.jsonl") as model:
        place = Place(root, folder / "programs", model.url)
        environment = prepare(agent, place)
        with _ended_after(place):
            if not views or "headless" in views:
                _headless(agent, place, environment, model, result)
            if not views or "terminal" in views:
                result.checks += _terminal(agent, place, environment, model, "terminal")
            if not views or "hooked" in views:
                result.checks += _hooked(agent, place, environment, model)
            if VIEW in views:
                result.checks.append(search(agent, place, environment, model))
            for scene in (each for each in SCENES if not views or each in views):
                result.checks += _terminal(agent, place, environment, model, scene)
            if not views or "acts" in views:
                result.checks.append(_acts(agent, place, environment, model))
    (root / "result.json").write_text(result.to_json())


def _acts(agent: RealAgent, place: Place, environment: dict[str, str], model: ScriptedModel) -> Check:
    try:
        return acts(agent, place, environment, model)
    except subprocess.TimeoutExpired as error:
        return Check("acts", [Difference(Verdict.UNKNOWN, "the run", "to its end", str(error))])


@contextmanager
def _ended_after(place: Place) -> Iterator[None]:
    """End all processes whose home is one of the agent, such as its daemons, at the end.

    They may end by themselves first: the next daemon of Codex refuses the socket of one that was killed.
    """
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in _processes_of(place):
                with suppress(OSError):
                    os.kill(pid, number)
            for _ in range(30):
                if _processes_of(place):
                    time.sleep(0.1)


def _processes_of(place: Place) -> list[int]:
    mark, found = f"HOME={place.root}/".encode(), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if any(each.startswith(mark) for each in path.read_bytes().split(b"\0")):
                found.append(int(path.parent.name))
    return found


def _agentwatch(
    *arguments: str, environment: Mapping[str, str], cwd: Path, stdin: bytes = b""
) -> tuple[int, str]:
    """Run agentwatch in the environment of an agent, and return its exit code and what it printed."""
    ran = subprocess.run(
        [sys.executable, "-m", "agentwatch", *arguments],
        input=stdin,
        capture_output=True,
        env={**environment, "PYTHONPATH": str(ROOT)},
        cwd=cwd,
        timeout=60,
        check=False,
    )
    return ran.returncode, ran.stdout.decode()


def rows(environment: Mapping[str, str], cwd: Path) -> list[dict[str, Any]]:
    """Return the sessions of a folder, as `sessions --json` prints them."""
    _, printed = _agentwatch("sessions", "--json", "--all", environment=environment, cwd=cwd)
    found = [json.loads(line) for line in printed.splitlines()]
    return [row for row in found if row["cwd"] == str(cwd)]


# A run with one prompt: its stream and its file.


def _headless(
    agent: RealAgent, place: Place, environment: dict[str, str], model: ScriptedModel, result: Result
) -> None:
    stream, cwd = place.root / "stream.ndjson", place.work("headless")
    command = [agent.program, *agent.headless, prompt("full")]
    with stream.open("wb") as out, (place.root / "stderr").open("wb") as errors:
        try:
            program = shutil.which(agent.program, path=environment["PATH"]) or agent.program
            subprocess.run(
                [program, *command[1:]],
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                timeout=180,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            result.failure = f"cannot be run: {type(error).__name__}"
            return
    if len(model.steps("full")) < len(SCENARIOS["full"]):
        said = (place.root / "stderr").read_text(errors="replace").strip()[-300:]
        result.failure = f"did not play the scenario: {said}"
    others = sum(each["what"] == "other" for each in model.truth)
    for view, address, stdin in (
        ("stream", "-", stream.read_bytes()),
        ("file", _file(environment, cwd), b""),
    ):
        found = Check(view)
        result.checks.append(found)
        if agent.name not in KNOWN:
            found.skipped = _UNKNOWN_AGENT
            continue
        if address is None:
            found.differences.append(Difference(Verdict.WRONG, "the session", "listed", "not listed"))
            continue
        reading = ("--print", "--output-format", "summary", "--no-record", "--no-log")
        code, printed = _agentwatch(*reading, address, environment=environment, cwd=cwd, stdin=stdin)
        summary = json.loads(printed) if printed else {}
        (place.root / f"summary-{view}.json").write_text(json.dumps(summary, indent=1))
        if summary.get("format") is None:
            found.differences.append(Difference(Verdict.WRONG, "the format", "known", f"exit {code}"))
            continue
        result.formats[view] = summary["format"]
        found.differences += contents(summary, SCENARIOS["full"], others)
        excuse(found, agent)
        strict, _ = _agentwatch(*reading, "--strict", address, environment=environment, cwd=cwd, stdin=stdin)
        if strict != 0:
            found.differences.append(Difference(Verdict.WRONG, "exit code with --strict", "0", str(strict)))
        _, drift = _agentwatch(
            "doctor", address if view == "file" else str(stream), environment=environment, cwd=cwd
        )
        found.notes += [line.strip() for line in drift.splitlines() if " × " in line]


def excuse(found: Check, agent: RealAgent) -> None:
    """Turn the differences that are the agent's own into notes."""
    for each in [each for each in found.differences if (found.view, each.what) in agent.misreports]:
        found.differences.remove(each)
        found.notes.append(f"{each.what}: {each.shown}, as the agent reports it; in truth {each.expected}")


def _file(environment: dict[str, str], cwd: Path) -> str | None:
    """Return the address of the newest session of a folder; None if none is listed."""
    listed = rows(environment, cwd)
    return str(listed[0]["id"]) if listed else None


def _hooked(agent: RealAgent, place: Place, environment: dict[str, str], model: ScriptedModel) -> list[Check]:
    if agent.name not in _HOOKED:
        return [Check(f"hooked: {view}", skipped="agentwatch installs no hooks in it") for view in TERMINAL]
    code, printed = _agentwatch(
        "hooks", "install", agent.name, "--yes", environment=environment, cwd=place.work("hooked")
    )
    found = _terminal(agent, place, environment, model, "hooked")
    for each in found:
        if code:
            each.differences.append(
                Difference(Verdict.WRONG, "hooks install", "exit 0", f"exit {code}: {printed}")
            )
    return found


def _terminal(
    agent: RealAgent, place: Place, environment: dict[str, str], model: ScriptedModel, folder: str
) -> list[Check]:
    how = agent.terminal if agent.name in KNOWN else _UNKNOWN_AGENT
    is_scene = folder in SCENES
    if is_scene and not isinstance(how, str):
        how = missing(folder, how) or how
    views = TERMINAL if folder == "terminal" else [f"{folder}: {view}" for view in TERMINAL]
    if isinstance(how, str):
        return [Check(view, skipped=how) for view in views]
    cwd, tmux = place.work(folder), Tmux(place.root / f"{folder}.tmux", environment)
    names: dict[str, str] = {}
    inside = {**environment, "TMUX": f"{place.root / f'{folder}.tmux'},0,0"}  # as in a window of this tmux
    watch = Watch(agent.name, cwd, tmux, lambda: rows(inside, cwd), names if is_scene else None)
    problem = ""
    phases: list[Phase] = []
    try:
        watch.start()
        if is_scene:
            phases.extend(PLAYED[folder](Play(agent, how, place, tmux, model, folder, names)))
        else:
            phases.extend(_session(Driver(how, agent.program, cwd, tmux, model)))
    except AssertionError as error:
        problem = str(error)
    finally:
        watch.close()
        tmux("kill-server")
    plan = [{"at": each.begins, "expected": [each.name, *sorted(each.right)]} for each in phases]
    with (place.root / f"{folder}.samples.jsonl").open("w") as log:
        log.writelines(
            json.dumps(each) + "\n" for each in sorted(watch.log + plan, key=lambda each: each["at"])
        )
    found = []
    for name, view in zip(views, TERMINAL, strict=True):
        expected = phases if view == TERMINAL[0] else [phase.without_names() for phase in phases]
        found.append(states(name, expected, watch.samples[view], how.late))
    for each in found:
        excuse(each, agent)
        if problem:
            each.differences.append(Difference(Verdict.UNKNOWN, "the run", "to its end", problem))
    return found


def _session(agent: Driver) -> Iterator[Phase]:
    """Drive a session from its start to its end, and yield each phase when it is over."""
    how, model = agent.how, agent.model
    played = len(model.steps("turn"))
    begins = agent.open()
    time.sleep(5)
    now = agent.say(prompt("turn"))
    yield Phase("before the first prompt", begins, now, _TURN | {"starting"})
    agent.until(lambda: len(model.steps("turn")) > played, 60, "the first answer")
    begins = now
    if how.asks is not None:
        now = agent.waits(how.asks, "the question")
        yield Phase("the model answers", begins, now, _WORK)
        begins = now
        time.sleep(12)
        now = agent.keys("Enter")
        yield Phase("it asks for permission", begins, now, frozenset({"asks"}), frozenset({"quiet"}))
    else:  # Pi writes nothing before its first answer is complete
        now = agent.until((agent.cwd / "marker.txt").exists, 40, "the command")
        yield Phase("the model answers", begins, now, _WORK | {"starting"})
    begins = now
    now = agent.until(lambda: len(model.steps("turn")) > played + 1, 40, "the second answer")
    yield Phase("a command runs", begins, now, _WORK)
    begins = now + 0.5  # the answer takes 0.3 s
    time.sleep(14)
    now = agent.say(how.leave)
    yield Phase("the turn has ended", begins, now, _TURN)
    begins = agent.until(lambda: agent.tmux.is_over(agent.window), 20, "the end of the agent")
    time.sleep(12)
    yield Phase("the program has ended", begins, time.time(), frozenset({"succeeded"}))
