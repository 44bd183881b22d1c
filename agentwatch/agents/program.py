"""The program of an agent: its sessions, processes, hooks and reports, but not the formats that it writes.

A program is declared without importing its readers: each is named as `module:name`, and imported when it is
needed. `status` in a prompt and the list of sessions need the programs, but no decoder.
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agentwatch.agents.first_use import on_first_use
from agentwatch.session.tool_kind import ToolKind

if TYPE_CHECKING:
    from agentwatch.agents.places import Kind
    from agentwatch.sources.stores.lines import Store


UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
COMMANDS = frozenset({ToolKind.EXECUTE})
CHANGES = frozenset({ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE})
"""Calls that change a file: they take milliseconds, and need no process of their own."""
NO_CALLS = frozenset[ToolKind]()


def opens(place: str, is_own: Callable[[Path, bytes], bool]) -> "Opener":
    """Return what opens the sessions at the paths of a kind.

    Args:
        place: The module and the name in it of a function that returns the store at a path, or None.
        is_own: Returns whether a path with this head may be of the kind.
    """
    opened = on_first_use(place)
    return lambda path, head: opened(path) if is_own(path, head) else None


class SessionsAt(NamedTuple):
    """A folder in which an agent keeps sessions."""

    part: str
    """The path of the folder below the agent's own folder."""
    roots: tuple[str, ...]
    """Where the agent's own folder may be: below a variable, or below the home folder. A program that reads a
    variable has the default folder too from the time before it was set, so both count."""
    layout: "str | Callable[[], Kind]"
    """A function that returns the `Kind` of the folder, or its `module:name`."""
    over_ssh: str = ""
    """The agent's own folder as a word of the shell, if sessions in it are read from a host without
    agentwatch; empty if they are not, because they are not files of lines."""


class NamedDatabase(NamedTuple):
    """A database with sessions that a variable names."""

    variable: str
    layout: str
    """`module:name` of a function that takes the name of the file, and returns the `Kind` of its folder."""


class Command(NamedTuple):
    """How the processes of an agent look."""

    names: tuple[str, ...]
    """The names of its program."""
    packages: tuple[str, ...] = ()
    """The folders of its package, for scripts such as `cli.js`."""
    shared_names: tuple[str, ...] = ()
    """Names of its program that other programs have too: the program or its script must be in the package."""
    releases: tuple[str, ...] = ()
    """The beginnings of the names under which releases are downloaded."""
    servers: tuple[str, ...] = ()
    """The subcommands that serve several sessions."""
    daemon: frozenset[str] = frozenset()
    """The arguments of a server that runs on when the terminals that show its sessions are closed."""
    helpers: frozenset[str] = frozenset()
    """The first arguments of processes without a session that the agent starts beside itself."""
    continues: frozenset[str] = frozenset()
    """The arguments with which it continues the newest session of its folder."""
    one_prompt: frozenset[str] = frozenset()
    """The arguments with which it answers one prompt, and ends."""
    several_prompts: frozenset[str] = frozenset()
    """The arguments with which it reads further prompts from another program, also in spite of those."""
    folder_options: tuple[str, ...] = ()
    """The options that name the session's folder, of which the process itself is not in."""
    own_ids: frozenset[str] = frozenset()
    """The options that name a session that is resumed for other agents, but not for this one."""
    opens: Callable[[str], bool] | None = None
    """Returns whether an open file belongs to a session; None if the agent keeps no such file open."""
    opens_each: bool = False
    """Whether the files of each session are open, not one database with all of them."""
    titles: Mapping[str, str] = {}
    """The states that the title of its terminal says, by how the title begins: `asks`, `working`."""


class Knowledge(NamedTuple):
    """The facts about the sessions of an agent that are known without hooks."""

    asking: frozenset[ToolKind] = COMMANDS
    """The kinds of calls that may wait for permission without a line that says so."""
    is_exact: bool = False
    """Whether the agent keeps its present state in a file of its own, which is newer than its lines."""
    has_calls: bool = True
    """Whether a call is written before it has ended."""
    has_ends: bool = True
    """Whether the lines always show that a turn has ended. If not, the state is unknown until one does."""
    has_results: bool = True
    """Whether the lines have the results of calls. If not, failures are unknown."""
    joins_subagents: bool = False
    """Whether the lines of a session have those of the subagents that are sessions of their own."""
    ends_in_silence: bool = False
    """Whether a turn is taken to have ended when nothing follows its answer."""
    announces: Callable[[str], bool] | None = None
    """Returns whether an answer announces a call; None if calls are written before they run."""
    never_asks: frozenset[str] = frozenset()
    """The arguments of its process with which no call waits for permission."""
    interrupt: str = ""
    """What SIGINT does to a run for one prompt, as a sentence; empty if it was not seen."""
    retries_after_ms: int | None = None
    """The delay of its first retry, which doubles with each, if no line says that the user has stopped it."""
    converses: bool = False
    """Whether its stream is a conversation. The stream of another agent answers one prompt, as a rule."""


class Reports(NamedTuple):
    """Where an agent reports the state of its sessions."""

    part: str
    """The folder of sessions beside which the files lie."""
    name: str
    """The folder with the files."""
    reader: str
    """`module:name` of a `Reporter`."""
    server: str = ""
    """What else reports the state of some sessions, as a sentence for `show --why`; empty if nothing does."""


class Hints(NamedTuple):
    """What to do if an agent prints no stream; each is empty if nothing is known."""

    silence: str = ""
    """Why its pipe stays silent until the end."""
    failures: tuple[tuple[str, str], ...] = ()
    """What a line contains that it prints instead of a stream, and the cause with its remedy."""


class Mode(NamedTuple):
    """A permission mode in which a session can be continued."""

    name: str
    """The name of the mode in the agent's lines."""
    words: str
    """What a run in it does, where nobody can be asked."""
    options: tuple[str, ...] = ()
    """The options that give it to the vendor's command."""
    decides: bool = True
    """Whether it decides what a run may do; otherwise the agent's settings do."""


def dashed(path: str) -> str:
    """Return a path as Claude Code and Qwen Code write it in the names of their folders.

    A character beyond U+FFFF is two in JavaScript.

    Example:
        >>> dashed("/home/ada/my.repo")
        '-home-ada-my-repo'
    """
    return "".join(
        each if each.isascii() and each.isalnum() else "-" if each < "\U00010000" else "--" for each in path
    )


class Resume(NamedTuple):
    """The vendor's command that continues a session with one prompt, and prints a stream.

    Each word of a command may end in `{id}` or `{text}`, which stand for the session and for the prompt, and
    the word `{mode}` stands for the options of the mode. The commands are such that the prompt is never read
    as an option.
    """

    command: tuple[str, ...]
    door: str
    """The name of the way, for the record of acts: `claude --resume`."""
    modes: tuple[Mode, ...] = ()
    """The permission modes, the narrowest first; empty if the agent has no option for them."""
    asking: str = ""
    """The mode that asks before it acts: a session that does not say its own is continued in none wider."""
    mode_in: Callable[[Mapping[str, Any]], str | None] | None = None
    """Returns the mode that a line of the session or of a stream says; None if the line says none. It is None
    if no line ever does."""
    folder_in: Callable[[Mapping[str, Any]], str | None] | None = None
    """Returns the working directory in a line of the session; None without one. The first line that has one
    decides. It is None if the files beside the session say in which folder it was started."""
    keeps: Callable[[Path, str], bool] = lambda _path, _cwd: True
    """Returns whether a file of a session lies where the agent keeps those of a working directory. It always
    does if the place of a file does not depend on that."""
    widened_by: tuple[str, ...] = ()
    """The variables of the environment that allow more than the mode; a run does not get them."""
    id: re.Pattern[str] = UUID
    """The whole ids of its sessions. Some programs take the name of a session too, a number in a list, the
    beginning of an id, or a path."""
    misread: re.Pattern[str] | None = None
    """The prompts that the program would take for something else; None if there are none."""
    queue: tuple[str, ...] = ()
    """The command that queues a prompt for a session that is open; empty if the vendor has none."""
    receipt: re.Pattern[str] | None = None
    """What that command prints, with the id of the session as its group; None without such a command."""


Opener = Callable[[Path, bytes], "Store | None"]
"""Returns the store at a path, given the first 4 KiB of the file there; None if the path is of another kind.

The head is empty for a folder, and for a path where no regular file is. It raises an OSError if the path
belongs to the store but cannot be read.
"""


TIMEOUT_S = 5
"""The hook takes 5 ms. An agent that would have to wait longer should continue."""


class HookedAgent(NamedTuple):
    """An agent whose hooks can be used."""

    name: str
    title: str
    variable: str
    """The variable of the environment that moves the agent's folder."""
    default: str
    """The agent's folder, below the home folder or the folder that the variable names."""
    file: str
    """The file with the hooks, below the agent's folder."""
    events: tuple[str, ...]
    is_nested: bool = False
    """Whether an entry of an event is a group of hooks; if not, it is a hook."""
    timeout: int | None = None
    """The time after which the agent continues, in the agent's own unit; None if the unit is not certain."""
    note: str = ""
    """What the user has to do after the hooks were installed."""
    manifest: tuple[str, Mapping[str, str]] | None = None
    """The name and the contents of the manifest, if the file belongs to an extension of our own."""
    answers: str = ""
    """The file of the program that answers permission prompts; empty if the hooks only log events."""

    def folder(self, environ: Mapping[str, str], home: Path) -> Path:
        """Return the agent's folder, which may not exist."""
        given = environ.get(self.variable, "")
        if not os.path.isabs(given):
            return home / self.default
        return Path(given) / self.default if self.manifest else Path(given)

    def entry(self, command: str) -> dict[str, Any]:
        """Return an entry of an event with a command."""
        if not self.is_nested:
            return {"command": command}
        hook = {"type": "command", "command": command, "timeout": self.timeout}
        return {"hooks": [hook]}

    def commands(self, entry: object) -> list[object]:
        """Return the commands in an entry of any form; an empty list if it has none."""
        if not isinstance(entry, dict):
            return []
        hooks = entry.get("hooks") if self.is_nested else [entry]
        if not isinstance(hooks, list):
            return []
        return [hook.get("command") if isinstance(hook, dict) else None for hook in hooks]


class McpClient(NamedTuple):
    """Where an agent keeps the MCP servers that its user has added."""

    title: str
    files: tuple[str, ...]
    """The file: the first path that begins with `~` or with a variable of the environment that is set."""
    command: str = ""
    """The agent's own command that adds the server, up to the command that starts it; empty without one."""
    key: str = "mcpServers"
    """The member of the file with the servers by their names."""
    more: Mapping[str, object] = {}
    """What an entry has besides `command`, `args` and `env`."""


class Program(NamedTuple):
    """An agent: where it keeps its sessions, how its processes look, and where it reports its state."""

    name: str
    """The agent's short name."""
    sessions: tuple[SessionsAt, ...] = ()
    file_format: str = ""
    """The name of the format in which it keeps its sessions; empty if it keeps none that can be read."""
    database: NamedDatabase | None = None
    command: Command | None = None
    knowledge: Knowledge = Knowledge()
    reports: Reports | None = None
    hooks: str | HookedAgent = ""
    """How its hooks are used, or `module:name` of that; empty if its hooks cannot be used."""
    answers: str | HookedAgent = ""
    """The same for a hook that answers its permission prompts; empty if none can."""
    stores: tuple[Opener, ...] = ()
    """What opens its sessions that are not plain files of lines. Each is asked about every file that is
    opened, so that it imports little before it knows the file."""
    id_in: Callable[[str], str] = str
    """Returns the id in the name of a session's file, without its ending."""
    hints: Hints = Hints()
    resume: Resume | None = None
    no_resume: str = "it has no command that continues a session"
    """Why it has no `resume`."""
    published_name: str = ""
    """The name that harbor, the reference of ATIF, has for it; empty for its short name."""
    mcp: McpClient | None = None
    """Where it keeps its MCP servers; None if `agentwatch mcp --install` does not know it."""
