"""The command `doctor`: prints facts for a bug report. Names of engines and hosts are private, so engines are
numbered in the order of the settings. It connects to nothing; `agentwatch engine check` does."""

from __future__ import annotations

import os
import platform
import re
import shutil
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click

from agentwatch import __version__
from agentwatch.agents import Agent
from agentwatch.agents.program import HookedAgent
from agentwatch.agents.registry import variables
from agentwatch.base.config import ACTS, EngineSettings, Machines
from agentwatch.base.credentials import PREFIX
from agentwatch.base.extras import EXTRAS
from agentwatch.base.faults import USAGE, Fault, reading
from agentwatch.base.files import config_file, state_folder
from agentwatch.cli.address import open_reader, whole_address
from agentwatch.cli.config_file import read_acts_allowed, read_machines
from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.options import Options
from agentwatch.cli.parameters import ADDRESS, stream_format
from agentwatch.cli.stdout import print_json, print_lines
from agentwatch.remote.address import parse_engine
from agentwatch.text.amounts import byte_size, plural
from agentwatch.text.safe import safe_line

PACKAGES = ("textual", "rich", "markdown-it-py", "pygments", "orjson", "click")
_OURS = ("AGENTWATCH_HOME", "AGENTWATCH_CONFIG", "AGENTWATCH_PLUGINS", "AGENTWATCH_STOCK")
_OTHERS = (
    *("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"),
    *("NO_COLOR", "TEXTUAL_DRIVER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS"),
)
_TERMINAL = re.compile(r"[a-z][a-z0-9.+-]{0,31}")
_COLORS = re.compile(r"truecolor|24bit")
_PROGRAM = re.compile(r"[A-Za-z][A-Za-z_.-]{0,23}")
_LOCALE = re.compile(r"[A-Za-z]{1,8}(?:_[A-Za-z]{2,4})?(?:\.[A-Za-z0-9-]{1,12})?")
_SET = "set"
_WHOLE = "doctor takes a whole recording, not a moment of it"
_VARIABLES = ("USER", "PASSWORD", "TOKEN", "CREDENTIALS", "CA")


@click.command(cls=HelpfulCommand)
@click.argument("address", type=ADDRESS, required=False)
@stream_format
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def doctor(address: str | None, *, as_json: bool, **given: Any) -> int:
    """Print facts for a bug report, or the unknown parts of a FILE.

    The facts are versions, folders, agents, the terminal and the settings; secrets and names are not in it.
    """
    if address is not None:
        if as_json:
            raise click.UsageError("--json prints the facts; it excludes ADDRESS")
        return _unknown_parts(address, Options(**given).agent())
    if given["format"] is not None:
        raise click.UsageError("--format needs an ADDRESS")
    found = facts()
    if not as_json:
        return print_lines(_lines(found))
    import orjson

    return print_json([orjson.dumps({"version": 1, **found})])


def _unknown_parts(words: str, agent: Agent | None) -> int:
    from agentwatch.output.unknown_parts import report

    found = report(open_reader(whole_address(words, _WHOLE).path), agent)
    return print_lines(found.lines()) or (0 if found.is_known else USAGE)


def _lines(facts: dict[str, dict[str, object]]) -> Iterator[str]:
    for number, (section, values) in enumerate(facts.items()):
        if number:
            yield ""
        yield section
        width = max(map(len, values), default=0)
        if not values:
            yield "  none"
        for name, value in values.items():
            yield f"  {name:{width}}  {_word(value)}"


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "unknown" if value is None else str(value)


def facts(environ: Mapping[str, str] = os.environ) -> dict[str, dict[str, object]]:
    """Return the facts by section and name. A fact is a text, a number or a boolean; None is unknown."""
    sections: dict[str, Callable[[], dict[str, object]]] = {
        "versions": _versions,
        "terminal": lambda: _terminal(environ),
        "folders": lambda: _folders(environ),
        "agents": lambda: _agents(environ),
        "acting": lambda: _acting(environ),
        "plugins": _plugins,
        "other machines": lambda: machines(environ),
        "environment": lambda: _environment(environ),
    }
    return {name: _survived(name, section) for name, section in sections.items()}


def _survived(name: str, section: Callable[[], dict[str, object]]) -> dict[str, object]:
    """Return the facts of a section; if they cannot be read, return the reason as a fact."""
    try:
        with reading(name):
            return section()
    except (OSError, Fault) as error:
        return {"unknown": _reason(error) if isinstance(error, OSError) else "invalid"}


def _versions() -> dict[str, object]:
    found: dict[str, object] = {
        "agentwatch": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
    for name in (*PACKAGES, *(each.partition(">=")[0] for each in EXTRAS.values())):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _terminal(environ: Mapping[str, str]) -> dict[str, object]:
    return {
        "TERM": _harmless(environ, "TERM", _TERMINAL),
        "COLORTERM": _harmless(environ, "COLORTERM", _COLORS),
        "TERM_PROGRAM": _harmless(environ, "TERM_PROGRAM", _PROGRAM),
        "locale": _harmless(environ, next(filter(environ.get, ("LC_ALL", "LC_CTYPE")), "LANG"), _LOCALE),
        "encoding": getattr(sys.stdout, "encoding", None),
        "colours": _colours(environ),
        "size": _size(),
        "stdin is a terminal": os.isatty(0),
        "stdout is a terminal": os.isatty(1),
        "tmux": bool(environ.get("TMUX")),
        "ssh": bool(environ.get("SSH_CONNECTION") or environ.get("SSH_TTY")),
    }


def _colours(environ: Mapping[str, str]) -> str:
    if environ.get("NO_COLOR") or environ.get("TERM") in (None, "", "dumb"):
        return "none"
    if environ.get("COLORTERM") in ("truecolor", "24bit"):
        return "16 million"
    return "256" if "256color" in environ.get("TERM", "") else "16"


def _size() -> str | None:
    """Return the columns and lines of the terminal; None without a terminal."""
    for fd in (2, 1, 0):
        try:
            size = os.get_terminal_size(fd)
        except (OSError, ValueError):
            continue
        return f"{size.columns}x{size.lines}"
    return None


def _folders(environ: Mapping[str, str]) -> dict[str, object]:
    from agentwatch.recording.saved_sessions import saved_stems

    try:
        stems = list(saved_stems())
        recordings = f"{plural(len(stems), 'recording')}, {byte_size(sum(stem.size for stem in stems))}"
    except OSError as error:
        recordings = _reason(error)
    config = config_file(environ)
    return {
        "state": _place(state_folder(environ), "AGENTWATCH_HOME", environ),
        "recordings": recordings,
        "settings": _place(config, "AGENTWATCH_CONFIG", environ),
    }


def _place(path: Path, variable: str, environ: Mapping[str, str]) -> str:
    """Describe a file or folder: its permissions, its size, and its path if that may be shown."""
    if environ.get(variable):
        where = f"named by {variable}"
    elif path.is_relative_to(Path.home()):
        where = f"~/{path.relative_to(Path.home())}"
    else:
        where = "outside the home folder"
    try:
        status = path.stat()
    except FileNotFoundError:
        return f"{where}: does not exist"
    except OSError as error:
        return f"{where}: {_reason(error)}"
    size = f", {byte_size(status.st_size)}" if stat.S_ISREG(status.st_mode) else ""
    owner = "" if status.st_uid == os.getuid() else ", of another user"
    return f"{where}: {stat.S_IMODE(status.st_mode):04o}{size}{owner}"


def _agents(environ: Mapping[str, str]) -> dict[str, object]:
    """Count the sessions of each agent on this machine, and describe the state of its hooks."""
    from agentwatch.agents.registry import hooked_agents
    from agentwatch.base.clock import now_ms
    from agentwatch.catalog.catalog import Machine
    from agentwatch.cli.sessions import agent_names

    machine = Machine(environ, Path.home())
    machine.wants_all = True
    machine.settle(now_ms())
    known = frozenset(agent_names())
    counts = Counter(row.agent if row.agent in known else "other" for row in machine.rows.values())
    found: dict[str, object] = {name: plural(count, "session") for name, count in sorted(counts.items())}
    for name, agent in hooked_agents().items():
        found[name] = f"{found.get(name, '0 sessions')}, hooks {_hooks(agent, environ)}"
    return found | _unreadable(machine.problems)


def _unreadable(problems: Iterable[OSError]) -> dict[str, object]:
    """Return the reasons without the paths of folders, which may contain the names of projects."""
    files = {f"{each.filename}": each for each in problems}
    return {
        f"unreadable {number}": f"{safe_line(Path(path).name)}: {_reason(files[path])}"
        for number, path in enumerate(sorted(files), 1)
    }


def _hooks(agent: HookedAgent, environ: Mapping[str, str]) -> str:
    from agentwatch.catalog.hooks.plan import Hooks

    try:
        status = Hooks(agent, environ, Path.home()).status()
    except Fault:
        return "unknown"
    if not status.right + status.other:
        return "not installed"
    is_right = status.has_program and not status.other and status.right == len(agent.events)
    return "installed" if is_right else "incomplete"


def _acting(environ: Mapping[str, str]) -> dict[str, object]:
    allowed = read_acts_allowed(environ)
    return {name: "on" if name in allowed else "off" for name in ACTS}


def _plugins() -> dict[str, object]:
    """Return the names of the plugins, and why programs of agents failed. Packages of formats and exporters
    are not imported. An exception is shown only by its class: its words may contain names and paths."""
    from agentwatch.agents.plugins import GROUP as AGENTS
    from agentwatch.agents.plugins import PROGRAMS
    from agentwatch.output.export.exporters import GROUP as EXPORTERS

    groups = (AGENTS, PROGRAMS, EXPORTERS)
    found: dict[str, object] = {group.name: ", ".join(group.names()) or "none" for group in groups}
    for number, problem in enumerate(PROGRAMS.problems, 1):
        found[f"problem {number}"] = safe_line(": ".join(problem.split(": ", 2)[:2]))
    return found


def _environment(environ: Mapping[str, str]) -> dict[str, object]:
    """Return the variables that change what agentwatch does and are set; only switches have a value."""
    found = {name: _SET for name in (*_OURS, *variables(), *_OTHERS) if environ.get(name)}
    return {name: environ[name] if environ[name] in ("0", "1") else words for name, words in found.items()}


def _harmless(environ: Mapping[str, str], name: str, form: re.Pattern[str]) -> str:
    """Return the value of a variable if it has the form of a harmless one."""
    value = environ.get(name)
    if not value:
        return "not set"
    return value if form.fullmatch(value) else _SET


def _reason(error: OSError) -> str:
    """Return why something cannot be read, without its path."""
    return (error.strerror or type(error).__name__).lower()


def machines(environ: Mapping[str, str]) -> dict[str, object]:
    found: dict[str, object] = {
        "ssh": "found" if shutil.which("ssh", path=environ.get("PATH")) else "not found",
        "credentials": ", ".join(name for name in _VARIABLES if environ.get(f"{PREFIX}{name}")) or "not set",
        "copies": _copies(state_folder(environ) / "copies"),
    }
    try:
        settings = read_machines(environ)
    except Fault:
        return found | {"settings": "invalid"}
    found["settings"] = _settings(settings)
    for number, engine in enumerate(settings.engines.values(), 1):
        found[f"engine {number}"] = _engine(engine)
    return found


def _copies(folder: Path) -> str:
    """Return how many recordings of other machines are kept, and their size."""
    try:
        sizes = [path.lstat().st_size for path in folder.glob("*.ndjson")]
    except OSError as error:
        return _reason(error)
    return f"{plural(len(sizes), 'recording')}, {byte_size(sum(sizes))}"


def _settings(settings: Machines) -> str:
    listed = f"{plural(len(settings.listed), 'machine')} listed" if settings.listed else "only this machine"
    return f"{listed}, {'every run is published' if settings.publish else 'runs are not published'}"


def _engine(engine: EngineSettings) -> str:
    address, _ = parse_engine(engine.address)
    safety = "plain text allowed" if engine.plaintext else "TLS"
    if address.is_loopback:
        safety = "this machine"
    words = [safety]
    for name, path in (("credentials", engine.credentials), ("authority", engine.ca)):
        if path is not None:
            try:
                words.append(f"{name} {stat.S_IMODE(path.stat().st_mode):04o}")
            except OSError as error:
                words.append(f"{name} {_reason(error)}")
    return ", ".join(words)
