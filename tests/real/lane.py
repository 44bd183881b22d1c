"""Installs an agent, runs it against the scripted model, and has agentwatch read it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
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
from tests.harness.processes import until
from tests.real.agents import AGENTS, Place, RealAgent, Terminal, prepare
from tests.real.judge import NO_ROW, Check, Difference, Phase, Sample, Verdict, contents, states
from tests.real.model import ScriptedModel, scripted_model
from tests.real.script import SCENARIOS, prompt
from tests.real.search import VIEW, search

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
_SIGNS = {"!": "asks", "?": "quiet", "›": "your turn", "✓": "succeeded", "✗": "failed", "◌": "unfinished"}
_WORKING = ("model", "tool", "works")
_HOOKED = ("codex", "gemini")
"""The agents whose hooks agentwatch installs, and which are in the table of agents."""
_TURN = frozenset({"your turn"})
_WORK = frozenset({"working"})
_UNKNOWN_AGENT = "agentwatch does not know this agent"
HEADLESS = ("stream", "file")
TERMINAL = ("states in --json", "states on the screen")


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
    version = "latest" if newest and name != "node" else pin["version"]
    folder, done = programs / name, programs / name / "installed"
    if done.exists() and done.read_text() == version and version != "latest":
        return version
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if package := pin.get("npm"):
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
        version = json.loads((folder / "node_modules" / package / "package.json").read_text())["version"]
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
        [*command, str(folder), *views], cwd=ROOT, capture_output=True, text=True, timeout=900, check=False
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
    (root / "result.json").write_text(result.to_json())


@contextmanager
def _ended_after(place: Place) -> Iterator[None]:
    """End all processes whose home is that of the agent, such as its daemons, at the end."""
    try:
        yield
    finally:
        mark = f"HOME={place.home}".encode()
        for path in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if mark in path.read_bytes().split(b"\0"):
                    os.kill(int(path.parent.name), signal.SIGKILL)


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


# The terminal interface: the states over time.


class Tmux:
    """A tmux server with a window for the agent and one for the list."""

    def __init__(self, socket: Path, environment: Mapping[str, str]) -> None:
        self._command = ("tmux", "-S", str(socket), "-f", "/dev/null")
        self._environment = dict(environment)

    def __call__(self, *arguments: str) -> str:
        """Run a command of tmux, and return what it prints."""
        ran = subprocess.run(
            [*self._command, *arguments], env=self._environment, capture_output=True, text=True, check=False
        )
        return ran.stdout

    def open(self, window: str, cwd: Path, *command: str) -> None:
        size = ("-x", "150", "-y", "45")
        if not self("list-sessions"):
            self("new-session", "-d", *size, "-n", "first", "sleep 100000")
            self("set-option", "-g", "remain-on-exit", "on")
        self("new-window", "-d", "-n", window, "-c", str(cwd), *command)

    def text(self, window: str) -> str:
        return self("capture-pane", "-p", "-t", window)

    def keys(self, window: str, *keys: str) -> None:
        self("send-keys", "-t", window, *keys)

    def is_over(self, window: str) -> bool:
        """Return whether the program of a window has ended."""
        return self("display-message", "-p", "-t", window, "#{pane_dead}").strip() != "0"


class Watch(threading.Thread):
    """Takes samples of the state of the session in a folder until `close`: in `--json` and on the screen."""

    def __init__(self, agent: str, cwd: Path, environment: Mapping[str, str], tmux: Tmux) -> None:
        super().__init__(daemon=True)
        self.samples: dict[str, list[Sample]] = {view: [] for view in TERMINAL}
        self.log: list[dict[str, Any]] = []
        self._agent, self._cwd, self._environment, self._tmux = agent, cwd, environment, tmux
        self._closing = threading.Event()
        self._screens = threading.Thread(target=self._look, daemon=True)

    def run(self) -> None:
        """Take the samples of `--json`."""
        self._screens.start()
        while not self._closing.wait(0.4):
            at = time.time()
            found = rows(self._environment, self._cwd)
            self.log.append({"at": at, "rows": found})
            state = ", ".join(row["state"] + ("?" if row["ground"] == "inferred" else "") for row in found)
            self.samples[TERMINAL[0]].append(Sample(at, state or NO_ROW))

    def _look(self) -> None:
        while not self._closing.wait(0.4):
            at = time.time()
            text = self._tmux.text("list")
            self.log.append({"at": at, "screen": text})
            self.samples[TERMINAL[1]].append(Sample(at, screen_state(text, self._agent, self._cwd.name)))

    def close(self) -> None:
        """End both threads."""
        self._closing.set()
        self.join()
        self._screens.join()


def screen_state(text: str, agent: str, project: str) -> str:
    """Return the states of the sessions of an agent in a project, as the screen of the list shows them."""
    pattern = re.compile(rf"^│[▐ ](\S+) (\S+).* {re.escape(agent)} +{re.escape(project)}\b")
    found = [match for line in text.splitlines() if (match := pattern.match(line))]
    return ", ".join(_shown_state(sign, word) for sign, word in (each.groups() for each in found)) or NO_ROW


def _shown_state(sign: str, word: str) -> str:
    mark = "?" if word.endswith("?") else ""
    if word.removesuffix("?") in _WORKING:
        return "working" + mark
    if sign == "–":
        return "unknown"
    if word.removesuffix("?") == "starts":
        return "starting" + mark
    return _SIGNS.get(sign.removesuffix("?") or "?", f"{sign} {word}") + mark


def _hooked(agent: RealAgent, place: Place, environment: dict[str, str], model: ScriptedModel) -> list[Check]:
    if agent.name not in _HOOKED:
        return [Check(f"hooks: {view}", skipped="agentwatch installs no hooks in it") for view in TERMINAL]
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
    views = [f"hooks: {view}" if folder == "hooked" else view for view in TERMINAL]
    if isinstance(how, str):
        return [Check(view, skipped=how) for view in views]
    cwd, tmux = place.work(folder), Tmux(place.root / f"{folder}.tmux", environment)
    watch = Watch(agent.name, cwd, environment, tmux)
    problem = ""
    phases: list[Phase] = []
    try:
        watching = f"PYTHONPATH='{ROOT}' exec '{sys.executable}' -m agentwatch ."
        tmux.open("list", cwd, "sh", "-c", watching)
        watch.start()
        phases.extend(_session(how, [agent.program, *how.arguments], cwd, tmux, model))
    except AssertionError as error:
        problem = str(error)
    finally:
        watch.close()
        tmux("kill-server")
    log = place.root / f"{folder}.samples.jsonl"
    log.write_text(
        "".join(json.dumps(each) + "\n" for each in sorted(watch.log, key=lambda each: each["at"]))
    )
    found = [
        states(name, phases, watch.samples[view], how.late)
        for name, view in zip(views, TERMINAL, strict=True)
    ]
    for each in found:
        excuse(each, agent)
        if problem:
            each.differences.append(Difference(Verdict.UNKNOWN, "the run", "to its end", problem))
    return found


def _session(
    how: Terminal, command: list[str], cwd: Path, tmux: Tmux, model: ScriptedModel
) -> Iterator[Phase]:
    """Drive a session from its start to its end, and yield each phase when it is over."""

    def shows(pattern: str) -> bool:
        return re.search(pattern, tmux.text("agent")) is not None

    def waits(pattern: str, what: str) -> float:
        until(lambda: shows(pattern), 40, what, lambda: tmux.text("agent"))
        return time.time()

    def say(text: str) -> float:
        tmux.keys("agent", "-l", text)
        waits(re.escape(text), f"the screen to show {text}")
        time.sleep(0.8)  # agents take an Enter that follows at once as a line end of a pasted text
        tmux.keys("agent", "Enter")
        return time.time()

    played = len(model.steps("turn"))
    tmux.open("agent", cwd, *command)
    begins = waits(how.ready, "the agent to be ready")
    pressed = 0
    while time.time() < begins + 8:
        time.sleep(0.5)
        for pattern, *keys in how.dialogs:
            if shows(pattern):
                assert (pressed := pressed + 1) < 10, f"the dialog stays:\n{tmux.text('agent')}"
                tmux.keys("agent", *keys)
                begins = time.time()
    now = say(prompt("turn"))
    yield Phase("before the first prompt", begins, now, _TURN | {"starting"})
    until(lambda: len(model.steps("turn")) > played, 20, "the first answer", lambda: tmux.text("agent"))
    begins = now
    if how.asks is not None:
        now = waits(how.asks, "the question")
        yield Phase("the model answers", begins, now, _WORK)
        begins = now
        time.sleep(12)
        tmux.keys("agent", "Enter")
        now = time.time()
        yield Phase("it asks for permission", begins, now, frozenset({"asks"}))
    else:  # Pi writes nothing before its first answer is complete
        until((cwd / "marker.txt").exists, 40, "the command", lambda: tmux.text("agent"))
        now = time.time()
        yield Phase("the model answers", begins, now, _WORK | {"starting"})
    begins = now
    until(lambda: len(model.steps("turn")) > played + 1, 40, "the second answer", lambda: tmux.text("agent"))
    now = time.time()
    yield Phase("a command runs", begins, now, _WORK)
    begins = now + 0.5  # the answer takes 0.3 s
    time.sleep(14)
    now = say(how.leave)
    yield Phase("the turn has ended", begins, now, _TURN)
    until(lambda: tmux.is_over("agent"), 20, "the end of the agent", lambda: tmux.text("agent"))
    begins = time.time()
    time.sleep(12)
    yield Phase("the program has ended", begins, time.time(), frozenset({"succeeded"}))
